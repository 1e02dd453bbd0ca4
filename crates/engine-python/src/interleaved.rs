//! The binding of interleaved runs.

use std::time::Duration;

use assay_engine::{Change, InterleavedPlan};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{PlanError, json, raised, refused};

pub(crate) fn read_plan(plan_json: &[u8]) -> PyResult<InterleavedPlan> {
    InterleavedPlan::from_json(plan_json).map_err(refused)
}

fn read_change(change_json: &[u8]) -> PyResult<Change> {
    serde_json::from_slice(change_json).map_err(|error| PlanError::new_err(error.to_string()))
}

/// A load of arms that take turns.
#[pyclass(frozen)]
pub(crate) struct InterleavedRun(assay_engine::InterleavedRun);

#[pymethods]
impl InterleavedRun {
    /// Starts the worker threads at once.
    #[new]
    fn new(py: Python<'_>, plan_json: &[u8]) -> PyResult<Self> {
        let plan = read_plan(plan_json)?;
        py.detach(|| assay_engine::InterleavedRun::start(&plan))
            .map(Self)
            .map_err(raised)
    }

    /// Changes the turns from a cycle on; the cycle from which that holds.
    fn change(&self, change_json: &[u8], from_cycle: u64) -> PyResult<u64> {
        self.0
            .change(read_change(change_json)?, from_cycle)
            .map_err(raised)
    }

    /// Ends the run, so many nanoseconds after the start or, where that is over, at once.
    #[pyo3(signature = (at_ns=0))]
    fn stop(&self, at_ns: u64) {
        self.0.stop(at_ns);
    }

    /// Waits for the end, for at most so many seconds; whether it has come.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> bool {
        py.detach(|| self.0.wait(duration(timeout_s)))
    }

    /// Nanoseconds of the system's monotonic clock at the start of the run.
    fn started_at_monotonic_ns(&self) -> u64 {
        self.0.started_at_monotonic_ns()
    }

    /// The turns that are settled, from one on.
    fn turns<'py>(&self, py: Python<'py>, first: u64) -> PyResult<Bound<'py, PyBytes>> {
        json(py, &self.0.turns(first))
    }

    /// Waits until the slice of a turn begins.
    fn wait_begin<'py>(
        &self,
        py: Python<'py>,
        turn: u64,
        timeout_s: f64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let turn = py.detach(|| self.0.wait_begin(turn, duration(timeout_s)));
        turn.map(|turn| json(py, &turn)).transpose()
    }

    /// Waits until the slice of a turn is over.
    fn wait_end<'py>(
        &self,
        py: Python<'py>,
        turn: u64,
        timeout_s: f64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let turn = py.detach(|| self.0.wait_end(turn, duration(timeout_s)));
        turn.map(|turn| json(py, &turn)).transpose()
    }

    /// The live view.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let snapshot = py.detach(|| self.0.snapshot());
        json(py, &snapshot)
    }

    /// Waits for the end and gives the measurement.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let measurement = py.detach(|| self.0.result()).map_err(raised)?;
        json(py, &measurement)
    }
}

/// The turns of a run that others carry out in parts.
#[pyclass(frozen)]
pub(crate) struct AgreedTurns(assay_engine::AgreedTurns);

#[pymethods]
impl AgreedTurns {
    #[new]
    fn new(plan_json: &[u8]) -> PyResult<Self> {
        let plan = read_plan(plan_json)?;
        assay_engine::AgreedTurns::new(&plan)
            .map(Self)
            .map_err(refused)
    }

    /// A turn, where it is settled so many nanoseconds after the start.
    fn turn<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        now_ns: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let turn = self.0.turn(number, now_ns);
        turn.map(|turn| json(py, &turn)).transpose()
    }

    /// The first cycle that is not settled once all are that begin by then.
    fn next_cycle(&self, now_ns: u64) -> u64 {
        self.0.next_cycle(now_ns)
    }

    /// Whether there are no more turns.
    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Changes the turns from a cycle on; the cycle from which that holds.
    fn change(&self, change_json: &[u8], from_cycle: u64) -> PyResult<u64> {
        self.0
            .change(read_change(change_json)?, from_cycle)
            .map_err(refused)
    }
}

/// Not a number and negative times mean "do not wait".
pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
