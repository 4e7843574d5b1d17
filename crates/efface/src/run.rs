//! Running a plan's mechanism on the records at hand.

use std::ops::ControlFlow;

use efface_learn::mechanism::objective_perturbation::Changed;
use efface_learn::mechanism::{
    Change, CheckedOutputNoise, DescentError, DescentPlan, Evidence, Kept, NoisyGdError,
    NoisyGdPlan, OutputNoiseError, OutputNoisePlan, PerturbationError, PerturbationPlan, Released,
    descent, newton, noisy_gd, objective_perturbation, retrain, solve,
};
use efface_learn::solver::{SolveError, Solver};
use efface_learn::{Constants, Objective};
use efface_privacy::event::{Composed, Event, Procedure, State};
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};
use crate::exact;
use crate::outcome::{Residual, Work};
use crate::parts;
use crate::plan::{MechanismName, Plan, Schedule, least_steps};
use crate::rows::{Keyed, Rows};
use crate::surroundings::{Progress, Surroundings};

/// Where the mechanism starts.
pub(crate) enum Start<'a> {
    /// The first training, from zeros.
    Nothing,
    /// The first training, from given weights.
    Given(&'a [f64]),
    /// A later request.
    Request(Request<'a>),
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
    surroundings: &mut Surroundings<'_>,
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
        (surroundings.watch)(&Progress::Learning {
            passes: progress.passes,
            total,
            gradient_norm: progress.gradient_norm,
            goal: goal.then_some(progress.target),
        })
    };
    match &plan.schedule {
        Schedule::Output { .. } => {
            let checked = output_plan(plan, &constants, rows.count())?;
            if plan.remembers() {
                return remembered(&constants, &checked, rows, start, releases, rng, watch);
            }
            let objective = objective(&constants, rows)?;
            match start {
                Start::Request(Request { kept: Some(kept), .. }) => {
                    solve::from_kept(&objective, &checked, kept, releases, rng, watch)
                }
                Start::Given(weights) | Start::Request(Request { weights, .. })
                    if plan.mechanism != MechanismName::Retrain =>
                {
                    solve::from_published(&objective, &checked, weights, releases, rng, watch)
                }
                _ => retrain::retrain(&objective, &checked, releases, rng, watch),
            }
            .map_err(output_error)
        }
        Schedule::Steps { .. } => steps(plan, &objective(&constants, rows)?, start, rng, watch),
        Schedule::Sums => exact::run(constants, rows, start, releases, surroundings),
        Schedule::Perturbed { .. } => {
            perturbed(plan, &objective(&constants, rows)?, start, releases, rng, watch)
        }
        Schedule::Parts { .. } => parts::run(plan, &constants, rows, start, releases, rng, watch),
        Schedule::Descent { .. } => descend(plan, &objective(&constants, rows)?, start, rng, watch),
    }
}

/// Objective perturbation: training from zeros, at first and at a refresh, else a Newton step.
fn perturbed(
    plan: &Plan,
    objective: &Objective<'_>,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    watch: &mut efface_learn::solver::Watch<'_>,
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
    .check(objective.constants(), objective.data().rows())
    .map_err(perturbation_error)?;
    match start {
        Start::Request(Request { weights, kept: Some(kept), removed, added, .. }) => {
            let changed =
                Changed { published: weights, kept, removed: &removed.data, added: &added.data };
            objective_perturbation::request(objective, &checked, changed, releases, rng, watch)
        }
        _ => objective_perturbation::train(objective, &checked, releases, rng, watch),
    }
    .map_err(perturbation_error)
}

fn perturbation_error(error: PerturbationError) -> Error {
    match error {
        PerturbationError::Solve(SolveError::Cancelled { .. }) => Error::interrupted(),
        other => Error::refused("objective-perturbation", other.to_string()),
    }
}

/// Newton steps from the kept memory; all rows are read only where a pass is due.
fn remembered(
    constants: &Constants,
    checked: &CheckedOutputNoise,
    rows: &Rows<'_>,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    watch: &mut efface_learn::solver::Watch<'_>,
) -> Result<Released> {
    let pending = match start {
        Start::Request(Request { kept: Some(kept), removed, added, .. }) => {
            let mut pending = newton::change(constants, checked, kept, &removed.data, &added.data)
                .map_err(output_error)?;
            let (known, count) = (pending.records(), rows.count() as u64);
            if known != count {
                return Err(Error::storage(
                    "damaged",
                    format!("the kept memory is about {known} records, the vault has {count}"),
                )
                .hint("`efface refresh` goes on without it"));
            }
            if pending.needs_pass(checked) {
                pending
                    .correct(&objective(constants, rows)?, checked, watch)
                    .map_err(output_error)?;
            }
            pending
        }
        Start::Request(Request { weights, .. }) => {
            newton::begin(&objective(constants, rows)?, checked, Some(*weights), watch)
                .map_err(output_error)?
        }
        Start::Given(weights) => {
            newton::begin(&objective(constants, rows)?, checked, Some(*weights), watch)
                .map_err(output_error)?
        }
        Start::Nothing => newton::begin(&objective(constants, rows)?, checked, None, watch)
            .map_err(output_error)?,
    };
    pending.publish(constants, checked, releases, rng).map_err(output_error)
}

