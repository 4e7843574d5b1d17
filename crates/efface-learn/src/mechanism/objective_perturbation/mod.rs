#![doc = include_str!("objective_perturbation.md")]

mod memory;
mod plan;
mod residual;

#[cfg(test)]
mod tests;

pub use memory::PerturbationMemory;
pub use plan::{CheckedPerturbation, PerturbationPlan};

use std::ops::ControlFlow;

use efface_privacy::event::{Event, ObjectivePerturbation};
use efface_privacy::quantity::Decimal;
use rand_core::CryptoRng;

use super::{Evidence, Kept, MechanismError, Released};
use crate::dataset::Dataset;
use crate::loss::Loss;
use crate::objective::Objective;
use crate::outward::{self, add, mul};
use crate::solver::{Factor, Progress, SolveError, Start, Stopping, Watch, solve};

/// The model before a request, and what the request takes out and puts in.
#[derive(Debug, Clone, Copy)]
pub struct Changed<'a> {
    /// The published weights.
    pub published: &'a [f64],
    /// What the release before left.
    pub kept: &'a Kept,
    /// Records deleted.
    pub removed: &'a Dataset,
    /// Records added.
    pub added: &'a Dataset,
}

/// Draws b and minimises the perturbed objective from zeros: the first training, a refresh, and
/// what a request does whose bound exceeds the budget.
///
/// `releases` counts the model's distinct releases, this one included. NOT SOUND.
///
/// # Errors
/// See [`MechanismError`]; nothing was released then.
pub fn train(
    objective: &Objective<'_>,
    plan: &CheckedPerturbation,
    releases: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let zeros = vec![0.0; objective.constants().parameters()];
    let perturbation = plan.grid.publish(&zeros, rng)?;
    let perturbed = perturbed_objective(objective, &perturbation)?;
    let start = Start { weights: &zeros, factor: None };
    let stopping = Stopping { distance: plan.plan.distance };
    let found = solve(&perturbed, plan.plan.solver, stopping, start, watch)?;
    let residual = mul(objective.normalizer(), add(found.gradient_norm, found.slack));
    let residual = add(residual, mul(f64::EPSILON, outward::norm(&perturbation)));
    let memory = PerturbationMemory {
        perturbation,
        residual,
        spectral: residual::spectral(objective.data()?)?,
    };
    let evidence = Evidence::Perturbed {
        passes: found.passes,
        hessians: found.hessians,
        hessian_products: found.hessian_products,
        residual,
        budget: plan.plan.budget,
        step: None,
    };
    Ok(released(objective, plan, found.weights, &memory, (releases, 1), evidence))
}

/// Serves a request by one Newton step from the published weights, or trains anew where the
/// accumulated bound would exceed the budget.
///
/// `objective` is on the records after the request. NOT SOUND.
///
/// # Errors
/// See [`MechanismError`]; nothing was released then.
pub fn request(
    objective: &Objective<'_>,
    plan: &CheckedPerturbation,
    changed: Changed<'_>,
    releases: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let constants = objective.constants();
    let Changed { published, kept, removed, added } = changed;
    let mut memory = PerturbationMemory::from_bytes(&kept.state, constants.parameters())?;
    let progress = Progress { passes: 0, gradient_norm: memory.residual, target: 0.0 };
    if let ControlFlow::Break(()) = watch(&progress) {
        return Err(SolveError::Cancelled { passes: 0 }.into());
    }
    let data = objective.data()?;
    let (gone, came) = (removed.rows(), added.rows());
    let before = (data.rows() + gone).checked_sub(came).ok_or(MechanismError::Records {
        change: "added",
        records: data.rows() as u64,
        got: came as u64,
    })?;

    // How the request moves the gradient of the sum at the published weights.
    let n = objective.normalizer();
    let ridge = constants.strong_convexity() * (n - constants.normalizer(before));
    let out = loss_gradient(removed, published)?;
    let into = loss_gradient(added, published)?;
    let change: Vec<f64> =
        (0..published.len()).map(|j| into[j] - out[j] + ridge * published[j]).collect();

    let curvature = objective.curvature(published)?;
    let factor = Factor::new(objective.hessian(&curvature)?)
        .ok_or(MechanismError::Singular("the Hessian is not positive definite"))?;
    let mut step: Vec<f64> = change.iter().map(|c| -c / n).collect();
    factor.solve_in_place(&mut step);
    let product = objective.product(&curvature, &step)?;
    let left: Vec<f64> = product.iter().zip(&change).map(|(p, c)| p * n + c).collect();
    let rounding = mul(n, constants.slack(outward::norm(published), data.rows()));
    let inexact = add(outward::norm(&left), mul(2.0, rounding));

    let r = constants.declared().row_bound;
    memory.spectral = add(memory.spectral, mul(came as f64, mul(r, r)));
    let share = residual::data_dependent(constants, data, memory.spectral, &step)?;
    let both = add(outward::norm(&memory.perturbation), memory.residual);
    let most = residual::largest_change(constants, gone + came, before, both);
    let worst = residual::worst_case(constants, data.rows(), most);
    memory.residual = add(memory.residual, add(share, inexact));
    if memory.residual > plan.plan.budget {
        let mut anew = train(objective, plan, releases, rng, watch)?;
        if let Evidence::Perturbed { passes, hessians, hessian_products, .. } = &mut anew.evidence {
            (*passes, *hessians) = (*passes + 1, *hessians + 1);
            *hessian_products += 2;
        }
        return Ok(anew);
    }
    let weights = published.iter().zip(&step).map(|(w, v)| w + v).collect();
    let evidence = Evidence::Perturbed {
        passes: 1,
        hessians: 1,
        hessian_products: 2,
        residual: memory.residual,
        budget: plan.plan.budget,
        step: Some((share, worst)),
    };
    let spent = kept.releases.saturating_add(1);
    Ok(released(objective, plan, weights, &memory, (releases, spent), evidence))
}

fn released(
    objective: &Objective<'_>,
    plan: &CheckedPerturbation,
    weights: Vec<f64>,
    memory: &PerturbationMemory,
    (releases, since_training): (u64, u64),
    evidence: Evidence,
) -> Released {
    let event = ObjectivePerturbation {
        setting: objective.constants().setting(plan.plan.group),
        noise: Decimal(plan.grid.noise()),
        grid: Decimal(plan.grid.spacing()),
        residual: Decimal(plan.plan.budget),
        releases,
    };
    let kept = Kept { releases: since_training, state: memory.to_bytes() };
    Released { weights, event: Event::ObjectivePerturbation(event), evidence, kept: Some(kept) }
}

/// The objective plus (b/N).w.
fn perturbed_objective<'a>(
    objective: &Objective<'a>,
    perturbation: &[f64],
) -> Result<Objective<'a>, MechanismError> {
    let n = objective.normalizer();
    Ok(objective.clone().with_linear_term(perturbation.iter().map(|b| b / n).collect())?)
}

/// Sum of the loss gradients of `data`, records of weight 1, at `weights`.
fn loss_gradient(data: &Dataset, weights: &[f64]) -> Result<Vec<f64>, MechanismError> {
    Ok(data.totals(Loss::Logistic, weights)?.gradient)
}
