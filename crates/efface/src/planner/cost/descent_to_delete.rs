//! `descent-to-delete`: steps counted beforehand, noise once at the end.

use efface_learn::Constants;
use efface_learn::mechanism::DescentPlan;
use efface_learn::risk::{self, Descents};
use efface_privacy::event::State;

use super::{Cost, Count, Inputs, lasts, month, requests, size, tries};
use crate::error::Result;
use crate::mechanism::{descent_event as event_of, first_event};
use crate::plan::Plan;

pub(super) fn cost(
    schedule: &DescentPlan,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
) -> Result<Cost> {
    let trial = requests(plan, inputs, tries(inputs))?;
    let steps = trial.steps;
    let learning = schedule.learning_steps;
    let per_month = inputs.workload.deletions_per_month;
    let request = Count::stepped(&steps);
    let lasts = lasts(plan, per_month, Some((steps.len(), trial.ended)));
    Ok(Cost {
        training: Count::stepped(&[learning]),
        request,
        without_pass: None,
        month_passes: month(inputs, request.work_usually, learning as f64, &lasts),
        excess_risk: Some(risk(schedule, plan, constants, inputs, &steps)?),
        lasts,
        claims: trial.claims,
        steps,
    })
}

/// The predicted excess risk when requests make these steps.
pub(super) fn risk(
    schedule: &DescentPlan,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
    steps: &[u64],
) -> Result<f64> {
    let records = inputs.facts.records;
    let event = first_event(plan, size(records)?)?;
    let event = event_of(&event)?;
    let run = Descents {
        diameter: event.diameter.0,
        step: event.step.0,
        noise: event.noise.0,
        grid: event.grid.0,
        rounding: event.rounding.0,
        learning: schedule.learning_steps,
        removal: steps.iter().copied().min().unwrap_or(1),
        shift: constants.optimum_shift(inputs.workload.largest(), records),
        from_published: plan.state == State::Perfect,
    };
    Ok(risk::descent(constants, &run))
}
