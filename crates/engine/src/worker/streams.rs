//! An arm of HTTP/2 or HTTP/3: starting what is due on its seats, and reading and writing the connections of HTTP/2.
//!
//! What is due is given to seats first. Then each connection that has some is written once: its requests are put into its
//! buffer, stamped and written before those of the next are. So a batch costs two readings of the clock, one write and,
//! when its answers come, one read, and no request waits in a buffer of ours after its time has begun.

use std::io;

use mio::event::Event;

use super::{READS_AT_ONCE, STARTS_AT_ONCE, Worker};
use crate::connection::Stage;
use crate::desk::Broken;
use crate::record::Failure;
use crate::streams::{Carrier, Http2, Wires};
use crate::transport::{HTTP2, Progress, Transport};

/// The clock is read again after so many starts: what becomes due meanwhile is taken, too.
const BATCH: u32 = 64;

const NOT_PICKED: &str = "the server does not speak HTTP/2: it does not pick h2 (ALPN)";

impl<T: Transport> Worker<T> {
    /// Starts what is due before `until_ns`, and writes it.
    pub(super) fn start_streams(&mut self, until_ns: u64) {
        self.now_ns = self.clock.now_ns();
        // The connection whose seats were taken last: requests of one mostly follow each other.
        let mut asked = None;
        self.has_more_due = true;
        for started in 1..=STARTS_AT_ONCE {
            if self.arm.quota == 0 {
                self.arm.quota = self.refill();
            }
            if self.arm.quota == 0 || !self.arm.finds_room() {
                self.arm.note_full();
                self.has_more_due = false;
                break;
            }
            let due_ns = self.arm.schedule.due(self.now_ns);
            let Some(intended_ns) = due_ns.filter(|due_ns| *due_ns < until_ns) else {
                self.has_more_due = false;
                break;
            };
            self.arm.schedule.advance();
            let wire = self.arm.take_seat(intended_ns, self.now_ns);
            if asked.replace(wire) != Some(wire) {
                self.go_on(wire);
            }
            if started % BATCH == 0 {
                self.now_ns = self.clock.now_ns();
            }
        }
        self.write_due();
    }

    /// Sees to it that what waits on a connection is sent, or opens it for that.
    #[inline]
    pub(super) fn go_on(&mut self, number: u32) {
        let arm = &mut self.arm;
        let Some(wires) = &mut arm.streams else {
            return;
        };
        let wire = &wires.wires[number as usize];
        match wire.stage {
            Stage::Busy if wire.is_done(&arm.program) => self.end_wire(number),
            Stage::Busy => wires.is_due(number),
            Stage::Closed if !wire.waiting.is_empty() => self.open_wire(number),
            _ => {}
        }
    }

    /// Writes all connections that have something to send.
    pub(super) fn write_due(&mut self) {
        while let Some(wires) = &mut self.arm.streams
            && !wires.due.is_empty()
        {
            let mut due = std::mem::take(&mut wires.due);
            for number in due.drain(..) {
                self.write_wire(number);
            }
            if let Some(wires) = &mut self.arm.streams
                && wires.due.is_empty()
            {
                wires.due = due;
            }
        }
    }

    fn write_wire(&mut self, number: u32) {
        let arm = &mut self.arm;
        let Some(wires) = &mut arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        wire.is_due = false;
        if wire.stage == Stage::Busy
            && wires.send_waiting(number, self.now_ns, &arm.program, &mut arm.desk)
        {
            self.now_ns = self.clock.now_ns();
            wires.stamp(self.now_ns, self.loop_began_ns, &arm.desk);
        }
        let wire = &mut wires.wires[number as usize];
        let http2 = match &mut wire.carrier {
            Carrier::None => return,
            Carrier::Http2(http2) => http2,
            Carrier::Http3(_) => return self.write_quic(number),
        };
        match http2.write() {
            Ok(written) => {
                let totals = &arm.desk.recorder.totals;
                totals.bytes_written.add(written as u64);
                // Requests may have waited for nothing else than that this was sent.
                if written > 0 && !wire.waiting.is_empty() && wire.has_room(&arm.program) {
                    self.go_on(number);
                }
            }
            Err(error) => self.read_last_of_wire(number, &error),
        }
    }

