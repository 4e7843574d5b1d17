#![doc = include_str!("descent.md")]

mod plan;

#[cfg(test)]
mod tests;

pub use plan::{CheckedDescent, DescentPlan};

use efface_matrix::Refusal;
use efface_privacy::event::{Descent, Event, Phase, State};
use efface_privacy::quantity::Decimal;
use rand_core::CryptoRng;

use super::noisy_gd::{Change, MOST_PHASES, history};
use super::{Evidence, Kept, MechanismError, Released, Warm};
use crate::constants::{Constants, out_of_range};
use crate::mechanism::error::{self, changed};
use crate::objective::Objective;
use crate::outward;
use crate::solver::{Progress, Watch};

/// Learns from zeros: T steps, the last iterate published with noise.
///
/// # Errors
/// See [`MechanismError`]; nothing may be published then.
pub fn learn(
    objective: &Objective<'_>,
    plan: &CheckedDescent,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let event = first_event(objective.constants(), plan, objective.records(), 1)?;
    let start = vec![0.0; objective.constants().parameters()];
    release(objective, plan, start, event, rng, watch)
}

/// Restarts from the published weights, without the kept state: T steps, a new count of releases and updates.
///
/// # Errors
/// See [`MechanismError`]; in `perfect` state nothing is kept and there is nothing to refresh.
pub fn refresh(
    objective: &Objective<'_>,
    plan: &CheckedDescent,
    previous: &Descent,
    published: &[f64],
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let constants = objective.constants();
    same_constants(constants, plan, previous)?;
    if plan.plan().variant.state() == State::Perfect {
        return Err(error::start("in `perfect` state there is nothing to refresh"));
    }
    let releases = previous.releases.saturating_add(1);
    let event = Descent {
        longest: previous.longest.max(plan.plan().learning_steps),
        ..first_event(constants, plan, objective.records(), releases)?
    };
    let mut start = published.to_vec();
    plan.project(&mut start);
    release(objective, plan, start, event, rng, watch)
}

/// Serves one request on the records of `objective`, which are those after it: from the published
/// weights, projected, in `perfect` state, else from the kept iterate.
///
/// `previous` is the event of the published model, `change` what the request deleted and added.
///
/// # Errors
/// See [`MechanismError`]; nothing may be published then.
#[expect(clippy::too_many_arguments, reason = "everything a request starts from")]
pub fn request(
    objective: &Objective<'_>,
    plan: &CheckedDescent,
    previous: &Descent,
    change: &Change<'_>,
    published: &[f64],
    kept: Option<&Kept>,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let constants = objective.constants();
    let event = next_event(constants, plan, previous, change, objective.records())?;
    let mut start = match (plan.plan().variant.state(), kept) {
        (State::Perfect, None) => published.to_vec(),
        (State::Secret, Some(kept)) => Warm::from_bytes(&kept.state)?.weights,
        (State::Perfect, Some(_)) => {
            return Err(error::start("`perfect` state keeps nothing"));
        }
        (State::Secret, None) => {
            return Err(error::start("the kept iterate is missing; refresh"));
        }
    };
    if start.len() != constants.parameters() || start.iter().any(|w| !w.is_finite()) {
        return Err(error::start("it has another number of weights, or some not finite"));
    }
    plan.project(&mut start);
    release(objective, plan, start, event, rng, watch)
}

/// Returns the event of a request before it is served, so that its claims are known beforehand: nothing is
/// computed from the data. `records` is the number of records after the request.
///
/// # Errors
/// See [`MechanismError`].
pub fn next_event(
    constants: &Constants,
    plan: &CheckedDescent,
    previous: &Descent,
    change: &Change<'_>,
    records: usize,
) -> Result<Descent, MechanismError> {
    same_constants(constants, plan, previous)?;
    let spent = previous.phases.iter().fold(0_u64, |sum, p| sum.saturating_add(p.releases));
    let limit = previous.joint_releases;
    if previous.variant.state() == State::Secret && spent >= limit {
        return Err(MechanismError::Releases { spent, limit });
    }
    let learnt = previous.phases.first().and_then(|phase| phase.records);
    if let Some(learnt) = learnt.filter(|learnt| (records as u64) < learnt.div_ceil(2)) {
        refuse!(
            "the data set would have {} records, but `descent-to-delete` needs half of \
             the {learnt} it learnt from; train a new model",
            records as u64
        );
    }
    let touched = (change.deleted_since.len() as u64).saturating_add(change.added);
    let updates = previous.updates.saturating_add(touched.div_ceil(plan.plan().group).max(1));
    let steps = previous.steps_between(previous.updates, updates).ok_or_else(|| {
        let (name, rule) = ("updates", "of at most 2^53 steps together");
        out_of_range(name, rule, updates as f64)
    })?;
    let normalizer = constants.declared().normalizer;
    let capacity = normalizer.capacity().unwrap_or(u64::MAX);
    let now = normalizer.public_count(records);
    let last = Phase { steps, releases: 1, only_then: 0, only_now: 0, records: now };
    let (before, count) = (&previous.phases, records as u64);
    // The phases begin with the last refresh, whose data held every record added before it.
    let begun = previous.releases.saturating_sub(spent);
    let since: Vec<u64> =
        change.deleted_since.iter().map(|since| since.saturating_sub(begun)).collect();
    let change = &Change { deleted_since: &since, added: change.added };
    let phases = history::request(before, change, last, count, capacity, MOST_PHASES)?;
    Ok(Descent {
        rounding: Decimal(previous.rounding.0.max(plan.rounding(constants, records)?)),
        phases,
        updates,
        longest: previous.longest.max(steps),
        releases: previous.releases.saturating_add(1),
        ..previous.clone()
    })
}

