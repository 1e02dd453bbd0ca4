//! [`Course`]: the slices of a run so far, the same for all workers.
//!
//! The slices of a round are settled as a whole, when the round before it is over, by whoever asks for
//! its first slice. All others then find what is written down: so all workers switch at the same points
//! of the run's clock, without a word between them, and whatever is asked for from outside takes effect
//! with the next round.
//!
//! Where a run is a part of one, the slices are the same in all its parts: each settles them by itself, from
//! the plan and from changes that name the round from which they hold. So nothing that only one of them
//! sees may change its slices: that an arm should end is written down as found, and ended by all or none.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::change::{Change, Ended};
use crate::control::NEVER;
use crate::error::PlanError;
use crate::plan::{InterleavedPlan, Stop, check_lengths};
use crate::record::measurement::Phase;
use crate::schedule::SliceOrder;

/// One slice of an arm: a time to settle, then its slice. Points of time count from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SliceTimes {
    /// Its number within the run.
    pub number: u64,
    /// In which round.
    pub round: u64,
    /// Which one within the round.
    pub place: u32,
    /// Whose it is.
    pub arm: u32,
    /// Whether its slice belongs to the arm's warm-up or to its measurement.
    pub phase: Phase,
    /// Where its washout begins: where the slice before it ends.
    pub begin_ns: u64,
    /// Where its slice begins.
    pub start_ns: u64,
    /// Where its slice ends.
    pub end_ns: u64,
}

/// What is settled about a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// All of it.
    Slice(SliceTimes),
    /// It will be known, if there is one, at this point of time.
    From(u64),
    /// There is none.
    Over,
}

/// Shared by the workers and by those who steer the run.
#[derive(Debug)]
pub(crate) struct Course {
    state: Mutex<CourseState>,
}

#[derive(Debug)]
struct CourseState {
    slices: Vec<SliceTimes>,
    /// The order of the arms that have slices, and the round with which it began.
    order: SliceOrder,
    order_from: u64,
    seed: u64,
    slice_ns: u64,
    washout_ns: u64,
    warmup_max_ns: u64,
    /// How long each arm is to measure in its own slices.
    enough_ns: u64,
    arms: Vec<ArmState>,
    /// Changes that hold from a later round than the next.
    ahead: Vec<(u64, Change)>,
    /// Whether others settle the same slices elsewhere.
    is_shared: bool,
    first_worker: u32,
    ends: bool,
    is_over: bool,
}

/// How an arm stands.
#[derive(Debug, Clone)]
struct ArmState {
    has_slices: bool,
    measures: bool,
    measured_ns: u64,
    ended: Option<Ended>,
    /// Why it should end, as seen from here, where that is not for us alone to say.
    ended_here: Option<Ended>,
    /// Which workers found nobody there in their last slice.
    unreachable: Vec<bool>,
}

impl Course {
    pub(crate) fn new(plan: &InterleavedPlan) -> Self {
        let first = &plan.arms[0];
        let (first_worker, workers) = match plan.part {
            Some(part) => (part.first_worker, part.workers),
            None => (0, first.threads),
        };
        let arm_state = ArmState {
            has_slices: true,
            measures: false,
            measured_ns: 0,
            ended: None,
            ended_here: None,
            unreachable: vec![false; workers as usize],
        };
        let mut state = CourseState {
            slices: Vec::new(),
            order: SliceOrder::new(Vec::new(), plan.seed),
            order_from: 0,
            seed: plan.seed,
            slice_ns: plan.slice_ns,
            washout_ns: plan.washout_ns,
            warmup_max_ns: first.warmup_max_ns,
            enough_ns: match first.stop {
                Stop::After { ns } => ns,
                Stop::AtCount { .. } => NEVER,
            },
            arms: vec![arm_state; plan.arms.len()],
            ahead: Vec::new(),
            is_shared: plan.part.is_some(),
            first_worker,
            ends: false,
            is_over: false,
        };
        state.extend();
        Self {
            state: Mutex::new(state),
        }
    }

    /// What is known at `now_ns` of a slice.
    pub(crate) fn slice(&self, number: u64, now_ns: u64) -> Known {
        let mut state = self.state();
        loop {
            if let Some(times) = state.slices.get(number as usize) {
                return Known::Slice(*times);
            }
            if state.is_over {
                return Known::Over;
            }
            let until_ns = state.until_ns();
            if now_ns < until_ns {
                return Known::From(until_ns);
            }
            state.extend();
        }
    }

    /// The slices that are settled, from one on.
    pub(crate) fn slices(&self, first: u64) -> Vec<SliceTimes> {
        let state = self.state();
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        state.slices.get(first..).unwrap_or_default().to_vec()
    }

    /// A slice that is settled, by its number.
    pub(crate) fn settled(&self, number: u64) -> Option<SliceTimes> {
        self.state().slices.get(number as usize).copied()
    }

    /// Whose slice it is.
    pub(crate) fn at(&self, now_ns: u64) -> Option<SliceTimes> {
        let state = self.state();
        let next = state.slices.partition_point(|times| times.end_ns <= now_ns);
        state.slices.get(next).copied()
    }

    /// The first round that is not settled yet.
    pub(crate) fn next_round(&self) -> u64 {
        self.state().next_round()
    }

    /// Whether there are no more slices than the settled ones.
    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Changes the slices from a round on, or from the next one that is settled where that is later; gives
    /// the round from which the change holds.
    ///
    /// # Errors
    /// Where lengths are out of bounds.
    pub(crate) fn change(&self, change: Change, from_round: u64) -> Result<u64, PlanError> {
        if let Change::Lengths {
            slice_ns,
            washout_ns,
        } = change
        {
            check_lengths(slice_ns, washout_ns)?;
        }
        let mut state = self.state();
        let next = state.next_round();
        match from_round <= next {
            true => state.apply(&change),
            false => state.ahead.push((from_round, change)),
        }
        Ok(from_round.max(next))
    }

