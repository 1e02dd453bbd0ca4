//! Requests from outside the plan: made while the run goes on, by whoever implements [`Source`].
//!
//! A plan without a supply pays nothing for it: which requests are sent is settled per template
//! before the run, and the static ones never reach this file.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use crate::error::SourceError;
use crate::protocol::fields::fields;
use crate::record::by_request::{ByRequest, Names};

/// Makes the requests of one worker, on that worker's thread.
///
/// An error ends the run; [`crate::Run::result`] then tells it.
pub trait Source: Send {
    /// Appends the next requests of one connection to `bytes`: as many as the plan pipelines.
    ///
    /// # Errors
    /// Where no request can be made.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<(), SourceError>;

    /// How long that connection waits before it sends them. Asked where [`Supply::has_delays`].
    ///
    /// # Errors
    /// Where no delay can be made.
    fn delay(&mut self) -> Result<Duration, SourceError>;

    /// Takes a complete answer. Called where [`Supply::wants_answers`].
    ///
    /// # Errors
    /// Where the answer cannot be taken.
    fn answered(&mut self, answer: Answer<'_>) -> Result<(), SourceError>;

    /// Whether this worker is to send nothing more, although the run goes on.
    fn is_stopped(&self) -> bool;
}

/// One complete answer.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Its status.
    pub status: u16,
    /// Its status line and header fields as received, up to and with the empty line.
    pub head: &'a [u8],
    /// Its body without any framing; its content coding is left as it is.
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// The header fields by name, in the order received.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], Cow<'a, [u8]>)> + use<'a> {
        fields(self.head)
    }
}

/// What one worker sends instead of the plan's requests.
pub struct Supply {
    /// The bytes that are sent each time (as many requests as the plan pipelines); None asks the
    /// source each time.
    pub fixed: Option<Vec<u8>>,
    /// Whether the source is given every answer.
    pub wants_answers: bool,
    /// Whether the source delays requests.
    pub has_delays: bool,
    /// Where this worker connects to, instead of where the plan says.
    pub address: Option<SocketAddr>,
    /// Who makes the requests.
    pub source: Box<dyn Source>,
}

impl fmt::Debug for Supply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supply")
            .field("fixed", &self.fixed.is_some())
            .field("wants_answers", &self.wants_answers)
            .field("has_delays", &self.has_delays)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// A supply in use. The first error is kept until the worker looks for it.
#[derive(Debug)]
pub(crate) struct Supplied {
    supply: Supply,
    names: Names,
    failed: Option<SourceError>,
}

impl Supplied {
    pub(crate) fn new(supply: Supply) -> Self {
        Self {
            supply,
            names: Names::default(),
            failed: None,
        }
    }

    pub(crate) fn has_delays(&self) -> bool {
        self.supply.has_delays
    }

    pub(crate) fn next(&mut self, bytes: &mut Vec<u8>) {
        let made = self.supply.source.next(bytes);
        self.note(made);
    }

    /// The number of the name of a request that it made, for figures by name.
    pub(crate) fn number_of(&mut self, request: &[u8], figures: &ByRequest) -> u32 {
        self.names.number_of_request(request, figures)
    }

    pub(crate) fn delay_ns(&mut self) -> u64 {
        let delay = self.supply.source.delay();
        let delay = self.note(delay).unwrap_or_default();
        u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX / 2)
    }

    pub(crate) fn answered(&mut self, answer: Answer<'_>) {
        let taken = self.supply.source.answered(answer);
        self.note(taken);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.supply.source.is_stopped()
    }

    pub(crate) fn take_failure(&mut self) -> Option<SourceError> {
        self.failed.take()
    }

    fn note<R>(&mut self, result: Result<R, SourceError>) -> Option<R> {
        result
            .map_err(|error| self.failed.get_or_insert(error).clone())
            .ok()
    }
}
