//! What the connections of one worker share while they read and write.

use std::sync::Arc;

use crate::protocol::template::Variables;
use crate::protocol::{Fault, Heads};
use crate::record::ledger::Ledger;
use crate::record::{Failure, Log};
use crate::supply::{Supplied, Supply};

/// What a worker's connections share: its ledger and what they need while reading.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) heads: Heads,
    /// Buffers for bodies that come in pieces and are checked.
    pub(crate) spare_bodies: Vec<Vec<u8>>,
    /// Answers until the next one that is checked.
    until_check: u64,
    pub(crate) variables: Variables,
    pub(crate) scratch: Vec<u8>,
    /// Where single requests are written down, if they are.
    pub(crate) log: Option<Box<Log>>,
    /// Who makes the requests, where the plan does not.
    pub(crate) supply: Option<Box<Supplied>>,
}

impl Desk {
    pub(crate) fn new(
        ledger: Arc<Ledger>,
        heads: Heads,
        variables: Variables,
        supply: Option<Supply>,
        log: Option<Log>,
    ) -> Self {
        Self {
            ledger,
            heads,
            spare_bodies: Vec::new(),
            until_check: 0,
            variables,
            scratch: Vec::new(),
            log: log.map(Box::new),
            supply: supply.map(|supply| Box::new(Supplied::new(supply))),
        }
    }

    /// Whether this answer is one of those whose headers and body are checked.
    pub(crate) fn is_check_due(&mut self, every: u64) -> bool {
        if every == 0 {
            return false;
        }
        if self.until_check > 0 {
            self.until_check -= 1;
            return false;
        }
        self.until_check = every - 1;
        true
    }
}

/// Why a connection cannot go on, and what was seen.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) failure: Failure,
    pub(crate) detail: String,
}

impl Broken {
    pub(crate) fn new(failure: Failure, detail: impl Into<String>) -> Self {
        Self {
            failure,
            detail: detail.into(),
        }
    }

    pub(crate) fn io(error: &std::io::Error) -> Self {
        Self::new(Failure::of_io(error), error.to_string())
    }
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self::new(Failure::of_fault(fault), fault.to_string())
    }
}
