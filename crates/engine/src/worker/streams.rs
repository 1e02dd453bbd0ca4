//! An arm of HTTP/2 or HTTP/3: starting what is due on its slots, and reading and writing the connections of HTTP/2.
//!
//! What is due is given to slots first. Then each connection that has some is written once: its requests are put into its
//! buffer, stamped and written before those of the next are. So a batch costs two readings of the clock, one write and,
//! when its answers come, one read, and no request waits in a buffer of ours after its time has begun.

use std::io;

use mio::event::Event;

use super::{READS_AT_ONCE, STARTS_AT_ONCE, Worker};
use crate::connection::ConnectionStage;
use crate::context::ConnectionFailure;
use crate::record::Failure;
use crate::streams::{Carrier, Http2, Multiplexer};
use crate::transport::{HTTP2, Progress, Transport};

/// The clock is read again after so many starts: what becomes due meanwhile is taken, too.
const BATCH: u32 = 64;

const NOT_PICKED: &str = "the server does not speak HTTP/2: it does not pick h2 (ALPN)";

impl<T: Transport> Worker<T> {
    /// Starts what is due before `until_ns`, and writes it.
    pub(super) fn start_streams(&mut self, until_ns: u64) {
        self.now_ns = self.clock.now_ns();
        // The connection whose slots were taken last: requests of one mostly follow each other.
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
            let connection = self.arm.take_slot(intended_ns, self.now_ns);
            if asked.replace(connection) != Some(connection) {
                self.go_on(connection);
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
        let Some(mux) = &mut arm.mux else {
            return;
        };
        let connection = &mux.connections[number as usize];
        match connection.stage {
            ConnectionStage::Busy if connection.is_done(&arm.program) => self.end_mux(number),
            ConnectionStage::Busy => mux.is_due(number),
            ConnectionStage::Closed if !connection.waiting.is_empty() => self.open_mux(number),
            _ => {}
        }
    }

    /// Writes all connections that have something to send.
    pub(super) fn write_due(&mut self) {
        while let Some(mux) = &mut self.arm.mux
            && !mux.due.is_empty()
        {
            let mut due = std::mem::take(&mut mux.due);
            for number in due.drain(..) {
                self.write_mux(number);
            }
            if let Some(mux) = &mut self.arm.mux
                && mux.due.is_empty()
            {
                mux.due = due;
            }
        }
    }

    fn write_mux(&mut self, number: u32) {
        let arm = &mut self.arm;
        let Some(mux) = &mut arm.mux else {
            return;
        };
        let connection = &mut mux.connections[number as usize];
        connection.is_due = false;
        if connection.stage == ConnectionStage::Busy
            && mux.send_waiting(number, self.now_ns, &arm.program, &mut arm.context)
        {
            self.now_ns = self.clock.now_ns();
            mux.stamp(self.now_ns, self.loop_began_ns, &arm.context);
        }
        let connection = &mut mux.connections[number as usize];
        let http2 = match &mut connection.carrier {
            Carrier::None => return,
            Carrier::Http2(http2) => http2,
            Carrier::Http3(_) => return self.write_quic(number),
        };
        match http2.write() {
            Ok(written) => {
                let totals = &arm.context.recorder.totals;
                totals.bytes_written.add(written as u64);
                // Requests may have waited for nothing else than that this was sent.
                if written > 0
                    && !connection.waiting.is_empty()
                    && connection.has_room(&arm.program)
                {
                    self.go_on(number);
                }
            }
            Err(error) => self.read_last_of_mux(number, &error),
        }
    }

    /// Nothing more can be written. What the peer said before it closed tells more than that it did.
    #[cold]
    fn read_last_of_mux(&mut self, number: u32, error: &io::Error) {
        self.read_mux(number, true);
        if self.mux_stage(number) == ConnectionStage::Busy && !self.arm.unread.contains(&number) {
            self.break_mux(number, ConnectionFailure::io(error));
        }
    }

    pub(super) fn open_mux(&mut self, number: u32) {
        if self.is_quic() {
            return self.open_quic(number);
        }
        let opened = self.open_transport(number);
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let connection = &mut mux.connections[number as usize];
        connection.since_ns = self.now_ns;
        match opened {
            Ok(transport) => {
                connection.begin(Carrier::Http2(Http2::new(transport)));
                self.arm.context.recorder.note_open();
            }
            Err(error) => self.break_mux(number, ConnectionFailure::io(&error)),
        }
    }

    pub(super) fn mux_event(&mut self, number: u32, event: &Event) {
        if self.is_quic() {
            return self.quic_event(number, event);
        }
        let ends = event.is_read_closed() || event.is_error();
        match self.mux_stage(number) {
            ConnectionStage::Closed => return,
            ConnectionStage::Opening if !event.is_writable() && !ends => return,
            ConnectionStage::Opening | ConnectionStage::Shaking => self.establish_mux(number),
            ConnectionStage::Busy | ConnectionStage::Idle if event.is_writable() => {
                self.write_rest_of_mux(number)
            }
            ConnectionStage::Busy | ConnectionStage::Idle => {}
        }
        if self.mux_stage(number) == ConnectionStage::Busy && (event.is_readable() || ends) {
            self.read_mux(number, ends);
        }
        if self.interleave.is_some() {
            // Its arm may rest when the next writes are made.
            self.write_due();
        }
    }

    pub(super) fn mux_stage(&self, number: u32) -> ConnectionStage {
        let connection = |mux: &Multiplexer<T>| mux.connections[number as usize].stage;
        self.arm
            .mux
            .as_deref()
            .map_or(ConnectionStage::Closed, connection)
    }

    fn write_rest_of_mux(&mut self, number: u32) {
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let connection = &mut mux.connections[number as usize];
        match connection.http2().map(|http2| http2.transport.flush()) {
            Some(Err(error)) => self.read_last_of_mux(number, &error),
            Some(Ok(())) => {
                mux.is_due(number);
                self.go_on(number);
            }
            None => {}
        }
    }

    fn establish_mux(&mut self, number: u32) {
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let connection = &mut mux.connections[number as usize];
        let Some(http2) = connection.http2() else {
            return;
        };
        let progress = match http2.transport.establish() {
            Ok(progress) => progress,
            Err(error) => return self.not_established(number, ConnectionFailure::io(&error)),
        };
        if progress != Progress::Connecting {
            self.mux_connected(number);
        }
        if progress == Progress::Ready {
            self.greet(number);
        }
    }

    /// The network's own connection is complete.
    fn mux_connected(&mut self, number: u32) {
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let connection = &mut mux.connections[number as usize];
        if connection.stage == ConnectionStage::Opening {
            connection.stage = ConnectionStage::Shaking;
            connection.failures = 0;
            let began_ns = std::mem::replace(&mut connection.since_ns, self.now_ns);
            let is_again = std::mem::replace(&mut connection.was_opened, true);
            self.note_connected(self.now_ns.saturating_sub(began_ns), is_again);
        }
    }

    fn not_established(&mut self, number: u32, mut broken: ConnectionFailure) {
        if broken.failure == Failure::WrongProtocol {
            broken.detail = NOT_PICKED.into();
        }
        if matches!(broken.failure, Failure::WrongProtocol | Failure::Tls) {
            // The handshake failed within the event that told of the connection.
            self.mux_connected(number);
        }
        self.break_mux(number, broken);
    }

    /// Requests can be sent, if the server speaks HTTP/2.
    fn greet(&mut self, number: u32) {
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let connection = &mut mux.connections[number as usize];
        let since_ns = connection.since_ns;
        let Some(http2) = connection.http2() else {
            return;
        };
        let transport = &http2.transport;
        let context = &mut self.arm.context;
        if let Some(agreement) = transport.agreement() {
            self.now_ns = self.clock.now_ns();
            let handshake_time_ns = self.now_ns.saturating_sub(since_ns);
            context
                .recorder
                .note_handshake(handshake_time_ns, agreement);
        }
        context.note_session(|| transport.session());
        if T::SHAKES_HANDS && transport.protocol() != Some(HTTP2) {
            let broken = ConnectionFailure::new(Failure::WrongProtocol, NOT_PICKED);
            return self.break_mux(number, broken);
        }
        connection.greet(self.now_ns);
        for &slot in &connection.waiting {
            mux.slots[slot as usize].exchange.since_ns = self.now_ns;
        }
        context.heads.forget();
        self.go_on(number);
        self.write_mux(number);
    }

    /// Reads a connection until it is drained, as [`Worker::read`] does.
    pub(super) fn read_mux(&mut self, number: u32, ends: bool) {
        for times in 0..READS_AT_ONCE {
            let Some(mux) = &mut self.arm.mux else {
                return;
            };
            let connection = &mut mux.connections[number as usize];
            let is_open = connection.stage == ConnectionStage::Busy;
            let Some(http2) = connection.http2().filter(|_| is_open) else {
                return;
            };
            match http2.transport.read(&mut self.buffer, ends) {
                Ok(0) => return self.mux_closed(number),
                Ok(read) => {
                    self.stamp_again(times);
                    let is_short = read < self.buffer.len();
                    self.received_on_mux(number, read);
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
                    return self.mux_closed(number);
                }
                Err(error) => return self.break_mux(number, ConnectionFailure::io(&error)),
            }
        }
        self.arm.unread.push(number);
    }

    /// Ends a connection of which the peer has said that it ends with an error (RFC 9113, 5.4.1 and 6.8): where it
    /// does not close it by itself, what it has not answered would wait for the timeout.
    #[inline]
    fn heed_refusal(&mut self, number: u32) {
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let client = mux.connections[number as usize].http2();
        let refusal = client.and_then(|http2| http2.refusal());
        if let Some(code) = refusal {
            let detail = format!(
                "the server ends the connection with GOAWAY: {}",
                code.name()
            );
            self.break_mux(number, ConnectionFailure::new(Failure::ClosedEarly, detail));
        }
    }

    /// Goes on with the connections that had more to read.
    pub(super) fn read_unread_mux(&mut self) {
        for number in std::mem::take(&mut self.arm.unread) {
            self.now_ns = self.clock.now_ns();
            match self.is_quic() {
                true => self.read_quic(number),
                false => self.read_mux(number, true),
            }
        }
        if self.interleave.is_some() {
            self.write_due();
        }
    }

    #[inline]
    fn received_on_mux(&mut self, number: u32, read: usize) {
        let arm = &mut self.arm;
        let Some(mux) = &mut arm.mux else {
            return;
        };
        arm.context.recorder.totals.bytes_read.add(read as u64);
        let input = &self.buffer[..read];
        let (program, context) = (&arm.program, &mut arm.context);
        let received = mux.receive(number, input, self.now_ns, program, context);
        self.end_streams();
        if let Err(broken) = received {
            return self.break_mux(number, broken);
        }
        self.go_on(number);
        if let Some(mux) = &mut self.arm.mux {
            mux.is_due(number);
        }
    }

    /// Goes on with the slots whose streams have ended.
    #[inline]
    pub(super) fn end_streams(&mut self) {
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let mut ended = std::mem::take(&mut mux.ended);
        for slot in ended.answered.drain(..) {
            self.arm.end_stream(slot, self.now_ns);
        }
        // Those that are sent again go to the front: in the order in which they were sent before.
        for (slot, broken) in ended.failed.drain(..).rev() {
            self.fail_stream(slot, &broken);
        }
        if let Some(mux) = &mut self.arm.mux {
            mux.ended = ended;
        }
    }

    /// Closes a connection that takes no more requests, and opens another for those that wait.
    fn end_mux(&mut self, number: u32) {
        let Some(mux) = &mut self.arm.mux else {
            return;
        };
        let connection = &mut mux.connections[number as usize];
        if connection.carried == 0 && !connection.is_silent && !connection.waiting.is_empty() {
            // It would be opened again and again, and nothing be booked. Silence takes its time, and accounting it.
            let detail = "the server takes no request on a connection that it has just opened";
            return self.break_mux(number, ConnectionFailure::new(Failure::Unprocessed, detail));
        }
        mux.clear(number, self.now_ns, &self.arm.context.recorder);
        if !mux.connections[number as usize].waiting.is_empty() {
            self.open_mux(number);
        }
    }
}
