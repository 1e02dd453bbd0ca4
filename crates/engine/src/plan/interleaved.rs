//! [`InterleavedPlan`]: several plans in one run, whose arms are interleaved.

use serde::{Deserialize, Serialize};

use super::{Load, LoadPlan, RequestLog, Shard, Stop, read};
use crate::error::PlanError;
use crate::target::{Scheme, Target};

/// A token of the selector has room for so many arms beside their connections.
const MOST_ARMS: usize = 64;
/// The shortest slice; below it a switch would be most of the work.
const SHORTEST_SLICE_NS: u64 = 1_000_000;
const LONGEST_SLICE_NS: u64 = 3_600 * 1_000_000_000;

/// Several plans in one run, an arm each. The arms are interleaved on the same worker threads: while one
/// has its slice the others rest, with their connections open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InterleavedPlan {
    /// What each arm does. They share their threads, so `threads`, `cpus`, `stop`, `warmup_max_ns`
    /// and the scheme of the URL are the same in all. `stop` counts an arm's own slices.
    pub arms: Vec<LoadPlan>,
    /// Length of a slice, without its washout.
    pub slice_ns: u64,
    /// The time before each slice in which nobody starts anything and what is under way is answered.
    pub washout_ns: u64,
    /// Seed of the order.
    #[serde(default)]
    pub seed: u64,
    /// What of all arms is offered from here, where others offer the rest. The slices are those of the
    /// whole: they count from the instant at which the part starts, by the calendar, however late it is met.
    #[serde(default)]
    pub part: Option<Shard>,
}

impl InterleavedPlan {
    /// Reads and validates a plan.
    ///
    /// # Errors
    /// One line naming the field.
    #[inline]
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
        if !(1..=MOST_ARMS).contains(&self.arms.len()) {
            return Err(PlanError::new("arms", "must be between 1 and 64"));
        }
        check_lengths(self.slice_ns, self.washout_ns)?;
        for (number, arm) in self.arms.iter().enumerate() {
            let named = |error: PlanError| {
                PlanError::new(format!("arms[{number}].{}", error.field), error.problem)
            };
            arm.validate().map_err(named)?;
            is_interleavable(arm).map_err(named)?;
            self.shares(arm).map_err(named)?;
        }
        if self.part.is_some() {
            self.arms_here()[0].validate()?;
        }
        Ok(())
    }

    /// The arms, each as the part of it that is executed here.
    #[must_use]
    pub fn arms_here(&self) -> Vec<LoadPlan> {
        let here = |arm: &LoadPlan| LoadPlan {
            part: self.part,
            ..arm.clone()
        };
        self.arms.iter().map(here).collect()
    }

    /// What arms on the same threads have in common.
    fn shares(&self, arm: &LoadPlan) -> Result<(), PlanError> {
        let first = &self.arms[0];
        let same = [
            ("threads", arm.threads == first.threads),
            ("cpus", arm.cpus == first.cpus),
            ("stop", arm.stop == first.stop),
            ("warmup_max_ns", arm.warmup_max_ns == first.warmup_max_ns),
            ("url", scheme(arm)? == scheme(first)?),
        ];
        match same.iter().find(|(_, is_same)| !is_same) {
            None => Ok(()),
            Some(("url", _)) => Err(PlanError::new(
                "url",
                "must have the scheme of arms[0]: either http or https",
            )),
            Some((field, _)) => Err(PlanError::new(
                *field,
                "must be as in arms[0]: arms share their threads and their time",
            )),
        }
    }
}

/// Checks the length of slices and of the washout before them.
pub(crate) fn check_lengths(slice_ns: u64, washout_ns: u64) -> Result<(), PlanError> {
    if !(SHORTEST_SLICE_NS..=LONGEST_SLICE_NS).contains(&slice_ns) {
        return Err(PlanError::new(
            "slice_ns",
            "must be between 1 millisecond and one hour",
        ));
    }
    if washout_ns > LONGEST_SLICE_NS {
        return Err(PlanError::new("washout_ns", "must be at most one hour"));
    }
    Ok(())
}

/// What of a plan an arm that is interleaved cannot do.
fn is_interleavable(arm: &LoadPlan) -> Result<(), PlanError> {
    if let Load::Open { .. } = arm.load {
        return Err(PlanError::new(
            "load",
            "must be a closed loop: arrivals that do not wait cannot be interleaved",
        ));
    }
    if let Stop::AtCount { .. } = arm.stop {
        return Err(PlanError::new(
            "stop",
            "must be a duration: arms that are interleaved end together",
        ));
    }
    if !arm.hosts.is_empty() {
        return Err(PlanError::new(
            "hosts",
            "must be none: an arm that is interleaved loads one host",
        ));
    }
    if arm.part.is_some() {
        return Err(PlanError::new(
            "part",
            "must be none: arms that are interleaved have one part, that of the interleaved plan",
        ));
    }
    if arm.request_log != RequestLog::Off {
        return Err(PlanError::new(
            "request_log",
            "must be off: an arm that is interleaved writes down no single requests",
        ));
    }
    Ok(())
}

fn scheme(arm: &LoadPlan) -> Result<Scheme, PlanError> {
    Ok(Target::parse(&arm.url)?.scheme)
}
