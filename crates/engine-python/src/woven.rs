//! The binding of woven runs.

use std::time::Duration;

use assay_engine::WovenPlan;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{PlanError, json, raised};

pub(crate) fn read_plan(plan_json: &[u8]) -> PyResult<WovenPlan> {
    WovenPlan::from_json(plan_json).map_err(|error| PlanError::new_err(error.to_string()))
}

/// A load of lanes that take turns.
#[pyclass(frozen)]
pub(crate) struct WovenRun(assay_engine::WovenRun);

#[pymethods]
impl WovenRun {
    /// Starts the worker threads at once.
    #[new]
    fn new(py: Python<'_>, plan_json: &[u8]) -> PyResult<Self> {
        let plan = read_plan(plan_json)?;
        py.detach(|| assay_engine::WovenRun::start(&plan))
            .map(Self)
            .map_err(raised)
    }

    /// Lets lanes measure from the next cycle on; all of them where none is named.
    #[pyo3(signature = (lanes=None))]
    fn begin_measuring(&self, lanes: Option<Vec<u32>>) {
        self.0.begin_measuring(lanes.as_deref());
    }

    /// Gives turns to these lanes only, from the next cycle on.
    fn set_turns(&self, lanes: Vec<u32>) {
        self.0.set_turns(&lanes);
    }

    /// Changes the length of slices and settle times from the next cycle on.
    fn set_lengths(&self, slice_ns: u64, settle_ns: u64) -> PyResult<()> {
        self.0.set_lengths(slice_ns, settle_ns).map_err(raised)
    }

    /// A lane has no more turns from the next cycle on.
    fn end_lane(&self, lane: u32) {
        self.0.end_lane(lane);
    }

    /// Ends the run with the cycle that is under way.
    fn end_after_cycle(&self) {
        self.0.end_after_cycle();
    }

    /// Ends the run at once.
    fn stop(&self) {
        self.0.stop();
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

/// Not a number and negative times mean "do not wait".
pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
