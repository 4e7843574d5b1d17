//! Running a plan's mechanism on the current records: a file for each mechanism, and here what they
//! share.

mod descent;
pub(crate) mod distributed_descent;
mod noisy_gd;
mod objective_perturbation;
pub(crate) mod ridge;
mod solve;

pub(crate) use solve::output_plan;

use std::ops::ControlFlow;

use efface_learn::mechanism::{Change, Kept, Released};
use efface_learn::{Constants, Objective};
use efface_privacy::event::{Composed, Event};
use rand_chacha::ChaCha20Rng;

use crate::context::{Progress, Watch};
use crate::error::{Error, Result};
use crate::plan::{Plan, Schedule, checked, least_steps};
use crate::rows::{Keyed, Rows};

/// Where the mechanism starts.
pub(crate) enum Start<'a> {
    /// The first training, or one after the model was withdrawn, from zeros.
    Nothing,
    /// The first training, from given weights.
    Given(&'a [f64]),
    /// A later request.
    Request(Request<'a>),
}

impl<'a> Start<'a> {
    /// The weights it starts from, if any.
    fn weights(&self) -> Option<&'a [f64]> {
        match self {
            Self::Nothing => None,
            Self::Given(weights) | Self::Request(Request { weights, .. }) => Some(*weights),
        }
    }
}

/// A request as mechanisms see it.
pub(crate) struct Request<'a> {
    /// The published weights.
    pub(crate) weights: &'a [f64],
    /// The event they were published with.
    pub(crate) event: &'a Event,
    /// What is kept beside them; none at a refresh.
    pub(crate) kept: Option<&'a Kept>,
    /// What the request deletes and adds, in numbers.
    pub(crate) change: Change<'a>,
    /// The records it deletes, where the plan asks for them ([`Plan::uses_changed_rows`]).
    pub(crate) removed: &'a Keyed,
    /// The records it adds, where the plan asks for them.
    pub(crate) added: &'a Keyed,
    /// K, for `noisy-gd`; 0 for others.
    pub(crate) steps: u64,
}

/// Runs the mechanism; `rows` are those after the request, `releases` counts this release.
pub(crate) fn run(
    plan: &Plan,
    rows: &Rows<'_>,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    tell: &mut Watch<'_>,
) -> Result<Released> {
    let constants = plan.constants()?;
    let total = match (&plan.schedule, start) {
        (Schedule::Steps { learning, .. }, Start::Nothing | Start::Given(_)) => Some(*learning),
        (Schedule::Steps { .. }, Start::Request(request)) => Some(request.steps),
        (Schedule::Descent { learning, .. }, Start::Nothing) => Some(*learning),
        _ => None,
    };
    let goal = !matches!(plan.schedule, Schedule::Steps { .. });
    let watch = &mut |progress: &efface_learn::solver::Progress| -> ControlFlow<()> {
        tell(&Progress::Learning {
            passes: progress.passes,
            total,
            gradient_norm: progress.gradient_norm,
            goal: goal.then_some(progress.target),
        })
    };
    match &plan.schedule {
        Schedule::Output { .. } => solve::run(plan, &constants, rows, start, releases, rng, watch),
        Schedule::Steps { .. } => {
            noisy_gd::run(plan, &objective(&constants, rows)?, start, rng, watch)
        }
        Schedule::Sums => ridge::run(constants, rows, start, releases, tell),
        Schedule::Perturbed { .. } => objective_perturbation::run(
            plan,
            &objective(&constants, rows)?,
            start,
            releases,
            rng,
            watch,
        ),
        Schedule::Parts { .. } => {
            distributed_descent::run(plan, &constants, rows, start, releases, rng, watch)
        }
        Schedule::Descent { .. } => {
            descent::run(plan, &objective(&constants, rows)?, start, rng, watch)
        }
    }
}

fn objective<'a>(constants: &'a Constants, rows: &'a Rows<'_>) -> Result<Objective<'a>> {
    match rows.sums() {
        Some(parts) => Objective::over(constants, parts),
        None => Objective::new(constants, rows.data()?),
    }
    .map_err(|error| Error::refused("data", error.to_string()))
}

