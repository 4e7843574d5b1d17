//! The engine's error as an exception of `efface._errors`.

use efface::{Code, Error, Kind, MARK, in_words, value_in_words};
use pyo3::prelude::*;
use serde_json::Value;

use crate::settings::PARAMETERS;

/// Returns the exception to raise.
pub(crate) fn raised(error: &Error) -> PyErr {
    Python::attach(|py| made(py, error).unwrap_or_else(|failed| failed))
}

fn made(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let kind = match error.kind() {
        Kind::Refused => "refused",
        Kind::Input => "input",
        Kind::Storage | Kind::Busy => "storage",
        Kind::Interrupted => "interrupted",
    };
    let message = in_words(error.message(), &PARAMETERS);
    let hint = error.what_to_do().map(|hint| in_words(hint, &PARAMETERS));
    let parts = (kind, error.code().as_str(), message, hint, error.names().to_vec());
    let exception = py.import("efface._errors")?.call_method1("of_engine", parts)?;
    Ok(PyErr::from_value(exception))
}

/// Every code of the engine's errors as a JSON object: the words, and what each means.
#[pyfunction]
pub(crate) fn codes() -> String {
    let told = |code: Code| (code.as_str(), code.sentence());
    Value::from_iter(Code::all().into_iter().map(told)).to_string()
}

/// Returns a value as JSON, with settings in Python's words.
pub(crate) fn json(value: &impl serde::Serialize) -> PyResult<String> {
    let broken = |error: serde_json::Error| raised(&Error::storage(Code::Json, error.to_string()));
    let text = serde_json::to_string(value).map_err(broken)?;
    if !text.contains(MARK) {
        return Ok(text);
    }
    let mut value = serde_json::from_str(&text).map_err(broken)?;
    value_in_words(&mut value, &PARAMETERS);
    Ok(value.to_string())
}

/// Reads a value from JSON; `what` names it in messages.
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text)
        .map_err(|error| raised(&Error::input(Code::Usage, format!("{what}: {error}"))))
}
