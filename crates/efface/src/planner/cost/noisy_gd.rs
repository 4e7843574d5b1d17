//! `noisy-gd`: steps counted beforehand.

use efface_learn::Constants;
use efface_learn::risk::{self, Ball, Steps};

use super::{Cost, Count, Inputs, lasts, requests, size, tries};
use crate::error::{Code, Error, Result};
use crate::mechanism::{first_event, noisy_gd_event as event_of};
use crate::plan::{NoisySteps, Plan};

pub(super) fn cost(
    schedule: &NoisySteps,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
) -> Result<Cost> {
    let trial = requests(plan, inputs, tries(inputs))?;
    let steps = trial.steps;
    let per_month = inputs.workload.deletions_per_month;
    let batches = schedule.plan.batches.map_or(1, |batches| batches.count);
    let request = Count::stepped(&steps).over(batches);
    Ok(Cost {
        training: Count::stepped(&[schedule.plan.learning_steps]).over(batches),
        request,
        without_pass: None,
        month_passes: per_month * request.work_usually,
        excess_risk: Some(risk(schedule, plan, constants, inputs, &steps)?),
        lasts: lasts(plan, per_month, Some((steps.len(), trial.ended))),
        claims: trial.claims,
        steps,
    })
}

/// The predicted excess risk when requests make these steps.
pub(super) fn risk(
    schedule: &NoisySteps,
    plan: &Plan,
    constants: &Constants,
    inputs: &Inputs<'_>,
    steps: &[u64],
) -> Result<f64> {
    let records = inputs.facts.records;
    let largest = inputs.workload.largest();
    let event = first_event(plan, size(records)?)?;
    let event = event_of(&event)?;
    let run = Steps {
        step: event.step.0,
        noise: event.noise.0,
        grid: event.grid.0,
        rounding: event.rounding.0,
        learning: event.learning,
        removal: steps.iter().copied().min().unwrap_or(1),
        shift: constants.optimum_shift(largest, records),
    };
    if let Some(batches) = schedule.plan.batches {
        let each = batches
            .constants(constants)
            .map_err(|error| Error::storage(Code::Plan, error.to_string()))?;
        return Ok(risk::over_batches(constants, &each, &run));
    }
    Ok(match event.radius {
        None => risk::noisy_gd(constants, &run),
        Some(radius) => {
            let ball = Ball {
                radius: radius.0,
                gradient_shift: constants.gradient_shift(largest, records),
                longest: steps.iter().copied().max().unwrap_or(1),
            };
            risk::noisy_gd_in_ball(constants, &run, &ball)
        }
    })
}
