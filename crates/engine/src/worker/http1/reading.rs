//! An arm of HTTP/1: reading its connections, and what follows from answers, closes, failures and timeouts.

use std::cmp::Reverse;
use std::io;

use mio::event::Event;

use super::super::connecting::wait_ns;
use super::super::{READS_AT_ONCE, Worker};
use crate::connection::{ConnectionStage, Heard};
use crate::context::ConnectionFailure;
use crate::record::Failure;
use crate::transport::Transport;

/// More than a socket holds of a peer that has gone.
const READS_AT_THE_END: usize = 1024;

/// Whether it is what the peer says (a TLS alert), not the system.
fn is_word_of_peer(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

impl<T: Transport> Worker<T> {
    /// Goes on with the connections that had more to read.
    pub(in crate::worker) fn read_unread_http1(&mut self) {
        for slot in std::mem::take(&mut self.arm.unread) {
            if self.arm.connections[slot as usize].transport.is_some() {
                self.now_ns = self.clock.now_ns();
                self.read(slot, true);
            }
        }
    }

    #[inline]
    pub(in crate::worker) fn http1_event(&mut self, slot: u32, event: &Event) {
        let ends = event.is_read_closed() || event.is_error();
        match self.arm.connections[slot as usize].stage {
            ConnectionStage::Closed => return,
            ConnectionStage::Opening if event.is_writable() || ends => self.establish(slot),
            ConnectionStage::Opening => {}
            ConnectionStage::Shaking => self.establish(slot),
            ConnectionStage::Busy if event.is_writable() => self.write_rest(slot),
            ConnectionStage::Busy | ConnectionStage::Idle => {}
        }
        let stage = self.arm.connections[slot as usize].stage;
        let is_open = matches!(stage, ConnectionStage::Busy | ConnectionStage::Idle);
        if is_open && (event.is_readable() || ends) {
            self.read(slot, ends);
        }
    }

    /// Reads a connection until it is drained. After an edge, a read that does not fill the
    /// buffer has drained the socket, unless the peer has ended its side.
    #[inline]
    fn read(&mut self, slot: u32, ends: bool) {
        for times in 0..READS_AT_ONCE {
            let connection = &mut self.arm.connections[slot as usize];
            let Some(transport) = &mut connection.transport else {
                return;
            };
            match transport.read(&mut self.buffer, ends) {
                Ok(0) => return self.peer_closed(slot),
                Ok(read) => {
                    self.stamp_again(times);
                    self.arm.context.recorder.totals.bytes_read.add(read as u64);
                    self.received(slot, read);
                    if T::SHORT_READ_DRAINS && read < self.buffer.len() && !ends {
                        return;
                    }
                    // A redirect may have opened another connection in this one's place.
                    if self.arm.connections[slot as usize].stage == ConnectionStage::Opening {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // TLS without a close_notify. Between two answers there is nothing that it could have cut off.
                Err(error)
                    if error.kind() == io::ErrorKind::UnexpectedEof
                        && connection.is_between_answers() =>
                {
                    return self.peer_closed(slot);
                }
                Err(error) => return self.broke(slot, ConnectionFailure::io(&error)),
            }
        }
        self.arm.unread.push(slot);
    }

    /// Nothing more can be written. The peer may have said why before it closed: an answer that came counts, or a TLS
    /// alert (RFC 9112, 9.5); without one it is the error of the write.
    #[cold]
    pub(super) fn read_last(&mut self, slot: u32, error: &io::Error) {
        for _ in 0..READS_AT_THE_END {
            let connection = &mut self.arm.connections[slot as usize];
            let Some(transport) = &mut connection.transport else {
                return;
            };
            match transport.read(&mut self.buffer, true) {
                Ok(0) => break,
                Ok(read) => {
                    self.arm.context.recorder.totals.bytes_read.add(read as u64);
                    self.received(slot, read);
                }
                Err(other) if other.kind() == io::ErrorKind::Interrupted => {}
                Err(alert) if is_word_of_peer(&alert) => {
                    return self.broke(slot, ConnectionFailure::io(&alert));
                }
                Err(_) => break,
            }
            match self.arm.connections[slot as usize].stage {
                ConnectionStage::Busy => {}
                // It is where those that carry nothing are, and stays there.
                ConnectionStage::Idle => return self.arm.drop_connection(slot),
                ConnectionStage::Closed | ConnectionStage::Opening | ConnectionStage::Shaking => {
                    return;
                }
            }
        }
        self.broke(slot, ConnectionFailure::io(error));
    }

    #[inline]
    fn received(&mut self, slot: u32, read: usize) {
        let connection = &mut self.arm.connections[slot as usize];
        let input = &self.buffer[..read];
        if connection.outstanding == 0 {
            // Bytes nobody asked for: what an answer had too much, or a 408 before the server gives
            // up an idle connection.
            connection.note_stray(read, input, &self.arm.context);
            return self.arm.drop_connection(slot);
        }
        match connection.receive(input, self.now_ns, &self.arm.program, &mut self.arm.context) {
            Ok(Heard::Wait) => {}
            Ok(Heard::Done { reusable }) => self.arm.done(slot, reusable, self.now_ns),
            Ok(Heard::SendAgain) => self.send_again(slot),
            Ok(Heard::Follow { reusable }) => self.follow(slot, reusable),
            Err(broken) => self.broke(slot, broken),
        }
    }

    /// Sends the request that follows a redirect, on a new connection where it has to be.
    #[cold]
    fn follow(&mut self, slot: u32, reusable: bool) {
        if reusable {
            return self.write(slot);
        }
        let outstanding = self.arm.connections[slot as usize].outstanding;
        self.arm.drop_connection(slot);
        self.arm.connections[slot as usize].outstanding = outstanding;
        self.open(slot);
    }

    fn peer_closed(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        if connection.outstanding == 0 {
            return self.arm.drop_connection(slot);
        }
        match connection.receive_close(self.now_ns, &self.arm.program, &mut self.arm.context) {
            Ok(Heard::Follow { .. }) => self.follow(slot, false),
            Ok(Heard::SendAgain) => self.send_again(slot),
            Ok(_) => self.arm.done(slot, false, self.now_ns),
            Err(broken) => self.broke(slot, broken),
        }
    }

    /// Everything the connection carries has failed.
    #[cold]
    pub(super) fn broke(&mut self, slot: u32, broken: ConnectionFailure) {
        let connection = &mut self.arm.connections[slot as usize];
        if connection.outstanding == 0 {
            return self.arm.drop_connection(slot);
        }
        if self.arm.program.resends && connection.ended_idle(broken.failure, &self.arm.program) {
            return self.send_again(slot);
        }
        let failed = u64::from(connection.outstanding);
        self.arm
            .context
            .recorder
            .fail(broken.failure, failed, || broken.detail);
        connection.exchange.fail_by_request(
            broken.failure,
            failed,
            &self.arm.program,
            &self.arm.context,
        );
        connection.exchange.failures = connection.exchange.failures.saturating_add(1);
        let failures = connection.exchange.failures;
        if self.arm.context.log.is_some() {
            for _ in 0..failed {
                let failure = Some(broken.failure);
                (connection.exchange).log(self.now_ns, failure, &mut self.arm.context);
            }
        }
        if self.arm.program.ends_on.contains(&broken.failure) {
            self.end_for_failure();
        }
        if self.arm.program.ends_unreached && self.arm.context.recorder.opened.get() == 0 {
            self.note_unreached(u32::from(failures));
        }
        self.arm.drop_connection(slot);
        // Never at once into `vacant`: where connecting fails within its own call, starting would
        // find the place vacant again and never come round to the time.
        let wait_ns = wait_ns(failures, self.arm.program.retry_wait_max_ns);
        self.arm
            .sleepers
            .push(Reverse((self.now_ns + wait_ns, slot)));
    }

    /// Sends what a connection carries once more, on a new one.
    #[cold]
    fn send_again(&mut self, slot: u32) {
        let outstanding = self.arm.connections[slot as usize].outstanding;
        self.arm.drop_connection(slot);
        let connection = &mut self.arm.connections[slot as usize];
        connection.send_again(outstanding, self.now_ns, &self.arm.context);
        self.open(slot);
    }

    /// Ends what has taken too long. Requests are not kept in order of their age: looking at all
    /// connections from time to time costs less than keeping order on every request. Nothing can be overdue
    /// before the oldest request of the last look is: until then a million connections are left alone.
    pub(in crate::worker) fn sweep_http1(&mut self) {
        let limit_ns = self.arm.program.timeout_ns;
        if self.now_ns < self.arm.overdue_from_ns {
            return;
        }
        let mut oldest_ns = self.now_ns;
        for slot in 0..self.arm.connections.len() as u32 {
            let connection = &self.arm.connections[slot as usize];
            if connection.outstanding == 0 {
                continue;
            }
            let since_ns = connection.exchange.since_ns;
            if self.now_ns < since_ns + limit_ns {
                oldest_ns = oldest_ns.min(since_ns);
                continue;
            }
            let (failure, seen) = match connection.stage {
                ConnectionStage::Opening => (Failure::ConnectTimeout, String::new()),
                ConnectionStage::Shaking => {
                    (Failure::ConnectTimeout, ", inside the handshake".into())
                }
                _ => (Failure::Timeout, connection.came_so_far(&self.arm.program)),
            };
            let detail = format!("after {} ms{seen}", limit_ns as f64 / 1e6);
            let broken = connection.missing(failure, detail);
            self.broke(slot, broken);
        }
        self.arm.overdue_from_ns = oldest_ns + limit_ns;
    }

    /// Reads what a connection still brings once nothing more is asked.
    pub(in crate::worker) fn look_over_http1(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        for _ in 0..READS_AT_ONCE {
            if !matches!(
                connection.stage,
                ConnectionStage::Busy | ConnectionStage::Idle
            ) {
                return;
            }
            let Some(transport) = &mut connection.transport else {
                return;
            };
            match transport.read(&mut self.buffer, false) {
                Ok(0) => return,
                Ok(read) => {
                    connection.look_over(
                        &self.buffer[..read],
                        &self.arm.program,
                        &mut self.arm.context,
                    );
                }
                Err(_) => return,
            }
        }
    }
}
