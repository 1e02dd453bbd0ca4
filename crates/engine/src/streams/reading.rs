//! What a connection's bytes are read with, and what came of them.

use super::seat::{Ended, Seat, State};
use crate::desk::{Broken, Desk};
use crate::program::Program;

/// What is at hand while a connection is read.
pub(super) struct Reading<'a> {
    /// The connection's number in its arm.
    pub(super) number: u32,
    pub(super) now_ns: u64,
    pub(super) seats: &'a mut [Seat],
    pub(super) ended: &'a mut Ended,
    pub(super) program: &'a Program,
    pub(super) desk: &'a mut Desk,
    /// How many answers have ended.
    pub(super) answers: u32,
}

impl Reading<'_> {
    /// An answer is complete. It is booked while all that is known of it is at hand, but for one that is followed.
    #[inline]
    pub(super) fn end_answer(&mut self, key: u32) {
        self.answers += 1;
        let seat = &mut self.seats[key as usize];
        if !seat.exchange.is_followed() {
            seat.state = State::Free;
            seat.exchange
                .end_answer(self.now_ns, self.program, self.desk);
        }
        self.ended.answered.push(key);
    }

    /// There will be no answer.
    pub(super) fn fail_answer(&mut self, key: u32, broken: Broken) {
        self.ended.failed.push((key, broken));
    }
}
