//! Starting what is due: on an idle connection, or on one opened for it.

use std::io;

use mio::Interest;
use mio::unix::SourceFd;

use super::{EventPlace, STARTS_AT_ONCE, Worker};
use crate::connection::ConnectionStage;
use crate::context::ConnectionFailure;
use crate::transport::{Progress, Transport};

impl<T: Transport> Worker<T> {
    /// Starts what is due, but nothing of the next phase: the clock may pass the phase's end
    /// between two requests.
    #[inline]
    pub(super) fn start_due(&mut self) {
        let until_ns = match &self.interleave {
            Some(interleave) => interleave.serves_until_ns().min(self.control.stop_ns()),
            None => self.phase_end_ns(),
        };
        self.arm.note_room(self.loop_began_ns);
        if self.arm.mux.is_some() {
            return self.start_streams(until_ns);
        }
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

    pub(super) fn refill(&mut self) -> u64 {
        match self.phase.is_measuring {
            true => self.arm.refill(&self.control),
            false => 0,
        }
    }

    #[inline]
    pub(super) fn start(&mut self, intended_ns: u64) {
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
    pub(super) fn send(&mut self, slot: u32) {
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
    pub(super) fn write(&mut self, slot: u32) {
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
    pub(super) fn write_rest(&mut self, slot: u32) {
        let connection = &mut self.arm.connections[slot as usize];
        match connection.transport.as_mut().map(T::flush) {
            Some(Err(error)) => self.read_last(slot, &error),
            Some(Ok(())) if !connection.is_all_sent(&self.arm.program) => self.write(slot),
            _ => {}
        }
    }

    /// Begins to connect, for the place that the descriptor's events will name.
    pub(super) fn open_transport(&mut self, slot: u32) -> io::Result<T> {
        let arm = self.arm.assignment.arm as usize;
        let transport = T::open(&mut self.arm.connector, slot as usize)?;
        self.waiter.registry().register(
            &mut SourceFd(&transport.descriptor()),
            EventPlace { arm, slot }.token(),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        Ok(transport)
    }

    pub(super) fn open(&mut self, slot: u32) {
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
    pub(super) fn establish(&mut self, slot: u32) {
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

    pub(super) fn note_connected(&mut self, connect_time_ns: u64, is_again: bool) {
        let recorder = &self.arm.context.recorder;
        recorder.connect_time.record(connect_time_ns);
        match is_again {
            true => recorder.reopened.add(1),
            false => {
                recorder.opened.add(1);
                if recorder.opened.get() == 1 {
                    self.note_reached();
                }
            }
        }
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
        let begun_ns = connection.exchange.stamps.begun_ns;
        connection.exchange.stamps.connect_ns = self.now_ns.saturating_sub(begun_ns);
        if !self.arm.program.is_open_loop && connection.exchange.is_first_send() {
            connection.exchange.intended_ns = self.now_ns;
        }
        self.send(slot);
    }
}
