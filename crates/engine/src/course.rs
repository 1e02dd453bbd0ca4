//! [`Course`]: the turns of a run so far, the same for all workers.
//!
//! The turns of a cycle are settled as a whole, when the cycle before it is over, by whoever asks for
//! its first turn. All others then find what is written down: so all workers switch at the same points
//! of the run's clock, without a word between them, and whatever is asked for from outside takes effect
//! with the next cycle.
//!
//! Where a run is a part of one, the turns are the same in all its parts: each settles them by itself, from
//! the plan and from changes that name the cycle from which they hold. So nothing that only one of them
//! sees may change its turns: that an arm should end is written down as found, and ended by all or none.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::change::{Change, Ended};
use crate::control::NEVER;
use crate::error::PlanError;
use crate::plan::{InterleavedPlan, Stop, check_lengths};
use crate::record::measurement::Phase;
use crate::schedule::Turns;

/// One turn of an arm: a time to settle, then its slice. Points of time count from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Its number within the run.
    pub number: u64,
    /// In which cycle.
    pub cycle: u64,
    /// Which one within the cycle.
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

/// What is settled about a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// All of it.
    Turn(Turn),
    /// It will be known, if there is one, at this point of time.
    From(u64),
    /// There is none.
    Over,
}

/// Shared by the workers and by those who steer the run.
#[derive(Debug)]
pub(crate) struct Course {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    turns: Vec<Turn>,
    /// The order of the arms that have turns, and the cycle with which it began.
    order: Turns,
    order_from: u64,
    seed: u64,
    slice_ns: u64,
    washout_ns: u64,
    warmup_max_ns: u64,
    /// How long each arm is to measure in its own slices.
    enough_ns: u64,
    arms: Vec<ArmState>,
    /// Changes that hold from a later cycle than the next.
    ahead: Vec<(u64, Change)>,
    /// Whether others settle the same turns elsewhere.
    is_shared: bool,
    first_worker: u32,
    ends: bool,
    is_over: bool,
}

