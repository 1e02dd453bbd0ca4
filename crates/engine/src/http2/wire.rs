//! One connection of HTTP/2, and the streams on it.

use std::collections::VecDeque;
use std::io;

use assay_http2::client::{Client, Windows};
use assay_http2::frame::{self, Code};

use crate::connection::Stage;
use crate::program::Program;
use crate::record::ledger::Ledger;
use crate::transport::Transport;

/// Wide enough never to set the pace of a server on a network that one measures over.
const WINDOWS: Windows = Windows {
    stream: 16 * 1024 * 1024,
    connection: 256 * 1024 * 1024,
};
/// With so much that the peer does not take, no stream is opened.
const MOST_UNSENT: usize = 256 * 1024;

/// A transport and the state of HTTP/2 on it.
#[derive(Debug)]
pub(crate) struct Wire<T> {
    pub(crate) transport: Option<T>,
    pub(crate) stage: Stage,
    /// The codec, once requests can be sent.
    pub(crate) client: Option<Box<Client>>,
    /// What is to be sent, and how much of it is.
    pub(crate) out: Vec<u8>,
    sent_bytes: usize,
    /// Whether it is among those that are written next.
    pub(crate) is_due: bool,
    /// Seats whose requests wait for it: to be open, greeted, or allowed another stream.
    pub(crate) waiting: VecDeque<u32>,
    /// Whether it takes no more requests, because nothing was heard on it for too long.
    pub(crate) is_silent: bool,
    /// When its stage began.
    pub(crate) since_ns: u64,
    /// When something was last read.
    pub(crate) heard_ns: u64,
    /// How many streams the peer allows at once, as far as was noted.
    allowed: Option<u32>,
    /// Since when a body waits for a window.
    stalled_ns: Option<u64>,
    /// Streams opened and requests answered since it was opened.
    pub(crate) carried: u32,
    pub(crate) answered: u32,
    /// Attempts to open it that failed in a row.
    pub(crate) failures: u32,
    pub(crate) was_opened: bool,
    pub(crate) was_answered: bool,
}

impl<T: Transport> Wire<T> {
    pub(crate) fn new() -> Self {
        Self {
            transport: None,
            stage: Stage::Closed,
            client: None,
            out: Vec::new(),
            sent_bytes: 0,
            is_due: false,
            waiting: VecDeque::new(),
            is_silent: false,
            since_ns: 0,
            heard_ns: 0,
            allowed: None,
            stalled_ns: None,
            carried: 0,
            answered: 0,
            failures: 0,
            was_opened: false,
            was_answered: false,
        }
    }

    /// Begins to speak HTTP/2 on a transport that is ready.
    pub(crate) fn greet(&mut self, now_ns: u64) {
        self.out.clear();
        self.client = Some(Box::new(Client::new(WINDOWS, &mut self.out)));
        self.stage = Stage::Busy;
        self.since_ns = now_ns;
        self.heard_ns = now_ns;
    }

    /// Whether another stream can be opened now. Until the peer has greeted us nobody knows how many it
    /// allows, so there is one.
    #[inline]
    pub(crate) fn has_room(&self, program: &Program) -> bool {
        let Some(client) = &self.client else {
            return false;
        };
        !self.takes_no_more(program)
            && client.room() > 0
            && (client.is_greeted() || client.under_way() == 0)
            && self.out.len() - self.sent_bytes < MOST_UNSENT
    }

    /// Whether a request waits because the peer allows no more streams at once.
    pub(crate) fn is_full(&self) -> bool {
        let full =
            |client: &Client| client.is_greeted() && client.room() == 0 && !client.is_spent();
        self.client.as_deref().is_some_and(full)
    }

    /// Whether no stream will be opened on it any more.
    #[inline]
    pub(crate) fn takes_no_more(&self, program: &Program) -> bool {
        self.is_silent
            || self.carried >= program.requests_per_connection
            || self.client.as_deref().is_some_and(Client::is_spent)
    }

    /// Whether it has done all that it will do.
    #[inline]
    pub(crate) fn is_done(&self, program: &Program) -> bool {
        let is_empty = |client: &Client| client.under_way() == 0;
        self.takes_no_more(program) && self.client.as_deref().is_some_and(is_empty)
    }

    /// Writes as much as fits; how much that was.
    pub(crate) fn write(&mut self) -> io::Result<usize> {
        let Some(transport) = &mut self.transport else {
            return Ok(0);
        };
        let mut written = 0;
        while self.sent_bytes < self.out.len() {
            match transport.write(&self.out[self.sent_bytes..]) {
                Ok(bytes) => {
                    self.sent_bytes += bytes;
                    written += bytes;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.sent_bytes = 0;
        Ok(written)
    }

    /// Notes how many streams the peer allows at once.
    #[inline]
    pub(crate) fn note_allowed(&mut self, ledger: &Ledger) {
        let allowed = self.client.as_deref().and_then(Client::streams_allowed);
        if allowed != self.allowed {
            self.allowed = allowed;
            ledger.note_allowed(allowed);
        }
    }

    /// Notes when bodies begin to wait for a window, and for how long they did.
    #[inline]
    pub(crate) fn note_stall(&mut self, now_ns: u64, ledger: &Ledger) {
        let is_stalled = self.client.as_deref().is_some_and(Client::is_stalled);
        if is_stalled == self.stalled_ns.is_some() {
            return;
        }
        let Some(counts) = &ledger.http2 else { return };
        match self.stalled_ns.take() {
            Some(since_ns) => counts.window_stall_ns.add(now_ns.saturating_sub(since_ns)),
            None => {
                counts.window_stalls.add(1);
                self.stalled_ns = Some(now_ns);
            }
        }
    }

    /// Makes the place ready for another connection; the keys of the streams that were under way.
    pub(crate) fn clear(&mut self, now_ns: u64, ledger: &Ledger) -> Vec<u32> {
        let client = self.client.take();
        self.note_stall(now_ns, ledger);
        if let Some(transport) = &mut self.transport {
            if self.stage == Stage::Busy && self.out.is_empty() {
                frame::write_goaway(0, Code::NO_ERROR, "", &mut self.out);
            }
            // The peer is told if it can be told at once; nothing depends on it.
            let _ = transport.write(&self.out[self.sent_bytes..]);
            let _ = transport.flush();
            ledger.open_now.set(ledger.open_now.get() - 1);
        }
        self.transport = None;
        self.stage = Stage::Closed;
        self.out = Vec::new();
        self.sent_bytes = 0;
        self.is_silent = false;
        self.carried = 0;
        self.answered = 0;
        client.map_or_else(Vec::new, |client| client.keys().collect())
    }
}
