//! Running `objective-perturbation` on the current records.

use efface_learn::Objective;
use efface_learn::mechanism::objective_perturbation::{self as mechanism, Changed};
use efface_learn::mechanism::{PerturbationError, PerturbationPlan, Released};
use efface_learn::solver::{SolveError, Watch};
use rand_chacha::ChaCha20Rng;

use super::{Request, Start};
use crate::error::{Error, Result};
use crate::plan::{Plan, Schedule};

/// Training from zeros, at first and at a refresh, else a Newton step.
pub(super) fn run(
    plan: &Plan,
    objective: &Objective<'_>,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let Schedule::Perturbed { noise, grid, budget, distance } = &plan.schedule else {
        return Err(Error::storage("damaged", "the plan has no perturbation"));
    };
    let checked = PerturbationPlan {
        noise: noise.0,
        grid: grid.0,
        budget: budget.0,
        distance: distance.0,
        group: plan.setting.group,
        solver: plan.solver(),
    }
    .check(objective.constants(), objective.records())
    .map_err(refused)?;
    match start {
        Start::Request(Request { weights, kept: Some(kept), removed, added, .. }) => {
            let changed =
                Changed { published: weights, kept, removed: &removed.data, added: &added.data };
            mechanism::request(objective, &checked, changed, releases, rng, watch)
        }
        _ => mechanism::train(objective, &checked, releases, rng, watch),
    }
    .map_err(refused)
}

fn refused(error: PerturbationError) -> Error {
    match error {
        PerturbationError::Solve(SolveError::Cancelled { .. }) => Error::interrupted(),
        other => Error::refused("objective-perturbation", other.to_string()),
    }
}