/// How an arm stands.
#[derive(Debug, Clone)]
struct ArmState {
    has_turns: bool,
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
        let standing = ArmState {
            has_turns: true,
            measures: false,
            measured_ns: 0,
            ended: None,
            ended_here: None,
            unreachable: vec![false; workers as usize],
        };
        let mut state = State {
            turns: Vec::new(),
            order: Turns::new(Vec::new(), plan.seed),
            order_from: 0,
            seed: plan.seed,
            slice_ns: plan.slice_ns,
            washout_ns: plan.washout_ns,
            warmup_max_ns: first.warmup_max_ns,
            enough_ns: match first.stop {
                Stop::After { ns } => ns,
                Stop::AtCount { .. } => NEVER,
            },
            arms: vec![standing; plan.arms.len()],
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

    /// What is known at `now_ns` of a turn.
    pub(crate) fn turn(&self, number: u64, now_ns: u64) -> Known {
        let mut state = self.state();
        loop {
            if let Some(turn) = state.turns.get(number as usize) {
                return Known::Turn(*turn);
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

    /// The turns that are settled, from one on.
    pub(crate) fn turns(&self, first: u64) -> Vec<Turn> {
        let state = self.state();
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        state.turns.get(first..).unwrap_or_default().to_vec()
    }

    /// A turn that is settled, by its number.
    pub(crate) fn settled(&self, number: u64) -> Option<Turn> {
        self.state().turns.get(number as usize).copied()
    }

    /// Whose turn it is.
    pub(crate) fn at(&self, now_ns: u64) -> Option<Turn> {
        let state = self.state();
        let next = state.turns.partition_point(|turn| turn.end_ns <= now_ns);
        state.turns.get(next).copied()
    }

    /// The first cycle that is not settled yet.
    pub(crate) fn next_cycle(&self) -> u64 {
        self.state().next_cycle()
    }

    /// Whether there are no more turns than the settled ones.
    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Changes the turns from a cycle on, or from the next one that is settled where that is later; gives
    /// the cycle from which the change holds.
    ///
    /// # Errors
    /// Where lengths are out of bounds.
    pub(crate) fn change(&self, change: Change, from_cycle: u64) -> Result<u64, PlanError> {
        if let Change::Lengths {
            slice_ns,
            washout_ns,
        } = change
        {
            check_lengths(slice_ns, washout_ns)?;
        }
        let mut state = self.state();
        let next = state.next_cycle();
        match from_cycle <= next {
            true => state.apply(&change),
            false => state.ahead.push((from_cycle, change)),
        }
        Ok(from_cycle.max(next))
    }

    /// A worker saw why an arm should have no more turns.
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Up to where all is settled.
    fn until_ns(&self) -> u64 {
        self.turns.last().map_or(0, |turn| turn.end_ns)
    }

    fn next_cycle(&self) -> u64 {
        self.turns.last().map_or(0, |turn| turn.cycle + 1)
    }

    /// Lets a change hold from the next cycle on.
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Measure { arms } => {
                for (number, arm) in (0..).zip(&mut self.arms) {
                    arm.measures |= arms.as_ref().is_none_or(|arms| arms.contains(&number));
                }
            }
            Change::Turns { arms } => {
                for (number, arm) in (0..).zip(&mut self.arms) {
                    arm.has_turns = arms.contains(&number);
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

    /// Lets the changes hold that name this cycle, in the order in which they came.
    fn apply_due(&mut self, cycle: u64) {
        for (from_cycle, change) in std::mem::take(&mut self.ahead) {
            match from_cycle <= cycle {
                true => self.apply(&change),
                false => self.ahead.push((from_cycle, change)),
            }
        }
    }

    /// Ends an arm; where others settle the same turns, only writes down that it should end.
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

    /// Settles the next cycle, or that there is none.
    fn extend(&mut self) {
        let mut begin_ns = self.until_ns();
        let cycle = self.next_cycle();
        self.note_unreachable();
        self.apply_due(cycle);
        for arm in &mut self.arms {
            arm.measures |= begin_ns >= self.warmup_max_ns;
        }
        let arms = self.arms_with_turns();
        let is_enough = |arm: &ArmState| arm.measured_ns >= self.enough_ns;
        let living = || self.arms.iter().filter(|arm| arm.ended.is_none());
        if self.ends || living().all(is_enough) {
            self.is_over = true;
            return;
        }
        // What is measured is balanced by itself, so it begins with the first of a pair of cycles.
        if arms != self.order.arms() || arms.iter().any(|arm| self.begins_to_measure(*arm)) {
            self.order = Turns::new(arms, self.seed ^ cycle);
            self.order_from = cycle;
        }
        for (place, arm) in (0..).zip(self.order.order(cycle - self.order_from)) {
            let standing = &mut self.arms[arm as usize];
            let start_ns = begin_ns + self.washout_ns;
            let turn = Turn {
                number: self.turns.len() as u64,
                cycle,
                place,
                arm,
                phase: match standing.measures {
                    true => Phase::Measured,
                    false => Phase::Warmup,
                },
                begin_ns,
                start_ns,
                end_ns: start_ns + self.slice_ns,
            };
            if standing.measures {
                standing.measured_ns += self.slice_ns;
            }
            begin_ns = turn.end_ns;
            self.turns.push(turn);
        }
    }

    fn begins_to_measure(&self, arm: u32) -> bool {
        let arm = &self.arms[arm as usize];
        arm.measures && arm.measured_ns == 0
    }

    /// The arms of the next cycle. Turns that nobody wants are everybody's.
    fn arms_with_turns(&self) -> Vec<u32> {
        let of = |wanted: fn(&ArmState) -> bool| -> Vec<u32> {
            (0..)
                .zip(&self.arms)
                .filter(|(_, arm)| arm.ended.is_none() && wanted(arm))
                .map(|(number, _)| number)
                .collect()
        };
        match of(|arm| arm.has_turns) {
            arms if arms.is_empty() => of(|_| true),
            arms => arms,
        }
    }
}
