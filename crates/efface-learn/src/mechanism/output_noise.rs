//! What `retrain` and `solve` share: the plan, and publishing an optimum with fresh noise.

use efface_privacy::event::{Event, OutputNoise, Procedure, State};
use efface_privacy::quantity::Decimal;
use rand_core::CryptoRng;

use super::{Evidence, Grid, GridError, Kept, KeptError, Released, Warm};
use crate::constants::Constants;
use crate::newton::{MemoryError, NewtonError};
use crate::objective::{LARGEST_HESSIAN, Objective};
use crate::outward;
use crate::solver::{SolveError, Solver, Start, Stopping, Watch, check_attainable, solve};

/// How optima are found and published, as written; constant for the life of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputNoisePlan {
    /// tau: distance to the optimum at which a solver may stop, in weight units.
    pub distance: f64,
    /// sigma: standard deviation of the noise on each weight; an integer multiple of `grid`.
    pub noise: f64,
    /// g: spacing of the grid of released weights; a power of two, at most 2^-20 `noise`.
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

/// Why nothing was released.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OutputNoiseError {
    /// Grid and noise.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The distance, the start, or a solver.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A count out of range.
    #[error("`{name}` must be {rule}, got {got}")]
    Count {
        /// Its name as users type it.
        name: &'static str,
        /// The rule in words.
        rule: &'static str,
        /// The value.
        got: u64,
    },
    /// A kept state that cannot be read.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// A memory that cannot be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A memory that cannot be made or changed.
    #[error(transparent)]
    Newton(NewtonError),
    /// A memory in `perfect` state.
    #[error("Newton steps from a memory need `secret` state, but the plan has `perfect`")]
    MemoryInPerfect,
    /// Weights that are not known to be near enough.
    #[error("the weights are within {distance:e} of the optimum, `distance` (tau) is {limit:e}")]
    Distance {
        /// The bound.
        distance: f64,
        /// tau.
        limit: f64,
    },
    /// A kept state although the plan says `perfect`.
    #[error("`perfect` state starts from the published model only, got a kept state")]
    KeptInPerfect,
    /// All jointly covered releases are made.
    #[error(
        "{spent} of {limit} releases since the last refresh are used up, and this request needs \
         one more; \
         refresh: start again from the published model without the kept state"
    )]
    Releases {
        /// Releases made since learning or the last refresh.
        spent: u64,
        /// R.
        limit: u64,
    },
}

/// Where a solver starts from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin<'a> {
    /// Zeros, whatever the data.
    Zeros,
    /// The published model: public.
    Published(&'a [f64]),
    /// What was kept, in `secret` state.
    Kept(&'a Kept),
}

impl From<NewtonError> for OutputNoiseError {
    fn from(error: NewtonError) -> Self {
        match error {
            NewtonError::Solve(error) => Self::Solve(error),
            other => Self::Newton(other),
        }
    }
}

impl OutputNoisePlan {
    /// Checks the plan against the public constants. `records` matters under `mean` only.
    ///
    /// # Errors
    /// Noise and grid that do not fit each other or the reach of the weights; a distance that
    /// float64 cannot certify; a count that must not be 0, or joint releases in `perfect` state.
    pub fn check(
        self,
        constants: &Constants,
        records: usize,
    ) -> Result<CheckedOutputNoise, OutputNoiseError> {
        let grid = Grid::new(self.noise, self.grid)?;
        check_attainable(constants, Stopping { distance: self.distance }, records)?;
        grid.check_reach(outward::add(constants.optimum_bound(), self.distance))?;
        let count = |name, rule, got, ok: bool| {
            if ok { Ok(()) } else { Err(OutputNoiseError::Count { name, rule, got }) }
        };
        count("max-group", "at least 1", self.group, self.group > 0)?;
        let releases = self.joint_releases;
        match self.state {
            State::Perfect => count("releases", "1 in `perfect` state", releases, releases == 1)?,
            State::Secret => count("releases", "at least 1", releases, releases > 0)?,
        }
        Ok(CheckedOutputNoise { plan: self, grid })
    }
}

impl CheckedOutputNoise {
    /// The plan as it was written.
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
    ) -> Result<Released, OutputNoiseError> {
        let plan = &self.plan;
        let kept = match origin {
            Origin::Kept(kept) => Some(kept),
            Origin::Zeros | Origin::Published(_) => None,
        };
        let spent = self.spent(kept, releases)?;
        let warm = match origin {
            Origin::Zeros => {
                Warm { weights: vec![0.0; objective.constants().parameters()], factor: None }
            }
            Origin::Published(weights) => Warm { weights: weights.to_vec(), factor: None },
            Origin::Kept(kept) => Warm::from_bytes(&kept.state)?,
        };
        let start = Start { weights: &warm.weights, factor: warm.factor.as_ref() };
        let stopping = Stopping { distance: plan.distance };
        let found = solve(objective, self.solver(objective.constants()), stopping, start, watch)?;
        let weights = self.grid.publish(&found.weights, rng)?;
        let procedure = match origin {
            Origin::Zeros => Procedure::Retrain,
            Origin::Published(_) | Origin::Kept(_) => Procedure::Solve,
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
    pub(super) fn spent(
        &self,
        kept: Option<&Kept>,
        releases: u64,
    ) -> Result<u64, OutputNoiseError> {
        if releases == 0 {
            let rule = "at least 1, this release included";
            return Err(OutputNoiseError::Count { name: "releases", rule, got: 0 });
        }
        let plan = &self.plan;
        let spent = match (kept, plan.state) {
            (Some(_), State::Perfect) => return Err(OutputNoiseError::KeptInPerfect),
            (Some(kept), State::Secret) => kept.releases,
            (None, _) => 0,
        };
        if spent >= plan.joint_releases {
            return Err(OutputNoiseError::Releases { spent, limit: plan.joint_releases });
        }
        Ok(spent)
    }

    /// The grid and its noise.
    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The event of a release: known before anything is computed. `releases` counts the model's
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
        }
    }
}
