//! What connections of every protocol share: opening them, and what follows where nothing can be reached.

use std::io;

use mio::Interest;
use mio::unix::SourceFd;

use super::{EventPlace, Worker};
use crate::change::Ended;
use crate::transport::Transport;

const FIRST_WAIT_NS: u64 = 1_000_000;
/// So many attempts to connect must have failed, in a worker that has so many connections: of
/// many that knock at once, one may be turned away by accident.
const FAILED_ATTEMPTS: usize = 16;

impl<T: Transport> Worker<T> {
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

    pub(super) fn note_connected(&mut self, connect_time_ns: u64, is_again: bool) {
        let recorder = &self.arm.context.recorder;
        recorder.times.connect_time.record(connect_time_ns);
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

    /// Ends the run, or the arm where it is one of several.
    pub(super) fn end_for_failure(&self) {
        match &self.interleave {
            Some(interleave) => {
                let arm = self.arm.assignment.arm;
                interleave.course.note_end(arm, Ended::Failure);
            }
            None => self.control.stop(self.now_ns),
        }
    }

    /// Counts a failed attempt to connect while no connection ever opened, and tells the control
    /// once there were enough. Where connections go to several addresses, each place counts once:
    /// one dead address must not end what the others could serve.
    pub(super) fn note_unreached(&mut self, failures: u32) {
        if self.interleave.is_some() {
            return;
        }
        if self.arm.program.addresses > 1 && failures > 1 {
            return;
        }
        self.arm.unreached += 1;
        let enough = FAILED_ATTEMPTS.max(self.arm.program.addresses);
        if self.arm.unreached == enough.min(self.arm.assignment.connections) {
            self.control.note_unreached(self.now_ns);
        }
    }

    /// The worker's first connection is open: what seemed out of reach is not.
    pub(super) fn note_reached(&mut self) {
        if self.interleave.is_some() {
            return;
        }
        let enough = FAILED_ATTEMPTS.max(self.arm.program.addresses);
        if self.arm.unreached >= enough.min(self.arm.assignment.connections) {
            self.control.note_reached();
        }
    }
}

/// One failure may be the server's idle timeout and is tried again at once; a server that is
/// gone is asked less and less often, as far as the plan allows.
pub(super) fn wait_ns(failures: u8, longest_ns: u64) -> u64 {
    match failures {
        0 | 1 => 0,
        n => (FIRST_WAIT_NS << (n - 2).min(40)).min(longest_ns),
    }
}
