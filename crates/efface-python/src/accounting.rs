//! Privacy accounting without a vault.

use efface::accounting::{Answer, Input, Kind, Presence};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error;

/// Answers a batch of cases: JSON `{"cases": [{"kind": ..., "inputs": {...}}, ...]}` comes back
/// with a `result` in each case. Numbers are decimal strings.
#[pyfunction]
pub(crate) fn account(py: Python<'_>, cases: &str) -> PyResult<String> {
    py.detach(|| efface::account(cases)).map_err(|error| error::raised(&error))
}

/// Every kind of case with its inputs, results and source, as JSON.
#[pyfunction]
pub(crate) fn kinds() -> String {
    Value::from_iter(efface::accounting::kinds().map(kind)).to_string()
}

fn kind(kind: &Kind) -> Value {
    json!({
        "name": kind.name,
        "summary": kind.summary,
        "notes": kind.notes,
        "inputs": Value::from_iter(kind.inputs.iter().map(input)),
        "results": Value::from_iter(kind.results.iter().map(result)),
        "soundness": kind.soundness.name(),
        "source": kind.source,
    })
}

fn input(input: &Input) -> Value {
    let (presence, note) = match input.presence {
        Presence::Required => ("required", None),
        Presence::Default(value) => ("default", Some(value)),
        Presence::Optional(meaning) => ("optional", Some(meaning)),
    };
    json!({
        "name": input.name,
        "meaning": input.meaning,
        "unit": input.unit,
        "form": input.form.name(),
        "rule": input.form.rule(),
        "words": input.form.words(),
        "presence": presence,
        "note": note,
    })
}

fn result(answer: &Answer) -> Value {
    json!({
        "name": answer.name,
        "meaning": answer.meaning,
        "unit": answer.unit,
        "figure": answer.figure.name(),
    })
}
