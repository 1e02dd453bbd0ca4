//! What follows from failures of streams, and of connections that carry several.

use std::cmp::Reverse;

use super::super::Worker;
use super::super::connecting::wait_ns;
use crate::connection::ConnectionStage;
use crate::context::ConnectionFailure;
use crate::record::Failure;
use crate::streams::{MuxConnection, SlotState, StreamSlot};
use crate::transport::Transport;

impl<T: Transport> Worker<T> {
    /// A slot's request was not processed and goes to the front of what waits for its connection, or has failed.
    #[cold]
    pub(super) fn fail_stream(&mut self, number: u32, broken: &ConnectionFailure) {
        if broken.failure == Failure::Unprocessed && self.send_stream_again(number) {
            return;
        }
        let arm = &mut self.arm;
        let slot = &mut arm.mux.slots[number as usize];
        slot.state = SlotState::Free;
        slot.exchange.clear(&mut arm.context);
        slot.exchange.failures = slot.exchange.failures.saturating_add(1);
        let recorder = &arm.context.recorder;
        recorder.fail(broken.failure, 1, || broken.detail.clone());
        slot.exchange
            .fail_by_request(broken.failure, 1, &arm.program, &arm.context);
        let failure = Some(broken.failure);
        slot.exchange.log(self.now_ns, failure, &mut arm.context);
        let wait_ns = wait_ns(slot.exchange.failures, arm.program.retry_wait_max_ns);
        let wakes = Reverse((self.now_ns + wait_ns, number));
        arm.sleepers.push(wakes);
        if arm.program.ends_on.contains(&broken.failure) {
            self.end_for_failure();
        }
    }

    /// Lets a slot's request wait to be sent once more; false where it has failed.
    fn send_stream_again(&mut self, number: u32) -> bool {
        let (arm, now_ns) = (&mut self.arm, self.now_ns);
        if !arm.program.resends {
            return false;
        }
        let mux = &mut arm.mux;
        let slot = &mut mux.slots[number as usize];
        if !matches!(slot.state, SlotState::Sent { .. }) || slot.exchange.is_final() {
            return false;
        }
        slot.exchange.clear(&mut arm.context);
        slot.exchange.send_again(now_ns, &arm.context);
        slot.state = SlotState::waiting(now_ns);
        let connection = mux.connection_of(number);
        mux.connections[connection as usize]
            .waiting
            .push_front(number);
        true
    }

    /// A connection cannot go on: all that is under way on it has failed. What waits for it has too, unless it
    /// had served; then another is opened.
    #[cold]
    pub(super) fn break_mux(&mut self, number: u32, broken: ConnectionFailure) {
        let arm = &mut self.arm;
        let mux = &mut arm.mux;
        let connection = &mut mux.connections[number as usize];
        if connection.stage == ConnectionStage::Closed && connection.waiting.is_empty() {
            return;
        }
        let has_served = connection.answered > 0;
        if !has_served {
            connection.failures = connection.failures.saturating_add(1);
        }
        let failures = connection.failures;
        let mut lost = mux.clear(number, self.now_ns, &arm.context.recorder);
        if !has_served {
            lost.extend(mux.connections[number as usize].waiting.drain(..));
        }
        if arm.program.ends_unreached && arm.context.recorder.opened.get() == 0 && !lost.is_empty()
        {
            self.note_unreached(failures);
        }
        for slot in lost {
            self.fail_stream(slot, &broken);
        }
        self.open_for_waiting(number);
    }

    fn open_for_waiting(&mut self, number: u32) {
        let connection = &self.arm.mux.connections[number as usize];
        if connection.stage == ConnectionStage::Closed && !connection.waiting.is_empty() {
            self.open_mux(number);
        }
    }

    /// Ends what has taken too long. Nothing can have before the oldest of the last look has: until then connections and
    /// slots are left alone.
    pub(in crate::worker) fn sweep_streams(&mut self) {
        self.arm.mux.tend(&self.arm.context.recorder);
        if self.now_ns >= self.arm.overdue_from_ns {
            let limit_ns = self.arm.program.timeout_ns;
            let after = format!("after {} ms", limit_ns as f64 / 1e6);
            let oldest_ns = self.sweep_mux(&after).min(self.sweep_slots(&after));
            self.arm.overdue_from_ns = oldest_ns + limit_ns;
        }
        self.write_due();
    }