/// The learner's plan of `solve` and `retrain`.
pub(crate) fn output_plan(
    plan: &Plan,
    constants: &Constants,
    records: usize,
) -> Result<CheckedOutputNoise> {
    let Schedule::Output { distance, noise, grid } = &plan.schedule else {
        return Err(Error::storage("damaged", "the plan publishes no optimum"));
    };
    OutputNoisePlan {
        distance: distance.0,
        noise: noise.0,
        grid: grid.0,
        state: plan.state,
        joint_releases: plan.joint_releases(),
        group: plan.setting.group,
        solver: plan.solver(),
    }
    .check(constants, records)
    .map_err(output_error)
}

fn objective<'a>(constants: &'a Constants, rows: &'a Rows<'_>) -> Result<Objective<'a>> {
    Objective::new(constants, rows.data()?)
        .map_err(|error| Error::refused("data", error.to_string()))
}

fn steps(
    plan: &Plan,
    objective: &Objective<'_>,
    start: &Start<'_>,
    rng: &mut ChaCha20Rng,
    watch: &mut efface_learn::solver::Watch<'_>,
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
            let checked = noisy_plan(plan, *steps)?.check(constants).map_err(noisy_error)?;
            return noisy_gd::request(objective, &checked, event, change, weights, rng, watch)
                .map_err(noisy_error);
        }
        Start::Nothing => None,
        Start::Given(weights) => Some(*weights),
    };
    let checked = noisy_plan(plan, 1)?.check(constants).map_err(noisy_error)?;
    noisy_gd::learn(objective, &checked, given, rng, watch).map_err(noisy_error)
}

/// The learner's plan of `noisy-gd` with `removal` steps per request.
fn noisy_plan(plan: &Plan, removal: u64) -> Result<NoisyGdPlan> {
    match &plan.schedule {
        Schedule::Steps { step, noise, grid, radius, learning, .. } => Ok(NoisyGdPlan {
            step: step.0,
            noise: noise.0,
            grid: grid.0,
            learning_steps: *learning,
            removal_steps: removal,
            radius: radius.map(|radius| radius.0),
            group: plan.setting.group,
        }),
        _ => Err(Error::storage("damaged", "the plan has no steps of `noisy-gd`")),
    }
}

fn descend(
    plan: &Plan,
    objective: &Objective<'_>,
    start: &Start<'_>,
    rng: &mut ChaCha20Rng,
    watch: &mut efface_learn::solver::Watch<'_>,
) -> Result<Released> {
    let checked = descent_plan(plan)?.check(objective.constants()).map_err(descent_error)?;
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
    .map_err(descent_error)
}

/// The learner's plan of `descent-to-delete`.
pub(crate) fn descent_plan(plan: &Plan) -> Result<DescentPlan> {
    match &plan.schedule {
        Schedule::Descent {
            variant,
            xi,
            tail,
            iterations,
            learning,
            diameter,
            step,
            noise,
            grid,
        } => Ok(DescentPlan {
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
        }),
        _ => Err(Error::storage("damaged", "the plan has no steps of `descent-to-delete`")),
    }
}

fn descent_error(error: DescentError) -> Error {
    let text = error.to_string();
    match error {
        DescentError::Cancelled { .. } => Error::interrupted(),
        DescentError::Releases { .. } => Error::refused("releases-exhausted", text)
            .hint("run `efface refresh` to start a new count"),
        _ => Error::refused("descent-to-delete", text),
    }
}

fn noisy_error(error: NoisyGdError) -> Error {
    match error {
        NoisyGdError::Cancelled { .. } => Error::interrupted(),
        other => Error::refused("noisy-gd", other.to_string()),
    }
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
            format!("no number of steps brings this request to epsilon {epsilon}"),
        )
        .hint("delete fewer records per request, or train anew with more noise")
    })
}

