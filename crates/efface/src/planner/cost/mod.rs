//! What a plan costs and claims: one function for each kind of cost.

mod descent;
mod memory;
mod parts;
mod solving;
mod steps;
mod sums;

pub(super) use descent::risk as descent_risk;
pub(super) use steps::risk as steps_risk;

use efface_learn::Constants;
use efface_privacy::claim::{Claim, Notion};
use efface_privacy::event::State;

use super::candidate::Inputs;
use super::choice::{Count, Lasts};
use super::trial::MOST_TRIED;
use crate::error::{Error, Result};
use crate::plan::{Plan, Schedule};

/// What serving the workload takes and earns.
pub(super) struct Cost {
    pub(super) training: Count,
    pub(super) request: Count,
    /// Steps of the first requests, where they are counted.
    pub(super) steps: Vec<u64>,
    /// See [`Choice::without_pass`](super::Choice::without_pass).
    pub(super) without_pass: Option<u64>,
    /// Gradient passes that a month's requests and refreshes are worth.
    pub(super) month_passes: f64,
    pub(super) excess_risk: f64,
    pub(super) lasts: Lasts,
    pub(super) claims: Vec<Claim>,
}

/// The cost of a plan.
pub(super) fn of(plan: &Plan, constants: &Constants, inputs: &Inputs<'_>) -> Result<Cost> {
    match &plan.schedule {
        Schedule::Output { .. } if plan.remembers() => memory::cost(plan, constants, inputs),
        Schedule::Output { .. } => solving::cost(plan, constants, inputs),
        Schedule::Steps { .. } => steps::cost(plan, constants, inputs),
        Schedule::Descent { .. } => descent::cost(plan, constants, inputs),
        Schedule::Parts { .. } => parts::cost(plan, constants, inputs),
        Schedule::Sums => sums::cost(plan, constants, inputs),
        Schedule::Perturbed { .. } => {
            Err(Error::refused("plan", "`objective-perturbation` is never certified"))
        }
    }
}

/// How many requests are gone through: those of a year, as far as the planner goes, but at least
/// one of each size.
fn tries(inputs: &Inputs<'_>) -> usize {
    let year = (12.0 * inputs.workload.deletions_per_month).ceil();
    let tries = if year < MOST_TRIED as f64 { year as usize } else { MOST_TRIED };
    tries.max(inputs.workload.groups.len())
}

/// How long the model serves: its own count of releases, or what trying showed.
fn lasts(plan: &Plan, per_month: f64, tried: Option<(usize, bool)>) -> Lasts {
    let until = |requests: u64, refresh| Lasts::Until {
        requests,
        months: requests as f64 / per_month,
        refresh,
    };
    let by_release = match (plan.target.notion, plan.target.interactions, plan.state) {
        (Notion::DifferentialPrivacy, ..) => Some((plan.releases - 1, false)),
        (Notion::DeletionPrivacy, Some(seen), _) => Some((seen, false)),
        (.., State::Secret) => Some((plan.releases - 1, true)),
        _ => None,
    };
    match (by_release, tried) {
        (Some((most, _)), Some((served, true))) if (served as u64) < most => {
            until(served as u64, false)
        }
        (Some((most, refresh)), _) => until(most, refresh),
        (None, Some((served, true))) => until(served as u64, false),
        (None, Some((served, false))) => Lasts::AtLeast { requests: served as u64 },
        (None, None) => Lasts::Always,
    }
}

/// A month's work in passes: its requests, and its share of the next refresh.
fn month(inputs: &Inputs<'_>, request: f64, refresh: f64, lasts: &Lasts) -> f64 {
    let refreshes = match lasts {
        Lasts::Until { months, refresh: true, .. } => refresh / months,
        _ => 0.0,
    };
    inputs.workload.deletions_per_month * request + refreshes
}
