//! The binding `assay._engine`: conversions and exceptions only.
//!
//! Plans come in and results go out as JSON, in the shapes of `assay_engine::schema`.

mod interleaved;
mod script;
mod stored;

use std::ffi::OsString;

use assay_engine::{Asked, LoadPlan, RunError};
use interleaved::{AgreedSlices, InterleavedRun, duration};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use script::{PyScript, ScriptFailed};

create_exception!(
    assay._engine,
    PlanError,
    PyException,
    "The plan asks for something that cannot be done; one line naming the field."
);
create_exception!(
    assay._engine,
    RunFailed,
    PyException,
    "The run could not start, or its result cannot be trusted; one line."
);

create_exception!(
    assay._engine,
    NotAnswered,
    PyException,
    "A request that was asked by itself has no answer: in what way, and what was seen."
);

fn raised(error: RunError) -> PyErr {
    match error {
        RunError::Plan(error) => refused(error),
        // Only scripts are sources.
        RunError::Source(error) => ScriptFailed::new_err(error.to_string()),
        RunError::Resolve { .. }
        | RunError::Descriptors { .. }
        | RunError::System { .. }
        | RunError::File { .. }
        | RunError::Unbalanced { .. }
        | RunError::WorkerDied(_) => RunFailed::new_err(error.to_string()),
    }
}

fn refused(error: assay_engine::PlanError) -> PyErr {
    PlanError::new_err(error.to_string())
}

fn read_plan(plan_json: &[u8]) -> PyResult<LoadPlan> {
    LoadPlan::from_json(plan_json).map_err(refused)
}

/// Values of the engine always have a JSON form; a failure here is a defect of the engine.
fn json<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyBytes>> {
    let text = serde_json::to_vec(value).map_err(|error| RunFailed::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &text))
}

/// The engine's version.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// What tells the schema of plans and measurements from others, in a few characters.
#[pyfunction]
fn schema_digest() -> &'static str {
    assay_engine::schema::digest()
}

/// Checks a plan without touching the network.
#[pyfunction]
fn validate(plan_json: &[u8]) -> PyResult<()> {
    read_plan(plan_json).map(|_| ())
}

/// The plan as the engine understands it, every default filled in.
#[pyfunction]
fn normalise<'py>(py: Python<'py>, plan_json: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    json(py, &read_plan(plan_json)?)
}

/// Checks an interleaved plan without touching the network.
#[pyfunction]
fn validate_interleaved(plan_json: &[u8]) -> PyResult<()> {
    interleaved::read_plan(plan_json).map(|_| ())
}

/// The interleaved plan as the engine understands it, every default filled in.
#[pyfunction]
fn normalise_interleaved<'py>(py: Python<'py>, plan_json: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    json(py, &interleaved::read_plan(plan_json)?)
}

type Answered<'py> = (u16, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64);

/// Asks the first request of a plan, once: status, head and body of the answer, and how many nanoseconds it took.
#[pyfunction]
fn ask<'py>(py: Python<'py>, plan_json: &[u8]) -> PyResult<Answered<'py>> {
    let plan = read_plan(plan_json)?;
    match py.detach(|| assay_engine::ask(&plan)).map_err(raised)? {
        Asked::Answered(reply) => Ok((
            reply.status,
            PyBytes::new(py, &reply.head),
            PyBytes::new(py, &reply.body),
            u64::try_from(reply.took.as_nanos()).unwrap_or(u64::MAX),
        )),
        Asked::Failed { kind, evidence } => Err(NotAnswered::new_err((kind, evidence))),
    }
}

/// Serves as the null server until SIGTERM; the words of its command line, and its exit code.
#[pyfunction]
fn null_server(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| assay_null_server::command::null_server(words))
}

/// Carries the packets of the device on standard input until it is left alone; the words of its command line, and its
/// exit code.
#[pyfunction]
fn link(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| assay_link::command::link(words))
}

type SessionParts<'py> = (String, String, String, Bound<'py, PyBytes>);

/// A load that is going on, or has ended.
#[pyclass(frozen)]
struct Run(assay_engine::Run);

