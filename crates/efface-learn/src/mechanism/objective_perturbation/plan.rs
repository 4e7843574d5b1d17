//! The plan, and why nothing was released.

use efface_matrix::{GramError, PassError};

use crate::constants::Constants;
use crate::mechanism::{Grid, GridError};
use crate::objective::{LARGEST_HESSIAN, ObjectiveError, SumError};
use crate::outward;
use crate::solver::{SolveError, Solver, Stopping, check_attainable};

/// How a perturbed objective is trained and changed, as written; constant for the life of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbationPlan {
    /// sigma: standard deviation of each entry of b, the linear term of the sum; an integer
    /// multiple of `grid`.
    pub noise: f64,
    /// g: spacing of the grid of b; a power of two, at most 2^-20 `noise`.
    pub grid: f64,
    /// The accumulated residual at which training starts anew, sigma epsilon/c in the paper.
    pub budget: f64,
    /// tau: how far the trainer may stop from the minimiser, in weight units.
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

/// Why nothing was released.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PerturbationError {
    /// A loss the paper's bounds are not about.
    #[error("`objective-perturbation` is for the `logistic` loss, got `{0}`")]
    Loss(&'static str),
    /// Records with weights.
    #[error("`objective-perturbation` takes records of weight 1, as published")]
    Weights,
    /// A dense Hessian would be too large.
    #[error("`objective-perturbation` takes at most {LARGEST_HESSIAN} parameters, got {0}")]
    Large(usize),
    /// Grid and noise.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The budget does not even hold what the trainer may leave.
    #[error(
        "the residual budget must be above what training may leave, N lambda `distance` = {least:e}, \
         got {got:e}; raise the noise or epsilon"
    )]
    Budget {
        /// N lambda tau.
        least: f64,
        /// The budget.
        got: f64,
    },
    /// The data do not obey the constants.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The trainer.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Data and weights do not fit together.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The Hessian could not be formed.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// The records could not be summed, or are in parts.
    #[error(transparent)]
    Sum(#[from] SumError),
    /// The Hessian has no Cholesky factor in float64.
    #[error("the Hessian is not positive definite in float64; raise lambda")]
    NoFactor,
    /// Another number of records than the change explains.
    #[error("more records were reportedly added ({added}) than there are ({records})")]
    Records {
        /// Records after the request.
        records: usize,
        /// Records added.
        added: usize,
    },
    /// Bytes of another length.
    #[error("the kept state must have {expected} numbers of 8 bytes, got {got} bytes")]
    Length {
        /// Numbers expected.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
    /// A kept number out of range.
    #[error("the kept state is damaged: number {index} is {got}")]
    Kept {
        /// Its position, from 0.
        index: usize,
        /// The number.
        got: f64,
    },
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
    ) -> Result<CheckedPerturbation, PerturbationError> {
        if constants.loss() != crate::Loss::Logistic {
            return Err(PerturbationError::Loss(constants.loss().name()));
        }
        if constants.declared().max_weight.is_some() {
            return Err(PerturbationError::Weights);
        }
        if constants.parameters() > LARGEST_HESSIAN {
            return Err(PerturbationError::Large(constants.parameters()));
        }
        let grid = Grid::new(self.noise, self.grid)?;
        check_attainable(constants, Stopping { distance: self.distance }, records)?;
        let ridge = outward::mul(constants.normalizer(records), constants.strong_convexity());
        let least = outward::mul(ridge, self.distance);
        if !(self.budget > least && self.budget.is_finite()) {
            return Err(PerturbationError::Budget { least, got: self.budget });
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
