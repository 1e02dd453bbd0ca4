//! What a request sits in while connections that carry several have it.

use crate::desk::Broken;
use crate::exchange::Exchange;

/// Where a seat's request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    /// For a stream; whether because the peer allows no more of them at once.
    Waiting {
        is_held: bool,
    },
    /// On a stream: HTTP/2's number of it, or which of the requests on a connection of HTTP/3 it is.
    Sent {
        stream: u64,
    },
}

/// One of the requests that connections carry at once.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) exchange: Exchange,
    pub(crate) state: State,
    /// The request as fields, where it is made anew each time.
    pub(crate) made: Option<assay_http2::client::Request>,
}

impl Seat {
    pub(crate) fn new() -> Self {
        Self {
            exchange: Exchange::new(),
            state: State::Free,
            made: None,
        }
    }
}

/// What became of a stream.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answered,
    Failed(Broken),
}
