//! The event of `ridge`.

use serde::{Deserialize, Serialize};

use super::{Facts, Refitted, Setting, State, Stated};
use crate::quantity::Decimal;

/// Weights solved, in a fixed order of float64 operations, from whole-number sums over the rounded
/// records at hand: no noise, and no trace of any other record.
///
/// An entry of a row counts as round(x / `row_grid`), a target as round(y / `target_grid`). No sum
/// of products of these over `capacity` records, each counted as often as its weight says, leaves 62 bits
/// and a sign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactRemoval {
    /// Public constants of the objective; the loss is not clipped, so `lipschitz` is infinite.
    pub setting: Setting,
    /// r: bound on the norm of a row, the intercept included.
    pub row_bound: Decimal,
    /// Spacing of the grid of rows, a power of two.
    pub row_grid: Decimal,
    /// Bound on the absolute value of a target.
    pub target_bound: Decimal,
    /// Spacing of the grid of targets, a power of two.
    pub target_grid: Decimal,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
    /// The largest weight of a record, if records have weights: whole numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_weight: Option<u64>,
    /// Records summed, if preprocessing is fitted: its constants follow from their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// Preprocessing that was released with the weights, and whose rows were summed again; `None` if rows
    /// were mapped by public constants alone, and sums are kept. `setting.parameters` then is a public upper
    /// bound on their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preprocessing: Option<Refitted>,
}

impl Stated for ExactRemoval {
    fn facts(&self) -> Facts<'_> {
        self.setting.facts(self.releases, State::Perfect, None)
    }
}
