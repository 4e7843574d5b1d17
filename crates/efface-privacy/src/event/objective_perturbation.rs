//! The event of `objective-perturbation`.

use serde::{Deserialize, Serialize};

use super::{Facts, Setting, State, Stated};
use crate::quantity::Decimal;

/// The minimiser of N F(w) + b.w, or weights at which the gradient of that has norm at most
/// `residual`, published as they are.
///
/// b is drawn once per training: grid * round(noise * Z / grid), Z an exact standard normal vector.
/// No certificate of this event verifies: the residual depends on b.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectivePerturbation {
    /// Public constants of the objective.
    pub setting: Setting,
    /// sigma: standard deviation of each entry of b.
    pub noise: Decimal,
    /// g: spacing of the grid of b.
    pub grid: Decimal,
    /// The budget: largest norm of the accumulated residual before training starts anew.
    pub residual: Decimal,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
}

impl Stated for ObjectivePerturbation {
    fn facts(&self) -> Facts<'_> {
        Facts {
            parameters: self.setting.parameters,
            group: self.setting.group,
            setting: Some(&self.setting),
            releases: self.releases,
            joint_releases: 1,
            state: State::Secret,
            grid: Some(self.grid),
        }
    }
}
