//! `retrain` and `solve` from what was published or kept.

use efface_learn::Constants;
use efface_learn::mechanism::{Departure, OutputNoisePlan};
use efface_learn::risk;
use efface_privacy::event::State;

use super::{Cost, Count, Inputs, lasts, month, requests, size};
use crate::error::Result;
use crate::mechanism::checked_output as checked;
use crate::plan::{MechanismName, Plan};

pub(super) fn cost(
    schedule: &OutputNoisePlan,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
) -> Result<Cost> {
    let (workload, records) = (inputs.workload, inputs.facts.records);
    let checked = checked(schedule, plan, constants, size(records)?)?;
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
        excess_risk: Some(risk::output_noise(constants, fixed.distance, fixed.noise, fixed.grid)),
        lasts,
        claims: requests(plan, inputs, workload.groups.len())?.claims,
    })
}
