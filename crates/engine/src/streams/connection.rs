//! One multiplexed connection: HTTP/2 or HTTP/3, with several requests at once.

use std::collections::VecDeque;

use assay_http2::client::Client;

use super::http2::Http2;
use super::http3::Http3;
use crate::connection::ConnectionStage;
use crate::program::Program;
use crate::record::recorder::Recorder;
use crate::transport::Transport;

/// What carries the requests of a connection while it is open.
pub(crate) enum Carrier<T> {
    None,
    Http2(Http2<T>),
    Http3(Box<Http3>),
}

/// A connection, open or not, and what waits for it.
pub(crate) struct MuxConnection<T> {
    pub(crate) carrier: Carrier<T>,
    pub(crate) stage: ConnectionStage,
    /// Whether it is among those that are written next.
    pub(crate) is_due: bool,
    /// Slots whose requests wait for it: to be open, greeted, or allowed another stream.
    pub(crate) waiting: VecDeque<u32>,
    /// Whether it takes no more requests, because nothing was heard on it for too long.
    pub(crate) is_silent: bool,
    /// When its stage began.
    pub(crate) since_ns: u64,
    /// When it began to be opened.
    pub(crate) begun_ns: u64,
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
    was_answered: bool,
    /// HTTP/2: the number of the first stream of each connection. 1, but where a test sees to the end of the numbers.
    pub(crate) first_stream: u32,
}

impl<T: Transport> Carrier<T> {
    /// Whether the peer allows another stream now.
    #[inline]
    fn has_room(&self) -> bool {
        match self {
            Self::None => false,
            Self::Http2(http2) => http2.has_room(),
            Self::Http3(http3) => http3.has_room(),
        }
    }

    fn client(&self) -> Option<&Client> {
        match self {
            Self::Http2(http2) => http2.client.as_deref(),
            Self::None | Self::Http3(_) => None,
        }
    }

    /// Whether no stream can be opened on it any more, by what the peer said or for want of numbers.
    #[inline]
    fn is_spent(&self) -> bool {
        match self {
            Self::Http3(http3) => http3.is_going_away,
            _ => self.client().is_some_and(Client::is_spent),
        }
    }

    /// Whether bodies wait for a window.
    #[inline]
    fn is_stalled(&self) -> bool {
        match self {
            Self::Http3(http3) => http3.is_stalled(),
            _ => self.client().is_some_and(Client::is_stalled),
        }
    }

    /// The slots whose streams are under way.
    fn keys(&self) -> Vec<u32> {
        match self {
            Self::Http3(http3) => http3.keys(),
            _ => (self.client()).map_or_else(Vec::new, |client| client.keys().collect()),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Http3(http3) => http3.is_empty(),
            _ => self.client().is_none_or(|client| client.under_way() == 0),
        }
    }
}

impl<T: Transport> MuxConnection<T> {
    pub(crate) fn new() -> Self {
        Self {
            carrier: Carrier::None,
            stage: ConnectionStage::Closed,
            is_due: false,
            waiting: VecDeque::new(),
            is_silent: false,
            since_ns: 0,
            begun_ns: 0,
            heard_ns: 0,
            allowed: None,
            stalled_ns: None,
            carried: 0,
            answered: 0,
            failures: 0,
            was_opened: false,
            was_answered: false,
            first_stream: 1,
        }
    }

    /// Begins to connect by this, at `since_ns`.
    pub(crate) fn begin(&mut self, carrier: Carrier<T>) {
        self.begun_ns = self.since_ns;
        self.carrier = carrier;
        self.stage = ConnectionStage::Opening;
    }

    pub(crate) fn http2(&mut self) -> Option<&mut Http2<T>> {
        match &mut self.carrier {
            Carrier::Http2(http2) => Some(http2),
            Carrier::None | Carrier::Http3(_) => None,
        }
    }

    /// Requests can be sent.
    pub(crate) fn greet(&mut self, now_ns: u64) {
        if let Carrier::Http2(http2) = &mut self.carrier {
            http2.greet(self.first_stream);
        }
        self.stage = ConnectionStage::Busy;
        self.since_ns = now_ns;
        self.heard_ns = now_ns;
    }

    /// Whether the peer has said what it allows.
    pub(crate) fn is_greeted(&self) -> bool {
        match &self.carrier {
            // HTTP/3 needs no leave to begin: QUIC has told how many streams there may be.
            Carrier::Http3(_) => true,
            other => other.client().is_some_and(Client::is_greeted),
        }
    }

