//! `solve` by Newton steps from a kept memory: no pass until its bound runs out.

use efface_learn::mechanism::{Departure, OutputNoisePlan};
use efface_learn::newton::{most_corrections, serving_operations, sure_changes, usual_changes};
use efface_learn::solver::{Stopping, Work};
use efface_learn::{Constants, risk};

use super::{Cost, Count, Inputs, lasts, month, requests, size};
use crate::error::Result;
use crate::mechanism::checked_output as checked;
use crate::plan::Plan;

pub(super) fn cost(
    schedule: &OutputNoisePlan,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
) -> Result<Cost> {
    let (workload, records) = (inputs.workload, inputs.facts.records);
    let checked = checked(schedule, plan, constants, size(records)?)?;
    let fixed = checked.plan();
    let stopping = Stopping { distance: fixed.distance };
    let parameters = constants.parameters();
    let sure = sure_changes(constants, stopping, records);
    let most = most_corrections(constants, stopping);
    // A solve, then a pass and a Hessian to make the memory, then what may be missing.
    let made = |from| {
        let add = |work: Work, more| Work {
            passes: work.passes.saturating_add(more),
            hessians: work.hessians + 1,
            products: work.products + 1,
        };
        let missing = if sure > 0 { 1 } else { most.saturating_add(1) };
        let usual = add(checked.usual_work(constants, from, 0.0), 1);
        Count::solved(add(checked.most_work(constants, from), missing), usual, parameters)
    };
    let changed = (plan.releases - 1).saturating_mul(workload.largest());
    let (passes_at_most, passes_usually) = if changed <= sure {
        (0, 0.0)
    } else {
        let usual = usual_changes(constants, stopping, records) as f64;
        (most, (workload.mean() / usual).min(1.0))
    };
    // Passes and the Hessians formed between them cost the same.
    let served = serving_operations(parameters, workload.largest()) / inputs.pass_operations;
    let request = Count {
        passes_at_most,
        passes_usually,
        work_usually: 2.0 * passes_usually + served,
        exact: passes_at_most == 0,
    };
    let lasts = lasts(plan, workload.deletions_per_month, None);
    let refresh = made(Departure::Published).work_usually;
    Ok(Cost {
        training: made(Departure::Zeros),
        request,
        steps: Vec::new(),
        without_pass: Some(sure),
        month_passes: month(inputs, request.work_usually, refresh, &lasts),
        excess_risk: Some(risk::output_noise(constants, fixed.distance, fixed.noise, fixed.grid)),
        lasts,
        claims: requests(plan, inputs, workload.groups.len())?.claims,
    })
}
