//! [`AgreedTurns`]: the turns of a run that others carry out in parts.

use crate::change::Change;
use crate::course::{Course, Known, Turn};
use crate::error::PlanError;
use crate::plan::{InterleavedPlan, Part};

/// The turns of an interleaved plan, for whoever sends nothing and has to know whose turn it is. They follow from the
/// plan and from the changes alone, so that everybody who is told the same has the same.
#[derive(Debug)]
pub struct AgreedTurns(Course);

impl AgreedTurns {
    /// Validates the plan.
    ///
    /// # Errors
    /// Where it is wrong.
    pub fn new(plan: &InterleavedPlan) -> Result<Self, PlanError> {
        plan.validate()?;
        // No worker is here: none finds anything.
        let nobody = Part {
            first_worker: 0,
            workers: 0,
            starts_at_unix_ns: 0,
        };
        Ok(Self(Course::new(&InterleavedPlan {
            part: Some(nobody),
            ..plan.clone()
        })))
    }

    /// A turn, where it is settled at `now_ns` after the start; settles all cycles that begin by then.
    #[must_use]
    pub fn turn(&self, number: u64, now_ns: u64) -> Option<Turn> {
        match self.0.turn(number, now_ns) {
            Known::Turn(turn) => Some(turn),
            Known::From(_) | Known::Over => None,
        }
    }

    /// The first cycle that is not settled yet, once all are that begin by `now_ns`.
    #[must_use]
    pub fn next_cycle(&self, now_ns: u64) -> u64 {
        let _ = self.0.turn(u64::MAX, now_ns);
        self.0.next_cycle()
    }

    /// Whether there are no more turns than the settled ones.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// As `InterleavedRun::change`.
    ///
    /// # Errors
    /// Where a plan of such turns would be refused.
    pub fn change(&self, change: Change, from_cycle: u64) -> Result<u64, PlanError> {
        self.0.change(change, from_cycle)
    }
}