/// K for a request of `noisy-gd`: the plan's, or the fewest steps that meet the target.
///
/// Found from public counts and constants alone, before any step is taken.
pub(crate) fn removal_steps(
    plan: &Plan,
    event: &Event,
    change: &Change<'_>,
    records: usize,
) -> Result<u64> {
    let Event::NoisyGd(_) = event.core() else { return Ok(0) };
    if let Some(steps) = plan.fixed_removal() {
        return Ok(steps);
    }
    let fewest = least_steps(|steps| {
        plan.target.is_met(&planned_event(plan, event, change, steps, records)?)
    })?;
    fewest.ok_or_else(|| {
        let epsilon = plan.target.epsilon;
        Error::refused(
            "budget-exhausted",
            format!("no number of steps reaches epsilon {epsilon} for this request"),
        )
        .hint("delete fewer records per request, or train a new model with more noise")
    })
}

/// The event the first training would have, before anything is learnt.
pub(crate) fn first_event(plan: &Plan, records: usize) -> Result<Event> {
    let constants = plan.constants()?;
    let event = match &plan.schedule {
        Schedule::Output { .. } => solve::first_event(plan, &constants, records)?,
        Schedule::Steps { .. } => noisy_gd::first_event(plan, &constants, records)?,
        Schedule::Descent { .. } => descent::first_event(plan, &constants, records)?,
        Schedule::Parts { .. } => {
            let checked = checked(plan, &constants)?;
            Event::DistributedDescent(checked.event(records as u64, 1))
        }
        Schedule::Sums => ridge::first_event(constants)?,
        Schedule::Perturbed { .. } => {
            let name = plan.mechanism.name();
            return Err(Error::refused("plan", format!("unexpected event of `{name}`")));
        }
    };
    stated(plan, event, None, 0)
}

/// The event a request would have, before anything is learnt.
pub(crate) fn planned_event(
    plan: &Plan,
    event: &Event,
    change: &Change<'_>,
    steps: u64,
    records: usize,
) -> Result<Event> {
    let mut next = event.core().clone();
    match &mut next {
        Event::NoisyGd(e) => *e = noisy_gd::next_event(plan, e, change, steps, records)?,
        Event::Descent(e) => *e = descent::next_event(plan, e, change, records)?,
        Event::OutputNoise(e) => {
            e.releases += 1;
            e.records = e.records.map(|_| records as u64);
        }
        Event::DistributedDescent(e) => {
            e.releases += 1;
            e.records = records as u64;
        }
        Event::ExactRemoval(e) => e.releases += 1,
        Event::ObjectivePerturbation(e) => e.releases += 1,
        Event::Composed(_) => return Err(Error::storage("damaged", "the event is nested")),
    }
    stated(plan, next, Some(event), change.deleted_since.len() as u64)
}

/// The steps an event's last request makes, for mechanisms whose steps are known beforehand.
pub(crate) fn steps_of(event: &Event) -> Option<u64> {
    let phases = match event.core() {
        Event::NoisyGd(event) => &event.phases,
        Event::Descent(event) => &event.phases,
        _ => return None,
    };
    phases.last().map(|phase| phase.steps)
}

/// The event as certificates state it: on top of what was given, counts hidden where they are
/// private. `previous` is that of the release before, `deleted` what the request deleted.
pub(crate) fn stated(
    plan: &Plan,
    event: Event,
    previous: Option<&Event>,
    deleted: u64,
) -> Result<Event> {
    let event = hide_counts(plan, event);
    let Some(given) = &plan.given else { return Ok(event) };
    let before = match previous {
        None => Some(0),
        Some(Event::Composed(previous)) => previous.removed,
        Some(_) => return Err(Error::storage("damaged", "the vault's event is not composed")),
    };
    let removed = match before {
        _ if plan.hides_counts() => None,
        Some(before) => Some(before.saturating_add(deleted)),
        None => return Err(Error::storage("damaged", "the vault's event states no count")),
    };
    Ok(Event::Composed(Composed { given: given.clone(), removed, inner: Box::new(event) }))
}

/// Where counts are private, phases state the public capacity instead of real counts.
fn hide_counts(plan: &Plan, mut event: Event) -> Event {
    if let (true, Event::NoisyGd(e)) = (plan.hides_counts(), &mut event) {
        let most = plan.capacity().unwrap_or(1 << 53);
        e.replaced = None;
        if let Some((_, earlier)) = e.phases.split_last_mut() {
            for phase in earlier {
                phase.only_then = most;
                phase.only_now = most;
            }
        }
    }
    event
}