    /// Nothing more can be written. What the peer said before it closed tells more than that it did.
    #[cold]
    fn read_last_of_wire(&mut self, number: u32, error: &io::Error) {
        self.read_wire(number, true);
        if self.wire_stage(number) == Stage::Busy && !self.arm.unread.contains(&number) {
            self.break_wire(number, Broken::io(error));
        }
    }

    pub(super) fn open_wire(&mut self, number: u32) {
        if self.is_quic() {
            return self.open_quic(number);
        }
        let opened = self.open_transport(number);
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        wire.since_ns = self.now_ns;
        match opened {
            Ok(transport) => {
                wire.begin(Carrier::Http2(Http2::new(transport)));
                self.arm.desk.recorder.note_open();
            }
            Err(error) => self.break_wire(number, Broken::io(&error)),
        }
    }

    pub(super) fn wire_event(&mut self, number: u32, event: &Event) {
        if self.is_quic() {
            return self.quic_event(number, event);
        }
        let ends = event.is_read_closed() || event.is_error();
        match self.wire_stage(number) {
            Stage::Closed => return,
            Stage::Opening if !event.is_writable() && !ends => return,
            Stage::Opening | Stage::Shaking => self.establish_wire(number),
            Stage::Busy | Stage::Idle if event.is_writable() => self.write_rest_of_wire(number),
            Stage::Busy | Stage::Idle => {}
        }
        if self.wire_stage(number) == Stage::Busy && (event.is_readable() || ends) {
            self.read_wire(number, ends);
        }
        if self.interleave.is_some() {
            // Its arm may rest when the next writes are made.
            self.write_due();
        }
    }

    pub(super) fn wire_stage(&self, number: u32) -> Stage {
        let wire = |wires: &Wires<T>| wires.wires[number as usize].stage;
        self.arm.streams.as_deref().map_or(Stage::Closed, wire)
    }

