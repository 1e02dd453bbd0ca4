//! Connections of HTTP/2: opening and reading them.

use std::io;

use mio::event::Event;

use super::super::{READS_AT_ONCE, Worker};
use crate::connection::ConnectionStage;
use crate::context::ConnectionFailure;
use crate::record::Failure;
use crate::streams::{Carrier, Http2};
use crate::transport::{HTTP2, Progress, Transport};

const NOT_PICKED: &str = "the server does not speak HTTP/2: it does not pick h2 (ALPN)";

impl<T: Transport> Worker<T> {
    pub(super) fn open_http2(&mut self, number: u32) {
        let opened = self.open_transport(number);
        let connection = &mut self.arm.mux.connections[number as usize];
        connection.since_ns = self.now_ns;
        match opened {
            Ok(transport) => {
                connection.begin(Carrier::Http2(Http2::new(transport)));
                self.arm.context.recorder.note_open();
            }
            Err(error) => self.break_mux(number, ConnectionFailure::io(&error)),
        }
    }

    /// Nothing more can be written. What the peer said before it closed tells more than that it did.
    #[cold]
    pub(super) fn read_last_of_http2(&mut self, number: u32, error: &io::Error) {
        self.read_http2(number, true);
        if self.mux_stage(number) == ConnectionStage::Busy && !self.arm.unread.contains(&number) {
            self.break_mux(number, ConnectionFailure::io(error));
        }
    }

    pub(in crate::worker) fn http2_event(&mut self, number: u32, event: &Event) {
        let ends = event.is_read_closed() || event.is_error();
        match self.mux_stage(number) {
            ConnectionStage::Closed => return,
            ConnectionStage::Opening if !event.is_writable() && !ends => return,
            ConnectionStage::Opening | ConnectionStage::Shaking => self.establish_http2(number),
            ConnectionStage::Busy | ConnectionStage::Idle if event.is_writable() => {
                self.write_rest_of_http2(number)
            }
            ConnectionStage::Busy | ConnectionStage::Idle => {}
        }
        if self.mux_stage(number) == ConnectionStage::Busy && (event.is_readable() || ends) {
            self.read_http2(number, ends);
        }
        if self.interleave.is_some() {
            // Its arm may rest when the next writes are made.
            self.write_due();
        }
    }

    fn write_rest_of_http2(&mut self, number: u32) {
        let mux = &mut self.arm.mux;
        let connection = &mut mux.connections[number as usize];
        match connection.http2().map(|http2| http2.transport.flush()) {
            Some(Err(error)) => self.read_last_of_http2(number, &error),
            Some(Ok(())) => {
                mux.is_due(number);
                self.go_on(number);
            }
            None => {}
        }
    }

    fn establish_http2(&mut self, number: u32) {
        let connection = &mut self.arm.mux.connections[number as usize];
        let Some(http2) = connection.http2() else {
            return;
        };
        let progress = match http2.transport.establish() {
            Ok(progress) => progress,
            Err(error) => return self.not_established(number, ConnectionFailure::io(&error)),
        };
        if progress != Progress::Connecting {
            self.http2_connected(number);
        }
        if progress == Progress::Ready {
            self.greet_http2(number);
        }
    }

    /// The network's own connection is complete.
    fn http2_connected(&mut self, number: u32) {
        let connection = &mut self.arm.mux.connections[number as usize];
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
            self.http2_connected(number);
        }
        self.break_mux(number, broken);
    }

    /// Requests can be sent, if the server speaks HTTP/2.
    fn greet_http2(&mut self, number: u32) {
        let mux = &mut self.arm.mux;
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
    fn read_http2(&mut self, number: u32, ends: bool) {
        for times in 0..READS_AT_ONCE {
            let connection = &mut self.arm.mux.connections[number as usize];
            let is_open = connection.stage == ConnectionStage::Busy;
            let Some(http2) = connection.http2().filter(|_| is_open) else {
                return;
            };
            match http2.transport.read(&mut self.buffer, ends) {
                Ok(0) => return self.http2_closed(number),
                Ok(read) => {
                    self.stamp_again(times);
                    let is_short = read < self.buffer.len();
                    self.received_on_http2(number, read);
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
                    return self.http2_closed(number);
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
        let client = self.arm.mux.connections[number as usize].http2();
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
    pub(in crate::worker) fn read_unread_http2(&mut self) {
        for number in std::mem::take(&mut self.arm.unread) {
            self.now_ns = self.clock.now_ns();
            self.read_http2(number, true);
        }
        if self.interleave.is_some() {
            self.write_due();
        }
    }

    #[inline]
    fn received_on_http2(&mut self, number: u32, read: usize) {
        let arm = &mut self.arm;
        let mux = &mut arm.mux;
        arm.context.recorder.totals.bytes_read.add(read as u64);
        let input = &self.buffer[..read];
        let (program, context) = (&arm.program, &mut arm.context);
        let received = mux.receive(number, input, self.now_ns, program, context);
        self.end_streams();
        if let Err(broken) = received {
            return self.break_mux(number, broken);
        }
        self.go_on(number);
        self.arm.mux.is_due(number);
    }

    /// The peer ended its side.
    fn http2_closed(&mut self, number: u32) {
        let connection = &self.arm.mux.connections[number as usize];
        let (is_greeted, is_going_away) = (connection.is_greeted(), connection.is_going_away());
        let broken = ConnectionFailure::closed_http2(is_greeted, is_going_away);
        self.break_mux(number, broken);
    }
}
