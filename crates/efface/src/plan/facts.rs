//! The summary of the data that a plan follows from.

use efface_formats::{FeatureMap, ImageShape};
use efface_privacy::claim::Notion;
use serde::{Deserialize, Serialize};

use super::{Fitting, Ids};
use crate::error::{Code, Error, Result};

/// What the data decide: sizes and shapes, nothing else.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataSummary {
    /// Number of records at the first training.
    pub(crate) records: u64,
    /// Features after encoding.
    pub(crate) features: u64,
    /// True for sparse rows.
    pub(crate) sparse: bool,
    /// The map from declared rows to random features, if `features` are these.
    pub(crate) feature_map: Option<FeatureMap>,
    /// The shape of the images that rows are, if the table says so.
    pub(crate) image: Option<ImageShape>,
    /// Class labels in order, empty for regression.
    pub(crate) classes: Vec<String>,
    /// True when the user listed them.
    pub(crate) classes_given: bool,
    /// The names of the targets, if a regression has several; else none.
    pub(crate) targets: Vec<String>,
    /// The schema in force, in its text form.
    pub(crate) schema: String,
    /// True when the user gave it.
    pub(crate) schema_given: bool,
    /// Values of the schema that were taken from data, in words.
    pub(crate) schema_from_data: Vec<String>,
    /// The source of the ids of records.
    pub(crate) ids: Ids,
    /// Whether records name subjects.
    pub(crate) subjects: bool,
    /// How many of them, if the mechanism asks.
    pub(crate) people: Option<u64>,
    /// About the weights of records, if they have some.
    pub(crate) weights: Option<SampleWeights>,
    /// What the plan is made from again with every request, if preprocessing is fitted. `features`
    /// then is the most that any records can give, and `classes` are those of the records.
    pub(crate) fitting: Option<Fitting>,
    /// Number of parts the rows are held in, if that is outside the vault.
    pub(crate) parts: Option<u64>,
}

impl DataSummary {
    /// Height and width of the images that rows are, if the table says so and they have one channel.
    pub(crate) fn gray(&self) -> Option<(u32, u32)> {
        self.image.and_then(ImageShape::gray)
    }

    /// Summarises records whose preprocessing is fitted: a plan needs their number and that of their
    /// classes only.
    pub(crate) fn of_fitting(fitting: Fitting, classes: Vec<String>) -> Self {
        Self {
            records: fitting.records,
            features: fitting.frame.most_features(&fitting.rules),
            classes: fitting.classes.clone().unwrap_or(classes),
            classes_given: fitting.classes.is_some(),
            targets: fitting.targets.clone(),
            fitting: Some(fitting),
            ..Self::default()
        }
    }
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
        let message = format!(
            "the weights sum to {}, and N, their sum as a whole number, must be between 1 and \
             2^48",
            self.sum
        );
        Err(Error::refused(Code::Weights, message)
            .hint("multiply all weights by a public factor, or give N with `§public-n`"))
    }
}

/// Notions under which a person's row count is private.
pub(crate) fn private_notion(notion: Notion) -> bool {
    matches!(notion, Notion::DeletionPrivacy | Notion::DifferentialPrivacy)
}

/// Whether these classes are rather the values of a number: many, or not whole.
pub(crate) fn looks_numeric(classes: &[impl AsRef<str>]) -> bool {
    const MANY: usize = 20;
    let numbers: Option<Vec<f64>> = classes.iter().map(|name| name.as_ref().parse().ok()).collect();
    numbers.is_some_and(|all| all.len() > MANY || all.iter().any(|number| number.fract() != 0.0))
}
