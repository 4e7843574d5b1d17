//! What a vault or a certificate says; nothing here changes one.

use std::path::PathBuf;

use efface::{Code, Error, Linear, Verdict, Weights};
use efface_page::{Decimal, words};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{json, raised};
use crate::key;
use crate::settings::PARAMETERS;
use crate::table::Table;
use crate::watch::{Callback, watched};

/// What a vault holds, what is spent, what can be served, as JSON.
#[pyfunction]
pub(crate) fn status(py: Python<'_>, vault: PathBuf) -> PyResult<String> {
    json(&py.detach(|| efface::status(&vault)).map_err(|error| raised(&error))?)
}

/// Arrays of weights: `coef` (outputs x features), `intercept` (outputs), and JSON of the rest.
pub(crate) type WeightArrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, String);

/// The published weights and what is needed to use them.
#[pyfunction]
pub(crate) fn weights(py: Python<'_>, vault: PathBuf) -> PyResult<WeightArrays<'_>> {
    arrays(py, py.detach(|| efface::weights(&vault)).map_err(|error| raised(&error))?)
}

/// Weights as Python has them.
pub(crate) fn arrays(py: Python<'_>, weights: Weights) -> PyResult<WeightArrays<'_>> {
    let rest = json(&weights)?;
    let shape = match weights.network {
        Some(_) => [1, weights.coef.len()],
        None => [weights.outputs as usize, weights.features as usize],
    };
    let coef = PyArray1::from_vec(py, weights.coef).reshape(shape)?;
    Ok((coef, PyArray1::from_vec(py, weights.intercept), rest))
}

/// The outputs (rows x outputs) of a linear map for the rows of a table, which go through the
/// checks, the encoder (or the fitted preprocessing, as JSON), the feature map and the row map of training: `coef` times
/// the row, plus `intercept`; and what to know of the rows, a JSON list of notices.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "each has its name in Python")]
#[pyo3(signature = (table, coef, intercept, *, row_map, row_norm, preprocessing=None, feature_map=None, trunk=None, network=None, progress=None))]
pub(crate) fn margins<'py>(
    py: Python<'py>,
    table: &Table,
    coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    row_map: &str,
    row_norm: f64,
    preprocessing: Option<&str>,
    feature_map: Option<&str>,
    trunk: Option<&str>,
    network: Option<&str>,
    progress: Callback,
) -> PyResult<(Bound<'py, PyArray2<f64>>, String)> {
    let (coef, intercept) = (coef.as_slice()?, intercept.as_slice()?);
    let linear =
        Linear { coef, intercept, row_map, row_norm, preprocessing, feature_map, trunk, network };
    let (all, notices) = table.lend(py, |source| {
        watched(py, &progress, |watch| efface::margins(source, &linear, watch))
    })?;
    let outputs = intercept.len();
    let shape = [all.len() / outputs.max(1), outputs];
    let notices = json(&notices)?;
    Ok((PyArray1::from_vec(py, all).reshape(shape)?, notices))
}

/// Everything that was fixed when the model was first trained, as JSON.
#[pyfunction]
pub(crate) fn plan_of(py: Python<'_>, vault: PathBuf) -> PyResult<String> {
    json(&py.detach(|| efface::plan(&vault)).map_err(|error| raised(&error))?)
}

/// Every entry of the ledger, oldest first, as JSON.
#[pyfunction]
pub(crate) fn entries(py: Python<'_>, vault: PathBuf) -> PyResult<String> {
    json(&py.detach(|| efface::entries(&vault)).map_err(|error| raised(&error))?)
}

/// One certificate, canonical JSON: by its index, its request's id, or `latest`.
#[pyfunction]
#[pyo3(signature = (vault, which="latest"))]
pub(crate) fn certificate(py: Python<'_>, vault: PathBuf, which: &str) -> PyResult<String> {
    py.detach(|| efface::certificate(&vault, which)).map_err(|error| raised(&error))
}

/// Checks a certificate by itself, and against a vault and a remembered head where given; the
/// verdict as JSON. `key` is the public key that is trusted, 64 hexadecimal digits.
#[pyfunction]
#[pyo3(signature = (certificate, *, key=None, vault=None, head=None))]
pub(crate) fn verify(
    py: Python<'_>,
    certificate: &str,
    key: Option<&str>,
    vault: Option<PathBuf>,
    head: Option<&str>,
) -> PyResult<String> {
    let key = key.map(trusted).transpose()?;
    let verdict = py.detach(|| efface::verify(certificate, key.as_ref(), vault.as_deref(), head));
    judged(verdict)
}

/// Checks a vault's ledger, from its last checkpoint on or whole, and its rows, with the key file
/// each against its checksum; the verdict as JSON.
#[pyfunction]
#[pyo3(signature = (vault, *, key=None, head=None, whole=false, key_file=None))]
pub(crate) fn verify_ledger(
    py: Python<'_>,
    vault: PathBuf,
    key: Option<&str>,
    head: Option<&str>,
    whole: bool,
    key_file: Option<PathBuf>,
) -> PyResult<String> {
    let key = key.map(trusted).transpose()?;
    let keyring = key_file.as_deref().map(key::read).transpose()?;
    let check = if whole { efface::verify_whole_ledger } else { efface::verify_ledger };
    let verdict = py.detach(|| check(&vault, key.as_ref(), head, keyring.as_ref()));
    judged(verdict)
}

/// Examines everything in a vault; the verdict as JSON. Without the key file it is undecided.
#[pyfunction]
#[pyo3(signature = (vault, *, key_file=None))]
pub(crate) fn doctor(
    py: Python<'_>,
    vault: PathBuf,
    key_file: Option<PathBuf>,
) -> PyResult<String> {
    let keyring = key_file.as_deref().map(key::read).transpose()?;
    judged(py.detach(|| efface::doctor(&vault, keyring.as_ref())))
}

/// Refuses a text that has not the form of a certificate or of an erasure's entry.
#[pyfunction]
pub(crate) fn check_form(entry: &str) -> PyResult<()> {
    efface::check_form(entry).map_err(|error| raised(&error))
}

/// A certificate as a page: plain text, and HTML for a notebook.
#[pyfunction]
pub(crate) fn show(certificate: &str) -> PyResult<(String, String)> {
    let page = efface::show(certificate).map_err(|error| raised(&error))?;
    Ok((page.text(), page.fragment()))
}

/// The delta or the order that a claim's epsilon is for, in words; none where it has neither.
#[pyfunction]
#[pyo3(signature = (delta, order))]
pub(crate) fn parameter(delta: Option<f64>, order: Option<f64>) -> Option<String> {
    words::parameter(delta.map(Decimal), order.map(Decimal))
}

/// What every accountant says about a certificate's event, as JSON.
#[pyfunction]
#[pyo3(signature = (certificate, *, delta=None))]
pub(crate) fn bounds(py: Python<'_>, certificate: &str, delta: Option<f64>) -> PyResult<String> {
    json(&py.detach(|| efface::bounds(certificate, delta)).map_err(|error| raised(&error))?)
}

/// A vault's history as one self-contained HTML page.
#[pyfunction]
#[pyo3(signature = (vault, *, audits))]
pub(crate) fn report(py: Python<'_>, vault: PathBuf, audits: Vec<String>) -> PyResult<String> {
    let page = py.detach(|| efface::report(&vault, &audits)).map_err(|error| raised(&error))?;
    Ok(efface::in_words(&page, &PARAMETERS))
}

fn judged(verdict: efface::Result<Verdict>) -> PyResult<String> {
    let verdict = verdict.map_err(|error| raised(&error))?;
    json(&json!({ "outcome": verdict.outcome(), "checks": verdict.checks }))
}

fn trusted(digits: &str) -> PyResult<[u8; 32]> {
    let mut key = [0u8; 32];
    // The digits alone, or what `efface key show` printed.
    let is_key = |word: &&str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let keys: Vec<&str> = digits.split_whitespace().filter(is_key).collect();
    if let [digits] = keys[..] {
        let pairs = digits.as_bytes().as_chunks::<2>();
        for (byte, pair) in key.iter_mut().zip(pairs.0) {
            let pair = std::str::from_utf8(pair).unwrap_or_default();
            *byte = u8::from_str_radix(pair, 16).unwrap_or_default();
        }
        return Ok(key);
    }
    let message = "a public key must be 64 hexadecimal digits";
    Err(raised(&Error::input(Code::Key, message)))
}
