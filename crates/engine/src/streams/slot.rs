//! A stream slot: room for one request on a connection that carries several at once.

use crate::context::ConnectionFailure;
use crate::exchange::Exchange;
use crate::record::recorder::Recorder;

/// Where the request of a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotState {
    Free,
    /// For a stream.
    Waiting {
        /// Because the peer allows no more of them at once.
        is_held: bool,
        /// When the request, or the one that follows a redirect, began to wait for a connection: it may not for longer
        /// than the timeout, however many are opened meanwhile.
        taken_ns: u64,
    },
    /// On a stream: HTTP/2's number of it, or which of the requests on a connection of HTTP/3 it is.
    Sent {
        stream: u64,
    },
}

impl SlotState {
    /// A request begins to wait for a connection.
    #[inline]
    pub(crate) fn waiting(now_ns: u64) -> Self {
        Self::Waiting {
            is_held: false,
            taken_ns: now_ns,
        }
    }
}

/// Room for one request at a time on a multiplexed connection: a cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct StreamSlot {
    pub(crate) exchange: Exchange,
    pub(crate) state: SlotState,
}

const _: () = assert!(size_of::<StreamSlot>() == 64);

impl StreamSlot {
    pub(crate) fn new(is_logged: bool) -> Self {
        Self {
            exchange: Exchange::new(is_logged),
            state: SlotState::Free,
        }
    }

    /// Its request waits because the peer allows no more streams; whether it did before.
    pub(crate) fn hold(&mut self) -> bool {
        match &mut self.state {
            SlotState::Waiting { is_held, .. } => std::mem::replace(is_held, true),
            SlotState::Free | SlotState::Sent { .. } => false,
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        matches!(self.state, SlotState::Waiting { is_held: true, .. })
    }

    /// Counts how long it has waited for the peer's leave, where it has.
    #[inline]
    pub(crate) fn note_wait(&self, now_ns: u64, recorder: &Recorder) {
        if let (true, Some(counts)) = (self.is_held(), &recorder.streams) {
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
