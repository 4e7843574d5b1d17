//! Batches of accounting cases: JSON in, JSON with results out.
//!
//! A document is `{"cases": [{"kind", "inputs"}, ...]}`; its other keys are kept, and so are those of a case,
//! except that `result` replaces `expect`. Numbers are decimal strings (JSON numbers are taken too), counts
//! are whole. Results are not rounded outward: they are for comparison with published numbers, and no
//! certificate is made of them.
//!
//! Every [`Kind`] documents itself: its inputs with their units, its results, the source of its formula and
//! whether it is sound. A case may hold no input that its kind does not document.

mod bounded_domain;
mod conversion;
mod deletion_rdp;
mod descent;
mod dp_sgd;
mod form;
mod given;
mod kind;
mod langevin;
mod noisy_gd;
mod objective;
mod requests;

pub use form::Form;
pub use kind::{Answer, Figure, Input, Kind, Presence, Soundness};

use serde_json::{Map, Value};

use crate::accountant::PublishedError;
use crate::accountant::gdp::StretchError;
use crate::accountant::pld::PldError;
use crate::quantity::QuantityError;

/// Why a batch or a case was refused, in words that name the case and the input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(String);

/// What reading and computing a case return.
type Result<T = Map<String, Value>, E = CaseError> = std::result::Result<T, E>;

macro_rules! refusals {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for CaseError {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        }
    )*};
}

refusals!(serde_json::Error, PldError, PublishedError, QuantityError, StretchError,);

/// The kinds of every family, in the order they are listed.
const FAMILIES: [&[Kind]; 8] = [
    conversion::KINDS,
    noisy_gd::KINDS,
    bounded_domain::KINDS,
    dp_sgd::KINDS,
    langevin::KINDS,
    deletion_rdp::KINDS,
    descent::KINDS,
    objective::KINDS,
];

/// Returns every kind that can be computed.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    FAMILIES.iter().copied().flatten()
}

/// Computes every case of a batch and returns the document with the results.
///
/// # Errors
/// Fails if the text is not such a document; otherwise at the first case that [`compute`] refuses. Nothing is
/// returned then: no result is ever left out silently.
pub fn run_batch(json: &str) -> Result<String> {
    let malformed = |got: &str| {
        CaseError(format!("`cases` must be a list of objects with `kind` and `inputs`, got {got}"))
    };
    let mut document: Value = serde_json::from_str(json)
        .map_err(|error| CaseError(format!("the batch is not JSON: {error}")))?;
    let cases = document.get_mut("cases").and_then(Value::as_array_mut);
    for (index, case) in cases.ok_or_else(|| malformed("none"))?.iter_mut().enumerate() {
        let named = (case.get("kind").and_then(Value::as_str), case.get("inputs"));
        let (Some(kind), Some(Value::Object(inputs))) = named else {
            return Err(malformed(&format!("case {index}: {case}")));
        };
        let result = compute(kind, inputs)
            .map_err(|problem| CaseError(format!("case {index} (`{kind}`): {problem}")))?;
        if let Some(case) = case.as_object_mut() {
            case.remove("expect");
            case.insert("result".to_owned(), Value::Object(result));
        }
    }
    Ok(serde_json::to_string_pretty(&document)?)
}

/// Returns the result of one case.
///
/// # Errors
/// Fails if the kind is unknown; if an input is unknown, missing or malformed, or the accountant refuses it.
pub fn compute(kind: &str, inputs: &Map<String, Value>) -> Result {
    let known = kinds().find(|known| known.name == kind).ok_or_else(|| {
        let names: Vec<_> = kinds().map(|kind| kind.name).collect();
        CaseError(format!("`kind` must be one of {}", names.join(", ")))
    })?;
    given::check(known.inputs, inputs)?;
    (known.compute)(inputs)
}

#[cfg(test)]
mod tests;
