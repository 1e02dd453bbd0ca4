//! [`WovenPlan`]: several plans in one run, whose lanes take turns.

use serde::{Deserialize, Serialize};

use super::{Load, LoadPlan, Part, RequestLog, Stop, read};
use crate::error::PlanError;
use crate::target::{Scheme, Target};

/// A token of the selector has room for so many lanes beside their connections.
const MOST_LANES: usize = 64;
/// The shortest slice; below it a switch would be most of the work.
const SHORTEST_SLICE_NS: u64 = 1_000_000;
const LONGEST_SLICE_NS: u64 = 3_600 * 1_000_000_000;

/// Several plans in one run, a lane each. The lanes take turns on the same worker threads: while one
/// has its slice the others rest, with their connections open.
///
/// The Rust twin of `WovenPlan` in `src/assay/model/interleaving.py`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WovenPlan {
    /// What each lane does. They share their threads, so `threads`, `cpus`, `stop`, `warmup_max_ns`
    /// and the scheme of the URL are the same in all. `stop` counts a lane's own slices.
    pub lanes: Vec<LoadPlan>,
    /// Length of a slice, without its settle time.
    pub slice_ns: u64,
    /// The time before each slice in which nobody starts anything and what is under way is answered.
    pub settle_ns: u64,
    /// Seed of the order.
    #[serde(default)]
    pub seed: u64,
    /// What of all lanes is offered from here, where others offer the rest. The turns are those of the
    /// whole: they count from the instant at which the part starts, by the calendar, however late it is met.
    #[serde(default)]
    pub part: Option<Part>,
}

impl WovenPlan {
    /// Reads and validates a plan.
    ///
    /// # Errors
    /// One line naming the field.
    pub fn from_json(json: &[u8]) -> Result<Self, PlanError> {
        let plan: Self = read(json)?;
        plan.validate()?;
        Ok(plan)
    }

    /// Checks everything that can be known without touching the network or a file.
    ///
    /// # Errors
    /// The first field that is wrong, in one line.
    pub fn validate(&self) -> Result<(), PlanError> {
        if !(1..=MOST_LANES).contains(&self.lanes.len()) {
            return Err(PlanError::new("lanes", "must be between 1 and 64"));
        }
        check_lengths(self.slice_ns, self.settle_ns)?;
        for (number, lane) in self.lanes.iter().enumerate() {
            let named = |error: PlanError| {
                PlanError::new(format!("lanes[{number}].{}", error.field), error.problem)
            };
            lane.validate().map_err(named)?;
            takes_turns(lane).map_err(named)?;
            self.shares(lane).map_err(named)?;
        }
        if self.part.is_some() {
            self.lanes_here()[0].validate()?;
        }
        Ok(())
    }

    /// The lanes, each as the part of it that is executed here.
    #[must_use]
    pub fn lanes_here(&self) -> Vec<LoadPlan> {
        let here = |lane: &LoadPlan| LoadPlan {
            part: self.part,
            ..lane.clone()
        };
        self.lanes.iter().map(here).collect()
    }

    /// What lanes on the same threads have in common.
    fn shares(&self, lane: &LoadPlan) -> Result<(), PlanError> {
        let first = &self.lanes[0];
        let same = [
            ("threads", lane.threads == first.threads),
            ("cpus", lane.cpus == first.cpus),
            ("stop", lane.stop == first.stop),
            ("warmup_max_ns", lane.warmup_max_ns == first.warmup_max_ns),
            ("url", scheme(lane)? == scheme(first)?),
        ];
        match same.iter().find(|(_, is_same)| !is_same) {
            None => Ok(()),
            Some(("url", _)) => Err(PlanError::new(
                "url",
                "must have the scheme of lanes[0]: either http or https",
            )),
            Some((field, _)) => Err(PlanError::new(
                *field,
                "must be as in lanes[0]: lanes share their threads and their time",
            )),
        }
    }
}

/// Checks the length of slices and of the settle time before them.
pub(crate) fn check_lengths(slice_ns: u64, settle_ns: u64) -> Result<(), PlanError> {
    if !(SHORTEST_SLICE_NS..=LONGEST_SLICE_NS).contains(&slice_ns) {
        return Err(PlanError::new(
            "slice_ns",
            "must be between 1 millisecond and one hour",
        ));
    }
    if settle_ns > LONGEST_SLICE_NS {
        return Err(PlanError::new("settle_ns", "must be at most one hour"));
    }
    Ok(())
}

/// What of a plan a lane that takes turns cannot do.
fn takes_turns(lane: &LoadPlan) -> Result<(), PlanError> {
    if let Load::Open { .. } = lane.load {
        return Err(PlanError::new(
            "load",
            "must be a closed loop: arrivals that do not wait cannot take turns",
        ));
    }
    if let Stop::AtCount { .. } = lane.stop {
        return Err(PlanError::new(
            "stop",
            "must be a duration: lanes that take turns end together",
        ));
    }
    if lane.part.is_some() {
        return Err(PlanError::new(
            "part",
            "must be none: lanes that take turns have one part, that of the woven plan",
        ));
    }
    if lane.request_log != RequestLog::Off {
        return Err(PlanError::new(
            "request_log",
            "must be off: a lane that takes turns writes down no single requests",
        ));
    }
    Ok(())
}

fn scheme(lane: &LoadPlan) -> Result<Scheme, PlanError> {
    Ok(Target::parse(&lane.url)?.scheme)
}
