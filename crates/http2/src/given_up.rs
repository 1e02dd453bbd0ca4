//! Streams that one side gave up, of which the other may not know yet: what is still under way on them is no fault.

use std::collections::VecDeque;

/// So many are remembered.
const REMEMBERED: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct GivenUp {
    latest: VecDeque<u32>,
    /// Up to this number any stream may be one that is remembered no more.
    forgiven: u32,
}

impl GivenUp {
    pub(crate) fn add(&mut self, id: u32) {
        if self.latest.len() == REMEMBERED
            && let Some(forgotten) = self.latest.pop_front()
        {
            self.forgiven = self.forgiven.max(forgotten);
        }
        self.latest.push_back(id);
    }

    /// Whether a stream that has ended may have been given up.
    pub(crate) fn may_have(&self, id: u32) -> bool {
        id <= self.forgiven || self.latest.contains(&id)
    }
}