    /// A worker saw why an arm should have no more slices.
    pub(crate) fn note_end(&self, arm: u32, why: Ended) {
        self.state().note_end(arm as usize, why);
    }

    /// Notes whether a worker found nobody there in a slice of an arm.
    pub(crate) fn note_slice(&self, arm: u32, worker: u32, unreachable: bool) {
        let mut state = self.state();
        let here = (worker - state.first_worker) as usize;
        state.arms[arm as usize].unreachable[here] = unreachable;
    }

    /// Why an arm ended, if it did.
    pub(crate) fn ended(&self, arm: usize) -> Option<Ended> {
        self.state().arms[arm].ended
    }

    /// Why an arm should end, as seen from this part of the run alone.
    pub(crate) fn ended_here(&self, arm: usize) -> Option<Ended> {
        self.state().arms[arm].ended_here
    }

    fn state(&self) -> MutexGuard<'_, CourseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CourseState {
    /// Up to where all is settled.
    fn until_ns(&self) -> u64 {
        self.slices.last().map_or(0, |times| times.end_ns)
    }

    fn next_round(&self) -> u64 {
        self.slices.last().map_or(0, |times| times.round + 1)
    }

    /// Lets a change hold from the next round on.
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Measure { arms } => {
                for (number, arm) in (0..).zip(&mut self.arms) {
                    arm.measures |= arms.as_ref().is_none_or(|arms| arms.contains(&number));
                }
            }
            Change::Slices { arms } => {
                for (number, arm) in (0..).zip(&mut self.arms) {
                    arm.has_slices = arms.contains(&number);
                }
            }
            Change::Lengths {
                slice_ns,
                washout_ns,
            } => (self.slice_ns, self.washout_ns) = (*slice_ns, *washout_ns),
            Change::EndArm { arm, why } => {
                if let Some(arm) = self.arms.get_mut(*arm as usize) {
                    arm.ended.get_or_insert(*why);
                }
            }
            Change::End => self.ends = true,
        }
    }

    /// Lets the changes hold that name this round, in the order in which they came.
    fn apply_due(&mut self, round: u64) {
        for (from_round, change) in std::mem::take(&mut self.ahead) {
            match from_round <= round {
                true => self.apply(&change),
                false => self.ahead.push((from_round, change)),
            }
        }
    }

    /// Ends an arm; where others settle the same slices, only writes down that it should end.
    fn note_end(&mut self, arm: usize, why: Ended) {
        let arm = &mut self.arms[arm];
        match self.is_shared {
            true => arm.ended_here.get_or_insert(why),
            false => arm.ended.get_or_insert(why),
        };
    }

    /// Ends the arms of which no worker found anybody in its last slice.
    fn note_unreachable(&mut self) {
        for number in 0..self.arms.len() {
            let arm = &mut self.arms[number];
            if arm.ended_here == Some(Ended::Unreachable) {
                arm.ended_here = None; // somebody may be there again
            }
            if !arm.unreachable.is_empty() && arm.unreachable.iter().all(|nobody| *nobody) {
                self.note_end(number, Ended::Unreachable);
            }
        }
    }

    /// Settles the next round, or that there is none.
    fn extend(&mut self) {
        let mut begin_ns = self.until_ns();
        let round = self.next_round();
        self.note_unreachable();
        self.apply_due(round);
        for arm in &mut self.arms {
            arm.measures |= begin_ns >= self.warmup_max_ns;
        }
        let arms = self.arms_with_slices();
        let is_enough = |arm: &ArmState| arm.measured_ns >= self.enough_ns;
        let living = || self.arms.iter().filter(|arm| arm.ended.is_none());
        if self.ends || living().all(is_enough) {
            self.is_over = true;
            return;
        }
        // What is measured is balanced by itself, so it begins with the first of a pair of rounds.
        if arms != self.order.arms() || arms.iter().any(|arm| self.begins_to_measure(*arm)) {
            self.order = SliceOrder::new(arms, self.seed ^ round);
            self.order_from = round;
        }
        for (place, arm) in (0..).zip(self.order.order(round - self.order_from)) {
            let arm_state = &mut self.arms[arm as usize];
            let start_ns = begin_ns + self.washout_ns;
            let times = SliceTimes {
                number: self.slices.len() as u64,
                round,
                place,
                arm,
                phase: match arm_state.measures {
                    true => Phase::Measured,
                    false => Phase::Warmup,
                },
                begin_ns,
                start_ns,
                end_ns: start_ns + self.slice_ns,
            };
            if arm_state.measures {
                arm_state.measured_ns += self.slice_ns;
            }
            begin_ns = times.end_ns;
            self.slices.push(times);
        }
    }

    fn begins_to_measure(&self, arm: u32) -> bool {
        let arm = &self.arms[arm as usize];
        arm.measures && arm.measured_ns == 0
    }

    /// The arms of the next round. Slices that nobody wants are everybody's.
    fn arms_with_slices(&self) -> Vec<u32> {
        let of = |wanted: fn(&ArmState) -> bool| -> Vec<u32> {
            (0..)
                .zip(&self.arms)
                .filter(|(_, arm)| arm.ended.is_none() && wanted(arm))
                .map(|(number, _)| number)
                .collect()
        };
        match of(|arm| arm.has_slices) {
            arms if arms.is_empty() => of(|_| true),
            arms => arms,
        }
    }
}
