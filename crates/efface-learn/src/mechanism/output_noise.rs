//! What `retrain` and `solve` share: the plan, and publishing an optimum with fresh noise.

use efface_privacy::event::{Event, OutputNoise, Procedure, State};
use efface_privacy::quantity::{Decimal, as_decimal};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use super::error::start;
use super::{Evidence, Grid, Kept, MechanismError, Released, Warm};
use crate::constants::{Constants, Summation, out_of_range, range};
use crate::objective::{LARGEST_HESSIAN, Objective};
use crate::outward;
use crate::solver::{
    Factor, Solver, Start, Stopping, Watch, check_attainable, solve, solve_prepared,
};

/// How optima are found and published, as written; constant for the life of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputNoisePlan {
    /// tau: distance to the optimum at which a solver may stop, in weight units.
    #[serde(with = "as_decimal")]
    pub distance: f64,
    /// sigma: standard deviation of the noise on each weight; an integer multiple of `grid`.
    #[serde(with = "as_decimal")]
    pub noise: f64,
    /// g: spacing of the grid of released weights; a power of two, at most 2^-20 `noise`.
    #[serde(with = "as_decimal")]
    pub grid: f64,
    /// What is kept between requests.
    pub state: State,
    /// R: releases covered jointly since learning or the last refresh; 1 in `perfect` state.
    pub joint_releases: u64,
    /// Public maximal number of records that DP and deletion-privacy claims protect together.
    pub group: u64,
    /// Which solver to try first.
    pub solver: Solver,
}

/// A plan that fits its constants: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedOutputNoise {
    plan: OutputNoisePlan,
    grid: Grid,
}

/// The point from which a solver starts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin<'a> {
    /// All weights zero, whatever the data.
    Zeros,
    /// The published model: public; with a factor of the Hessian there over the records before the
    /// request, if one is kept.
    Published(&'a [f64], Option<&'a Factor>),
    /// What was kept, in `secret` state.
    Kept(&'a Kept),
}

impl OutputNoisePlan {
    /// Checks the plan against the public constants. `records` matters under `mean` only.
    ///
    /// # Errors
    /// Fails if noise and grid do not fit each other or the reach of the weights, float64 cannot certify the
    /// distance, a count is 0 that must not be, or there are joint releases in `perfect` state.
    pub fn check(
        self,
        constants: &Constants,
        records: usize,
    ) -> Result<CheckedOutputNoise, MechanismError> {
        let grid = Grid::new(self.noise, self.grid)?;
        // What is kept in `secret` state may be improved from its own sums alone, in float64.
        let summation = match self.state {
            State::Perfect => Summation::Twice,
            State::Secret => Summation::AnyOrder,
        };
        let stopping = Stopping { distance: self.distance };
        check_attainable(constants, summation, stopping, records)?;
        grid.check_reach(outward::add(constants.optimum_bound(), self.distance))?;
        range("max-group", "at least 1", self.group as f64, self.group > 0)?;
        let releases = self.joint_releases;
        match self.state {
            State::Perfect => {
                range("releases", "1 in `perfect` state", releases as f64, releases == 1)?
            }
            State::Secret => range("releases", "at least 1", releases as f64, releases > 0)?,
        }
        Ok(CheckedOutputNoise { plan: self, grid })
    }
}

impl CheckedOutputNoise {
    /// Returns the plan as it was written.
    #[must_use]
    pub fn plan(&self) -> &OutputNoisePlan {
        &self.plan
    }

    /// Finds the optimum from `origin` and publishes it. `releases` counts the model's distinct
    /// releases, this one included.
    pub(super) fn run(
        &self,
        objective: &Objective<'_>,
        origin: Origin<'_>,
        releases: u64,
        rng: &mut impl CryptoRng,
        watch: &mut Watch<'_>,
    ) -> Result<Released, MechanismError> {
        let plan = &self.plan;
        let kept = match origin {
            Origin::Kept(kept) => Some(kept),
            Origin::Zeros | Origin::Published(..) => None,
        };
        let spent = self.spent(kept, releases)?;
        let warm = match origin {
            Origin::Zeros => {
                Warm { weights: vec![0.0; objective.constants().parameters()], factor: None }
            }
            Origin::Published(weights, _) => Warm { weights: weights.to_vec(), factor: None },
            Origin::Kept(kept) => Warm::from_bytes(&kept.state)?,
        };
        let stopping = Stopping { distance: plan.distance };
        let solver = self.solver(objective.constants());
        let found = match origin {
            Origin::Published(weights, Some(prepared)) => {
                solve_prepared(objective, solver, stopping, weights, prepared, watch)?
            }
            _ => {
                let start = Start { weights: &warm.weights, factor: warm.factor.as_ref() };
                solve(objective, solver, stopping, start, watch)?
            }
        };
        let weights = self.grid.publish(&found.weights, rng)?;
        let procedure = match origin {
            Origin::Zeros => Procedure::Retrain,
            Origin::Published(..) | Origin::Kept(_) => Procedure::Solve,
        };
        let evidence = Evidence::from(&found);
        let kept = match plan.state {
            State::Perfect => None,
            State::Secret => {
                let warm = Warm { weights: found.weights, factor: found.factor };
                Some(Kept { releases: spent + 1, state: warm.to_bytes() })
            }
        };
        let (constants, records) = (objective.constants(), objective.records());
        let event = self.event(constants, records, procedure, releases);
        Ok(Released { weights, event: Event::OutputNoise(event), evidence, kept })
    }

    /// In `secret` state a factor is built once and serves many requests.
    pub(super) fn solver(&self, constants: &Constants) -> Solver {
        let small = constants.parameters() <= LARGEST_HESSIAN;
        match (self.plan.solver, self.plan.state) {
            (Solver::Automatic, State::Secret) if small => Solver::Newton,
            (solver, _) => solver,
        }
    }

    /// Releases made since learning or the last refresh, refused when another one is not covered.
    pub(super) fn spent(&self, kept: Option<&Kept>, releases: u64) -> Result<u64, MechanismError> {
        if releases == 0 {
            let rule = "at least 1, this release included";
            return Err(out_of_range("releases", rule, 0.0).into());
        }
        let plan = &self.plan;
        let spent = match (kept, plan.state) {
            (Some(_), State::Perfect) => {
                return Err(start("`perfect` state keeps nothing"));
            }
            (Some(kept), State::Secret) => kept.releases,
            (None, _) => 0,
        };
        if spent >= plan.joint_releases {
            return Err(MechanismError::Releases { spent, limit: plan.joint_releases });
        }
        Ok(spent)
    }

    /// Returns the grid and its noise.
    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the event of a release: known before anything is computed. `releases` counts the model's
    /// distinct releases, this one included.
    #[must_use]
    pub fn event(
        &self,
        constants: &Constants,
        records: usize,
        procedure: Procedure,
        releases: u64,
    ) -> OutputNoise {
        OutputNoise {
            setting: constants.setting(self.plan.group),
            procedure,
            distance: Decimal(self.plan.distance),
            noise: Decimal(self.grid.noise()),
            grid: Decimal(self.grid.spacing()),
            state: self.plan.state,
            joint_releases: self.plan.joint_releases,
            releases,
            records: constants.declared().normalizer.public_count(records),
            preprocessing: None,
        }
    }
}
