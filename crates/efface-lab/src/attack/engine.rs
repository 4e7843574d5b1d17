//! The real mechanisms as attackers meet them: a model, its requests, and what is promised.

use efface_learn::mechanism::noisy_gd::CheckedNoisyGd;
use efface_learn::mechanism::{
    Change, CheckedOutputNoise, NoisyGdPlan, OutputNoisePlan, Released, noisy_gd, retrain, solve,
};
use efface_learn::solver::{Solver, unwatched};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::{Claim, Question, Requests, evaluate};
use efface_privacy::event::{Adjacency, Event, Normalizer, State};
use efface_privacy::sampler::grid_for;
use rand_chacha::ChaCha20Rng;

use super::Failure;

/// What is public of a model.
#[derive(Debug, Clone)]
pub(super) struct Public {
    pub(super) loss: Loss,
    pub(super) cols: usize,
    pub(super) lambda: f64,
    /// N and the capacity of `fixed`.
    pub(super) n: u64,
    pub(super) row_bound: f64,
    pub(super) target_bound: f64,
    /// Largest group that DP and deletion-privacy protect.
    pub(super) group: u64,
}

impl Public {
    /// One column, lambda 1, rows of norm 1, N records; one record at a time is protected.
    pub(super) fn line(loss: Loss, n: u64) -> Self {
        let (lambda, row_bound, target_bound) = (1.0, 1.0, 1.0);
        Self { loss, cols: 1, lambda, n, row_bound, target_bound, group: 1 }
    }

    pub(super) fn constants(&self) -> Result<Constants, Failure> {
        self.with_capacity(self.n)
    }

    /// Where there may be more records than N.
    pub(super) fn with_capacity(&self, capacity: u64) -> Result<Constants, Failure> {
        Declared {
            loss: self.loss,
            cols: self.cols,
            lambda: self.lambda,
            normalizer: Normalizer::Fixed { n: self.n, capacity },
            row_bound: self.row_bound,
            target_bound: self.target_bound,
            max_weight: None,
        }
        .check()
        .map_err(Failure::of)
    }
}

/// Rows and targets.
pub(super) fn dataset<'a>(
    cols: usize,
    records: impl IntoIterator<Item = (&'a [f32], f64)>,
) -> Result<Dataset, Failure> {
    let mut data = Dataset::new(Matrix::dense(cols), Vec::new()).map_err(Failure::of)?;
    for (row, target) in records {
        data.push(Row::Dense(row), target).map_err(Failure::of)?;
    }
    Ok(data)
}

/// A mechanism of the engine whose state is perfect.
#[derive(Debug, Clone)]
pub(super) enum Mechanism {
    Solve(CheckedOutputNoise),
    NoisyGd(CheckedNoisyGd),
}

/// A mechanism with the constants of its model.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    pub(super) constants: Constants,
    mechanism: Mechanism,
}

/// What is published, and the event it is accounted by.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) weights: Vec<f64>,
    pub(super) event: Event,
    /// Gradient passes it took.
    pub(super) passes: u64,
}

impl From<Released> for Release {
    fn from(released: Released) -> Self {
        let passes = released.evidence.passes();
        Self { weights: released.weights, event: released.event, passes }
    }
}

impl Engine {
    /// `solve` in `perfect` state, with noise of about `sigma` on each weight, found to `tau`.
    pub(super) fn solve(public: &Public, sigma: f64, tau: f64) -> Result<Self, Failure> {
        let constants = public.constants()?;
        let (noise, grid) = on_grid(sigma)?;
        let plan = OutputNoisePlan {
            distance: tau,
            noise,
            grid,
            state: State::Perfect,
            joint_releases: 1,
            group: public.group,
            solver: Solver::Newton,
        };
        let plan = plan.check(&constants, 0).map_err(Failure::of)?;
        Ok(Self { constants, mechanism: Mechanism::Solve(plan) })
    }