/// The event the first training would have, before anything is learnt.
pub(crate) fn first_event(plan: &Plan, records: usize) -> Result<Event> {
    let constants = plan.constants()?;
    let event = match &plan.schedule {
        Schedule::Output { .. } => {
            let checked = output_plan(plan, &constants, records)?;
            Event::OutputNoise(checked.event(&constants, records, Procedure::Retrain, 1))
        }
        Schedule::Steps { .. } => {
            let checked = noisy_plan(plan, 1)?.check(&constants).map_err(noisy_error)?;
            let event = noisy_gd::learning_event(&constants, &checked, records);
            Event::NoisyGd(event.map_err(noisy_error)?)
        }
        _ => {
            let name = plan.mechanism.name();
            return Err(Error::refused("plan", format!("the event of `{name}` is not foreseen")));
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
    let next = match event.core() {
        Event::NoisyGd(previous) => {
            let constants = plan.constants()?;
            let checked = noisy_plan(plan, steps)?.check(&constants).map_err(noisy_error)?;
            let next = noisy_gd::next_event(&constants, &checked, previous, change, records)
                .map_err(noisy_error)?;
            Event::NoisyGd(next)
        }
        Event::Descent(previous) => {
            let constants = plan.constants()?;
            let checked = descent_plan(plan)?.check(&constants).map_err(descent_error)?;
            let next = descent::next_event(&constants, &checked, previous, change, records)
                .map_err(descent_error)?;
            Event::Descent(next)
        }
        Event::OutputNoise(previous) => {
            let mut next = previous.clone();
            next.releases += 1;
            next.records = next.records.map(|_| records as u64);
            Event::OutputNoise(next)
        }
        Event::ExactRemoval(previous) => {
            let mut next = previous.clone();
            next.releases += 1;
            Event::ExactRemoval(next)
        }
        Event::ObjectivePerturbation(previous) => {
            let mut next = previous.clone();
            next.releases += 1;
            Event::ObjectivePerturbation(next)
        }
        Event::DistributedDescent(previous) => parts::planned(previous, records),
        Event::Composed(_) => return Err(Error::storage("damaged", "the event is nested")),
    };
    stated(plan, next, Some(event), change.deleted_since.len() as u64)
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

fn output_error(error: OutputNoiseError) -> Error {
    let text = error.to_string();
    match error {
        OutputNoiseError::Solve(SolveError::Cancelled { .. }) => Error::interrupted(),
        OutputNoiseError::Releases { .. } => Error::refused("releases-exhausted", text)
            .hint("run `efface refresh` to start a new count"),
        OutputNoiseError::Solve(SolveError::Unattainable { least, .. }) if least.is_infinite() => {
            Error::refused(
                "solve",
                "no distance to the optimum can be certified in float64 for data sets this large",
            )
            .hint("lower `--capacity` or `--row-norm`, or raise `--lambda`")
        }
        _ => Error::refused("solve", text),
    }
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

/// What was done, for the private annex.
pub(crate) fn work(evidence: &Evidence, clipped: Option<u64>) -> Work {
    match evidence {
        Evidence::Perturbed { passes, hessians, hessian_products, residual, budget, step } => {
            Work {
                passes: *passes,
                hessians: *hessians,
                hessian_products: *hessian_products,
                steps: 0,
                distance: None,
                solver: None,
                clipped,
                residual: Some(Residual { bound: *residual, budget: *budget, step: *step }),
            }
        }
        Evidence::Optimum { distance, passes, hessians, hessian_products, solver, .. } => Work {
            passes: *passes,
            hessians: *hessians,
            hessian_products: *hessian_products,
            steps: 0,
            distance: Some(*distance),
            solver: Some(solver.name().to_owned()),
            clipped,
            residual: None,
        },
        Evidence::Remembered { distance, passes, hessians, hessian_products } => Work {
            passes: *passes,
            hessians: *hessians,
            hessian_products: *hessian_products,
            steps: 0,
            distance: Some(*distance),
            solver: Some(Solver::Newton.name().to_owned()),
            clipped,
            residual: None,
        },
        Evidence::Steps { passes, .. } => Work {
            passes: *passes,
            hessians: 0,
            hessian_products: 0,
            steps: *passes,
            distance: None,
            solver: None,
            clipped,
            residual: None,
        },
        Evidence::Sums { .. } => Work {
            passes: 0,
            hessians: 0,
            hessian_products: 0,
            steps: 0,
            distance: None,
            solver: None,
            clipped,
            residual: None,
        },
        Evidence::Parts { distance, passes, .. } => Work {
            passes: *passes,
            hessians: 0,
            hessian_products: 0,
            steps: 0,
            distance: Some(*distance),
            solver: None,
            clipped,
            residual: None,
        },
    }
}
