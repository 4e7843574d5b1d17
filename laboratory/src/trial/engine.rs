//! The learner's own mechanisms without a vault: a model and its requests.

use efface::Result;
use efface_learn::mechanism::noisy_gd::CheckedNoisyGd;
use efface_learn::mechanism::{
    Change, CheckedOutputNoise, NoisyGdPlan, OutputNoisePlan, Released, noisy_gd, retrain, solve,
};
use efface_learn::solver::Solver;
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::event::{Event, Normalizer, State};
use efface_privacy::sampler::grid_for;
use rand_chacha::ChaCha20Rng;

use super::{Stop, failed, until};

/// Rows of norm 1 and targets up to 1; sums are divided by `n`, the most records that there may be.
pub(crate) fn declared(loss: Loss, cols: usize, lambda: f64, n: u64) -> Declared {
    let normalizer = Normalizer::Fixed { n, capacity: n };
    let (row_bound, target_bound) = (1.0, 1.0);
    Declared { loss, cols, lambda, normalizer, row_bound, target_bound, max_weight: None }
}

/// The constants of [`declared`].
pub(crate) fn constants(loss: Loss, cols: usize, lambda: f64, n: u64) -> Result<Constants> {
    declared(loss, cols, lambda, n).check().map_err(failed)
}

/// Rows and targets.
pub(crate) fn dataset<'a>(
    cols: usize,
    records: impl IntoIterator<Item = (&'a [f32], f64)>,
) -> Result<Dataset> {
    let mut data = Dataset::new(Matrix::dense(cols), Vec::new()).map_err(failed)?;
    for (row, target) in records {
        data.push(Row::Dense(row), target).map_err(failed)?;
    }
    Ok(data)
}

/// Records of one column, x = 1, with these targets.
pub(crate) fn line(targets: impl IntoIterator<Item = f64>) -> Result<Dataset> {
    dataset(1, targets.into_iter().map(|y| (&[1.0][..], y)))
}

/// The plan of a model published with noise of about `sigma` on each weight, found to `distance`;
/// one record at a time is protected.
pub(crate) fn output_noise(
    sigma: f64,
    distance: f64,
    (state, joint_releases): (State, u64),
    solver: Solver,
) -> Result<OutputNoisePlan> {
    let (noise, grid) = on_grid(sigma)?;
    Ok(OutputNoisePlan { distance, noise, grid, state, joint_releases, group: 1, solver })
}

/// Noise of about `sigma` that is a multiple of a grid, and the grid.
fn on_grid(sigma: f64) -> Result<(f64, f64)> {
    let grid = grid_for(sigma, 30).map_err(failed)?;
    Ok((grid.noise, grid.spacing))
}

/// A mechanism whose state is perfect, with the constants of its model.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    constants: Constants,
    mechanism: Mechanism,
    stop: Stop,
}

#[derive(Debug, Clone)]
enum Mechanism {
    Solve(CheckedOutputNoise),
    NoisyGd(CheckedNoisyGd),
}

/// What is published, and the event it is accounted by.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    pub(crate) weights: Vec<f64>,
    pub(crate) event: Event,
    /// Gradient passes it took.
    pub(crate) passes: u64,
}

impl From<Released> for Release {
    fn from(released: Released) -> Self {
        let passes = released.evidence.passes();
        Self { weights: released.weights, event: released.event, passes }
    }
}

impl Engine {
    /// `solve` in `perfect` state, with noise of about `sigma` on each weight, found to `tau`.
    pub(crate) fn solve(constants: &Constants, sigma: f64, tau: f64) -> Result<Self> {
        let plan = output_noise(sigma, tau, (State::Perfect, 1), Solver::Newton)?;
        let plan = plan.check(constants, 0).map_err(failed)?;
        let (constants, mechanism) = (constants.clone(), Mechanism::Solve(plan));
        Ok(Self { constants, mechanism, stop: || false })
    }

    /// `noisy-gd` with step `eta`, noise of about `step_noise` in every step, `learning` steps and
    /// `removal` steps per request.
    pub(crate) fn noisy_gd(
        constants: &Constants,
        eta: f64,
        step_noise: f64,
        (learning, removal): (u64, u64),
    ) -> Result<Self> {
        let (noise, grid) = on_grid(step_noise)?;
        let plan = NoisyGdPlan {
            step: eta,
            noise,
            grid,
            learning_steps: learning,
            removal_steps: removal,
            radius: None,
            group: 1,
            batches: None,
        };
        let plan = plan.check(constants).map_err(failed)?;
        let (constants, mechanism) = (constants.clone(), Mechanism::NoisyGd(plan));
        Ok(Self { constants, mechanism, stop: || false })
    }

    /// The same, ended at the next pass when the user asks to stop.
    pub(crate) fn until(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        match self.mechanism {
            Mechanism::Solve(_) => "efface `solve`, perfect state",
            Mechanism::NoisyGd(_) => "efface `noisy-gd`",
        }
    }

    /// Whether a request goes on from where the model is by a number of steps, so that a world
    /// without the request's records has those steps, too.
    pub(crate) fn steps_go_on(&self) -> bool {
        matches!(self.mechanism, Mechanism::NoisyGd(_))
    }

    /// The first release.
    pub(crate) fn train(&self, data: &Dataset, rng: &mut ChaCha20Rng) -> Result<Release> {
        let objective = Objective::new(&self.constants, data).map_err(failed)?;
        let watch = &mut until(self.stop);
        let released = match &self.mechanism {
            Mechanism::Solve(plan) => {
                retrain::retrain(&objective, plan, 1, rng, watch).map_err(failed)?
            }
            Mechanism::NoisyGd(plan) => {
                noisy_gd::learn(&objective, plan, None, rng, watch).map_err(failed)?
            }
        };
        Ok(released.into())
    }

    /// The release after a request that deleted and added so many records, all deleted ones of the
    /// first training; `data` are the records after it.
    pub(crate) fn request(
        &self,
        data: &Dataset,
        before: &Release,
        (deleted, added): (usize, u64),
        rng: &mut ChaCha20Rng,
    ) -> Result<Release> {
        let objective = Objective::new(&self.constants, data).map_err(failed)?;
        let (weights, watch) = (&before.weights, &mut until(self.stop));
        let released = match &self.mechanism {
            Mechanism::Solve(plan) => {
                let count = before.event.releases() + 1;
                solve::from_published(&objective, plan, weights, count, rng, watch)
                    .map_err(failed)?
            }
            Mechanism::NoisyGd(plan) => {
                let Event::NoisyGd(event) = &before.event else {
                    return Err(failed("the release before is another mechanism's"));
                };
                let change = Change { deleted_since: &vec![0; deleted], added };
                noisy_gd::request(&objective, plan, event, &change, weights, rng, watch)
                    .map_err(failed)?
            }
        };
        Ok(released.into())
    }
}
