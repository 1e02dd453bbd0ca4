//! What a connection's bytes are read with, and what came of them.

use super::slot::{EndedStreams, SlotState, StreamSlot};
use crate::context::{ArmContext, ConnectionFailure};
use crate::program::Program;

/// What is at hand while a connection is read.
pub(super) struct Reading<'a> {
    /// The connection's number in its arm.
    pub(super) number: u32,
    pub(super) now_ns: u64,
    pub(super) slots: &'a mut [StreamSlot],
    pub(super) ended: &'a mut EndedStreams,
    pub(super) program: &'a Program,
    pub(super) context: &'a mut ArmContext,
    /// How many answers have ended.
    pub(super) answers: u32,
}

impl Reading<'_> {
    /// An answer is complete. It is booked while all that is known of it is at hand, but for one that is followed.
    #[inline]
    pub(super) fn end_answer(&mut self, key: u32) {
        self.answers += 1;
        let slot = &mut self.slots[key as usize];
        if !slot.exchange.is_followed() {
            slot.state = SlotState::Free;
            slot.exchange
                .end_answer(self.now_ns, self.program, self.context);
        }
        self.ended.answered.push(key);
    }

    /// There will be no answer.
    pub(super) fn fail_answer(&mut self, key: u32, broken: ConnectionFailure) {
        self.ended.failed.push((key, broken));
    }
}
