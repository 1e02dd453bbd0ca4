//! What waits for a connection, or for a stream of it: how long it may, and how long the accounting say that it did.

use super::Multiplexer;
use super::slot::SlotState;
use crate::connection::ConnectionStage;
use crate::record::recorder::Recorder;
use crate::transport::Transport;

impl<T: Transport> Multiplexer<T> {
    /// Notes of what waits that it waits for the peer's leave, where it does.
    pub(super) fn hold(&mut self, number: u32) {
        let connection = &self.connections[number as usize];
        if !connection.is_full() {
            return;
        }
        // What came last is at the back or, after a redirect, at the front: those between are held already.
        for &slot in connection.waiting.iter().rev() {
            if self.slots[slot as usize].hold() {
                break;
            }
        }
        for &slot in &connection.waiting {
            if self.slots[slot as usize].hold() {
                break;
            }
        }
    }

    /// Lets what waits on a connection that ends wait for another one, which holds nobody yet.
    pub(super) fn let_wait(&mut self, number: u32, now_ns: u64, recorder: &Recorder) {
        for &slot in &self.connections[number as usize].waiting {
            let slot = &mut self.slots[slot as usize];
            slot.note_wait(now_ns, recorder);
            if let SlotState::Waiting { is_held, .. } = &mut slot.state {
                *is_held = false;
            }
        }
    }

    /// Takes out what has waited on a connection for too long, in one pass: after a silence that may be all. What waits
    /// for a connection that was begun for it is given up together with that.
    pub(crate) fn take_overdue(&mut self, number: u32, now_ns: u64, limit_ns: u64) -> Vec<u32> {
        let (slots, connection) = (&self.slots, &mut self.connections[number as usize]);
        let (is_open, begun_ns) = (
            connection.stage == ConnectionStage::Busy,
            connection.begun_ns,
        );
        let mut overdue = Vec::new();
        connection.waiting.retain(|&slot| {
            let SlotState::Waiting { taken_ns, .. } = slots[slot as usize].state else {
                return true;
            };
            let is_overdue = now_ns >= taken_ns + limit_ns && (is_open || taken_ns < begun_ns);
            if is_overdue {
                overdue.push(slot);
            }
            !is_overdue
        });
        overdue
    }

    /// Puts down how long bodies have waited for windows so far: the rest belongs to other figures.
    pub(crate) fn cut_stalls(&mut self, at_ns: u64, recorder: &Recorder) {
        for connection in &mut self.connections {
            connection.cut_stall(at_ns, recorder);
        }
    }

    /// The same, and how long requests have waited for the peer's leave.
    pub(crate) fn cut_waits(&mut self, at_ns: u64, recorder: &Recorder) {
        self.cut_stalls(at_ns, recorder);
        for slot in self.slots.iter_mut().filter(|slot| slot.is_held()) {
            slot.note_wait(at_ns, recorder);
            slot.exchange.since_ns = slot.exchange.since_ns.max(at_ns);
        }
    }
}