/// The event of learning, or of a refresh.
///
/// # Errors
/// Fails if a step's rounding error cannot be bounded.
pub fn first_event(
    constants: &Constants,
    plan: &CheckedDescent,
    records: usize,
    releases: u64,
) -> Result<Descent, MechanismError> {
    let p = plan.plan();
    let steps = p.learning_steps;
    Ok(Descent {
        setting: constants.setting(p.group),
        variant: p.variant,
        xi: p.xi.map(Decimal),
        tail: p.tail.map(Decimal),
        iterations: p.iterations,
        step: Decimal(p.step),
        diameter: Decimal(p.diameter),
        noise: Decimal(plan.grid().noise()),
        grid: Decimal(plan.grid().spacing()),
        rounding: Decimal(plan.rounding(constants, records)?),
        phases: history::learning(steps, constants.declared().normalizer.public_count(records)),
        updates: 0,
        longest: steps.max(p.iterations),
        joint_releases: p.joint_releases,
        releases,
    })
}

fn same_constants(
    constants: &Constants,
    plan: &CheckedDescent,
    previous: &Descent,
) -> Result<(), MechanismError> {
    let shown = |event: &Descent| {
        let or_none = |x: Option<Decimal>| x.map_or("none".to_owned(), |x| x.to_string());
        [
            ("setting", format!("{:?}", event.setting)),
            ("variant", event.variant.name().to_owned()),
            ("xi", or_none(event.xi)),
            ("tail", or_none(event.tail)),
            ("iterations", event.iterations.to_string()),
            ("steps", event.phases.first().map_or(0, |phase| phase.steps).to_string()),
            ("diameter", event.diameter.to_string()),
            ("eta", event.step.to_string()),
            ("noise", event.noise.to_string()),
            ("grid", event.grid.to_string()),
            ("releases", event.joint_releases.to_string()),
        ]
    };
    let now = shown(&first_event(constants, plan, 1, 1)?);
    for ((name, before), (_, now)) in shown(previous).into_iter().zip(now) {
        if before != now {
            return Err(changed(name, &before, &now));
        }
    }
    Ok(())
}

/// The steps of the event's last phase, then the release.
fn release(
    objective: &Objective<'_>,
    plan: &CheckedDescent,
    mut weights: Vec<f64>,
    event: Descent,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let steps = event.phases.last().map_or(0, |phase| phase.steps);
    let mut largest_norm = outward::norm(&weights);
    for step in 1..=steps {
        let gradient_norm = descend(objective, plan, &mut weights)?;
        let progress = Progress { passes: step, gradient_norm, target: 0.0 };
        if watch(&progress).is_break() {
            return Err(MechanismError::Cancelled);
        }
        largest_norm = largest_norm.max(outward::norm(&weights));
    }
    let published = plan.publish(&weights, rng)?;
    let made = event.phases.iter().fold(0_u64, |sum, phase| sum.saturating_add(phase.releases));
    let kept = match event.variant.state() {
        State::Perfect => None,
        State::Secret => {
            let state = Warm { weights, factor: None }.to_bytes();
            Some(Kept { releases: made, state })
        }
    };
    let evidence = Evidence::Steps { passes: steps, steps, largest_norm };
    Ok(Released { weights: published, event: Event::Descent(event), evidence, kept })
}

/// Makes one projected step in float64; returns the norm of the gradient at its start.
fn descend(
    objective: &Objective<'_>,
    plan: &CheckedDescent,
    weights: &mut [f64],
) -> Result<f64, Refusal> {
    let at = objective.evaluate(weights)?;
    for (w, g) in weights.iter_mut().zip(&at.gradient) {
        *w -= plan.plan().step * g;
    }
    plan.project(weights);
    Ok(outward::add(at.gradient_norm, at.slack))
}
