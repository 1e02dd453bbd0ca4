//! HTTP/2 in a lane: connections ([`Wire`]) that carry the requests of several [`Seat`]s at once.
//!
//! A seat is to HTTP/2 what a connection is to HTTP/1: it has one request under way at a time, thinks between
//! two of them, and waits after failures. A plan has as many as connections times streams, and seat `n` sends on
//! the lane's connection `n` modulo their number. Nothing here reads a clock or waits.
//!
//! ```text
//!   Free ── taken ─▶ Waiting ── a stream is opened ─▶ Sent ── answered, failed ─▶ Free
//! ```

mod wire;

use assay_http2::client::Event;
use assay_http2::{Fault, StreamFault};

use crate::connection::Stage;
use crate::desk::{Broken, Desk};
use crate::exchange::Exchange;
use crate::program::Program;
use crate::protocol::http2::make;
use crate::record::Failure;
use crate::transport::Transport;
pub(crate) use wire::Wire;

/// Where a seat's request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    /// For a stream; whether because the peer allows no more of them at once.
    Waiting {
        is_held: bool,
    },
    /// On a stream of this number.
    Sent {
        stream: u32,
    },
}

/// One of the requests that connections carry at once.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) exchange: Exchange,
    pub(crate) state: State,
    /// The request as fields, where it is made anew each time.
    made: Option<assay_http2::client::Request>,
}

/// A lane's connections of HTTP/2.
#[derive(Debug)]
pub(crate) struct Wires<T> {
    pub(crate) seats: Vec<Seat>,
    pub(crate) wires: Vec<Wire<T>>,
    /// Connections that have something to send.
    pub(crate) due: Vec<u32>,
    /// What came of the streams since it was last looked at.
    pub(crate) ended: Vec<(u32, Outcome)>,
}

/// What became of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered,
    Failed(StreamFault),
}

impl<T: Transport> Wires<T> {
    pub(crate) fn new(connections: usize, streams: usize) -> Self {
        let seat = |_| Seat {
            exchange: Exchange::new(),
            state: State::Free,
            made: None,
        };
        Self {
            seats: (0..connections * streams).map(seat).collect(),
            wires: (0..connections).map(|_| Wire::new()).collect(),
            due: Vec::with_capacity(connections),
            ended: Vec::new(),
        }
    }

    /// The connection that a seat's requests go over.
    #[inline]
    pub(crate) fn wire_of(&self, seat: u32) -> u32 {
        (seat as usize % self.wires.len()) as u32
    }

    /// The connection is among those that are written next.
    #[inline]
    pub(crate) fn is_due(&mut self, number: u32) {
        let wire = &mut self.wires[number as usize];
        if !wire.is_due && !wire.out.is_empty() {
            wire.is_due = true;
            self.due.push(number);
        }
    }

    /// Opens streams for what waits on a connection, as far as that has room.
    #[inline]
    pub(crate) fn send_waiting(
        &mut self,
        number: u32,
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) {
        loop {
            let wire = &mut self.wires[number as usize];
            let Some(&seat) = wire.waiting.front() else {
                break;
            };
            if !wire.has_room(program) {
                self.hold(number);
                break;
            }
            wire.waiting.pop_front();
            self.send(seat, number, now_ns, program, desk);
        }
        self.is_due(number);
    }

    /// Notes of what waits that it waits for the peer's leave, where it does.
    fn hold(&mut self, number: u32) {
        let wire = &self.wires[number as usize];
        // Those before the last are held already, if it is.
        if let Some(&last) = wire.waiting.back()
            && wire.is_full()
            && self.seats[last as usize].state != (State::Waiting { is_held: true })
        {
            for &seat in &wire.waiting {
                self.seats[seat as usize].state = State::Waiting { is_held: true };
            }
        }
    }