    /// `noisy-gd` with the step 1/L, noise of about `step_noise` in every step, `learning` steps
    /// and `removal` steps per request.
    pub(super) fn noisy_gd(
        public: &Public,
        step_noise: f64,
        learning: u64,
        removal: u64,
    ) -> Result<Self, Failure> {
        let constants = public.constants()?;
        let (noise, grid) = on_grid(step_noise)?;
        let plan = NoisyGdPlan {
            step: 1.0 / constants.total_smoothness(),
            noise,
            grid,
            learning_steps: learning,
            removal_steps: removal,
            radius: None,
            group: public.group,
        };
        let plan = plan.check(&constants).map_err(Failure::of)?;
        Ok(Self { constants, mechanism: Mechanism::NoisyGd(plan) })
    }

    /// Its name.
    pub(super) fn name(&self) -> &'static str {
        match self.mechanism {
            Mechanism::Solve(_) => "efface `solve`, perfect state",
            Mechanism::NoisyGd(_) => "efface `noisy-gd`",
        }
    }

    /// Whether a request goes on from where the model is by a number of steps, so that a world
    /// without the request's records has those steps, too.
    pub(super) fn steps_go_on(&self) -> bool {
        matches!(self.mechanism, Mechanism::NoisyGd(_))
    }

    /// The first release.
    pub(super) fn train(&self, data: &Dataset, rng: &mut ChaCha20Rng) -> Result<Release, Failure> {
        let objective = Objective::new(&self.constants, data).map_err(Failure::of)?;
        let released = match &self.mechanism {
            Mechanism::Solve(plan) => {
                retrain::retrain(&objective, plan, 1, rng, &mut unwatched).map_err(Failure::of)?
            }
            Mechanism::NoisyGd(plan) => {
                noisy_gd::learn(&objective, plan, None, rng, &mut unwatched).map_err(Failure::of)?
            }
        };
        Ok(released.into())
    }

    /// The release after a request: `data` are the records after it, `change` what it did.
    pub(super) fn request(
        &self,
        data: &Dataset,
        before: &Release,
        change: &Change<'_>,
        rng: &mut ChaCha20Rng,
    ) -> Result<Release, Failure> {
        let objective = Objective::new(&self.constants, data).map_err(Failure::of)?;
        let released = match &self.mechanism {
            Mechanism::Solve(plan) => {
                let count = before.event.releases() + 1;
                solve::from_published(&objective, plan, &before.weights, count, rng, &mut unwatched)
                    .map_err(Failure::of)?
            }
            Mechanism::NoisyGd(plan) => {
                let Event::NoisyGd(event) = &before.event else {
                    return Err(Failure::of("the release before is another mechanism's"));
                };
                let watch = &mut unwatched;
                noisy_gd::request(&objective, plan, event, change, &before.weights, rng, watch)
                    .map_err(Failure::of)?
            }
        };
        Ok(released.into())
    }
}

/// What deletion-privacy promises of the last release: the least advantage that any of some orders
/// gives. `seen` is how many releases the requester looked at; none: it looked at nothing.
pub(super) fn deletion_privacy(event: &Event, seen: Option<u64>) -> Result<Claim, Failure> {
    let requests = seen.map_or(Requests::NonAdaptive, Requests::PAdaptive);
    let mut best: Option<Claim> = None;
    for order in [1.0001, 1.5, 2.0, 4.0, 16.0] {
        let question = Question::Deletion { order, adjacency: Adjacency::Replace, requests };
        let claim = evaluate(event, &question, Accountant::Gdp).map_err(Failure::of)?;
        if best.as_ref().is_none_or(|b| claim.advantage < b.advantage) {
            best = Some(claim);
        }
    }
    best.ok_or_else(|| Failure::of("no order was tried"))
}

/// The claim of an event at `delta`, by the tight accountant.
pub(super) fn claim(event: &Event, question: &Question) -> Result<Claim, Failure> {
    evaluate(event, question, Accountant::Gdp).map_err(Failure::of)
}

/// Noise of about `sigma` that is a multiple of a grid, and the grid.
pub(super) fn on_grid(sigma: f64) -> Result<(f64, f64), Failure> {
    let grid = grid_for(sigma, 30).map_err(Failure::of)?;
    Ok((grid.noise, grid.spacing))
}
