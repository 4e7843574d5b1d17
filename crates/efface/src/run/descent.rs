//! Running `descent-to-delete` on the records at hand.

use efface_learn::mechanism::descent::{self, CheckedDescent};
use efface_learn::mechanism::{Change, DescentError, DescentPlan, Released};
use efface_learn::solver::Watch;
use efface_learn::{Constants, Objective};
use efface_privacy::event::{Descent, Event, State};
use rand_chacha::ChaCha20Rng;

use super::{Request, Start};
use crate::error::{Error, Result};
use crate::plan::{Plan, Schedule};

/// Learns, serves a request, or (a refresh) learns anew from the published weights.
pub(super) fn run(
    plan: &Plan,
    objective: &Objective<'_>,
    start: &Start<'_>,
    rng: &mut ChaCha20Rng,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let checked = checked_plan(plan, objective.constants())?;
    match start {
        Start::Nothing => descent::learn(objective, &checked, rng, watch),
        Start::Request(Request { weights, event, kept, change, .. }) => {
            let Event::Descent(event) = event.core() else {
                let text = "the vault's event is not one of `descent-to-delete`";
                return Err(Error::storage("damaged", text));
            };
            if plan.state == State::Secret && kept.is_none() {
                descent::refresh(objective, &checked, event, weights, rng, watch)
            } else {
                descent::request(objective, &checked, event, change, weights, *kept, rng, watch)
            }
        }
        Start::Given(_) => {
            let text = "`descent-to-delete` learns from weights 0";
            return Err(Error::refused("start", text).hint("leave out `--start`"));
        }
    }
    .map_err(refused)
}

/// The event the first training would have.
pub(super) fn first_event(plan: &Plan, constants: &Constants, records: usize) -> Result<Event> {
    let checked = checked_plan(plan, constants)?;
    descent::first_event(constants, &checked, records, 1).map(Event::Descent).map_err(refused)
}

/// The event a request would have.
pub(super) fn next_event(
    plan: &Plan,
    previous: &Descent,
    change: &Change<'_>,
    records: usize,
) -> Result<Descent> {
    let constants = plan.constants()?;
    let checked = checked_plan(plan, &constants)?;
    descent::next_event(&constants, &checked, previous, change, records).map_err(refused)
}

/// The learner's plan of `descent-to-delete`.
fn checked_plan(plan: &Plan, constants: &Constants) -> Result<CheckedDescent> {
    let Schedule::Descent { variant, xi, tail, iterations, learning, diameter, step, noise, grid } =
        &plan.schedule
    else {
        return Err(Error::storage("damaged", "the plan has no steps of `descent-to-delete`"));
    };
    DescentPlan {
        variant: *variant,
        xi: xi.map(|xi| xi.0),
        tail: tail.map(|tail| tail.0),
        iterations: *iterations,
        learning_steps: *learning,
        diameter: diameter.0,
        step: step.0,
        noise: noise.0,
        grid: grid.0,
        joint_releases: plan.joint_releases(),
        group: plan.setting.group,
    }
    .check(constants)
    .map_err(refused)
}

fn refused(error: DescentError) -> Error {
    let text = error.to_string();
    match error {
        DescentError::Cancelled { .. } => Error::interrupted(),
        DescentError::Releases { .. } => Error::refused("releases-exhausted", text)
            .hint("run `efface refresh` to start a new count"),
        _ => Error::refused("descent-to-delete", text),
    }
}
