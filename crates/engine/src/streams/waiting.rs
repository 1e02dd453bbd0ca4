//! What waits for a connection, or for a stream of it: how long it may, and how long the accounting say that it did.

use super::Wires;
use super::seat::State;
use crate::connection::Stage;
use crate::record::recorder::Recorder;
use crate::transport::Transport;

const HELD: State = State::Waiting { is_held: true };

impl<T: Transport> Wires<T> {
    /// Notes of what waits that it waits for the peer's leave, where it does.
    pub(super) fn hold(&mut self, number: u32) {
        let wire = &self.wires[number as usize];
        if !wire.is_full() {
            return;
        }
        // What came last is at the back or, after a redirect, at the front: those between are held already.
        for &seat in wire.waiting.iter().rev() {
            if std::mem::replace(&mut self.seats[seat as usize].state, HELD) == HELD {
                break;
            }
        }
        for &seat in &wire.waiting {
            if std::mem::replace(&mut self.seats[seat as usize].state, HELD) == HELD {
                break;
            }
        }
    }

    /// Lets what waits on a connection that ends wait for another one, which holds nobody yet.
    pub(super) fn let_wait(&mut self, number: u32, now_ns: u64, recorder: &Recorder) {
        for &seat in &self.wires[number as usize].waiting {
            let seat = &mut self.seats[seat as usize];
            seat.note_wait(now_ns, recorder);
            seat.state = State::Waiting { is_held: false };
        }
    }

    /// Takes out what has waited on a connection for too long, in one pass: after a silence that may be all. What waits
    /// for a connection that was begun for it is given up together with that.
    pub(crate) fn take_overdue(&mut self, number: u32, now_ns: u64, limit_ns: u64) -> Vec<u32> {
        let (seats, wire) = (&self.seats, &mut self.wires[number as usize]);
        let (is_open, begun_ns) = (wire.stage == Stage::Busy, wire.begun_ns);
        let mut overdue = Vec::new();
        wire.waiting.retain(|&seat| {
            let taken_ns = seats[seat as usize].taken_ns;
            let is_overdue = now_ns >= taken_ns + limit_ns && (is_open || taken_ns < begun_ns);
            if is_overdue {
                overdue.push(seat);
            }
            !is_overdue
        });
        overdue
    }

    /// Puts down how long bodies have waited for windows so far: the rest belongs to other figures.
    pub(crate) fn cut_stalls(&mut self, at_ns: u64, recorder: &Recorder) {
        for wire in &mut self.wires {
            wire.cut_stall(at_ns, recorder);
        }
    }

    /// The same, and how long requests have waited for the peer's leave.
    pub(crate) fn cut_waits(&mut self, at_ns: u64, recorder: &Recorder) {
        self.cut_stalls(at_ns, recorder);
        for seat in self.seats.iter_mut().filter(|seat| seat.state == HELD) {
            seat.note_wait(at_ns, recorder);
            seat.exchange.since_ns = seat.exchange.since_ns.max(at_ns);
        }
    }
}
