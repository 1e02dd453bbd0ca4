//! Several generators' interleaved measurements and live views of one load, added up by arms and slices.

use std::collections::BTreeMap;

use super::adding_up::{NotOneLoad, most, some};
use super::interleaved::{ArmMeasurement, ArmSnapshot, InterleavedMeasurement, Slice};
use super::measurement::{Measurement, Phase, Snapshot};
use super::merge::{merged, together};
use super::windows::latest;

/// The interleaved measurement of the whole.
///
/// # Errors
///
/// Where the parts did not take the same slices, or a part's accounting does not balance.
pub fn merged_interleaved(
    parts: &[InterleavedMeasurement],
) -> Result<InterleavedMeasurement, NotOneLoad> {
    let first = some(parts)?;
    let arm = |number: usize| {
        let of_all: Option<Vec<&ArmMeasurement>> =
            parts.iter().map(|part| part.arms.get(number)).collect();
        merged_arm(&of_all.ok_or_else(other_slices)?)
    };
    Ok(InterleavedMeasurement {
        started_at_unix_ns: first.started_at_unix_ns,
        started_at_monotonic_ns: first.started_at_monotonic_ns,
        started_late_ns: most(
            &parts
                .iter()
                .map(|part| &part.started_late_ns)
                .collect::<Vec<_>>(),
        )?,
        length_ns: most(&parts.iter().map(|part| &part.length_ns).collect::<Vec<_>>())?,
        interrupted: parts.iter().any(|part| part.interrupted),
        arms: (0..first.arms.len()).map(arm).collect::<Result<_, _>>()?,
    })
}

fn other_slices() -> NotOneLoad {
    NotOneLoad("the generators did not take the same slices".into())
}

fn merged_arm(parts: &[&ArmMeasurement]) -> Result<ArmMeasurement, NotOneLoad> {
    let at = |part: &ArmMeasurement| -> Vec<_> {
        let slices = part.slices.iter();
        slices
            .map(|one| {
                let place = (
                    one.number,
                    one.round,
                    one.place,
                    one.phase == Phase::Measured,
                );
                (place, one.start_ns, one.length_ns, one.washout_ns)
            })
            .collect()
    };
    if parts.windows(2).any(|pair| at(pair[0]) != at(pair[1])) {
        return Err(other_slices());
    }
    let of_parts: Vec<&[Slice]> = parts.iter().map(|part| &part.slices[..]).collect();
    let slices = slices_of_all(&of_parts);
    let measurements: Vec<Measurement> =
        parts.iter().map(|part| part.measurement.clone()).collect();
    let mut measurement = merged(&measurements)?;
    measurement.windows = super::interleaved::windows(&slices);
    Ok(ArmMeasurement {
        measurement,
        late: parts.iter().map(|part| part.late).sum(),
        ended: parts.iter().find_map(|part| part.ended),
        slices,
    })
}

/// The slices that all parts have, added up by their number.
fn slices_of_all(parts: &[&[Slice]]) -> Vec<Slice> {
    let mut by_number: BTreeMap<u64, Vec<&Slice>> = BTreeMap::new();
    for one in parts.iter().copied().flatten() {
        by_number.entry(one.number).or_default().push(one);
    }
    let of_all = by_number.values().filter(|same| same.len() == parts.len());
    of_all.map(|same| slice(same)).collect()
}

/// One slice. Its median is the mean of theirs by answers, as that of several workers is.
fn slice(same: &[&Slice]) -> Slice {
    let first = same[0];
    let total = |of: fn(&Slice) -> u64| same.iter().map(|one| of(one)).sum::<u64>();
    let completed = total(|one| one.completed);
    let medians: u128 = same
        .iter()
        .map(|one| u128::from(one.service_time_p50_ns) * u128::from(one.completed))
        .sum();
    Slice {
        number: first.number,
        round: first.round,
        place: first.place,
        phase: first.phase,
        washout_ns: first.washout_ns,
        start_ns: first.start_ns,
        length_ns: first.length_ns,
        started: total(|one| one.started),
        completed,
        failed: total(|one| one.failed),
        bytes_read: total(|one| one.bytes_read),
        early_completed: total(|one| one.early_completed),
        service_time_sum_ns: total(|one| one.service_time_sum_ns),
        service_time_p50_ns: medians.checked_div(completed.into()).unwrap_or(0) as u64,
        carried: total(|one| one.carried),
        edges_ns: same.iter().map(|one| one.edges_ns).sum(),
        unsettled: total(|one| one.unsettled),
        late: total(|one| one.late),
        reopened: total(|one| one.reopened),
        client_cpu_ns: total(|one| one.client_cpu_ns),
        client_delayed_ns: same.iter().map(|one| one.client_delayed_ns).sum(),
    }
}

/// The live view of an arm: of its slices those that all have ended, while all are in one phase.
///
/// # Errors
///
/// Where there is none.
pub fn arm_together(looks: &[ArmSnapshot]) -> Result<ArmSnapshot, NotOneLoad> {
    let phase = some(looks)?.snapshot.phase;
    let snapshots: Vec<Snapshot> = looks.iter().map(|look| look.snapshot.clone()).collect();
    let of_parts: Vec<&[Slice]> = looks.iter().map(|look| &look.slices[..]).collect();
    let is_one_phase = looks.iter().all(|look| look.snapshot.phase == phase);
    Ok(ArmSnapshot {
        snapshot: together(&snapshots)?,
        ended: looks.iter().find_map(|look| look.ended),
        ended_here: None,
        slices: if is_one_phase {
            latest(slices_of_all(&of_parts))
        } else {
            Vec::new()
        },
    })
}
