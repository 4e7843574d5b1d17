//! What the data decide about a plan.

use efface_privacy::claim::Notion;
use serde::{Deserialize, Serialize};

use super::Ids;
use crate::error::{Code, Error, Result};

/// What the data decide: sizes and shapes, nothing else.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Number of records at the first training.
    pub records: u64,
    /// Features after encoding.
    pub features: u64,
    /// True for sparse rows.
    pub sparse: bool,
    /// Class labels in order, empty for regression.
    pub classes: Vec<String>,
    /// True when the user listed them.
    pub classes_given: bool,
    /// The schema in force, in its text form.
    pub schema: String,
    /// True when the user gave it.
    pub schema_given: bool,
    /// Values of the schema that were taken from data, in words.
    pub schema_from_data: Vec<String>,
    /// Where ids come from.
    pub ids: Ids,
    /// Whether records name subjects.
    pub subjects: bool,
    /// About the weights of records, where they have some.
    pub weights: Option<SampleWeights>,
    /// Number of parts the rows are held in, where that is outside the vault.
    pub parts: Option<u64>,
}

/// What the first data say about the weights of their records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleWeights {
    /// The largest weight of a record.
    pub largest: f64,
    /// The sum of the weights.
    pub sum: f64,
}

impl SampleWeights {
    /// Of these weights.
    pub(crate) fn of(weights: &[f64]) -> Self {
        let largest = weights.iter().fold(0.0_f64, |most, weight| most.max(*weight));
        Self { largest, sum: weights.iter().sum() }
    }

    /// The sum as a whole number, at least 1.
    pub(crate) fn whole(&self) -> Result<u64> {
        let nearest = if self.sum > 0.0 { self.sum.round().max(1.0) } else { 0.0 };
        if (1.0..=(1_u64 << 48) as f64).contains(&nearest) {
            return Ok(nearest as u64);
        }
        Err(Error::refused(
            Code::Weights,
            format!(
                "the weights sum to {}, and N, their sum as a whole number, must be between 1 and \
                 2^48",
                self.sum
            ),
        )
        .hint("multiply all weights by a public factor, or give N with `§public-n`"))
    }
}

/// Notions under which a person's row count is private.
pub(crate) fn private_notion(notion: Notion) -> bool {
    matches!(notion, Notion::DeletionPrivacy | Notion::DifferentialPrivacy)
}
