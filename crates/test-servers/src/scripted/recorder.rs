//! Exact sums of what the scripted server did.

use serde::Serialize;
use std::time::Duration;

/// More answers than this are counted but not timed, so that memory is bounded (24 bytes each).
const MOST_TIMED: usize = 4_000_000;

/// Exact sums of what the server did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Connections accepted.
    pub connections: u64,
    /// Complete requests read.
    pub requests_read: u64,
    /// Answers whose last byte the system has taken.
    pub answers_written: u64,
    /// Requests held back now: not yet due, or never.
    pub delayed: u64,
    /// Requests whose connection or stream ended while they were held.
    pub abandoned: u64,
    /// From the arrival of the request until its answer was due, for every answer given.
    pub hold: Times,
    /// From when an answer was due until it was given.
    pub late: Times,
    /// From the arrival of the request until its answer was given: what a client can see.
    pub taken: Times,
}

/// Exact quantiles (nearest rank) in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "each name says all there is to say")]
pub struct Times {
    pub count: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
}

impl Times {
    fn of(times_ns: &[u64]) -> Self {
        let mut sorted = times_ns.to_vec();
        sorted.sort_unstable();
        let at = |quantile: f64| {
            let rank = (quantile * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Self {
            count: sorted.len() as u64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: at(1.0),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) sums: Counts,
    holds_ns: Vec<u64>,
    lates_ns: Vec<u64>,
    takens_ns: Vec<u64>,
}

impl Recorder {
    pub(super) fn counts(&self) -> Counts {
        Counts {
            hold: Times::of(&self.holds_ns),
            late: Times::of(&self.lates_ns),
            taken: Times::of(&self.takens_ns),
            ..self.sums.clone()
        }
    }

    pub(super) fn answered(&mut self, hold: Duration, late: Duration) {
        if self.holds_ns.len() < MOST_TIMED {
            self.holds_ns.push(hold.as_nanos() as u64);
            self.lates_ns.push(late.as_nanos() as u64);
            self.takens_ns.push((hold + late).as_nanos() as u64);
        }
    }
}
