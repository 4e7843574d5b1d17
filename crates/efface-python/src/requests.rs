//! Requests: each changes a vault in one transaction and returns what was served and the
//! certificate, both as JSON.

use std::path::PathBuf;

use efface::planner::chosen;
use efface::{Code, Delete, Error, ExportFormat, Selector, Served, Settings, Source};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{json, parsed, raised};
use crate::key;
use crate::reading::{WeightArrays, arrays};
use crate::remote::Remote;
use crate::table::Table;
use crate::watch::{Callback, Where, serve};

/// What a first training is about.
#[derive(FromPyObject)]
pub(crate) enum Records<'py> {
    #[pyo3(transparent)]
    Table(Bound<'py, Table>),
    /// JSON of the sizes and declared names of records in parts.
    #[pyo3(transparent)]
    Shape(String),
}

/// Trains a model and makes its vault; `settings` is JSON of the engine's settings. The records are a
/// table or, as JSON of their sizes and declared names, those in `parts` (see `Remote`).
#[pyfunction]
#[pyo3(signature = (records, settings, vault, key, *, start=None, progress=None, parts=None, memory=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn train<'py>(
    py: Python<'py>,
    records: Records<'_>,
    settings: &str,
    vault: PathBuf,
    key: PathBuf,
    start: Option<Vec<u8>>,
    progress: Callback,
    parts: Option<Py<PyAny>>,
    memory: Option<&str>,
) -> PyResult<Answer<'py>> {
    let settings = Settings { start, ..parsed("settings", settings)? };
    let parts = Remote::of(py, parts)?;
    let rows = Where::of(parts.as_ref(), memory)?;
    let train = |source: &Source<'_>| {
        serve(py, &vault, &key, &progress, rows, |around| {
            efface::train(source, settings, &vault, around)
        })
    };
    let served = match records {
        Records::Table(table) => table.get().lend(py, train),
        Records::Shape(shape) => {
            train(&Source { parts: Some(parsed("records", &shape)?), ..Source::default() })
        }
    };
    told(py, &served?)
}

/// Trains as a choice of a written plan says: by its name or rank, the first by default. `seed` is
/// for tests.
#[pyfunction]
#[pyo3(signature = (table, plan, vault, key, *, choice=None, seed=None, progress=None, memory=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn train_as_planned<'py>(
    py: Python<'py>,
    table: &Table,
    plan: &str,
    vault: PathBuf,
    key: PathBuf,
    choice: Option<&str>,
    seed: Option<u64>,
    progress: Callback,
    memory: Option<&str>,
) -> PyResult<Answer<'py>> {
    let chosen = chosen(plan, choice).map_err(|error| raised(&error))?;
    let rows = Where::of(None, memory)?;
    let served = table.lend(py, |source| {
        serve(py, &vault, &key, &progress, rows, |around| {
            efface::train_as_planned(source, &chosen, seed, &vault, around)
        })
    })?;
    told(py, &served)
}

/// Deletes the records of these ids, or all records of these subjects; with `release` false they are
/// erased, and the model is withdrawn.
#[pyfunction]
#[pyo3(signature = (vault, key, *, ids=None, subjects=None, request_id=None, release=true, progress=None, parts=None, memory=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn delete<'py>(
    py: Python<'py>,
    vault: PathBuf,
    key: PathBuf,
    ids: Option<Vec<String>>,
    subjects: Option<Vec<String>>,
    request_id: Option<String>,
    release: bool,
    progress: Callback,
    parts: Option<Py<PyAny>>,
    memory: Option<&str>,
) -> PyResult<Answer<'py>> {
    let request = Delete { what: which(ids, subjects)?, request_id };
    let take = if release { efface::delete } else { efface::erase };
    let parts = Remote::of(py, parts)?;
    let rows = Where::of(parts.as_ref(), memory)?;
    let served = serve(py, &vault, &key, &progress, rows, |around| take(&vault, &request, around))?;
    told(py, &served)
}

/// Says what a deletion would do, as JSON, without doing it.
#[pyfunction]
#[pyo3(signature = (vault, key, *, ids=None, subjects=None))]
pub(crate) fn delete_dry_run(
    py: Python<'_>,
    vault: PathBuf,
    key: PathBuf,
    ids: Option<Vec<String>>,
    subjects: Option<Vec<String>>,
) -> PyResult<String> {
    let request = Delete { what: which(ids, subjects)?, request_id: None };
    let keyring = key::read(&key)?;
    let dry = py.detach(|| efface::delete_dry_run(&vault, &request, &keyring));
    json(&dry.map_err(|error| raised(&error))?)
}

