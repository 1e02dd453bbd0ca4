//! What follows from failures of streams, and of connections that carry several.

use std::cmp::Reverse;

use super::Worker;
use super::failing::wait_ns;
use crate::connection::Stage;
use crate::desk::Broken;
use crate::record::Failure;
use crate::streams::{Seat, State, Wire};
use crate::transport::Transport;

impl<T: Transport> Worker<T> {
    /// A seat's request was not processed and goes to the front of what waits for its connection, or has failed.
    #[cold]
    pub(super) fn fail_seat(&mut self, number: u32, broken: &Broken) {
        if broken.failure == Failure::Unprocessed && self.send_seat_again(number) {
            return;
        }
        let arm = &mut self.arm;
        let Some(wires) = &mut arm.streams else {
            return;
        };
        let seat = &mut wires.seats[number as usize];
        seat.state = State::Free;
        seat.exchange.clear(&mut arm.desk);
        seat.exchange.failures = seat.exchange.failures.saturating_add(1);
        let recorder = &arm.desk.recorder;
        recorder.fail(broken.failure, 1, || broken.detail.clone());
        if let Some(log) = &mut arm.desk.log {
            log.note_end(seat.exchange.stamps, self.now_ns, Some(broken.failure));
        }
        let wait_ns = wait_ns(seat.exchange.failures, arm.program.retry_wait_max_ns);
        let wakes = Reverse((self.now_ns + wait_ns, number));
        arm.sleepers.push(wakes);
        if arm.program.ends_on.contains(&broken.failure) {
            self.end_for_failure();
        }
    }

    /// Lets a seat's request wait to be sent once more; false where it has failed.
    fn send_seat_again(&mut self, number: u32) -> bool {
        let (arm, now_ns) = (&mut self.arm, self.now_ns);
        let Some(wires) = arm.streams.as_mut().filter(|_| arm.program.resends) else {
            return false;
        };
        let seat = &mut wires.seats[number as usize];
        if !matches!(seat.state, State::Sent { .. }) || seat.exchange.is_final() {
            return false;
        }
        seat.exchange.clear(&mut arm.desk);
        seat.exchange.send_again(now_ns, &arm.desk);
        seat.state = State::Waiting { is_held: false };
        seat.taken_ns = now_ns;
        wires.wires[seat.wire as usize].waiting.push_front(number);
        true
    }

    /// A connection cannot go on: all that is under way on it has failed. What waits for it has too, unless it
    /// had served; then another is opened.
    #[cold]
    pub(super) fn break_wire(&mut self, number: u32, broken: Broken) {
        let arm = &mut self.arm;
        let Some(wires) = &mut arm.streams else {
            return;
        };
        let wire = &mut wires.wires[number as usize];
        if wire.stage == Stage::Closed && wire.waiting.is_empty() {
            return;
        }
        let has_served = wire.answered > 0;
        if !has_served {
            wire.failures = wire.failures.saturating_add(1);
        }
        let failures = wire.failures;
        let mut lost = wires.clear(number, self.now_ns, &arm.desk.recorder);
        if !has_served {
            lost.extend(wires.wires[number as usize].waiting.drain(..));
        }
        if arm.program.ends_unreached && arm.desk.recorder.opened.get() == 0 && !lost.is_empty() {
            self.note_unreached(failures);
        }
        for seat in lost {
            self.fail_seat(seat, &broken);
        }
        self.open_for_waiting(number);
    }

    fn open_for_waiting(&mut self, number: u32) {
        let waits = self.arm.streams.as_deref().is_some_and(|wires| {
            let wire = &wires.wires[number as usize];
            wire.stage == Stage::Closed && !wire.waiting.is_empty()
        });
        if waits {
            self.open_wire(number);
        }
    }

    /// The peer ended its side.
    pub(super) fn wire_closed(&mut self, number: u32) {
        let Some(wires) = &self.arm.streams else {
            return;
        };
        let is_going_away = wires.wires[number as usize].is_going_away();
        let broken = Broken::closed_http2(self.is_greeted(number), is_going_away);
        self.break_wire(number, broken);
    }

    /// Ends what has taken too long. Nothing can have before the oldest of the last look has: until then connections and
    /// seats are left alone.
    pub(super) fn sweep_streams(&mut self) {
        if let Some(wires) = &mut self.arm.streams {
            wires.tend(&self.arm.desk.recorder);
        }
        if self.now_ns >= self.arm.overdue_from_ns {
            let limit_ns = self.arm.program.timeout_ns;
            let after = format!("after {} ms", limit_ns as f64 / 1e6);
            let oldest_ns = self.sweep_wires(&after).min(self.sweep_seats(&after));
            self.arm.overdue_from_ns = oldest_ns + limit_ns;
        }
        self.write_due();
    }

