//! What follows from a failure: the accounting, the next try, and the end where nothing can be reached.

use std::cmp::Reverse;

use super::Worker;
use crate::change::Ended;
use crate::context::ConnectionFailure;
use crate::transport::Transport;

const FIRST_WAIT_NS: u64 = 1_000_000;
/// So many attempts to connect must have failed, in a worker that has so many connections: of
/// many that knock at once, one may be turned away by accident.
const FAILED_ATTEMPTS: usize = 16;

impl<T: Transport> Worker<T> {
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
        connection.exchange.failures = connection.exchange.failures.saturating_add(1);
        let failures = connection.exchange.failures;
        if let Some(log) = &mut self.arm.context.log {
            for _ in 0..failed {
                log.note_end(
                    connection.exchange.stamps,
                    self.now_ns,
                    Some(broken.failure),
                );
            }
        }
        if self.arm.program.ends_on.contains(&broken.failure) {
            self.end_for_failure();
        }
        if self.arm.program.ends_unreached && self.arm.context.recorder.opened.get() == 0 {
            self.note_unreached(failures);
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
    pub(super) fn send_again(&mut self, slot: u32) {
        let outstanding = self.arm.connections[slot as usize].outstanding;
        self.arm.drop_connection(slot);
        let connection = &mut self.arm.connections[slot as usize];
        connection.send_again(outstanding, self.now_ns, &self.arm.context);
        self.open(slot);
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
pub(super) fn wait_ns(failures: u32, longest_ns: u64) -> u64 {
    match failures {
        0 | 1 => 0,
        n => (FIRST_WAIT_NS << (n - 2).min(40)).min(longest_ns),
    }
}
