//! Batches of accounting cases: JSON in, JSON with results out.
//!
//! A document is `{"cases": [{"kind", "inputs"}, ...]}`; its other keys are kept, and so are those
//! of a case, except that `result` takes the place of `expect`. Numbers are decimal strings (JSON
//! numbers are taken too), counts are whole. Results are not rounded outward: they are for
//! comparison with published numbers, and no certificate is made of them.
//!
//! | kind | inputs | result |
//! |---|---|---|
//! | `gdp-delta` | `mu`, `epsilon` | `delta` |
//! | `gdp-epsilon` | `mu`, `delta` | `epsilon` |
//! | `gdp-mu` | `epsilon`, `delta` | `mu` |
//! | `rdp-epsilon` | `curve` (`rho*alpha`), `rho`, `delta` | `mironov`, `canonne-kamath-steinke` |
//! | `advantage` | `q`, `epsilon`, `delta`, `mu` | `from_deletion_privacy`, `from_gdp`, `from_eps_delta` |
//! | `group-privacy` | `epsilon`, `delta`, `k` | `group_epsilon`, `group_delta`, `single_epsilon_for_group_target`, `single_delta_for_group_target` |
//! | `bounded-domain` | `epsilon`, `diameter_over_noise`, `steps` | `ln_delta` |
//! | `noisy-gd-gdp` | `n`, `lambda`, `beta`, `lipschitz`, `eta`, `sigma`, `learning_steps`, `unlearning_steps`, `group`, `adjacency`, `delta` | `mu`, `epsilon` |
//! | `noisy-gd-gdp-sequence` | the same without `unlearning_steps` and `group`, with `requests` | `mu`, `epsilon` |
//! | `noisy-gd-gdp-schedule` | `contraction`, `shift`, `noise_std`, `initial_distance`, `delta` | `mu`, `epsilon` |
//! | `langevin` | `n`, `strong_convexity`, `lipschitz`, `eta`, `sigma`, `group`, `steps`, `delta`, `target_epsilon` | `epsilon_at_steps`, `least_steps_for_target` |
//! | `langevin-sequence` | the same with `requests` for `steps` | `steps` |
//! | `chourasia-convex` | `lambda`, `eta`, `q`, `lipschitz`, `epsilon_dd`, `sigma`, `n` | `least_steps` |
//! | `descent-to-delete` | `lipschitz`, `strong_convexity`, `smoothness`, `n`, `d`, `epsilon`, `delta`, `iterations`, `diameter` | `thm31_sigma`, `thm31_learning_steps`, `thm32_min_iterations`, `thm32_sigma_at_min`, `thm32_steps_update_1`, `thm32_steps_update_100` |

mod conversion;
mod descent;
mod inputs;
mod published;
mod requests;

use serde_json::{Map, Value};

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
    #[error("`kind` must be one of {}", KINDS.map(|(name, _)| name).join(", "))]
    UnknownKind,
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
        rule: &'static str,
        /// The value given, as JSON.
        got: String,
    },
    /// The accountant refused the numbers.
    #[error("{0}")]
    Refused(String),
}

type Compute = fn(&Inputs<'_>) -> Result<Map<String, Value>, Problem>;

/// Every kind with its computation.
const KINDS: [(&str, Compute); 14] = [
    ("gdp-delta", conversion::gdp_delta),
    ("gdp-epsilon", conversion::gdp_epsilon),
    ("gdp-mu", conversion::gdp_mu),
    ("rdp-epsilon", conversion::rdp_epsilon),
    ("advantage", conversion::advantage),
    ("group-privacy", conversion::group_privacy),
    ("bounded-domain", descent::bounded_domain),
    ("noisy-gd-gdp", descent::one_request),
    ("noisy-gd-gdp-sequence", descent::sequence),
    ("noisy-gd-gdp-schedule", descent::schedule),
    ("langevin", published::langevin),
    ("langevin-sequence", published::langevin_sequence),
    ("chourasia-convex", published::chourasia_convex),
    ("descent-to-delete", published::descent_to_delete),
];

/// The kinds that [`run_batch`] computes.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// Computes every case of a batch and returns the document with the results.
///
/// # Errors
/// When the text is not such a document; otherwise at the first case that is of unknown kind, lacks
/// an input or has a malformed one. Nothing is returned then: no result is ever left out silently.
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
/// When the kind is unknown, or an input is missing or malformed.
pub fn compute(kind: &str, inputs: &Map<String, Value>) -> Result<Map<String, Value>, Problem> {
    let (_, compute) = KINDS.iter().find(|(name, _)| *name == kind).ok_or(Problem::UnknownKind)?;
    compute(&Inputs::new(inputs))
}

#[cfg(test)]
mod tests;
