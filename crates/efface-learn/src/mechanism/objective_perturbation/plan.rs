//! The plan, and why nothing was released.

use crate::constants::{Constants, Summation};
use crate::mechanism::{Grid, MechanismError};
use crate::outward;
use crate::solver::{Solver, Stopping, check_attainable};
use efface_privacy::quantity::as_decimal;
use serde::{Deserialize, Serialize};

/// The name users type.
const NAME: &str = "objective-perturbation";

/// How a perturbed objective is trained and changed, as written; constant for the life of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerturbationPlan {
    /// sigma: standard deviation of each entry of b, the linear term of the sum; an integer
    /// multiple of `grid`.
    #[serde(with = "as_decimal")]
    pub noise: f64,
    /// g: spacing of the grid of b; a power of two, at most 2^-20 `noise`.
    #[serde(with = "as_decimal")]
    pub grid: f64,
    /// The accumulated residual at which training starts anew, sigma epsilon/c in the paper.
    #[serde(with = "as_decimal")]
    pub budget: f64,
    /// tau: how far the trainer may stop from the minimiser, in weight units.
    #[serde(with = "as_decimal")]
    pub distance: f64,
    /// Public maximal number of records that claims protect together.
    pub group: u64,
    /// Which solver trains.
    pub solver: Solver,
}

/// A plan that fits its constants: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPerturbation {
    pub(super) plan: PerturbationPlan,
    pub(super) grid: Grid,
}

impl PerturbationPlan {
    /// Checks the plan against the public constants. `records` matters under `mean` only.
    ///
    /// # Errors
    /// A loss other than `logistic`, too many parameters, noise and grid that do not fit each
    /// other, a distance that float64 cannot certify, a budget that training alone may exceed.
    pub fn check(
        self,
        constants: &Constants,
        records: usize,
    ) -> Result<CheckedPerturbation, MechanismError> {
        if constants.loss() != crate::Loss::Logistic {
            let got = constants.loss().name().to_owned();
            return Err(MechanismError::Loss { mechanism: NAME, wanted: "`logistic`", got });
        }
        if constants.declared().max_weight.is_some() {
            return Err(MechanismError::Weights(NAME));
        }
        MechanismError::check_hessian(NAME, constants.parameters())?;
        let grid = Grid::new(self.noise, self.grid)?;
        check_attainable(
            constants,
            Summation::AnyOrder,
            Stopping { distance: self.distance },
            records,
        )?;
        let ridge = outward::mul(constants.normalizer(records), constants.strong_convexity());
        let least = outward::mul(ridge, self.distance);
        if !(self.budget > least && self.budget.is_finite()) {
            return Err(MechanismError::Budget { least, got: self.budget });
        }
        Ok(CheckedPerturbation { plan: self, grid })
    }
}

impl CheckedPerturbation {
    /// The plan as it was written.
    #[must_use]
    pub fn plan(&self) -> &PerturbationPlan {
        &self.plan
    }
}
