//! `retrain` and `solve` from what was published or kept.

use efface_learn::Constants;
use efface_learn::mechanism::Departure;
use efface_learn::risk;
use efface_privacy::event::{Procedure, State};

use super::run::checked;
use crate::error::Result;
use crate::mechanism::cost::{Cost, Count, Inputs, lasts, month, requests, size};
use crate::plan::Plan;

pub(super) fn cost(
    procedure: Procedure,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
) -> Result<Cost> {
    let (workload, records) = (inputs.workload, inputs.facts.records);
    let checked = checked(plan, constants, size(records)?)?;
    let from = match (procedure, plan.state) {
        (Procedure::Retrain, _) => Departure::Zeros,
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
