//! The event of `retrain` and `solve`.

use serde::{Deserialize, Serialize};

use super::{Facts, Setting, State, Stated};
use crate::quantity::Decimal;

/// Which procedure found the optimum; both obey the same stopping rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// From a data-independent start.
    Retrain,
    /// From the published model (or, in `secret` state, from what was kept).
    Solve,
}

/// An optimum found to within `distance`, rounded to a grid and published with N(0, noise^2 I) on
/// that grid.
///
/// Releases `w = grid * (round(v / grid) + round(noise * Z / grid))` with `|v - w*| <= distance`
/// and Z an exact standard normal vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputNoise {
    /// Public constants of the objective.
    pub setting: Setting,
    /// How the optimum was found.
    pub procedure: Procedure,
    /// tau: bound on the distance of the unperturbed weights to the optimum, in weight units.
    pub distance: Decimal,
    /// sigma: standard deviation of the noise on each weight.
    pub noise: Decimal,
    /// g: spacing of the grid of released values.
    pub grid: Decimal,
    /// Whether the mechanism keeps `perfect` or `secret` state.
    pub state: State,
    /// R: releases covered jointly since learning or the last refresh (1 in `perfect` state).
    pub joint_releases: u64,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
    /// Records the objective was solved on, if public; needed under the `mean` normaliser.
    pub records: Option<u64>,
    /// Preprocessing that was released with the weights; `None` if rows were mapped by public constants
    /// alone. `setting.parameters` then is a public upper bound on their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preprocessing: Option<Refitted>,
}

/// Preprocessing whose every statistic is a function of the records at hand, bit for bit: it is fitted again
/// with every request, both here and in the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refitted {
    /// k: categories of fewer records are merged; counts are exact. It follows from the number of
    /// records, or was chosen.
    pub min_frequency: u64,
}

impl Refitted {
    /// Its constants under the names by which certificates list them.
    pub(crate) fn constants(&self) -> [(&'static str, String); 2] {
        [("preprocess", "fitted".to_owned()), ("min-frequency", self.min_frequency.to_string())]
    }
}

impl Stated for OutputNoise {
    fn facts(&self) -> Facts<'_> {
        let facts = self.setting.facts(self.releases, self.state, Some(self.grid));
        Facts { joint_releases: self.joint_releases, ..facts }
    }
}
