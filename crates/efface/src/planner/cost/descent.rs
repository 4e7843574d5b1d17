//! `descent-to-delete`: steps counted beforehand, noise once at the end.

use efface_learn::Constants;
use efface_learn::risk::{self, Descents};
use efface_privacy::event::{Event, State};

use super::super::candidate::Inputs;
use super::super::choice::Count;
use super::super::trial::{requests, size};
use super::{Cost, lasts, month, tries};
use crate::error::{Error, Result};
use crate::plan::{Plan, Schedule};
use crate::run::first_event;

pub(super) fn cost(plan: &Plan, constants: &Constants, inputs: &Inputs<'_>) -> Result<Cost> {
    let trial = requests(plan, inputs, tries(inputs))?;
    let steps = trial.steps;
    let Schedule::Descent { learning, .. } = plan.schedule else {
        return Err(Error::storage("plan", "the plan does not descend"));
    };
    let per_month = inputs.workload.deletions_per_month;
    let request = Count::stepped(&steps);
    let lasts = lasts(plan, per_month, Some((steps.len(), trial.ended)));
    Ok(Cost {
        training: Count::stepped(&[learning]),
        request,
        without_pass: None,
        month_passes: month(inputs, request.work_usually, learning as f64, &lasts),
        excess_risk: risk(plan, constants, inputs, &steps)?,
        lasts,
        claims: trial.claims,
        steps,
    })
}

/// The predicted excess risk when requests make these steps.
pub(in crate::planner) fn risk(
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
    steps: &[u64],
) -> Result<f64> {
    let records = inputs.facts.records;
    let event = first_event(plan, size(records)?)?;
    let (Event::Descent(event), Schedule::Descent { learning, .. }) =
        (event.core(), &plan.schedule)
    else {
        return Err(Error::storage("plan", "the plan does not descend"));
    };
    let run = Descents {
        diameter: event.diameter.0,
        step: event.step.0,
        noise: event.noise.0,
        grid: event.grid.0,
        rounding: event.rounding.0,
        learning: *learning,
        removal: steps.iter().copied().min().unwrap_or(1),
        shift: constants.optimum_shift(inputs.workload.largest(), records),
        from_published: plan.state == State::Perfect,
    };
    Ok(risk::descent(constants, &run))
}
