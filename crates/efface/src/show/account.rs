//! Standalone privacy accounting: batches of cases, and one case at a time.

use efface_privacy::case;
use serde_json::{Map, Value};

use crate::{Code, Error, Result};

/// Answers a batch of accounting cases (JSON in, JSON out), see [`case::run_batch`].
///
/// # Errors
/// A case of an unknown kind or with inputs that its kind refuses.
pub fn account(json: &str) -> Result<String> {
    case::run_batch(json).map_err(|error| Error::input(Code::Case, error.to_string()))
}

/// Answers one case from inputs as they are typed: numbers and words as they are, lists as JSON.
///
/// # Errors
/// An unknown kind, a name given twice, or inputs that the kind refuses.
pub fn account_one(kind: &str, inputs: &[(String, String)]) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (name, text) in inputs {
        let list = serde_json::from_str::<Value>(text).ok().filter(Value::is_array);
        let value = list.unwrap_or_else(|| Value::String(text.clone()));
        if fields.insert(name.clone(), value).is_some() {
            return Err(Error::input(Code::Case, format!("`{name}` is given twice")));
        }
    }
    case::compute(kind, &fields).map_err(|problem| {
        Error::input(Code::Case, format!("`{kind}`: {problem}"))
            .hint(format!("every input is explained by `§efface account {kind} --help`"))
    })
}
