//! `Script`: wrk's Lua scripts, with what they are told as JSON.

use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_engine::Supply;
use assay_engine_lua::{Script, ScriptError, Settings, Statistics, Summary};
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
        let settings: Settings = read(settings_json)?;
        let script = py.detach(|| Script::load(settings)).map_err(raised)?;
        Ok(Self(Mutex::new(script)))
    }

    /// Why the script could not be loaded, once for each state it was tried in.
    fn messages(&self) -> Vec<String> {
        self.lock().messages().to_vec()
    }

    /// Makes the threads' states: the first requests that are sent, and where each thread's go.
    fn prepare<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let ready = py.detach(|| self.lock().prepare()).map_err(raised)?;
        let addresses = ready.addresses.iter().map(ToString::to_string).collect();
        Ok((PyBytes::new(py, &ready.request), addresses))
    }

    /// Calls the script's `done` with its three arguments.
    fn done(&self, py: Python<'_>, end_json: &[u8]) -> PyResult<()> {
        let (summary, latency, per_thread): (Summary, Statistics, Statistics) = read(end_json)?;
        py.detach(|| self.lock().done(summary, latency, per_thread))
            .map_err(raised)
    }

    /// Writes out what the script has printed so far.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.lock().flush()).map_err(raised)
    }
}
