//! [`ArmContext`]: what the connections of an arm in one worker share while they read and write.

use std::sync::Arc;

use crate::protocol::template::Variables;
use crate::protocol::{Fault, Heads};
use crate::record::recorder::Recorder;
use crate::record::{Failure, Log, Session};
use crate::supply::{Supplied, Supply};

const SMALL_BODY_BYTES: usize = 1024;
/// A buffer for bodies is kept for the next one up to this size.
const KEPT_BODY_BYTES: usize = 1024 * 1024;

/// What an arm's connections share: the recorder, the variables and the buffers for reading.
#[derive(Debug)]
pub(crate) struct ArmContext {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) heads: Heads,
    /// Buffers for bodies that come in pieces and are checked.
    pub(crate) spare_bodies: Vec<Vec<u8>>,
    /// Memory of the bodies that are being collected.
    pub(crate) held_body_bytes: usize,
    /// Answers until the next one that is checked.
    until_check: u64,
    pub(crate) variables: Variables,
    pub(crate) scratch: Vec<u8>,
    has_session: bool,
    /// Where single requests are written down, if they are.
    pub(crate) log: Option<Box<Log>>,
    /// Who makes the requests, where the plan does not.
    pub(crate) supply: Option<Box<Supplied>>,
}

impl ArmContext {
    pub(crate) fn new(
        recorder: Arc<Recorder>,
        heads: Heads,
        variables: Variables,
        supply: Option<Supply>,
        log: Option<Log>,
    ) -> Self {
        Self {
            recorder,
            heads,
            spare_bodies: Vec::new(),
            held_body_bytes: 0,
            until_check: 0,
            variables,
            scratch: Vec::new(),
            has_session: false,
            log: log.map(Box::new),
            supply: supply.map(|supply| Box::new(Supplied::new(supply))),
        }
    }

    /// Tells what the first session of TLS agreed on, as soon as it is there.
    #[inline]
    pub(crate) fn note_session(&mut self, session: impl FnOnce() -> Option<Session>) {
        if !self.has_session
            && let Some(session) = session()
        {
            self.has_session = true;
            self.recorder.notes().session = Some(session);
        }
    }

    /// A buffer for a body that comes in pieces, after its head where that is wanted too.
    pub(crate) fn lend_body(&mut self, with_head: bool) -> Vec<u8> {
        let mut body = self.spare_bodies.pop().unwrap_or_default();
        if with_head {
            body.extend_from_slice(self.heads.last_bytes());
        }
        self.held_body_bytes += body.capacity();
        body
    }

    /// Adds a piece to a body, where all of them together may then hold no more than `most_bytes`.
    pub(crate) fn grow_body(&mut self, body: &mut Vec<u8>, data: &[u8], most_bytes: usize) -> bool {
        let before = body.capacity();
        if body.len() + data.len() > before {
            // Twice as much, or only what there is room for.
            let needed = body.len() + data.len();
            let spare = most_bytes.saturating_sub(self.held_body_bytes - before);
            if needed > spare {
                return false;
            }
            let wanted = (2 * before).max(SMALL_BODY_BYTES).clamp(needed, spare);
            body.reserve_exact(wanted - body.len());
            self.held_body_bytes += body.capacity() - before;
        }
        body.extend_from_slice(data);
        true
    }

    /// Takes a buffer back. A large one would be missed by the others.
    pub(crate) fn take_body_back(&mut self, mut body: Vec<u8>) {
        self.held_body_bytes -= body.capacity();
        if body.capacity() <= KEPT_BODY_BYTES {
            body.clear();
            self.spare_bodies.push(body);
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
pub(crate) struct ConnectionFailure {
    pub(crate) failure: Failure,
    pub(crate) detail: String,
}

impl ConnectionFailure {
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

impl From<Fault> for ConnectionFailure {
    fn from(fault: Fault) -> Self {
        Self::new(Failure::of_fault(fault), fault.to_string())
    }
}
