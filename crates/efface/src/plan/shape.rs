//! What a plan is made from if no table is read: sizes and declared names.

use serde::{Deserialize, Serialize};

use crate::plan::SampleWeights;

/// Sizes and names of records in parts, as whoever holds them says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Records of all parts.
    pub records: u64,
    /// Number of parts, from 1 to 2^32.
    pub parts: u64,
    /// Columns of every part.
    pub features: u32,
    /// Names of the columns, if they have some.
    pub names: Option<Vec<String>>,
    /// Names of the classes in order, the positive one of two last; empty for regression.
    pub classes: Vec<String>,
    /// Whether the user listed them; else they were read off the records.
    pub classes_given: bool,
    /// Whether every record has an id; else they are named by their position among all.
    pub ids: bool,
    /// Whether every record names its subject.
    pub subjects: bool,
    /// How many subjects there are, for mechanisms whose plans follow that.
    #[serde(default)]
    pub people: Option<u64>,
    /// About the weights of the records, if they have some.
    #[serde(default)]
    pub weights: Option<SampleWeights>,
}
