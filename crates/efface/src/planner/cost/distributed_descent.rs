//! `distributed-descent`: the parts that requests modify.

use efface_learn::mechanism::distributed_descent::Occasion;
use efface_learn::{Constants, risk};

use super::{Cost, Count, Inputs, lasts, month, requests, tries};
use crate::error::Result;
use crate::mechanism::average_parts;
use crate::plan::{Averages, Plan};

pub(super) fn cost(
    schedule: &Averages,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
) -> Result<Cost> {
    let (workload, records) = (inputs.workload, inputs.facts.records);
    let trial = requests(plan, inputs, tries(inputs))?;
    let fixed = &schedule.plan;
    let parts = average_parts(schedule, constants)?;
    // Copies are compared by a pass each.
    let compared = if fixed.copies > 1 { fixed.copies } else { 0 };
    // Gradients of single records as passes over the `most` or fewest records there are.
    let count = |occasion, budget, fewest: u64| {
        let gradients = parts.gradients(occasion, budget);
        let passes = gradients.usually / records as f64 + compared as f64;
        Count {
            passes_at_most: gradients.at_most.div_ceil(fewest.max(1)).saturating_add(compared),
            passes_usually: passes,
            work_usually: passes + gradients.hessians / records as f64,
            exact: false,
        }
    };
    let learning = schedule.learning_budget();
    let budget = |done: u64, changed| schedule.budget(plan, done, changed);
    let largest = workload.largest();
    // The budget grows with the updates since the last refresh.
    let last = (plan.releases - 1).saturating_sub(1).saturating_mul(largest);
    let changed = workload.mean().round().max(1.0) as u64;
    let usual = count(Occasion::Request { changed, records }, budget(0, changed)?, trial.left);
    let most =
        count(Occasion::Request { changed: largest, records }, budget(last, largest)?, trial.left);
    let request = Count { passes_at_most: most.passes_at_most, ..usual };
    let lasts = lasts(plan, workload.deletions_per_month, Some((trial.steps.len(), trial.ended)));
    let refresh = count(Occasion::Refresh, learning, trial.left).work_usually;
    let positions = fixed.sample / fixed.parts;
    Ok(Cost {
        training: count(Occasion::Learning, learning, records),
        request,
        steps: Vec::new(),
        without_pass: None,
        month_passes: month(inputs, request.work_usually, refresh, &lasts),
        excess_risk: Some(risk::averages(
            constants,
            positions,
            fixed.distance,
            fixed.noise,
            fixed.grid,
        )),
        lasts,
        claims: trial.claims,
    })
}
