#![doc = include_str!("perturbation.md")]

mod residual;

#[cfg(test)]
mod tests;

use efface::{Code, Error, Result};
use efface_learn::mechanism::Grid;
use efface_learn::outward::{self, add, mul};
use efface_learn::solver::{Factor, Solver, Start, Stopping, Watch, solve};
use efface_learn::{Constants, Dataset, Loss, Objective};
use efface_privacy::sampler::grid_for;
use rand_core::CryptoRng;

use crate::trial::failed;

/// How a perturbed objective is trained and changed; constant for the life of a model.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    grid: Grid,
    budget: f64,
    distance: f64,
    solver: Solver,
}

/// A released model, and what is kept of it between requests.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// The published weights.
    pub(crate) weights: Vec<f64>,
    /// b, the linear term of the sum.
    pub(crate) perturbation: Vec<f64>,
    /// Bound on the gradient of the perturbed sum at the published weights.
    residual: f64,
    /// Upper bound on |X|_2^2 of the current rows.
    pub(crate) spectral: f64,
    /// Gradient passes, and passes that bound the step.
    pub(crate) passes: u64,
    /// The step's share of the residual by the data-dependent and by the worst-case bound; none if the
    /// model was trained.
    pub(crate) step: Option<(f64, f64)>,
}

impl Plan {
    /// Noise of about `sigma` on each entry of b, training anew at a residual of `budget`, and a trainer
    /// that stops within `distance` of the minimiser. `constants` must be those of the logistic loss with
    /// records of weight 1, which the paper's bounds are for.
    pub(crate) fn new(
        constants: &Constants,
        sigma: f64,
        budget: f64,
        distance: f64,
        solver: Solver,
    ) -> Result<Self> {
        if constants.loss() != Loss::Logistic || constants.declared().max_weight.is_some() {
            let message = "the published removal is for the logistic loss and records of weight 1";
            return Err(Error::refused(Code::Audit, message));
        }
        let grid = grid_for(sigma, 30).map_err(failed)?;
        let grid = Grid::new(grid.noise, grid.spacing).map_err(failed)?;
        Ok(Self { grid, budget, distance, solver })
    }
}

/// Draws b and minimises the perturbed objective from zeros: the first training, and what a request
/// does whose bound exceeds the budget.
///
/// # Errors
/// A solver that does not reach the distance, or was asked to stop.
pub(crate) fn train(
    objective: &Objective<'_>,
    plan: &Plan,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Model> {
    let zeros = vec![0.0; objective.constants().parameters()];
    let perturbation = plan.grid.publish(&zeros, rng).map_err(failed)?;
    let perturbed = perturbed_objective(objective, &perturbation)?;
    let start = Start { weights: &zeros, factor: None };
    let stopping = Stopping { distance: plan.distance };
    let found = solve(&perturbed, plan.solver, stopping, start, watch).map_err(failed)?;
    let residual = mul(objective.normalizer(), add(found.gradient_norm, found.slack));
    let residual = add(residual, mul(f64::EPSILON, outward::norm(&perturbation)));
    let data = objective.data().map_err(failed)?;
    Ok(Model {
        weights: found.weights,
        perturbation,
        residual,
        spectral: residual::spectral(data).map_err(failed)?,
        passes: found.passes,
        step: None,
    })
}

/// Serves a request by one Newton step from the published weights, or trains anew if the accumulated
/// bound would exceed the budget. `objective` is on the records after the request.
///
/// # Errors
/// As [`train`]; a Hessian that is not positive definite.
pub(crate) fn request(
    objective: &Objective<'_>,
    plan: &Plan,
    model: &Model,
    (removed, added): (&Dataset, &Dataset),
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Model> {
    let constants = objective.constants();
    let published = &model.weights;
    let data = objective.data().map_err(failed)?;
    let (gone, came) = (removed.rows(), added.rows());
    let before = (data.rows() + gone).saturating_sub(came);

    // How the request moves the gradient of the sum at the published weights.
    let n = objective.normalizer();
    let ridge = constants.strong_convexity() * (n - constants.normalizer(before));
    let out = loss_gradient(removed, published)?;
    let into = loss_gradient(added, published)?;
    let change: Vec<f64> =
        (0..published.len()).map(|j| into[j] - out[j] + ridge * published[j]).collect();

    let curvature = objective.curvature(published).map_err(failed)?;
    let factor = Factor::new(objective.hessian(&curvature).map_err(failed)?)
        .ok_or_else(|| failed("the Hessian is not positive definite"))?;
    let mut step: Vec<f64> = change.iter().map(|c| -c / n).collect();
    factor.solve_in_place(&mut step);
    let product = objective.product(&curvature, &step).map_err(failed)?;
    let left: Vec<f64> = product.iter().zip(&change).map(|(p, c)| p * n + c).collect();
    let rounding = mul(n, constants.slack(outward::norm(published), data.rows()));
    let inexact = add(outward::norm(&left), mul(2.0, rounding));

    let r = constants.declared().row_bound;
    let spectral = add(model.spectral, mul(came as f64, mul(r, r)));
    let share = residual::data_dependent(constants, data, spectral, &step).map_err(failed)?;
    let both = add(outward::norm(&model.perturbation), model.residual);
    let most = residual::largest_change(constants, gone + came, before, both);
    let worst = residual::worst_case(constants, data.rows(), most);
    let residual = add(model.residual, add(share, inexact));
    if residual > plan.budget {
        let anew = train(objective, plan, rng, watch)?;
        return Ok(Model { passes: anew.passes + 1, ..anew });
    }
    Ok(Model {
        weights: published.iter().zip(&step).map(|(w, v)| w + v).collect(),
        perturbation: model.perturbation.clone(),
        residual,
        spectral,
        passes: 1,
        step: Some((share, worst)),
    })
}

/// The objective plus (b/N).w.
pub(crate) fn perturbed_objective<'a>(
    objective: &Objective<'a>,
    perturbation: &[f64],
) -> Result<Objective<'a>> {
    let n = objective.normalizer();
    let term = perturbation.iter().map(|b| b / n).collect();
    objective.clone().with_linear_term(term).map_err(failed)
}

/// Sum of the loss gradients of `data`, records of weight 1, at `weights`.
fn loss_gradient(data: &Dataset, weights: &[f64]) -> Result<Vec<f64>> {
    Ok(data.totals(Loss::Logistic, weights).map_err(failed)?.gradient)
}
