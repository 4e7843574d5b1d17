//! `ridge`: sums of rounded rows, and no pass.

use efface_learn::solver::hessian_in_passes;
use efface_learn::{Constants, risk};

use super::{Cost, Count, Inputs, lasts, month, requests};
use crate::error::Result;
use crate::mechanism::ridge_plan;
use crate::plan::Plan;

pub(super) fn cost(plan: &Plan, constants: &Constants, inputs: &Inputs<'_>) -> Result<Cost> {
    let workload = inputs.workload;
    let ridge = ridge_plan(constants)?;
    let quantiser = ridge.quantiser();
    let (columns, parameters) = (constants.cols() as f64, constants.parameters() as f64);
    // Cholesky; a request solves twice, as it holds the kept sums against the published weights.
    let solve = columns * (columns.powi(2) / 3.0 + 2.0 * parameters) / inputs.pass_operations;
    let rows = workload.mean() * columns * (columns + 2.0) / inputs.pass_operations;
    let none =
        |work_usually| Count { passes_at_most: 0, passes_usually: 0.0, work_usually, exact: true };
    // The first sums take what a Hessian does.
    let training = none(hessian_in_passes(constants.cols()) + solve);
    let request = if plan.keeps_state() { none(rows + 2.0 * solve) } else { training };
    let lasts = lasts(plan, inputs.workload.deletions_per_month, None);
    let (row_places, target_places) = (quantiser.row_places(), quantiser.target_places());
    Ok(Cost {
        training,
        request,
        steps: Vec::new(),
        without_pass: None,
        month_passes: month(inputs, request.work_usually, 0.0, &lasts),
        excess_risk: Some(risk::rounded_sums(constants, row_places, target_places)),
        lasts,
        claims: requests(plan, inputs, workload.groups.len())?.claims,
    })
}
