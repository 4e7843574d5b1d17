//! `retrain` and `solve` from what was published or kept.

use efface_learn::Constants;
use efface_learn::mechanism::Departure;
use efface_learn::risk;
use efface_privacy::event::State;

use super::super::candidate::Inputs;
use super::super::choice::Count;
use super::super::trial::{requests, size};
use super::{Cost, lasts, month};
use crate::error::Result;
use crate::plan::{MechanismName, Plan};
use crate::run::output_plan;

pub(super) fn cost(plan: &Plan, constants: &Constants, inputs: &Inputs<'_>) -> Result<Cost> {
    let (workload, records) = (inputs.workload, inputs.facts.records);
    let checked = output_plan(plan, constants, size(records)?)?;
    let from = match (plan.mechanism, plan.state) {
        (MechanismName::Retrain, _) => Departure::Zeros,
        (_, State::Perfect) => Departure::Published,
        (_, State::Secret) => Departure::Kept,
    };
    let shift = constants.optimum_shift(workload.largest(), records);
    let count = |from| {
        let most = checked.most_work(constants, from);
        let usual = checked.usual_work(constants, from, shift);
        Count::solved(most, usual, constants.parameters())
    };
    let request = count(from);
    let lasts = lasts(plan, workload.deletions_per_month, None);
    let refresh = count(Departure::Published).work_usually;
    let fixed = checked.plan();
    Ok(Cost {
        training: count(Departure::Zeros),
        request,
        steps: Vec::new(),
        without_pass: None,
        month_passes: month(inputs, request.work_usually, refresh, &lasts),
        excess_risk: risk::output_noise(constants, fixed.distance, fixed.noise, fixed.grid),
        lasts,
        claims: requests(plan, inputs, workload.groups.len())?.claims,
    })
}
