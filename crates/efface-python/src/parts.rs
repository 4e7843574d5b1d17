//! Requests of models whose rows are held in parts that Python reaches (see `Remote`).

use std::path::PathBuf;

use efface::{Delete, Settings, Shape};
use pyo3::prelude::*;

use crate::error::parsed;
use crate::remote::Remote;
use crate::requests::{told, which};
use crate::watch::{Callback, serve_parts};

/// Trains a model on parts and makes its vault; the outcome as JSON, and the certificate. `shape` is
/// JSON of the records' sizes and declared names.
#[pyfunction]
#[pyo3(signature = (source, shape, settings, vault, key, *, start=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn train_parts(
    py: Python<'_>,
    source: Py<PyAny>,
    shape: &str,
    settings: &str,
    vault: PathBuf,
    key: PathBuf,
    start: Option<Vec<u8>>,
    progress: Callback,
) -> PyResult<(String, String)> {
    let shape: Shape = parsed("shape", shape)?;
    let settings = Settings { start, ..parsed("settings", settings)? };
    let parts = Remote::new(py, source)?;
    let served = serve_parts(py, &key, &progress, Some(&parts), |around| {
        efface::train_partitioned(&shape, settings, &parts, &vault, around)
    })?;
    told(&served)
}

/// Deletes the records of these ids, or all records of these subjects; with `release` false they are
/// erased, and the model is withdrawn.
#[pyfunction]
#[pyo3(signature = (source, vault, key, *, ids=None, subjects=None, request_id=None, release=true, progress=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn delete_parts(
    py: Python<'_>,
    source: Py<PyAny>,
    vault: PathBuf,
    key: PathBuf,
    ids: Option<Vec<String>>,
    subjects: Option<Vec<String>>,
    request_id: Option<String>,
    release: bool,
    progress: Callback,
) -> PyResult<(String, String)> {
    let request = Delete { what: which(ids, subjects)?, request_id };
    let parts = Remote::new(py, source)?;
    let take = if release { efface::delete_partitioned } else { efface::erase_partitioned };
    let served = serve_parts(py, &key, &progress, Some(&parts), |around| {
        take(&vault, &request, &parts, around)
    })?;
    told(&served)
}

/// Publishes a fresh model from the parts as they are.
#[pyfunction]
#[pyo3(signature = (source, vault, key, *, request_id=None, progress=None))]
pub(crate) fn refresh_parts(
    py: Python<'_>,
    source: Py<PyAny>,
    vault: PathBuf,
    key: PathBuf,
    request_id: Option<String>,
    progress: Callback,
) -> PyResult<(String, String)> {
    let id = request_id.as_deref();
    let parts = Remote::new(py, source)?;
    let served = serve_parts(py, &key, &progress, Some(&parts), |around| {
        efface::refresh_partitioned(&vault, id, &parts, around)
    })?;
    told(&served)
}