    /// Sends a seat's request on a stream of its own: the moment its service time begins.
    #[inline]
    fn send(&mut self, number: u32, wire: u32, now_ns: u64, program: &Program, desk: &mut Desk) {
        let seat = &mut self.seats[number as usize];
        let wire = &mut self.wires[wire as usize];
        let Some(client) = &mut wire.client else {
            return;
        };
        let exchange = &mut seat.exchange;
        let fixed = program.templates[exchange.template as usize]
            .fields
            .as_ref();
        let stream = match fixed.filter(|_| exchange.redirects == 0) {
            Some(fields) => client.open(number, fields, &mut wire.out),
            None => {
                let text = exchange.bytes(program);
                let made = make(text, program.scheme, &mut seat.made);
                client.open(number, made, &mut wire.out)
            }
        };
        let Some(stream) = stream else { return };
        let waited_ns = now_ns.saturating_sub(exchange.since_ns);
        if let (State::Waiting { is_held: true }, Some(counts)) = (seat.state, &desk.ledger.http2) {
            counts.stream_waits.add(1);
            counts.stream_wait_ns.add(waited_ns);
        }
        seat.state = State::Sent { stream };
        exchange.since_ns = now_ns;
        if exchange.redirects == 0 {
            exchange.stamps.connect_ns = now_ns.saturating_sub(exchange.stamps.begun_ns);
            match &desk.ledger.open_loop {
                Some(times) => {
                    let lag_ns = now_ns.saturating_sub(exchange.intended_ns);
                    times.send_lag.record(lag_ns);
                }
                None => exchange.intended_ns = now_ns,
            }
        }
        wire.carried += 1;
        wire.note_stall(now_ns, &desk.ledger);
    }

    /// Takes in bytes of a connection that were read at `now_ns`; what they end is in `ended`.
    ///
    /// # Errors
    /// How the peer broke the connection.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        number: u32,
        mut input: &[u8],
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> Result<(), Fault> {
        let wire = &mut self.wires[number as usize];
        wire.heard_ns = now_ns;
        let Some(client) = &mut wire.client else {
            return Ok(());
        };
        while let Some(event) = client.next(&mut input, &mut wire.out)? {
            match event {
                Event::Answer { key, status } => {
                    let exchange = &mut self.seats[key as usize].exchange;
                    exchange.note_first_byte(now_ns, desk);
                    let head = desk.heads.of_fields(
                        (number, client.blocks_read()),
                        status,
                        client.fields().iter(),
                        program.reads_heads,
                    );
                    exchange.take_head(head, &[], program, desk);
                }
                Event::Body { key, data } => {
                    let exchange = &mut self.seats[key as usize].exchange;
                    exchange.take_data(data, program, desk);
                }
                Event::End { key } => {
                    wire.answered += 1;
                    if !wire.was_answered {
                        wire.was_answered = true;
                        desk.ledger.answered.add(1);
                    }
                    self.ended.push((key, Outcome::Answered));
                }
                Event::Failed { key, fault } => self.ended.push((key, Outcome::Failed(fault))),
                Event::GoAway(code) => desk.ledger.note_going_away(code.name()),
            }
        }
        wire.note_allowed(&desk.ledger);
        wire.note_stall(now_ns, &desk.ledger);
        Ok(())
    }

    /// The requests that no answer has ended.
    pub(crate) fn outstanding(&self) -> u64 {
        let taken = |seat: &&Seat| seat.state != State::Free;
        self.seats.iter().filter(taken).count() as u64
    }

    /// Closes all connections. What they carry stays unanswered.
    pub(crate) fn retire(&mut self) {
        for wire in &mut self.wires {
            wire.transport = None;
            wire.stage = Stage::Closed;
            wire.waiting.clear();
        }
    }
}

impl Broken {
    /// How a connection of HTTP/2 was broken by its peer.
    pub(crate) fn of_http2(fault: Fault, is_greeted: bool, desk: &Desk) -> Self {
        if fault == Fault::Http1 {
            return Self::new(Failure::WrongProtocol, fault.to_string());
        }
        let stage = if is_greeted { "open" } else { "greeting" };
        let code = fault.code().name();
        desk.ledger.note_fault(format!("{stage}: {code}"));
        Self::new(Failure::ProtocolError, format!("{code}: {fault}"))
    }

    /// Why a stream came to nothing.
    pub(crate) fn of_stream(fault: StreamFault, desk: &Desk) -> Self {
        let failure = match fault {
            StreamFault::Reset(code) => {
                desk.ledger.note_reset(code.name());
                Failure::StreamReset
            }
            StreamFault::Unprocessed => Failure::Unprocessed,
            _ => Failure::BadAnswer,
        };
        Self::new(failure, fault.to_string())
    }

    /// The peer ended a connection that carried requests.
    pub(crate) fn closed_http2(is_greeted: bool, is_going_away: bool) -> Self {
        match (is_greeted, is_going_away) {
            (false, _) => Self::new(Failure::ClosedEarly, "closed before its SETTINGS"),
            (true, true) => Self::new(
                Failure::ClosedEarly,
                "closed before it answered what its GOAWAY had left open",
            ),
            (true, false) => Self::new(
                Failure::ClosedUnannounced,
                "closed without GOAWAY, with requests under way",
            ),
        }
    }
}
