//! What is stored: histograms read and made, several generators' figures added up.

use assay_engine::record::adding_up::NotOneLoad;
use assay_engine::record::{merge, merge_interleaved as interleaved, stored};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json;

/// All parts come as one JSON array. They were written by engines of this version, or are refused.
fn merged<'py, T: DeserializeOwned, W: Serialize>(
    py: Python<'py>,
    parts_json: &[u8],
    merge: impl Fn(&[T]) -> Result<W, NotOneLoad>,
) -> PyResult<Bound<'py, PyBytes>> {
    let parts: Vec<T> = serde_json::from_slice(parts_json).map_err(|error| {
        PyValueError::new_err(format!("figures of an engine of another version: {error}"))
    })?;
    let whole = merge(&parts).map_err(|error| PyValueError::new_err(error.to_string()))?;
    json(py, &whole)
}

#[pyfunction]
pub(crate) fn merge_measurements<'py>(
    py: Python<'py>,
    parts_json: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    merged(py, parts_json, merge::merged)
}

#[pyfunction]
pub(crate) fn merge_interleaved<'py>(
    py: Python<'py>,
    parts_json: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    merged(py, parts_json, interleaved::merged_interleaved)
}

#[pyfunction]
pub(crate) fn merge_snapshots<'py>(
    py: Python<'py>,
    parts_json: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    merged(py, parts_json, merge::together)
}

#[pyfunction]
pub(crate) fn merge_arm_snapshots<'py>(
    py: Python<'py>,
    parts_json: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    merged(py, parts_json, interleaved::arm_together)
}

/// A stored histogram that has been read.
#[pyclass(frozen)]
pub(crate) struct StoredHistogram(stored::Stored);

#[pymethods]
impl StoredHistogram {
    #[new]
    fn new(data: &str) -> PyResult<Self> {
        let read = stored::Stored::read(data);
        read.map(Self)
            .map_err(|damaged| PyValueError::new_err(damaged.to_string()))
    }

    /// Each recorded value, in the histogram's units, and how often; ascending.
    fn counts(&self) -> Vec<(u64, u64)> {
        self.0.counts.clone()
    }

    /// The values at these quantiles.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "pyo3 hands over what it has made"
    )]
    fn quantiles(&self, qs: Vec<f64>) -> Vec<u64> {
        self.0.quantiles(&qs)
    }

    /// The value at a rank, counted from 1.
    fn at_rank(&self, rank: u64) -> u64 {
        self.0.at_rank(rank)
    }
}

#[pyfunction]
#[allow(
    clippy::needless_pass_by_value,
    reason = "pyo3 hands over what it has made"
)]
pub(crate) fn histogram_of(counts: Vec<(u64, u64)>) -> String {
    stored::from_counts(&counts)
}
