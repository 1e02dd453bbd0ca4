//! [`AgreedSlices`]: the slices of a run that others carry out in parts.

use crate::change::Change;
use crate::course::{Course, Known, SliceTimes};
use crate::error::PlanError;
use crate::plan::{InterleavedPlan, Shard};

/// The slices of an interleaved plan, for whoever sends nothing and has to know whose slice it is. They follow from the
/// plan and from the changes alone, so that everybody who is told the same has the same.
#[derive(Debug)]
pub struct AgreedSlices(Course);

impl AgreedSlices {
    /// Validates the plan.
    ///
    /// # Errors
    /// Where it is wrong.
    pub fn new(plan: &InterleavedPlan) -> Result<Self, PlanError> {
        plan.validate()?;
        // No worker is here: none finds anything.
        let nobody = Shard {
            first_worker: 0,
            workers: 0,
            starts_at_unix_ns: 0,
        };
        Ok(Self(Course::new(&InterleavedPlan {
            part: Some(nobody),
            ..plan.clone()
        })))
    }

    /// A slice, where it is settled at `now_ns` after the start; settles all rounds that begin by then.
    #[must_use]
    pub fn slice(&self, number: u64, now_ns: u64) -> Option<SliceTimes> {
        match self.0.slice(number, now_ns) {
            Known::Slice(times) => Some(times),
            Known::From(_) | Known::Over => None,
        }
    }

    /// The first round that is not settled yet, once all are that begin by `now_ns`.
    #[must_use]
    pub fn next_round(&self, now_ns: u64) -> u64 {
        let _ = self.0.slice(u64::MAX, now_ns);
        self.0.next_round()
    }

    /// Whether there are no more slices than the settled ones.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// As `InterleavedRun::change`.
    ///
    /// # Errors
    /// Where a plan of such slices would be refused.
    pub fn change(&self, change: Change, from_round: u64) -> Result<u64, PlanError> {
        self.0.change(change, from_round)
    }
}
