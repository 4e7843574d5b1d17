//! The event of `ridge`.

use serde::{Deserialize, Serialize};

use super::{Facts, Setting, State, Stated};
use crate::quantity::Decimal;

/// Weights solved, in a fixed order of float64 operations, from whole-number sums over the rounded
/// records at hand: no noise, and no trace of any other record.
///
/// An entry of a row counts as round(x / `row_grid`), a target as round(y / `target_grid`). No sum
/// of products of these over `capacity` records leaves 62 bits and a sign.
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
}

impl Stated for ExactRemoval {
    fn facts(&self) -> Facts<'_> {
        Facts {
            setting: &self.setting,
            releases: self.releases,
            joint_releases: 1,
            state: State::Perfect,
            grid: None,
        }
    }
}
