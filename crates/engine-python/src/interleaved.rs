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

/// A load of arms that are interleaved.
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

    /// Changes the slices from a round on; the round from which that holds.
    fn change(&self, change_json: &[u8], from_round: u64) -> PyResult<u64> {
        self.0
            .change(read_change(change_json)?, from_round)
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

    /// The slices that are settled, from one on.
    fn slices<'py>(&self, py: Python<'py>, first: u64) -> PyResult<Bound<'py, PyBytes>> {
        json(py, &self.0.slices(first))
    }

    /// Waits until a slice begins.
    fn wait_begin<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        timeout_s: f64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let times = py.detach(|| self.0.wait_begin(number, duration(timeout_s)));
        times.map(|times| json(py, &times)).transpose()
    }

    /// Waits until a slice is over.
    fn wait_end<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        timeout_s: f64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let times = py.detach(|| self.0.wait_end(number, duration(timeout_s)));
        times.map(|times| json(py, &times)).transpose()
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

/// The slices of a run that others carry out in parts.
#[pyclass(frozen)]
pub(crate) struct AgreedSlices(assay_engine::AgreedSlices);

#[pymethods]
impl AgreedSlices {
    #[new]
    fn new(plan_json: &[u8]) -> PyResult<Self> {
        let plan = read_plan(plan_json)?;
        assay_engine::AgreedSlices::new(&plan)
            .map(Self)
            .map_err(refused)
    }

    /// A slice, where it is settled so many nanoseconds after the start.
    fn slice<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        now_ns: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let times = self.0.slice(number, now_ns);
        times.map(|times| json(py, &times)).transpose()
    }

    /// The first round that is not settled once all are that begin by then.
    fn next_round(&self, now_ns: u64) -> u64 {
        self.0.next_round(now_ns)
    }

    /// Whether there are no more slices.
    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Changes the slices from a round on; the round from which that holds.
    fn change(&self, change_json: &[u8], from_round: u64) -> PyResult<u64> {
        self.0
            .change(read_change(change_json)?, from_round)
            .map_err(refused)
    }
}

/// Not a number and negative times mean "do not wait".
pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
