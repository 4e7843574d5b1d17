//! What a plan costs and claims, for the planner.

mod count;
mod descent_to_delete;
mod distributed_descent;
mod dp_sgd;
mod newton;
mod noisy_gd;
mod ridge;
mod shards;
mod solve;
mod timing;
mod trial;
mod workload;

pub use count::{Count, Lasts};
pub use timing::{PassTime, TimeOrigin};
pub(crate) use timing::{Timing, seconds_of, synthetic};
pub(crate) use trial::{requests, size};
pub use workload::Workload;

use efface_privacy::claim::{Claim, Notion};
use efface_privacy::event::State;

use crate::error::Result;
use crate::mechanism::{foreign, remembers};
use crate::plan::{DataSummary, Plan, Schedule};
use crate::settings::Settings;
use trial::MOST_TRIED;

/// What costs are computed from.
pub(crate) struct Inputs<'a> {
    /// The settings asked for, completed.
    pub(crate) settings: &'a Settings,
    pub(crate) facts: &'a DataSummary,
    pub(crate) workload: &'a Workload,
    pub(crate) pass_seconds: f64,
    /// Multiplications of one pass.
    pub(crate) pass_operations: f64,
}

/// What serving the workload takes and earns.
pub(crate) struct Cost {
    pub(crate) training: Count,
    pub(crate) request: Count,
    /// Steps of the first requests, where they are counted.
    pub(crate) steps: Vec<u64>,
    /// See [`Choice::without_pass`](crate::planner::Choice::without_pass).
    pub(crate) without_pass: Option<u64>,
    /// Gradient passes that a month's requests and refreshes are worth.
    pub(crate) month_passes: f64,
    /// Upper bound on the expected excess risk; none where nothing predicts it.
    pub(crate) excess_risk: Option<f64>,
    pub(crate) lasts: Lasts,
    pub(crate) claims: Vec<Claim>,
}

/// What the plan costs and claims.
pub(crate) fn cost(plan: &Plan, inputs: &Inputs<'_>) -> Result<Cost> {
    let constants = &plan.constants()?;
    match &plan.schedule {
        Schedule::Output(output) if remembers(output) => {
            newton::cost(output, plan, constants, inputs)
        }
        Schedule::Output(output) => solve::cost(output, plan, constants, inputs),
        Schedule::Steps(steps) => noisy_gd::cost(steps, plan, constants, inputs),
        Schedule::Sums => ridge::cost(plan, constants, inputs),
        Schedule::Parts(averages) => distributed_descent::cost(averages, plan, constants, inputs),
        Schedule::Descent(descent) => descent_to_delete::cost(descent, plan, constants, inputs),
        Schedule::Sampled(sampled) => dp_sgd::cost(sampled, plan, inputs),
        Schedule::Sharded(sharded) => shards::cost(sharded, plan, inputs),
    }
}

/// The time of a pass over so many records, if it is no gradient of the objective.
pub(crate) fn pass(plan: &Plan, records: u64, timing: &mut Timing<'_>) -> Result<Option<PassTime>> {
    match &plan.schedule {
        Schedule::Sampled(sampled) => dp_sgd::pass(sampled, records, timing).map(Some),
        Schedule::Sharded(sharded) => shards::pass(sharded, records, timing).map(Some),
        _ => Ok(None),
    }
}

/// The predicted excess risk of a plan of counted steps if requests make these.
pub(crate) fn risk(plan: &Plan, inputs: &Inputs<'_>, steps: &[u64]) -> Result<f64> {
    let constants = &plan.constants()?;
    match &plan.schedule {
        Schedule::Steps(schedule) => noisy_gd::risk(schedule, plan, constants, inputs, steps),
        Schedule::Descent(schedule) => {
            descent_to_delete::risk(schedule, plan, constants, inputs, steps)
        }
        _ => Err(foreign(plan)),
    }
}

/// How many requests are gone through: those of a year, as far as the planner goes, but at least
/// one of each size.
pub(super) fn tries(inputs: &Inputs<'_>) -> usize {
    let year = (12.0 * inputs.workload.deletions_per_month).ceil();
    let tries = if year < MOST_TRIED as f64 { year as usize } else { MOST_TRIED };
    tries.max(inputs.workload.groups.len())
}

/// How long the model serves: its own count of releases, the deletions that a training behind its
/// features is enough for, as many in each request as may be, or what trying showed.
pub(super) fn lasts(plan: &Plan, per_month: f64, tried: Option<(usize, bool)>) -> Lasts {
    let until = |requests: u64, refresh| Lasts::Until {
        requests,
        months: requests as f64 / per_month,
        refresh,
    };
    let by_release = match (plan.target.notion, plan.target.interactions, plan.state) {
        (Notion::DifferentialPrivacy, ..) => Some((plan.releases - 1, false)),
        (Notion::DeletionPrivacy, Some(seen), _) => Some((seen, false)),
        (.., State::Secret) => Some((plan.releases - 1, true)),
        _ => plan.deletions_before_a_new_training().map(|left| {
            let each = plan.setting.group.max(1);
            (left / each, false)
        }),
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
pub(super) fn month(inputs: &Inputs<'_>, request: f64, refresh: f64, lasts: &Lasts) -> f64 {
    let refreshes = match lasts {
        Lasts::Until { months, refresh: true, .. } => refresh / months,
        _ => 0.0,
    };
    inputs.workload.deletions_per_month * request + refreshes
}
