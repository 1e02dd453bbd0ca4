//! HTTP/2 and HTTP/3 in an arm: connections ([`Wire`]) that carry the requests of several [`Seat`]s at once.
//!
//! A seat is to them what a connection is to HTTP/1: it has one request under way at a time, thinks between
//! two of them, and waits after failures. A plan has as many as connections times streams, and seat `n` sends on
//! the arm's connection `n` modulo their number. Nothing here reads a clock or waits.
//!
//! ```text
//!   Free ── taken ─▶ Waiting ── a stream is opened ─▶ Sent ── answered, failed ─▶ Free
//! ```

mod http2;
mod http3;
mod reading;
mod seat;
mod waiting;
mod wire;

use crate::connection::Stage;
use crate::desk::{Broken, Desk};
use crate::program::Program;
use crate::protocol::http2::make;
use crate::record::recorder::Recorder;
use crate::transport::Transport;
pub(crate) use http2::Http2;
pub(crate) use http3::{Http3, Quic};
use reading::Reading;
pub(crate) use seat::{Ended, Seat, State};
pub(crate) use wire::{Carrier, Wire};

/// An arm's connections that carry several requests at once.
pub(crate) struct Wires<T> {
    pub(crate) seats: Vec<Seat>,
    pub(crate) wires: Vec<Wire<T>>,
    /// Connections that have something to send.
    pub(crate) due: Vec<u32>,
    /// Seats whose requests are in a connection's buffer and not stamped yet: they are when that is written.
    unstamped: Vec<u32>,
    /// What came of the streams since it was last looked at.
    pub(crate) ended: Ended,
    /// What those of HTTP/3 share.
    pub(crate) quic: Option<Box<Quic>>,
}

impl<T: Transport> Wires<T> {
    pub(crate) fn new(connections: usize, streams: usize, quic: Option<Quic>) -> Self {
        Self {
            seats: (0..connections * streams)
                .map(|seat| Seat::new((seat % connections) as u32))
                .collect(),
            wires: (0..connections).map(|_| Wire::new()).collect(),
            due: Vec::with_capacity(connections),
            unstamped: Vec::with_capacity(streams),
            ended: Ended::default(),
            quic: quic.map(Box::new),
        }
    }

    /// The connection is among those that are written next.
    #[inline]
    pub(crate) fn is_due(&mut self, number: u32) {
        let wire = &mut self.wires[number as usize];
        if !wire.is_due && (wire.has_something() || !wire.waiting.is_empty()) {
            wire.is_due = true;
            self.due.push(number);
        }
    }

