//! A release that builds on something given.

use serde::{Deserialize, Serialize};

use super::{DeclaredTraining, DpSgd, Event, Facts, Stated};
use crate::quantity::Decimal;

/// A release whose start or features come from elsewhere, made privately from data that may have
/// held the same records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composed {
    /// What was given, and how private it is declared to be.
    pub given: Given,
    /// Records deleted since the first training, all requests together; `None` if counts are private. The
    /// given training may have seen every one of them.
    pub removed: Option<u64>,
    /// The release itself, accounted for every fixed outcome of what was given.
    pub inner: Box<Event>,
}

/// Something made before the first training, once and for all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Whether it is an extractor or a start.
    pub what: What,
    /// (epsilon, delta)-DP in the remove sense, for `group` records together: epsilon.
    pub epsilon: Option<Decimal>,
    /// Its delta, 0 allowed.
    pub delta: Option<Decimal>,
    /// Instead of both: mu-GDP in the remove sense, for `group` records together.
    pub mu: Option<Decimal>,
    /// Records that the figures protect together, at least 1.
    pub group: u64,
    /// Instead of all figures: the training of a network whose hidden features are used, with those
    /// deleted before its features were first used; `group` is then 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Box<DpSgd>>,
    /// Instead of all these: the training of an extractor elsewhere, on the word of the user of its features;
    /// `group` is then 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Box<DeclaredTraining>>,
}

impl Given {
    /// Records that a training behind the features may have seen and that were deleted before these were
    /// first used; `None` if what was given is private by figures.
    #[must_use]
    pub fn deleted_before(&self) -> Option<u64> {
        let declared = || self.declared.as_ref().map(|declared| declared.deleted);
        self.training.as_ref().map(|training| training.deleted()).or_else(declared)
    }

    /// Returns whether claims follow from the steps of a training, and not from figures.
    #[must_use]
    pub fn is_trained(&self) -> bool {
        self.training.is_some() || self.declared.is_some()
    }
}

crate::named! {
    /// A given feature extractor or start.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum What {
        /// The map from raw data to features.
        Extractor = "extractor",
        /// The weights that learning starts from.
        Start = "start",
    }
}

impl Stated for Composed {
    fn facts(&self) -> Facts<'_> {
        self.inner.facts()
    }
}
