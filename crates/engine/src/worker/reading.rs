//! Reading what is ready, and what follows from it.

use std::io;

use mio::Events;
use mio::event::Event;

use super::{READS_AT_ONCE, Worker};
use crate::connection::{ConnectionStage, Heard};
use crate::context::ConnectionFailure;
use crate::transport::Transport;

/// More than a socket holds of a peer that has gone.
const READS_AT_THE_END: usize = 1024;

/// Whether it is what the peer says (a TLS alert), not the system.
fn is_word_of_peer(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

impl<T: Transport> Worker<T> {
    pub(super) fn read_ready(&mut self, events: &Events) {
        if self.interleave.is_some() {
            return self.read_ready_of_all(events);
        }
        self.read_unread();
        let mut is_first = true;
        for event in events {
            // The first event's reading was taken when the wait ended.
            if !is_first {
                self.now_ns = self.clock.now_ns();
            }
            is_first = false;
            self.read_event(event.token().0 as u32, event);
        }
    }

    /// Goes on with the connections that had more to read.
    pub(super) fn read_unread(&mut self) {
        if self.arm.mux.is_some() {
            return self.read_unread_mux();
        }
        for slot in std::mem::take(&mut self.arm.unread) {
            if self.arm.connections[slot as usize].transport.is_some() {
                self.now_ns = self.clock.now_ns();
                self.read(slot, true);
            }
        }
    }

    #[inline]
    pub(super) fn read_event(&mut self, slot: u32, event: &Event) {
        if self.arm.mux.is_some() {
            return self.mux_event(slot, event);
        }
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
    pub(super) fn read(&mut self, slot: u32, ends: bool) {
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

    /// Reads the clock for another read of an iteration: what it brings came later than what the first one brought. Where
    /// arms are interleaved no stamp may lie behind a mark that was not passed.
    #[inline]
    pub(super) fn stamp_again(&mut self, times: usize) {
        if times > 0 && self.interleave.is_none() {
            self.now_ns = self.clock.now_ns();
        }
    }

    #[inline]
    pub(super) fn received(&mut self, slot: u32, read: usize) {
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

    pub(super) fn peer_closed(&mut self, slot: u32) {
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
}
