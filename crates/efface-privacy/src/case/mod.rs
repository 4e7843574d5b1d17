//! Batches of accounting cases: JSON in, JSON with results out.
//!
//! A document is `{"cases": [{"kind", "inputs"}, ...]}`; its other keys are kept, and so are those
//! of a case, except that `result` takes the place of `expect`. Numbers are decimal strings (JSON
//! numbers are taken too), counts are whole. Results are not rounded outward: they are for
//! comparison with published numbers, and no certificate is made of them.
//!
//! Every [`Kind`] documents itself: its inputs with their units, its results, where its formula is
//! from and whether it is sound. A case may hold no input that its kind does not document.

mod bounded_domain;
mod compose;
mod conversion;
mod deletion_rdp;
mod descent;
mod dp_sgd;
mod form;
mod inputs;
mod kind;
mod langevin;
mod noisy_cgd;
mod noisy_gd;
mod objective;
mod requests;

pub use form::Form;
pub use kind::{Answer, Figure, Input, Kind, Presence, Soundness};

use serde_json::{Map, Value};

use crate::accountant::PublishedError;
use inputs::Inputs;

/// Why a batch was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CaseError {
    /// The text is not JSON.
    #[error("the batch is not JSON: {0}")]
    Json(String),
    /// The document has no list of cases.
    #[error("`cases` must be a list of objects with `kind` and `inputs`, got {got}")]
    Document {
        /// What was found in its place.
        got: String,
    },
    /// One case cannot be computed.
    #[error("case {index} (`{kind}`): {problem}")]
    Case {
        /// Position of the case, counted from 0.
        index: usize,
        /// Its kind as given.
        kind: String,
        /// What is wrong with it.
        problem: Problem,
    },
}

/// What is wrong with one case.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// No such kind.
    #[error("`kind` must be one of {}", names(kinds().map(|kind| kind.name)))]
    UnknownKind,
    /// An input that the kind does not have.
    #[error("`{name}` is not an input of this kind, whose inputs are {}", names.join(", "))]
    UnknownInput {
        /// The name given.
        name: String,
        /// Every input of the kind.
        names: Vec<&'static str>,
    },
    /// An input is not there.
    #[error("`{name}` is missing")]
    Missing {
        /// Which input.
        name: String,
    },
    /// An input is not what it must be.
    #[error("`{name}` must be {rule}, got {got}")]
    Malformed {
        /// Which input.
        name: String,
        /// The rule in words.
        rule: String,
        /// The value given, as JSON.
        got: String,
    },
    /// The accountant refused the numbers.
    #[error("{0}")]
    Refused(String),
}

/// What reading and computing a case return.
type Result<T = Map<String, Value>, E = Problem> = std::result::Result<T, E>;

impl From<PublishedError> for Problem {
    fn from(error: PublishedError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// The kinds of every family, in the order they are listed.
const FAMILIES: [&[Kind]; 10] = [
    conversion::KINDS,
    compose::KINDS,
    noisy_gd::KINDS,
    noisy_cgd::KINDS,
    bounded_domain::KINDS,
    dp_sgd::KINDS,
    langevin::KINDS,
    deletion_rdp::KINDS,
    descent::KINDS,
    objective::KINDS,
];

/// Every kind that can be computed.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    FAMILIES.iter().copied().flatten()
}

fn names(all: impl Iterator<Item = &'static str>) -> String {
    all.collect::<Vec<_>>().join(", ")
}

/// Computes every case of a batch and returns the document with the results.
///
/// # Errors
/// When the text is not such a document; otherwise at the first case that [`compute`] refuses. Nothing is returned then: no result is ever left out silently.
pub fn run_batch(json: &str) -> Result<String, CaseError> {
    let mut document: Value =
        serde_json::from_str(json).map_err(|error| CaseError::Json(error.to_string()))?;
    let Some(cases) = document.get_mut("cases").and_then(Value::as_array_mut) else {
        return Err(CaseError::Document { got: "none".to_owned() });
    };
    for (index, case) in cases.iter_mut().enumerate() {
        let parts = match (case.get("kind").and_then(Value::as_str), case.get("inputs")) {
            (Some(kind), Some(Value::Object(inputs))) => (kind.to_owned(), inputs),
            _ => return Err(CaseError::Document { got: format!("case {index}: {case}") }),
        };
        let result = compute(&parts.0, parts.1).map_err(|problem| CaseError::Case {
            index,
            kind: parts.0,
            problem,
        })?;
        if let Some(case) = case.as_object_mut() {
            case.remove("expect");
            case.insert("result".to_owned(), Value::Object(result));
        }
    }
    serde_json::to_string_pretty(&document).map_err(|error| CaseError::Json(error.to_string()))
}

/// The result of one case.
///
/// # Errors
/// When the kind is unknown; when an input is unknown, missing or malformed, or the accountant
/// refuses it.
pub fn compute(kind: &str, inputs: &Map<String, Value>) -> Result<Map<String, Value>, Problem> {
    let kind = kinds().find(|known| known.name == kind).ok_or(Problem::UnknownKind)?;
    (kind.compute)(&Inputs::new(kind.inputs, inputs)?)
}

#[cfg(test)]
mod tests;