fn which(ids: Option<Vec<String>>, subjects: Option<Vec<String>>) -> PyResult<Selector> {
    // As in tables.
    let trimmed = |names: Vec<String>| names.iter().map(|name| name.trim().to_owned()).collect();
    match (ids, subjects) {
        (Some(ids), None) => Ok(Selector::Ids(trimmed(ids))),
        (None, Some(subjects)) => Ok(Selector::Subjects(trimmed(subjects))),
        _ => Err(raised(&Error::input(Code::Usage, "give either `ids` or `subjects`"))),
    }
}

/// Adds the records of a table.
#[pyfunction]
#[pyo3(signature = (table, vault, key, *, request_id=None, progress=None, memory=None))]
pub(crate) fn add<'py>(
    py: Python<'py>,
    table: &Table,
    vault: PathBuf,
    key: PathBuf,
    request_id: Option<String>,
    progress: Callback,
    memory: Option<&str>,
) -> PyResult<Answer<'py>> {
    let id = request_id.as_deref();
    let rows = Where::of(None, memory)?;
    let served = table.lend(py, |source| {
        serve(py, &vault, &key, &progress, rows, |around| efface::add(&vault, source, id, around))
    })?;
    told(py, &served)
}

/// Gives records new contents under the same ids.
#[pyfunction]
#[pyo3(signature = (table, vault, key, *, request_id=None, progress=None, memory=None))]
pub(crate) fn update<'py>(
    py: Python<'py>,
    table: &Table,
    vault: PathBuf,
    key: PathBuf,
    request_id: Option<String>,
    progress: Callback,
    memory: Option<&str>,
) -> PyResult<Answer<'py>> {
    let id = request_id.as_deref();
    let rows = Where::of(None, memory)?;
    let served = table.lend(py, |source| {
        serve(py, &vault, &key, &progress, rows, |around| {
            efface::update(&vault, source, id, around)
        })
    })?;
    told(py, &served)
}

/// Publishes a fresh model from the records as they are.
#[pyfunction]
#[pyo3(signature = (vault, key, *, request_id=None, progress=None, parts=None, memory=None))]
pub(crate) fn refresh<'py>(
    py: Python<'py>,
    vault: PathBuf,
    key: PathBuf,
    request_id: Option<String>,
    progress: Callback,
    parts: Option<Py<PyAny>>,
    memory: Option<&str>,
) -> PyResult<Answer<'py>> {
    let id = request_id.as_deref();
    let parts = Remote::of(py, parts)?;
    let rows = Where::of(parts.as_ref(), memory)?;
    let served =
        serve(py, &vault, &key, &progress, rows, |around| efface::refresh(&vault, id, around))?;
    told(py, &served)
}

/// Keeps a Hessian for the next request; what is kept, as JSON.
#[pyfunction]
#[pyo3(signature = (vault, key, *, progress=None, memory=None))]
pub(crate) fn prepare(
    py: Python<'_>,
    vault: PathBuf,
    key: PathBuf,
    progress: Callback,
    memory: Option<&str>,
) -> PyResult<String> {
    let rows = Where::of(None, memory)?;
    json(&serve(py, &vault, &key, &progress, rows, |around| efface::prepare(&vault, around))?)
}

/// The weights in a format (`npz`, `json` or `safetensors`), noted in the ledger.
#[pyfunction]
pub(crate) fn export<'py>(
    py: Python<'py>,
    vault: PathBuf,
    key: PathBuf,
    format: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let format = ExportFormat::from_name(format).ok_or_else(|| {
        let names = ExportFormat::NAMES.join(", ");
        let message = format!("`format` must be one of {names}, got `{format}`");
        raised(&Error::input(Code::Format, message))
    })?;
    let bytes = serve(py, &vault, &key, &None, Where::Vault, |around| {
        efface::export(&vault, format, around)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// The served request as JSON, its certificate, and the weights if some were published.
pub(crate) type Answer<'py> = (String, String, Option<WeightArrays<'py>>);

/// Returns the answer to a request.
pub(crate) fn told<'py>(py: Python<'py>, served: &Served) -> PyResult<Answer<'py>> {
    let weights = served.weights.clone().map(|weights| arrays(py, weights)).transpose()?;
    Ok((json(served)?, served.certificate.clone(), weights))
}
