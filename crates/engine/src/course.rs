//! [`Course`]: the turns of a run so far, the same for all workers.
//!
//! The turns of a cycle are settled as a whole, when the cycle before it is over, by whoever asks for
//! its first turn. All others then find what is written down: so all workers switch at the same points
//! of the run's clock, without a word between them, and whatever is asked for from outside takes effect
//! with the next cycle.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::control::NEVER;
use crate::plan::{Stop, WovenPlan};
use crate::record::measurement::Phase;
use crate::schedule::Turns;

/// One turn of a lane: a time to settle, then its slice. Points of time count from the start of the run.
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
    pub lane: u32,
    /// Whether its slice belongs to the lane's warm-up or to its measurement.
    pub phase: Phase,
    /// Where its settle time begins: where the slice before it ends.
    pub begin_ns: u64,
    /// Where its slice begins.
    pub start_ns: u64,
    /// Where its slice ends.
    pub end_ns: u64,
}

/// Why a lane has no more turns before the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// In a whole slice nothing was answered and every attempt to connect failed.
    Unreachable,
    /// A kind of failure was seen on which its plan ends.
    Failure,
    /// It was asked for.
    Asked,
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
    /// The order of the lanes that have turns, and the cycle with which it began.
    order: Turns,
    order_from: u64,
    seed: u64,
    slice_ns: u64,
    settle_ns: u64,
    warmup_max_ns: u64,
    /// How long each lane is to measure in its own slices.
    enough_ns: u64,
    lanes: Vec<Standing>,
    ends: bool,
    is_over: bool,
}

/// How a lane stands.
#[derive(Debug, Clone)]
struct Standing {
    has_turns: bool,
    measures: bool,
    measured_ns: u64,
    ended: Option<Ended>,
    /// Which workers found nobody there in their last slice.
    unreachable: Vec<bool>,
}

impl Course {
    pub(crate) fn new(plan: &WovenPlan) -> Self {
        let first = &plan.lanes[0];
        let standing = Standing {
            has_turns: true,
            measures: false,
            measured_ns: 0,
            ended: None,
            unreachable: vec![false; first.threads as usize],
        };
        let mut state = State {
            turns: Vec::new(),
            order: Turns::new(Vec::new(), plan.seed),
            order_from: 0,
            seed: plan.seed,
            slice_ns: plan.slice_ns,
            settle_ns: plan.settle_ns,
            warmup_max_ns: first.warmup_max_ns,
            enough_ns: match first.stop {
                Stop::After { ns } => ns,
                Stop::AtCount { .. } => NEVER,
            },
            lanes: vec![standing; plan.lanes.len()],
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

    /// Whose turn it is.
    pub(crate) fn at(&self, now_ns: u64) -> Option<Turn> {
        let state = self.state();
        let next = state.turns.partition_point(|turn| turn.end_ns <= now_ns);
        state.turns.get(next).copied()
    }

    /// Lets lanes measure from the next cycle on; all of them where none is named.
    pub(crate) fn begin_measuring(&self, lanes: Option<&[u32]>) {
        let mut state = self.state();
        for (number, lane) in (0..).zip(&mut state.lanes) {
            lane.measures |= lanes.is_none_or(|lanes| lanes.contains(&number));
        }
    }

    /// From the next cycle on only these lanes have turns.
    pub(crate) fn set_turns(&self, lanes: &[u32]) {
        let mut state = self.state();
        for (number, lane) in (0..).zip(&mut state.lanes) {
            lane.has_turns = lanes.contains(&number);
        }
    }

    /// Changes the length of slices and settle times from the next cycle on.
    pub(crate) fn set_lengths(&self, slice_ns: u64, settle_ns: u64) {
        let mut state = self.state();
        state.slice_ns = slice_ns;
        state.settle_ns = settle_ns;
    }

    /// A lane has no more turns, from the next cycle on.
    pub(crate) fn end_lane(&self, lane: u32, why: Ended) {
        if let Some(lane) = self.state().lanes.get_mut(lane as usize) {
            lane.ended.get_or_insert(why);
        }
    }

    /// Ends the run with the cycle that is under way.
    pub(crate) fn end_after_cycle(&self) {
        self.state().ends = true;
    }

    /// Notes whether a worker found nobody there in a slice of a lane.
    pub(crate) fn note_slice(&self, lane: u32, worker: u32, unreachable: bool) {
        self.state().lanes[lane as usize].unreachable[worker as usize] = unreachable;
    }

    /// Why a lane ended, if it did.
    pub(crate) fn ended(&self, lane: usize) -> Option<Ended> {
        self.state().lanes[lane].ended
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

    /// Settles the next cycle, or that there is none.
    fn extend(&mut self) {
        let mut begin_ns = self.until_ns();
        let cycle = self.turns.last().map_or(0, |turn| turn.cycle + 1);
        for lane in &mut self.lanes {
            if lane
                .unreachable
                .iter()
                .all(|is_unreachable| *is_unreachable)
            {
                lane.ended.get_or_insert(Ended::Unreachable);
            }
            lane.measures |= begin_ns >= self.warmup_max_ns;
        }
        let lanes = self.lanes_with_turns();
        let is_enough = |lane: &Standing| lane.measured_ns >= self.enough_ns;
        let living = || self.lanes.iter().filter(|lane| lane.ended.is_none());
        if self.ends || living().all(is_enough) {
            self.is_over = true;
            return;
        }
        if lanes != self.order.lanes() {
            self.order = Turns::new(lanes, self.seed ^ cycle);
            self.order_from = cycle;
        }
        for (place, lane) in (0..).zip(self.order.order(cycle - self.order_from)) {
            let standing = &mut self.lanes[lane as usize];
            let start_ns = begin_ns + self.settle_ns;
            let turn = Turn {
                number: self.turns.len() as u64,
                cycle,
                place,
                lane,
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

    /// The lanes of the next cycle. Turns that nobody wants are everybody's.
    fn lanes_with_turns(&self) -> Vec<u32> {
        let of = |wanted: fn(&Standing) -> bool| -> Vec<u32> {
            (0..)
                .zip(&self.lanes)
                .filter(|(_, lane)| lane.ended.is_none() && wanted(lane))
                .map(|(number, _)| number)
                .collect()
        };
        match of(|lane| lane.has_turns) {
            lanes if lanes.is_empty() => of(|_| true),
            lanes => lanes,
        }
    }
}
