//! From a candidate's settings to what training would fix, cost and claim.

use efface_learn::Constants;
use efface_learn::mechanism::Departure;
use efface_learn::risk;
use efface_privacy::claim::{Claim, Notion};
use efface_privacy::event::{Event, State};

use super::candidate::{self, Candidate, Context};
use super::choice::{Choice, Count, Fixed, Lasts};
use super::trial::{MOST_TRIED, requests, size};
use crate::error::{Error, Result};
use crate::plan::{Choices, Facts, MechanismName, Plan, Schedule};
use crate::run::{first_event, output_plan};
use crate::settings::Settings;

/// Everything about one candidate, or the engine's refusal.
pub(super) fn choice(
    candidate: &Candidate,
    settings: Settings,
    context: &Context<'_>,
) -> Result<Choice> {
    let plan = Plan::resolve(&Choices::new(settings.clone())?, context.facts)?;
    let constants = plan.constants()?;
    let cost = match &plan.schedule {
        Schedule::Output { .. } => by_solving(&plan, &constants, context)?,
        Schedule::Steps { .. } => by_steps(&plan, &constants, context)?,
        _ => return Err(unforeseen(&plan)),
    };
    if !cost.excess_risk.is_finite() {
        return Err(Error::refused("excess-risk", "nothing bounds its excess risk")
            .hint("give a `--radius` that no optimum reaches, or none, and lambda above 0"));
    }
    let allowed = candidate::allowed(context.settings);
    Ok(Choice {
        rank: 0,
        name: candidate.name.to_owned(),
        says: candidate.says.to_owned(),
        settings,
        fixed: Fixed::from(&plan),
        training: cost.training,
        request: cost.request,
        steps: cost.steps,
        month_seconds: cost.month_passes * context.pass_seconds,
        excess_risk: cost.excess_risk,
        accurate: cost.excess_risk <= allowed * (1.0 + 1e-9),
        lasts: cost.lasts,
        claims: cost.claims,
    })
}

/// The refusal of a mechanism whose work is not foreseen.
fn unforeseen(plan: &Plan) -> Error {
    let name = plan.mechanism.name();
    Error::refused("plan", format!("the work of `{name}` is not foreseen"))
        .hint("train it directly and see what its requests cost")
}

struct Cost {
    training: Count,
    request: Count,
    steps: Vec<u64>,
    month_passes: f64,
    excess_risk: f64,
    lasts: Lasts,
    claims: Vec<Claim>,
}

fn by_solving(plan: &Plan, constants: &Constants, context: &Context<'_>) -> Result<Cost> {
    let Schedule::Output { distance, noise, grid } = plan.schedule else {
        return Err(Error::storage("plan", "the plan does not solve"));
    };
    let workload = context.workload;
    let records = context.facts.records;
    let checked = output_plan(plan, constants, size(records)?)?;
    let from = match (plan.mechanism, plan.state) {
        (MechanismName::Retrain, _) => Departure::Zeros,
        (_, State::Perfect) => Departure::Published,
        (_, State::Secret) => Departure::Kept,
    };
    let shift = constants.optimum_shift(workload.largest(), records);
    let count = |from| {
        let most = checked.most_work(constants, from);
        let usual = checked.usual_work(constants, from, shift);
        Count::solved(most, usual, constants.parameters())
    };
    let request = count(from);
    let lasts = lasts(plan, workload.deletions_per_month, None);
    let refreshes = match lasts {
        Lasts::Until { months, refresh: true, .. } => {
            count(Departure::Published).work_usually / months
        }
        _ => 0.0,
    };
    Ok(Cost {
        training: count(Departure::Zeros),
        request,
        steps: Vec::new(),
        month_passes: workload.deletions_per_month * request.work_usually + refreshes,
        excess_risk: risk::output_noise(constants, distance.0, noise.0, grid.0),
        lasts,
        claims: requests(plan, context, workload.groups.len())?.claims,
    })
}

fn by_steps(plan: &Plan, constants: &Constants, context: &Context<'_>) -> Result<Cost> {
    let workload = context.workload;
    let year = (12.0 * workload.deletions_per_month).ceil();
    let tries = if year < MOST_TRIED as f64 { year as usize } else { MOST_TRIED };
    let trial = requests(plan, context, tries.max(workload.groups.len()))?;
    let steps = trial.steps;
    let most = steps.iter().copied().max().unwrap_or(0);
    let mean = steps.iter().sum::<u64>() as f64 / steps.len() as f64;
    let learning = match plan.schedule {
        Schedule::Steps { learning, .. } => learning,
        _ => 0,
    };
    Ok(Cost {
        training: Count::stepped(learning, learning as f64),
        request: Count::stepped(most, mean),
        month_passes: workload.deletions_per_month * mean,
        excess_risk: steps_risk(plan, constants, context, &steps)?,
        lasts: lasts(plan, workload.deletions_per_month, Some((steps.len(), trial.ended))),
        claims: trial.claims,
        steps,
    })
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

fn steps_risk(
    plan: &Plan,
    constants: &Constants,
    context: &Context<'_>,
    steps: &[u64],
) -> Result<f64> {
    let records = context.facts.records;
    let event = first_event(plan, size(records)?)?;
    let Event::NoisyGd(event) = event.core() else {
        return Err(Error::storage("plan", "the plan has no steps"));
    };
    // The bound needs every optimum to lie in the ball that steps are projected to.
    if event.radius.is_some_and(|radius| radius.0 < constants.optimum_bound()) {
        return Ok(f64::INFINITY);
    }
    let steps = risk::Steps {
        step: event.step.0,
        noise: event.noise.0,
        grid: event.grid.0,
        rounding: event.rounding.0,
        learning: event.learning,
        removal: steps.iter().copied().min().unwrap_or(1),
        shift: constants.optimum_shift(context.workload.largest(), records),
    };
    Ok(risk::noisy_gd(constants, &steps))
}

/// The predicted excess risk of `noisy-gd` with these settings.
pub(super) fn risk_of_steps(settings: Settings, context: &Context<'_>) -> Result<f64> {
    let plan = Plan::resolve(&Choices::new(settings)?, context.facts)?;
    let trial = requests(&plan, context, context.workload.groups.len())?;
    steps_risk(&plan, &plan.constants()?, context, &trial.steps)
}

/// sigma of the diffusion that the engine takes for these settings without noise.
pub(super) fn least_noise(settings: &Settings, facts: &Facts) -> Result<f64> {
    let plan = Plan::resolve(&Choices::new(settings.clone())?, facts)?;
    match plan.schedule {
        Schedule::Steps { step, noise, .. } => Ok(noise.0 / (2.0 * step.0).sqrt()),
        _ => Err(Error::storage("plan", "the plan has no steps")),
    }
}