    pub(crate) fn is_going_away(&self) -> bool {
        match &self.carrier {
            Carrier::Http3(http3) => http3.is_going_away,
            other => other.client().is_some_and(Client::is_going_away),
        }
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.carrier.is_stalled()
    }

    /// Whether another stream can be opened now.
    #[inline]
    pub(crate) fn has_room(&self, program: &Program) -> bool {
        self.carrier.has_room() && !self.takes_no_more(program)
    }

    /// Whether a request waits because the peer allows no more streams.
    pub(crate) fn is_full(&self) -> bool {
        match &self.carrier {
            Carrier::None => false,
            Carrier::Http2(http2) => http2.is_full(),
            Carrier::Http3(http3) => !http3.has_room() && !http3.is_going_away,
        }
    }

    /// Whether there is something to send, as far as is known without asking.
    #[inline]
    pub(crate) fn has_something(&self) -> bool {
        match &self.carrier {
            Carrier::None => false,
            Carrier::Http2(http2) => !http2.out.is_empty(),
            Carrier::Http3(_) => true,
        }
    }

    /// Whether no stream will be opened on it any more.
    #[inline]
    pub(crate) fn takes_no_more(&self, program: &Program) -> bool {
        self.takes_enough(program) || self.carrier.is_spent()
    }

    /// Whether we open no more streams on it, whatever the peer allows.
    #[inline]
    pub(crate) fn takes_enough(&self, program: &Program) -> bool {
        self.is_silent || self.carried >= program.requests_per_connection
    }

    /// Whether it has done all that it will do.
    #[inline]
    pub(crate) fn is_done(&self, program: &Program) -> bool {
        self.takes_no_more(program) && self.carrier.is_empty()
    }

    /// Gives up a stream.
    pub(crate) fn cancel(&mut self, stream: u64) {
        match &mut self.carrier {
            Carrier::None => {}
            Carrier::Http2(http2) => http2.cancel(stream),
            Carrier::Http3(http3) => http3.cancel(stream),
        }
    }

    /// Counts answers.
    #[inline]
    pub(crate) fn note_answered(&mut self, answers: u32, recorder: &Recorder) {
        self.answered += answers;
        if answers > 0 && !self.was_answered {
            self.was_answered = true;
            recorder.answered.add(1);
        }
    }

    /// Notes how many streams the peer allows at once. QUIC allows so many more each time.
    #[inline]
    pub(crate) fn note_allowed(&mut self, recorder: &Recorder) {
        let allowed = self.carrier.client().and_then(Client::streams_allowed);
        if allowed != self.allowed {
            self.allowed = allowed;
            recorder.note_allowed(allowed);
        }
    }

    /// Notes when bodies begin to wait for a window, and for how long they did.
    #[inline]
    pub(crate) fn note_stall(&mut self, now_ns: u64, recorder: &Recorder) {
        let is_stalled = self.carrier.is_stalled();
        if is_stalled != self.stalled_ns.is_some() {
            self.cut_stall(now_ns, recorder);
            self.stalled_ns = is_stalled.then_some(now_ns);
        }
    }

    /// Puts down a stall that is under way, as far as it has come.
    pub(super) fn cut_stall(&mut self, at_ns: u64, recorder: &Recorder) {
        if let (Some(since_ns), Some(counts)) = (&mut self.stalled_ns, &recorder.streams) {
            counts.stalls.add(1);
            counts.stall_ns.add(at_ns.saturating_sub(*since_ns));
            *since_ns = at_ns.max(*since_ns);
        }
    }

    /// Makes the place ready for another connection; the slots whose streams were under way.
    pub(super) fn clear(&mut self, now_ns: u64, recorder: &Recorder) -> Vec<u32> {
        let keys = self.carrier.keys();
        match std::mem::replace(&mut self.carrier, Carrier::None) {
            Carrier::None => {}
            Carrier::Http2(mut http2) => {
                http2.part(self.stage == ConnectionStage::Busy);
                recorder.open_now.set(recorder.open_now.get() - 1);
            }
            // It tells the peer when it is dropped.
            Carrier::Http3(http3) => {
                http3.note_path(recorder);
                recorder.open_now.set(recorder.open_now.get() - 1);
            }
        }
        self.note_stall(now_ns, recorder);
        self.stage = ConnectionStage::Closed;
        self.is_silent = false;
        self.carried = 0;
        self.answered = 0;
        keys
    }
}
