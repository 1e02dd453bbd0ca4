//! `Script`: wrk's Lua scripts, with what they are told as JSON.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_engine::Supply;
use assay_engine_lua::{Errors, Script, ScriptError, Settings, Statistics, Summary};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;

create_exception!(
    assay._engine,
    ScriptFailed,
    PyException,
    "A script cannot go on; the whole line that wrk writes."
);

fn raised(error: ScriptError) -> PyErr {
    ScriptFailed::new_err(error.to_string())
}

fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> PyResult<T> {
    serde_json::from_slice(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsRead {
    file: String,
    scheme: String,
    host: String,
    port: Option<String>,
    addresses: Vec<SocketAddr>,
    path: String,
    headers: Vec<(String, String)>,
    threads: u32,
    arguments: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndRead {
    duration_us: u64,
    requests: u64,
    bytes_read: u64,
    errors: ErrorsRead,
    latency: StatisticsRead,
    per_thread: StatisticsRead,
    is_strict: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorsRead {
    connect: u64,
    read: u64,
    write: u64,
    status: u64,
    timeout: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatisticsRead {
    counts: Vec<(u64, u64)>,
    low: u64,
    high: u64,
    mean: f64,
    stdev: f64,
}

impl StatisticsRead {
    fn of(self, is_strict: bool) -> Statistics {
        Statistics {
            counts: self.counts,
            min: self.low,
            max: self.high,
            mean: self.mean,
            stdev: self.stdev,
            is_strict,
        }
    }
}

/// A script in all its states.
#[pyclass(frozen, name = "Script")]
pub(crate) struct PyScript(Mutex<Script>);

impl PyScript {
    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn supplies(&self) -> PyResult<Vec<Supply>> {
        self.lock().supplies().map_err(raised)
    }
}

#[pymethods]
impl PyScript {
    /// Loads the script into its main state.
    #[new]
    fn new(py: Python<'_>, settings_json: &[u8]) -> PyResult<Self> {
        let given: SettingsRead = read(settings_json)?;
        let settings = Settings {
            file: given.file,
            scheme: given.scheme,
            host: given.host,
            port: given.port,
            addresses: given.addresses,
            path: given.path,
            headers: given.headers,
            threads: given.threads,
            arguments: given.arguments,
        };
        let script = py.detach(|| Script::load(settings)).map_err(raised)?;
        Ok(Self(Mutex::new(script)))
    }

    /// Why the script could not be loaded, once for each state it was tried in.
    fn complaints(&self) -> Vec<String> {
        self.lock().complaints().to_vec()
    }

    /// Makes the threads' states: the first requests that are sent, and where each thread's go.
    fn prepare<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let ready = py.detach(|| self.lock().prepare()).map_err(raised)?;
        let addresses = ready.addresses.iter().map(ToString::to_string).collect();
        Ok((PyBytes::new(py, &ready.request), addresses))
    }

    /// Calls the script's `done`.
    fn done(&self, py: Python<'_>, end_json: &[u8]) -> PyResult<()> {
        let end: EndRead = read(end_json)?;
        let summary = Summary {
            duration_us: end.duration_us,
            requests: end.requests,
            bytes: end.bytes_read,
            errors: Errors {
                connect: end.errors.connect,
                read: end.errors.read,
                write: end.errors.write,
                status: end.errors.status,
                timeout: end.errors.timeout,
            },
        };
        let latency = end.latency.of(end.is_strict);
        let per_thread = end.per_thread.of(end.is_strict);
        py.detach(|| self.lock().done(summary, latency, per_thread))
            .map_err(raised)
    }

    /// Writes out what the script has printed so far.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.lock().flush()).map_err(raised)
    }
}