    /// Ends attempts to connect, and what has waited for a connection; since when the oldest attempt of the others lasts.
    fn sweep_mux(&mut self, after: &str) -> u64 {
        let limit_ns = self.arm.program.timeout_ns;
        let mut oldest_ns = self.now_ns;
        let count = self.arm.mux.connections.len();
        for number in 0..count as u32 {
            let connection = &self.arm.mux.connections[number as usize];
            if matches!(
                connection.stage,
                ConnectionStage::Opening | ConnectionStage::Shaking
            ) {
                if self.now_ns >= connection.since_ns + limit_ns {
                    let broken = ConnectionFailure::new(Failure::ConnectTimeout, after);
                    self.break_mux(number, broken);
                } else {
                    oldest_ns = oldest_ns.min(connection.since_ns);
                }
            }
            self.time_out_waiting(number, after);
        }
        oldest_ns
    }

    /// Ends requests that were sent; since when the oldest of the others, and of those that wait, do.
    fn sweep_slots(&mut self, after: &str) -> u64 {
        let limit_ns = self.arm.program.timeout_ns;
        let mut oldest_ns = self.now_ns;
        let count = self.arm.mux.slots.len();
        for number in 0..count as u32 {
            let slot = &self.arm.mux.slots[number as usize];
            let since_ns = slot.exchange.since_ns;
            match slot.state {
                SlotState::Sent { stream } if self.now_ns >= since_ns + limit_ns => {
                    self.time_out(number, stream, since_ns, after);
                }
                SlotState::Sent { .. } => oldest_ns = oldest_ns.min(since_ns),
                SlotState::Waiting { taken_ns, .. } => oldest_ns = oldest_ns.min(taken_ns),
                SlotState::Free => {}
            }
        }
        oldest_ns
    }

    /// Gives up what has waited on a connection for too long.
    fn time_out_waiting(&mut self, number: u32, after: &str) {
        let (limit_ns, now_ns) = (self.arm.program.timeout_ns, self.now_ns);
        let mux = &mut self.arm.mux;
        let overdue = mux.take_overdue(number, now_ns, limit_ns);
        if overdue.is_empty() {
            return;
        }
        for slot in overdue {
            let mux = &mut self.arm.mux;
            let StreamSlot {
                state, exchange, ..
            } = &mux.slots[slot as usize];
            let (state, since_ns) = (*state, exchange.since_ns);
            mux.slots[slot as usize].note_wait(now_ns, &self.arm.context.recorder);
            let connection = &mut mux.connections[number as usize];
            connection.is_silent |= connection.stage == ConnectionStage::Busy
                && connection.heard_ns <= since_ns
                && now_ns >= since_ns + limit_ns;
            let detail = format!("{after}{}", why(state, connection));
            self.fail_stream(slot, &ConnectionFailure::new(Failure::Timeout, detail));
        }
        self.go_on(number);
    }

    /// Gives up a request that was sent. A connection on which nothing was heard for so long takes no more.
    fn time_out(&mut self, slot: u32, stream: u64, since_ns: u64, after: &str) {
        let mux = &mut self.arm.mux;
        let number = mux.connection_of(slot);
        let connection = &mut mux.connections[number as usize];
        connection.is_silent |= connection.heard_ns <= since_ns;
        let exchange = &mux.slots[slot as usize].exchange;
        let came = exchange.came_so_far(false).unwrap_or_default();
        let why = why(SlotState::Sent { stream }, connection);
        let detail = format!("{after}{came}{why}");
        connection.cancel(stream);
        connection.note_stall(self.now_ns, &self.arm.context.recorder);
        mux.is_due(number);
        self.fail_stream(slot, &ConnectionFailure::new(Failure::Timeout, detail));
        self.go_on(number);
    }
}

/// What it was that a request which is given up waited for.
fn why<T: Transport>(state: SlotState, connection: &MuxConnection<T>) -> &'static str {
    match state {
        SlotState::Waiting { .. } if connection.stage != ConnectionStage::Busy => {
            ", waiting for another connection"
        }
        _ if !connection.is_greeted() => ": the server never sent SETTINGS",
        SlotState::Waiting { is_held: true, .. } => {
            ", waiting for a stream: the server allows no more at once"
        }
        _ if connection.is_stalled() => ", with bodies waiting for the server's window",
        _ => "",
    }
}
