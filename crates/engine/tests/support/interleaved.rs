//! Plans of arms that are interleaved, and what holds of each arm whatever happened.

use std::time::Duration;

use assay_engine::record::measurement::Phase;
use assay_engine::record::{ArmMeasurement, InterleavedMeasurement, Slice};
use assay_engine::{Change, InterleavedPlan, InterleavedRun};
use serde_json::{Value, json};

use super::Server;

pub const MS: u64 = 1_000_000;
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An arm to a server; `more` overrides.
pub fn arm(server: &Server, connections: u32, measured_ms: u64, more: &Value) -> Value {
    let mut arm = json!({
        "url": server.url(),
        "load": {"kind": "closed", "connections": connections},
        "stop": {"kind": "duration", "ns": measured_ms * MS},
    });
    for (key, value) in more.as_object().unwrap() {
        arm[key] = value.clone();
    }
    arm
}

pub fn interleaved(arms: Vec<Value>, slice_ms: u64, settle_ms: u64) -> InterleavedPlan {
    let plan = json!({
        "arms": arms,
        "slice_ns": slice_ms * MS,
        "washout_ns": settle_ms * MS,
        "seed": 7,
    });
    InterleavedPlan::from_json(plan.to_string().as_bytes()).unwrap()
}

pub fn finish(run: &InterleavedRun) -> InterleavedMeasurement {
    assert!(run.wait(PATIENCE), "the run does not end");
    let measured = run.result().unwrap();
    for arm in &measured.arms {
        is_consistent(arm);
    }
    measured
}

/// Changes the slices from the next round on.
pub fn change(run: &InterleavedRun, change: Change) -> u64 {
    run.change(change, 0).unwrap()
}

pub fn run(plan: &InterleavedPlan) -> InterleavedMeasurement {
    finish(&InterleavedRun::start(plan).unwrap())
}

pub fn sum(slices: &[Slice], figure: fn(&Slice) -> u64) -> u64 {
    let measured = |slice: &&Slice| slice.phase == Phase::Measured;
    slices.iter().filter(measured).map(figure).sum()
}

/// What holds of every arm, whatever happened. The accounting balances, or `result` fails.
fn is_consistent(arm: &ArmMeasurement) {
    let measurement = &arm.measurement;
    let slices = &arm.slices;
    assert_eq!(sum(slices, |slice| slice.started), measurement.started);
    assert_eq!(sum(slices, |slice| slice.completed), measurement.completed);
    assert_eq!(
        sum(slices, |slice| slice.bytes_read),
        measurement.bytes_read
    );
    assert_eq!(
        sum(slices, |slice| slice.length_ns),
        measurement.measured_ns
    );
    assert_eq!(measurement.service_time.count, measurement.completed);
    assert!(sum(slices, |slice| slice.failed) <= measurement.failed);
    assert_eq!(measurement.windows.len(), slices.len());
    let by_workers: u64 = measurement.workers.iter().map(|w| w.completed).sum();
    assert_eq!(by_workers, measurement.completed);
    let cpu_ns: u64 = measurement.workers.iter().map(|w| w.cpu_ns).sum();
    assert_eq!(cpu_ns, sum(slices, |slice| slice.client_cpu_ns));
    for slice in slices {
        assert!(slice.early_completed <= slice.completed);
        assert!(slice.unsettled <= slice.carried);
        assert!(slice.late <= 1_000_000);
    }
    let slices: Vec<u64> = slices.iter().map(|slice| slice.number).collect();
    assert!(slices.is_sorted());
}

/// All started requests of an arm end somewhere: in its slices, late, failed, or in flight.
pub fn total(arm: &ArmMeasurement) -> u64 {
    arm.slices.iter().map(|s| s.completed + s.late).sum()
}