    /// Puts what waits on a connection into its buffer, each on a stream of its own, as far as that has room. Whether
    /// anything was: then it is stamped next, and written.
    #[inline]
    pub(crate) fn send_waiting(
        &mut self,
        number: u32,
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> bool {
        loop {
            let wire = &mut self.wires[number as usize];
            let Some(&seat) = wire.waiting.front() else {
                break;
            };
            // Whether the peer allows a stream is seen when it is opened.
            if wire.takes_enough(program) || !self.send(seat, number, now_ns, program, desk) {
                self.hold(number);
                break;
            }
            self.wires[number as usize].waiting.pop_front();
            self.unstamped.push(seat);
        }
        self.wires[number as usize].note_stall(now_ns, &desk.recorder);
        !self.unstamped.is_empty()
    }

    /// What was put into a connection's buffer is written now: the moment its service time begins. `loop_began_ns`: what
    /// was begun in this iteration has waited for nobody but us.
    #[inline]
    pub(crate) fn stamp(&mut self, now_ns: u64, loop_began_ns: u64, desk: &Desk) {
        for seat in self.unstamped.drain(..) {
            let exchange = &mut self.seats[seat as usize].exchange;
            exchange.since_ns = now_ns;
            if !exchange.is_first_send() {
                continue;
            }
            let stamps = &mut exchange.stamps;
            match stamps.begun_ns >= loop_began_ns {
                true => stamps.begun_ns = now_ns,
                false => stamps.connect_ns = now_ns.saturating_sub(stamps.begun_ns),
            }
            match &desk.recorder.open_loop {
                Some(times) => {
                    let lag_ns = now_ns.saturating_sub(exchange.intended_ns);
                    times.send_lag.record(lag_ns);
                }
                None => exchange.intended_ns = now_ns,
            }
        }
    }

    /// Puts a seat's request into its connection's buffer, on a stream of its own. False where the peer allows none.
    #[inline]
    fn send(
        &mut self,
        number: u32,
        wire: u32,
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> bool {
        let Some(stream) = self.open_stream(number, wire, program) else {
            return false;
        };
        let seat = &mut self.seats[number as usize];
        let wire = &mut self.wires[wire as usize];
        seat.note_wait(now_ns, &desk.recorder);
        seat.state = State::Sent { stream };
        wire.carried += 1;
        true
    }

    /// Opens a stream for a seat's request, as its carrier writes it.
    #[inline]
    fn open_stream(&mut self, number: u32, wire: u32, program: &Program) -> Option<u64> {
        let seat = &mut self.seats[number as usize];
        let exchange = &seat.exchange;
        let template = &program.templates[exchange.template as usize];
        let fixed = template.fields.as_ref();
        let fixed = fixed.filter(|_| exchange.redirects == 0);
        if fixed.is_none() {
            let text = exchange.bytes(program);
            make(text, program.scheme, &mut seat.made);
        }
        let fields = fixed.or(seat.made.as_ref())?;
        match &mut self.wires[wire as usize].carrier {
            Carrier::None => None,
            Carrier::Http2(http2) => http2.open(number, fields),
            Carrier::Http3(http3) => {
                let written = match (fixed, &self.quic) {
                    (Some(_), Some(quic)) => quic.written(exchange.template),
                    _ => None,
                };
                let bytes = written.unwrap_or_else(|| http3::written(fields));
                http3.open(number, bytes, fields.is_head)
            }
        }
    }

    /// Takes in bytes of a connection that were read at `now_ns`; what they end is in `ended`.
    ///
    /// # Errors
    /// How the peer broke the connection.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        number: u32,
        input: &[u8],
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> Result<(), Broken> {
        let received = self.read_with(
            number,
            now_ns,
            program,
            desk,
            |carrier, _, at| match carrier {
                Carrier::Http2(http2) => http2.receive(input, at),
                Carrier::None | Carrier::Http3(_) => Ok(()),
            },
        );
        let wire = &mut self.wires[number as usize];
        wire.heard_ns = now_ns;
        wire.note_allowed(&desk.recorder);
        received
    }

    /// The same for HTTP/3, whose datagrams QUIC has read; whether its handshake is done with them.
    ///
    /// # Errors
    /// How the connection was lost, or broken by its peer.
    #[inline]
    pub(crate) fn serve(
        &mut self,
        number: u32,
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> Result<bool, Broken> {
        self.read_with(number, now_ns, program, desk, |carrier, quic, at| {
            match (carrier, quic) {
                (Carrier::Http3(http3), Some(quic)) => http3.serve(&mut quic.heads, at),
                _ => Ok(false),
            }
        })
    }

    #[inline]
    fn read_with<R>(
        &mut self,
        number: u32,
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
        read: impl FnOnce(&mut Carrier<T>, Option<&mut Quic>, &mut Reading<'_>) -> R,
    ) -> R {
        let wire = &mut self.wires[number as usize];
        let mut reading = Reading {
            number,
            now_ns,
            seats: &mut self.seats,
            ended: &mut self.ended,
            program,
            desk,
            answers: 0,
        };
        let result = read(&mut wire.carrier, self.quic.as_deref_mut(), &mut reading);
        let answers = reading.answers;
        wire.note_answered(answers, &desk.recorder);
        wire.note_stall(now_ns, &desk.recorder);
        result
    }

    /// A connection of HTTP/3, with what it shares with the others.
    pub(crate) fn http3(&mut self, number: u32) -> Option<(&mut Quic, &mut Http3)> {
        match &mut self.wires[number as usize].carrier {
            Carrier::Http3(http3) => Some((self.quic.as_mut()?, http3)),
            Carrier::None | Carrier::Http2(_) => None,
        }
    }

    /// Closes a connection; the seats whose streams were under way.
    pub(crate) fn clear(&mut self, number: u32, now_ns: u64, recorder: &Recorder) -> Vec<u32> {
        self.let_wait(number, now_ns, recorder);
        let wire = &mut self.wires[number as usize];
        if let (Carrier::Http3(http3), Some(quic)) = (&mut wire.carrier, &mut self.quic) {
            quic.forget(number, http3);
        }
        wire.clear(now_ns, recorder)
    }

    /// Looks after connections of HTTP/3 that carry nothing, and notes of all what is not told as it happens.
    pub(crate) fn tend(&mut self, recorder: &Recorder) {
        if self.quic.is_none() {
            return;
        }
        for wire in &mut self.wires {
            if let Carrier::Http3(http3) = &mut wire.carrier {
                http3.rest();
                http3.note_path(recorder);
            }
        }
    }

    /// The requests that no answer has ended.
    pub(crate) fn outstanding(&self) -> u64 {
        let taken = |seat: &&Seat| seat.state != State::Free;
        self.seats.iter().filter(taken).count() as u64
    }

    /// Closes all connections. What they carry stays unanswered.
    pub(crate) fn retire(&mut self) {
        for wire in &mut self.wires {
            wire.carrier = Carrier::None;
            wire.stage = Stage::Closed;
            wire.waiting.clear();
        }
    }
}
