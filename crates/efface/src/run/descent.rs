//! Running `descent-to-delete` on the current records.

use efface_learn::mechanism::{Change, Released, descent};
use efface_learn::solver::Watch;
use efface_learn::{Constants, Objective};
use efface_privacy::event::{Descent, Event, State};
use rand_chacha::ChaCha20Rng;

use super::{Request, Start};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::plan::descent::refused;

/// Learns, serves a request, or (a refresh) learns anew from the published weights.
pub(super) fn run(
    plan: &Plan,
    objective: &Objective<'_>,
    start: &Start<'_>,
    rng: &mut ChaCha20Rng,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let checked = plan.descent(objective.constants())?;
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
            let text = "`descent-to-delete` starts from zeros";
            return Err(Error::refused("start", text).hint("leave out `--start`"));
        }
    }
    .map_err(refused)
}

/// The event the first training would have.
pub(super) fn first_event(plan: &Plan, constants: &Constants, records: usize) -> Result<Event> {
    let checked = plan.descent(constants)?;
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
    let checked = plan.descent(&constants)?;
    descent::next_event(&constants, &checked, previous, change, records).map_err(refused)
}
