//! Logistic regression with the paper's random linear term.

use efface::Result;
use efface_learn::solver::{Solver, Start, Stopping, solve};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_privacy::event::Normalizer;

use crate::trial::draws::{generator, normal};
use crate::trial::engine::declared;
use crate::trial::{Rows, Stop, failed, until};

/// Weights without a random term are found to within this distance of the minimiser.
pub(super) const DISTANCE: f64 = 1e-7;

/// sqrt(2 log(1.5/delta)): the removals last while their residuals sum to sigma epsilon over this.
pub(super) fn tail(delta: f64) -> f64 {
    (2.0 * (1.5 / delta).ln()).sqrt()
}

/// The paper's constants: rows of length 1, the objective a mean over the current records.
pub(super) fn constants(rows: &Rows, lambda: f64) -> Result<Constants> {
    let normalizer = Normalizer::Mean { minimum: 1 };
    let fixed = declared(Loss::Logistic, rows.x.cols(), lambda, rows.len() as u64);
    Declared { normalizer, ..fixed }.check().map_err(failed)
}

/// The minimiser of the sum plus b.w, where b has this standard deviation; and b.
pub(super) fn train(
    constants: &Constants,
    data: &Dataset,
    sigma: f64,
    seed: u64,
    stop: Stop,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut rng = generator(seed, 4);
    let b: Vec<f64> = (0..constants.parameters()).map(|_| sigma * normal(&mut rng)).collect();
    let objective = perturbed_objective(constants, data, &b)?;
    let zeros = vec![0.0; constants.parameters()];
    let start = Start { weights: &zeros, factor: None };
    // b alone moves the minimiser by up to |b|/(lambda n): float64 certifies distances relative to it.
    let reach = b.iter().map(|b| b * b).sum::<f64>().sqrt() / objective.normalizer();
    let distance = 1e-5 * (1.0 + reach / constants.strong_convexity());
    let stopping = Stopping { distance };
    let found =
        solve(&objective, Solver::Lbfgs, stopping, start, &mut until(stop)).map_err(failed)?;
    Ok((found.weights, b))
}

/// The objective plus (b/n).w.
pub(super) fn perturbed_objective<'a>(
    constants: &'a Constants,
    data: &'a Dataset,
    b: &[f64],
) -> Result<Objective<'a>> {
    let objective = Objective::new(constants, data).map_err(failed)?;
    let n = objective.normalizer();
    objective.with_linear_term(b.iter().map(|b| b / n).collect()).map_err(failed)
}
