//! Rules that users choose for all columns, and limits.

use serde::{Deserialize, Serialize};

use crate::error::{Fault, fault};

/// Numbers in an encoded row at most.
pub(super) const WIDEST: u64 = 1 << 24;

/// A value that fewer records have is that of one record.
pub(super) const SHARED: u32 = 2;

/// Years that become categories at most; more are a number and no list.
pub(super) const YEARS: u32 = 24;

/// Public constants of fitted preprocessing, fixed for the life of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rules {
    /// k: categories that fewer records have are merged into one, `other`.
    pub min_records: u32,
    /// If given, k follows the number of records: it is one in so many of them, rounded down, at least 1 and
    /// at most `min_records`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_in: Option<u32>,
    /// The most categories of a column that have a place each; columns with more are hashed to this
    /// many places.
    pub max_categories: u32,
    /// Least number of records that must miss a number or a time for the column to have a missing-value
    /// indicator; that must have one for it to be learnt from if four in five miss it; and that must share a
    /// time for it to be a category.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub min_missing: u32,
    /// Places that the words of a text column are hashed to.
    pub text_width: u32,
    /// Whether classes are weighted so that all count the same.
    pub balanced: bool,
    /// Whether targets are numbers; else they are classes.
    pub regression: bool,
    /// Number of target numbers of a record; 1 for classes.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub targets: u32,
}

fn one() -> u32 {
    1
}

fn is_one(targets: &u32) -> bool {
    *targets == 1
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            min_records: 5,
            one_in: None,
            max_categories: 1024,
            min_missing: 1,
            text_width: 1024,
            balanced: false,
            regression: false,
            targets: 1,
        }
    }
}

impl Rules {
    /// Computes k: the fewest of so many records that a category needs to have a place of its own.
    #[must_use]
    pub fn least(&self, records: u64) -> u32 {
        let most = self.min_records;
        match self.one_in {
            None => most,
            Some(one_in) => {
                (records / u64::from(one_in).max(1)).clamp(1, most.max(1).into()) as u32
            }
        }
    }

    /// Returns whether so few records have a number or a time that only its absence is learnt: its mean would
    /// be that of a few people, and its weight chance. `missing` counts the records without a value.
    pub(crate) fn are_few(&self, present: u64, missing: u64) -> bool {
        let least = u64::from(self.min_missing);
        present < least && missing >= least && present < missing / 4
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        let rules = [
            ("min_records", self.min_records, u32::MAX),
            ("one_in", self.one_in.unwrap_or(1), u32::MAX),
            ("max_categories", self.max_categories, 1 << 16),
            ("min_missing", self.min_missing, u32::MAX),
            ("text_width", self.text_width, 1 << 20),
            ("targets", self.targets, if self.regression { 1 << 16 } else { 1 }),
        ];
        match rules.into_iter().find(|(_, got, most)| !(1..=*most).contains(got)) {
            Some((rule, got, most)) => Err(fault!("`{rule}` must be from 1 to {most}, got {got}")),
            None => Ok(()),
        }
    }
}
