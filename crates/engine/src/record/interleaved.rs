//! What a run of arms that are interleaved hands out: a measurement an arm, and its slices.
//!
//! `src/assay/model/interleaving.py` is written from it (`make schema`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::measurement::{Measurement, Phase, Snapshot, Window};
use super::notes::SlicePart;
use super::recorder::Recorder;
use crate::change::Ended;
use crate::course::SliceTimes;

/// One slice of an arm, summed over the workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// The number of its slice within the run.
    pub number: u64,
    /// The round it lies in.
    pub round: u64,
    /// Its place within the round.
    pub place: u32,
    /// The phase of the arm it lies in.
    pub phase: Phase,
    /// Length of the washout before it.
    pub washout_ns: u64,
    /// Its start, from the start of the run.
    pub start_ns: u64,
    /// Its length; only where the run was stopped in the midst of it, it is shorter than planned.
    pub length_ns: u64,
    /// Requests started in it.
    pub started: u64,
    /// Requests answered as expected in it.
    pub completed: u64,
    /// Requests failed in it.
    pub failed: u64,
    /// Bytes received in it.
    pub bytes_read: u64,
    /// Those of `completed` that were answered in its first fifth.
    pub early_completed: u64,
    /// The sum of their service times.
    pub service_time_sum_ns: u64,
    /// Their median service time (of several workers: the mean of their medians, by answers).
    pub service_time_p50_ns: u64,
    /// Requests under way at its end.
    pub carried: u64,
    /// Those of the arm that were still under way when the washout after it was over.
    pub unsettled: u64,
    /// Answers of the arm between its slice before this one and this one; they count for nobody.
    pub late: u64,
    /// Connections opened again between the end of the arm's slice before this one and its own end.
    pub reopened: u64,
    /// CPU time that the workers used in it.
    pub client_cpu_ns: u64,
    /// How long the requests under way at its end had been so by then, less how long requests had been that were under way at its
    /// begin: with it the service times are the time that requests were under way within the slice.
    #[serde(default)]
    pub edges_ns: Option<i64>,
    /// How long the workers were ready to run meanwhile and others had their cores; none where the system
    /// does not tell.
    #[serde(default)]
    pub client_delayed_ns: Option<u64>,
}

/// What one arm did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArmMeasurement {
    /// As of a run of its own: its measured time is the sum of its measured slices, its windows are its slices.
    pub measurement: Measurement,
    /// Answers outside its slices in the measured phase: in the accounting, and in no figure.
    pub late: u64,
    /// Why it had no more slices before the end of the run.
    pub ended: Option<Ended>,
    /// Its slices, those of the warm-up first.
    pub slices: Vec<Slice>,
}

/// One execution of an interleaved plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InterleavedMeasurement {
    /// The start of the run, in nanoseconds since 1970.
    pub started_at_unix_ns: u64,
    /// The same by the system's monotonic clock.
    pub started_at_monotonic_ns: u64,
    /// Of a part, how long after the agreed instant its workers began; its first slices lack so much.
    #[serde(default)]
    pub started_late_ns: u64,
    /// Length of the run.
    pub length_ns: u64,
    /// Whether it was stopped in the midst of a round.
    pub interrupted: bool,
    /// The arms, in the order of the plan.
    pub arms: Vec<ArmMeasurement>,
}

/// The live view of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArmSnapshot {
    /// As of a run of its own.
    pub snapshot: Snapshot,
    /// Why it has no more slices.
    pub ended: Option<Ended>,
    /// Of a part, why it should have no more, as seen from here alone: that is for all parts to agree on.
    #[serde(default)]
    pub ended_here: Option<Ended>,
    /// The slices of the current phase that are over, the latest 1,200 at most.
    pub slices: Vec<Slice>,
}

/// The live view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InterleavedSnapshot {
    /// Time since the start of the run.
    pub elapsed_ns: u64,
    /// Whose slice it is; none once the run has ended.
    pub slice: Option<SliceTimes>,
    /// The arms, in the order of the plan.
    pub arms: Vec<ArmSnapshot>,
}

/// The slices of an arm that all its workers have ended, in order.
pub(crate) fn slices(
    recorders: &[Arc<Recorder>],
    slices: &[SliceTimes],
    end_ns: u64,
) -> Vec<Slice> {
    let parts: Vec<Vec<SlicePart>> = recorders
        .iter()
        .map(|recorder| recorder.notes().parts.clone())
        .collect();
    let ended_by_all = parts.iter().map(Vec::len).min().unwrap_or(0);
    (0..ended_by_all)
        .filter_map(|index| {
            let of_all: Vec<&SlicePart> = parts.iter().map(|worker| &worker[index]).collect();
            let times = slices.get(of_all[0].number as usize)?;
            Some(slice(times, &of_all, end_ns))
        })
        .collect()
}

pub(super) fn slice(times: &SliceTimes, parts: &[&SlicePart], end_ns: u64) -> Slice {
    let sum = |figure: fn(&SlicePart) -> u64| parts.iter().map(|part| figure(part)).sum::<u64>();
    let completed = sum(|part| part.completed);
    let medians = parts
        .iter()
        .map(|part| u128::from(part.service_time_p50_ns) * u128::from(part.completed))
        .sum::<u128>();
    Slice {
        number: times.number,
        round: times.round,
        place: times.place,
        phase: times.phase,
        washout_ns: times.start_ns - times.begin_ns,
        start_ns: times.start_ns,
        length_ns: times.end_ns.min(end_ns).saturating_sub(times.start_ns),
        started: sum(|part| part.started),
        completed,
        failed: sum(|part| part.failed),
        bytes_read: sum(|part| part.bytes_read),
        early_completed: sum(|part| part.early_completed),
        service_time_sum_ns: sum(|part| part.service_time_sum_ns),
        service_time_p50_ns: medians
            .checked_div(u128::from(completed))
            .unwrap_or_default() as u64,
        carried: sum(|part| part.carried),
        edges_ns: Some(parts.iter().map(|part| part.edges_ns).sum()),
        unsettled: sum(|part| part.unsettled),
        late: sum(|part| part.late),
        reopened: sum(|part| part.reopened),
        client_cpu_ns: sum(|part| part.cpu_ns),
        client_delayed_ns: parts.iter().map(|part| part.delayed_ns).sum(),
    }
}

/// Slices as windows of a measurement.
pub(crate) fn windows(slices: &[Slice]) -> Vec<Window> {
    let window = |slice: &Slice| Window {
        start_ns: slice.start_ns,
        length_ns: slice.length_ns,
        phase: slice.phase,
        started: slice.started,
        completed: slice.completed,
        failed: slice.failed,
        bytes_read: slice.bytes_read,
    };
    slices.iter().map(window).collect()
}