    fn write_rest_of_wire(&mut self, number: u32) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        match wire.http2().map(|http2| http2.transport.flush()) {
            Some(Err(error)) => self.read_last_of_wire(number, &error),
            Some(Ok(())) => {
                wires.is_due(number);
                self.go_on(number);
            }
            None => {}
        }
    }

    fn establish_wire(&mut self, number: u32) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        let Some(http2) = wire.http2() else {
            return;
        };
        let progress = match http2.transport.establish() {
            Ok(progress) => progress,
            Err(error) => return self.not_established(number, Broken::io(&error)),
        };
        if progress != Progress::Connecting {
            self.wire_connected(number);
        }
        if progress == Progress::Ready {
            self.greet(number);
        }
    }

    /// The network's own connection is complete.
    fn wire_connected(&mut self, number: u32) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        if wire.stage == Stage::Opening {
            wire.stage = Stage::Shaking;
            wire.failures = 0;
            let began_ns = std::mem::replace(&mut wire.since_ns, self.now_ns);
            let is_again = std::mem::replace(&mut wire.was_opened, true);
            self.note_connected(self.now_ns.saturating_sub(began_ns), is_again);
        }
    }

    fn not_established(&mut self, number: u32, mut broken: Broken) {
        if broken.failure == Failure::WrongProtocol {
            broken.detail = NOT_PICKED.into();
        }
        if matches!(broken.failure, Failure::WrongProtocol | Failure::Tls) {
            // The handshake failed within the event that told of the connection.
            self.wire_connected(number);
        }
        self.break_wire(number, broken);
    }

    /// Requests can be sent, if the server speaks HTTP/2.
    fn greet(&mut self, number: u32) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        let since_ns = wire.since_ns;
        let Some(http2) = wire.http2() else {
            return;
        };
        let transport = &http2.transport;
        let desk = &mut self.arm.desk;
        if let Some(agreement) = transport.agreement() {
            self.now_ns = self.clock.now_ns();
            let handshake_time_ns = self.now_ns.saturating_sub(since_ns);
            desk.recorder.note_handshake(handshake_time_ns, agreement);
        }
        desk.note_session(|| transport.session());
        if T::SHAKES_HANDS && transport.protocol() != Some(HTTP2) {
            let broken = Broken::new(Failure::WrongProtocol, NOT_PICKED);
            return self.break_wire(number, broken);
        }
        wire.greet(self.now_ns);
        for &seat in &wire.waiting {
            wires.seats[seat as usize].exchange.since_ns = self.now_ns;
        }
        desk.heads.forget();
        self.go_on(number);
        self.write_wire(number);
    }

    /// Reads a connection until it is drained, as [`Worker::read`] does.
    pub(super) fn read_wire(&mut self, number: u32, ends: bool) {
        for times in 0..READS_AT_ONCE {
            let Some(wires) = &mut self.arm.streams else {
                return;
            };
            let wire = &mut wires.wires[number as usize];
            let is_open = wire.stage == Stage::Busy;
            let Some(http2) = wire.http2().filter(|_| is_open) else {
                return;
            };
            match http2.transport.read(&mut self.buffer, ends) {
                Ok(0) => return self.wire_closed(number),
                Ok(read) => {
                    self.stamp_again(times);
                    let is_short = read < self.buffer.len();
                    self.received_on_wire(number, read);
                    if T::SHORT_READ_DRAINS && is_short && !ends {
                        return self.heed_refusal(number);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.heed_refusal(number);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // TLS without a close_notify: what HTTP/2 says of the end counts, as without TLS.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return self.wire_closed(number);
                }
                Err(error) => return self.break_wire(number, Broken::io(&error)),
            }
        }
        self.arm.unread.push(number);
    }

    /// Ends a connection of which the peer has said that it ends with an error (RFC 9113, 5.4.1 and 6.8): where it
    /// does not close it by itself, what it has not answered would wait for the timeout.
    #[inline]
    fn heed_refusal(&mut self, number: u32) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let client = wires.wires[number as usize].http2();
        let refusal = client.and_then(|http2| http2.refusal());
        if let Some(code) = refusal {
            let detail = format!(
                "the server ends the connection with GOAWAY: {}",
                code.name()
            );
            self.break_wire(number, Broken::new(Failure::ClosedEarly, detail));
        }
    }

    /// Goes on with the connections that had more to read.
    pub(super) fn read_unread_wires(&mut self) {
        for number in std::mem::take(&mut self.arm.unread) {
            self.now_ns = self.clock.now_ns();
            match self.is_quic() {
                true => self.read_quic(number),
                false => self.read_wire(number, true),
            }
        }
        if self.interleave.is_some() {
            self.write_due();
        }
    }

    #[inline]
    fn received_on_wire(&mut self, number: u32, read: usize) {
        let arm = &mut self.arm;
        let Some(wires) = &mut arm.streams else {
            return;
        };
        arm.desk.recorder.totals.bytes_read.add(read as u64);
        let input = &self.buffer[..read];
        let (program, desk) = (&arm.program, &mut arm.desk);
        let received = wires.receive(number, input, self.now_ns, program, desk);
        self.end_streams();
        if let Err(broken) = received {
            return self.break_wire(number, broken);
        }
        self.go_on(number);
        if let Some(wires) = &mut self.arm.streams {
            wires.is_due(number);
        }
    }

    /// Goes on with the seats whose streams have ended.
    #[inline]
    pub(super) fn end_streams(&mut self) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let mut ended = std::mem::take(&mut wires.ended);
        for seat in ended.answered.drain(..) {
            self.arm.end_stream(seat, self.now_ns);
        }
        // Those that are sent again go to the front: in the order in which they were sent before.
        for (seat, broken) in ended.failed.drain(..).rev() {
            self.fail_seat(seat, &broken);
        }
        if let Some(wires) = &mut self.arm.streams {
            wires.ended = ended;
        }
    }

    pub(super) fn is_greeted(&self, number: u32) -> bool {
        let of = |wires: &Wires<T>| wires.wires[number as usize].is_greeted();
        self.arm.streams.as_deref().is_some_and(of)
    }

    /// Closes a connection that takes no more requests, and opens another for those that wait.
    fn end_wire(&mut self, number: u32) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        if wire.carried == 0 && !wire.is_silent && !wire.waiting.is_empty() {
            // It would be opened again and again, and nothing be booked. Silence takes its time, and accounting it.
            let detail = "the server takes no request on a connection that it has just opened";
            return self.break_wire(number, Broken::new(Failure::Unprocessed, detail));
        }
        wires.clear(number, self.now_ns, &self.arm.desk.recorder);
        if !wires.wires[number as usize].waiting.is_empty() {
            self.open_wire(number);
        }
    }
}
