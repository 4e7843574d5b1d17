//! Running `noisy-gd` on the current records.

use efface_learn::mechanism::{Change, Released, noisy_gd};
use efface_learn::solver::Watch;
use efface_learn::{Constants, Objective};
use efface_privacy::event::{Event, NoisyGd};
use rand_chacha::ChaCha20Rng;

use super::{Request, Start};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::plan::noisy_gd::refused;

/// Learns, or serves a request by noisy steps from the published weights.
pub(super) fn run(
    plan: &Plan,
    objective: &Objective<'_>,
    start: &Start<'_>,
    rng: &mut ChaCha20Rng,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let constants = objective.constants();
    let given = match start {
        Start::Request(Request { weights, event, change, steps, .. }) => {
            let Event::NoisyGd(event) = event.core() else {
                return Err(Error::storage(
                    "damaged",
                    "the vault's event is not one of `noisy-gd`",
                ));
            };
            let checked = plan.noisy_gd(constants, *steps)?;
            return noisy_gd::request(objective, &checked, event, change, weights, rng, watch)
                .map_err(refused);
        }
        Start::Nothing => None,
        Start::Given(weights) => Some(*weights),
    };
    let checked = plan.noisy_gd(constants, 1)?;
    noisy_gd::learn(objective, &checked, given, rng, watch).map_err(refused)
}

/// The event the first training would have.
pub(super) fn first_event(plan: &Plan, constants: &Constants, records: usize) -> Result<Event> {
    let checked = plan.noisy_gd(constants, 1)?;
    let event = noisy_gd::learning_event(constants, &checked, records);
    Ok(Event::NoisyGd(event.map_err(refused)?))
}

/// The event a request of so many `steps` would have.
pub(super) fn next_event(
    plan: &Plan,
    previous: &NoisyGd,
    change: &Change<'_>,
    steps: u64,
    records: usize,
) -> Result<NoisyGd> {
    let constants = plan.constants()?;
    let checked = plan.noisy_gd(&constants, steps)?;
    noisy_gd::next_event(&constants, &checked, previous, change, records).map_err(refused)
}