#[pymethods]
impl Run {
    /// Starts the worker threads at once. A script's requests take the place of the plan's.
    #[new]
    #[pyo3(signature = (plan_json, script=None))]
    fn new(py: Python<'_>, plan_json: &[u8], script: Option<&PyScript>) -> PyResult<Self> {
        let plan = read_plan(plan_json)?;
        let supplies = script.map_or_else(|| Ok(Vec::new()), PyScript::supplies)?;
        py.detach(|| assay_engine::Run::start_supplied(&plan, supplies))
            .map(Self)
            .map_err(raised)
    }

    /// The live view.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let snapshot = py.detach(|| self.0.snapshot());
        json(py, &snapshot)
    }

    /// Ends the warm-up, so many nanoseconds after the start or, where that is over, soon.
    #[pyo3(signature = (at_ns=0))]
    fn begin_measuring(&self, at_ns: u64) {
        self.0.begin_measuring(at_ns);
    }

    /// Ends the run early, so many nanoseconds after the start or, where that is over, now.
    #[pyo3(signature = (at_ns=0))]
    fn stop(&self, at_ns: u64) {
        self.0.stop(at_ns);
    }

    /// Waits for the end, for at most so many seconds; whether it has come.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> bool {
        py.detach(|| self.0.wait(duration(timeout_s)))
    }

    /// The logged requests, once the run has ended: 48 bytes each (see `Run::request_log`).
    fn request_log<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.request_log()))
    }

    /// The heads of logged answers, each with what of the body was read together with it.
    fn logged_answers<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let answers = self.0.logged_answers();
        answers.iter().map(|text| PyBytes::new(py, text)).collect()
    }

    /// What a run that has ended read and wrote below TLS.
    fn tls_bytes(&self) -> Option<(u64, u64)> {
        self.0.tls_bytes()
    }

    /// Version, cipher suite, key exchange group and certificate of the first session.
    fn session<'py>(&self, py: Python<'py>) -> Option<SessionParts<'py>> {
        let session = self.0.session()?;
        let certificate = PyBytes::new(py, &session.certificate);
        Some((session.version, session.suite, session.group, certificate))
    }

    /// Waits for the end and gives the measurement.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let measurement = py.detach(|| self.0.result()).map_err(raised)?;
        json(py, &measurement)
    }
}

/// The load engine of Assay. See `assay.engine.driver` for the typed interface.
#[pymodule]
#[pyo3(name = "_engine")]
fn engine_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(validate, module)?)?;
    module.add_function(wrap_pyfunction!(normalise, module)?)?;
    module.add_function(wrap_pyfunction!(null_server, module)?)?;
    module.add_function(wrap_pyfunction!(link, module)?)?;
    module.add_function(wrap_pyfunction!(ask, module)?)?;
    module.add_function(wrap_pyfunction!(validate_interleaved, module)?)?;
    module.add_function(wrap_pyfunction!(normalise_interleaved, module)?)?;
    module.add_function(wrap_pyfunction!(stored::merge_measurements, module)?)?;
    module.add_function(wrap_pyfunction!(stored::merge_interleaved, module)?)?;
    module.add_function(wrap_pyfunction!(stored::merge_snapshots, module)?)?;
    module.add_function(wrap_pyfunction!(stored::merge_arm_snapshots, module)?)?;
    module.add_function(wrap_pyfunction!(stored::histogram_of, module)?)?;
    module.add_function(wrap_pyfunction!(schema_digest, module)?)?;
    module.add_class::<stored::StoredHistogram>()?;
    module.add_class::<Run>()?;
    module.add_class::<InterleavedRun>()?;
    module.add_class::<AgreedSlices>()?;
    module.add_class::<PyScript>()?;
    module.add("ScriptError", module.py().get_type::<ScriptFailed>())?;
    module.add("NotAnswered", module.py().get_type::<NotAnswered>())?;
    module.add("PlanError", module.py().get_type::<PlanError>())?;
    module.add("RunError", module.py().get_type::<RunFailed>())
}
