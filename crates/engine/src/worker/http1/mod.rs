//! An arm of HTTP/1: opening its connections, and writing requests to them.

mod reading;

use std::io;

use super::{STARTS_AT_ONCE, Worker};
use crate::connection::ConnectionStage;
use crate::context::ConnectionFailure;
use crate::transport::{Progress, Transport};

impl<T: Transport> Worker<T> {
    /// Starts what is due before `until_ns`.
    #[inline]
    pub(super) fn start_http1(&mut self, until_ns: u64) {
        for _ in 0..STARTS_AT_ONCE {
            if self.arm.quota == 0 {
                self.arm.quota = self.refill();
                if self.arm.quota == 0 {
                    return;
                }
            }
            if !self.arm.finds_room() {
                return self.arm.note_full();
            }
            self.now_ns = self.clock.now_ns();
            let due_ns = self.arm.schedule.due(self.now_ns);
            let Some(intended_ns) = due_ns.filter(|due_ns| *due_ns < until_ns) else {
                return;
            };
            self.arm.schedule.advance();
            self.start(intended_ns);
        }
        self.has_more_due = true;
    }

    #[inline]
    fn start(&mut self, intended_ns: u64) {
        let slot = self.arm.take_next(intended_ns, self.now_ns);
        let connection = &mut self.arm.connections[slot as usize];
        if connection.stage == ConnectionStage::Idle {
            connection.stage = ConnectionStage::Busy;
            self.send(slot);
        } else {
            self.open(slot);
        }
    }

    /// The first write of a request: the moment its service time begins.
    #[inline]
    fn send(&mut self, slot: u32) {
        if let Some(times) = &self.arm.context.recorder.open_loop {
            let connection = &self.arm.connections[slot as usize];
            if connection.exchange.is_first_send() {
                let lag_ns = self.now_ns.saturating_sub(connection.exchange.intended_ns);
                times.send_lag.record(lag_ns);
                let spare = self.arm.idle.len() + self.arm.vacant.len();
                let busy = (self.arm.connections.len() - spare) as u64;
                times.busy_peak.set(times.busy_peak.get().max(busy));
            }
        }
        self.write(slot);
    }

    #[inline]
    fn write(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        loop {
            let Some((transport, unsent)) = connection.writing(&self.arm.program) else {
                return;
            };
            let result = transport.write(unsent);
            let is_all = matches!(result, Ok(written) if written == unsent.len());
            match result {
                Ok(written) => {
                    connection.sent_bytes += written;
                    self.arm
                        .context
                        .recorder
                        .totals
                        .bytes_written
                        .add(written as u64);
                    if is_all {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.read_last(slot, &error),
            }
        }
    }

    /// Goes on where the last write found no more room.
    fn write_rest(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        match connection.transport.as_mut().map(T::flush) {
            Some(Err(error)) => self.read_last(slot, &error),
            Some(Ok(())) if !connection.is_all_sent(&self.arm.program) => self.write(slot),
            _ => {}
        }
    }

    fn open(&mut self, slot: u32) {
        match self.open_transport(slot) {
            Ok(transport) => {
                let connection = &mut self.arm.connections[slot as usize];
                connection.transport = Some(transport);
                connection.stage = ConnectionStage::Opening;
                self.arm.context.recorder.note_open();
            }
            Err(error) => self.broke(slot, ConnectionFailure::io(&error)),
        }
    }

    /// Goes on connecting; once connected, sends what the connection was opened for.
    fn establish(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        let Some(transport) = &mut connection.transport else {
            return;
        };
        match transport.establish() {
            Ok(Progress::Connecting) => {}
            Ok(Progress::Shaking) => self.connected(slot),
            Ok(Progress::Ready) => {
                self.connected(slot);
                self.ready(slot);
            }
            Err(error) => self.broke(slot, ConnectionFailure::io(&error)),
        }
    }

    /// The network's own connection is complete.
    fn connected(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        if connection.stage != ConnectionStage::Opening {
            return;
        }
        connection.stage = ConnectionStage::Shaking;
        let connect_time_ns = self.now_ns.saturating_sub(connection.exchange.since_ns);
        connection.exchange.since_ns = self.now_ns;
        let is_again = std::mem::replace(&mut connection.was_opened, true);
        self.note_connected(connect_time_ns, is_again);
    }

    /// Requests can be sent.
    fn ready(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        let agreement = connection.transport.as_ref().and_then(T::agreement);
        let session = || connection.transport.as_ref().and_then(T::session);
        self.arm.context.note_session(session);
        if let Some(agreement) = agreement {
            // A handshake may pass within one event, where the peer is quick or this thread was not.
            self.now_ns = self.clock.now_ns();
            let handshake_time_ns = self.now_ns.saturating_sub(connection.exchange.since_ns);
            self.arm
                .context
                .recorder
                .note_handshake(handshake_time_ns, agreement);
        }
        connection.stage = ConnectionStage::Busy;
        connection.exchange.since_ns = self.now_ns;
        if let Some(stamps) = connection.exchange.stamps() {
            stamps.connect_ns = self.now_ns.saturating_sub(stamps.begun_ns);
        }
        if !self.arm.program.is_open_loop && connection.exchange.is_first_send() {
            connection.exchange.intended_ns = self.now_ns;
        }
        self.send(slot);
    }
}
