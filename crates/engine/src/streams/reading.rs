//! What a connection's bytes are read with, and what came of them.

use super::seat::{Outcome, Seat};
use crate::desk::Desk;
use crate::program::Program;

/// What is at hand while a connection is read.
pub(super) struct Reading<'a> {
    /// The connection's number in its lane.
    pub(super) number: u32,
    pub(super) now_ns: u64,
    pub(super) seats: &'a mut [Seat],
    pub(super) ended: &'a mut Vec<(u32, Outcome)>,
    pub(super) program: &'a Program,
    pub(super) desk: &'a mut Desk,
    /// How many answers have ended.
    pub(super) answers: u32,
}

impl Reading<'_> {
    /// An answer is complete.
    #[inline]
    pub(super) fn end(&mut self, key: u32) {
        self.answers += 1;
        self.ended.push((key, Outcome::Answered));
    }
}