    /// Ends attempts to connect, and what has waited for a connection; since when the oldest attempt of the others lasts.
    fn sweep_wires(&mut self, after: &str) -> u64 {
        let limit_ns = self.arm.program.timeout_ns;
        let mut oldest_ns = self.now_ns;
        let count = self.arm.streams.as_ref().map_or(0, |of| of.wires.len());
        for number in 0..count as u32 {
            let Some(wires) = &self.arm.streams else {
                break;
            };
            let wire = &wires.wires[number as usize];
            if matches!(wire.stage, Stage::Opening | Stage::Shaking) {
                if self.now_ns >= wire.since_ns + limit_ns {
                    let broken = Broken::new(Failure::ConnectTimeout, after);
                    self.break_wire(number, broken);
                } else {
                    oldest_ns = oldest_ns.min(wire.since_ns);
                }
            }
            self.time_out_waiting(number, after);
        }
        oldest_ns
    }

    /// Ends requests that were sent; since when the oldest of the others, and of those that wait, do.
    fn sweep_seats(&mut self, after: &str) -> u64 {
        let limit_ns = self.arm.program.timeout_ns;
        let mut oldest_ns = self.now_ns;
        let count = self.arm.streams.as_ref().map_or(0, |of| of.seats.len());
        for number in 0..count as u32 {
            let Some(wires) = &self.arm.streams else {
                break;
            };
            let seat = &wires.seats[number as usize];
            let since_ns = seat.exchange.since_ns;
            match seat.state {
                State::Sent { stream } if self.now_ns >= since_ns + limit_ns => {
                    self.time_out(number, stream, since_ns, after);
                }
                State::Sent { .. } => oldest_ns = oldest_ns.min(since_ns),
                State::Waiting { .. } => oldest_ns = oldest_ns.min(seat.taken_ns),
                State::Free => {}
            }
        }
        oldest_ns
    }

    /// Gives up what has waited on a connection for too long.
    fn time_out_waiting(&mut self, number: u32, after: &str) {
        let (limit_ns, now_ns) = (self.arm.program.timeout_ns, self.now_ns);
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let overdue = wires.take_overdue(number, now_ns, limit_ns);
        if overdue.is_empty() {
            return;
        }
        for seat in overdue {
            let Some(wires) = &mut self.arm.streams else {
                return;
            };
            let Seat {
                state, exchange, ..
            } = &wires.seats[seat as usize];
            let (state, since_ns) = (*state, exchange.since_ns);
            wires.seats[seat as usize].note_wait(now_ns, &self.arm.desk.recorder);
            let wire = &mut wires.wires[number as usize];
            wire.is_silent |= wire.stage == Stage::Busy
                && wire.heard_ns <= since_ns
                && now_ns >= since_ns + limit_ns;
            let detail = format!("{after}{}", why(state, wire));
            self.fail_seat(seat, &Broken::new(Failure::Timeout, detail));
        }
        self.go_on(number);
    }

    /// Gives up a request that was sent. A connection on which nothing was heard for so long takes no more.
    fn time_out(&mut self, seat: u32, stream: u64, since_ns: u64, after: &str) {
        let Some(wires) = &mut self.arm.streams else {
            return;
        };
        let number = wires.seats[seat as usize].wire;
        let wire = &mut wires.wires[number as usize];
        wire.is_silent |= wire.heard_ns <= since_ns;
        let exchange = &wires.seats[seat as usize].exchange;
        let came = (exchange.head)
            .map(|head| head.framing.so_far(exchange.stamps.body_bytes, false))
            .unwrap_or_default();
        let why = why(State::Sent { stream }, wire);
        let detail = format!("{after}{came}{why}");
        wire.cancel(stream);
        wire.note_stall(self.now_ns, &self.arm.desk.recorder);
        wires.is_due(number);
        self.fail_seat(seat, &Broken::new(Failure::Timeout, detail));
        self.go_on(number);
    }
}

/// What it was that a request which is given up waited for.
fn why<T: Transport>(state: State, wire: &Wire<T>) -> &'static str {
    match state {
        State::Waiting { .. } if wire.stage != Stage::Busy => ", waiting for another connection",
        _ if !wire.is_greeted() => ": the server never sent SETTINGS",
        State::Waiting { is_held: true } => {
            ", waiting for a stream: the server allows no more at once"
        }
        _ if wire.is_stalled() => ", with bodies waiting for the server's window",
        _ => "",
    }
}
