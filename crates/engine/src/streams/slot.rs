//! A stream slot: room for one request on a connection that carries several at once.

use crate::context::ConnectionFailure;
use crate::exchange::Exchange;
use crate::record::recorder::Recorder;

/// Where the request of a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotState {
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

/// Room for one request at a time on a multiplexed connection.
#[derive(Debug)]
pub(crate) struct StreamSlot {
    pub(crate) exchange: Exchange,
    pub(crate) state: SlotState,
    /// The connection that its requests go over.
    pub(crate) connection: u32,
    /// When its request, or the one that follows a redirect, began to wait for a connection: it may not for longer
    /// than the timeout, however many are opened meanwhile.
    pub(crate) taken_ns: u64,
    /// The request as fields, where it is made anew each time.
    pub(crate) made: Option<assay_http2::client::Request>,
}

impl StreamSlot {
    pub(crate) fn new(connection: u32) -> Self {
        Self {
            exchange: Exchange::new(),
            state: SlotState::Free,
            connection,
            taken_ns: 0,
            made: None,
        }
    }

    /// Counts how long it has waited for the peer's leave, where it has.
    #[inline]
    pub(crate) fn note_wait(&self, now_ns: u64, recorder: &Recorder) {
        if let (SlotState::Waiting { is_held: true }, Some(counts)) =
            (self.state, &recorder.streams)
        {
            let waited_ns = now_ns.saturating_sub(self.exchange.since_ns);
            counts.waits.add(1);
            counts.wait_ns.add(waited_ns);
        }
    }
}

/// The slots whose streams ended, and how.
#[derive(Debug, Default)]
pub(crate) struct EndedStreams {
    pub(crate) answered: Vec<u32>,
    pub(crate) failed: Vec<(u32, ConnectionFailure)>,
}
