#![doc = include_str!("noisy_gd.md")]

mod batches;
pub(in crate::mechanism) mod history;
mod plan;

#[cfg(test)]
mod batches_tests;
#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod tests;

pub use batches::{BatchPlan, Batched, Steps};
pub use history::{Change, MOST_PHASES};
pub use plan::{CheckedNoisyGd, NoisyGdPlan};

use std::ops::RangeInclusive;

use efface_matrix::Refusal;
use efface_privacy::event::{Event, NoisyGd, Phase};
use efface_privacy::quantity::Decimal;
use rand_core::CryptoRng;

use super::{Evidence, MechanismError, Released};
use crate::constants::{Constants, out_of_range};
use crate::mechanism::error::changed;
use crate::objective::Objective;
use crate::outward;
use crate::solver::{Progress, Watch};

/// Learns from `start`, or else from zeros: the plan's number of learning steps, the last iterate
/// released.
///
/// A given start is brought onto the grid (towards 0). The event takes it to be the same in all worlds that
/// are compared; the caller records who vouches for that.
///
/// # Errors
/// See [`MechanismError`]; nothing may be published then.
pub fn learn(
    objective: &impl Steps,
    plan: &CheckedNoisyGd,
    start: Option<&[f64]>,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let constants = objective.constants();
    let event = learning_event(constants, plan, objective.records())?;
    let start = match start {
        Some(given) => plan.place(constants, given)?,
        None => vec![0.0; constants.parameters()],
    };
    let first = 1;
    release(objective, plan, start, first..=event.learning, event, rng, watch)
}

/// The event of learning before it is done: nothing is computed from the data.
///
/// # Errors
/// Fails if rounding errors outweigh a step, see [`CheckedNoisyGd::rounding`].
pub fn learning_event(
    constants: &Constants,
    plan: &CheckedNoisyGd,
    records: usize,
) -> Result<NoisyGd, MechanismError> {
    let steps = plan.plan().learning_steps;
    let phases = history::learning(steps, constants.declared().normalizer.public_count(records));
    Ok(NoisyGd {
        setting: plan.setting(constants)?,
        step: Decimal(plan.plan().step),
        noise: Decimal(plan.grid().noise()),
        grid: Decimal(plan.grid().spacing()),
        rounding: Decimal(plan.rounding(constants, records)?),
        radius: plan.plan().radius.map(Decimal),
        phases,
        replaced: Some(Vec::new()),
        longest: steps,
        learning: steps,
        releases: 1,
        batches: plan.plan().batches.map(|batches| batches.event()),
    })
}

/// Serves one request: the plan's number of removal steps from the published weights on the
/// records of `objective`, which are those after the request.
///
/// `previous` is the event of the published model, `change` what the request deleted and added. Over batches,
/// the steps continue with the batch after the last one visited.
///
/// # Errors
/// See [`MechanismError`]; nothing may be published then.
pub fn request(
    objective: &impl Steps,
    plan: &CheckedNoisyGd,
    previous: &NoisyGd,
    change: &Change<'_>,
    published: &[f64],
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let constants = objective.constants();
    let event = next_event(constants, plan, previous, change, objective.records())?;
    plan.check_start(constants, published)?;
    let done = steps_of(previous);
    let last = done.saturating_add(plan.plan().removal_steps);
    let first = done.saturating_add(1);
    release(objective, plan, published.to_vec(), first..=last, event, rng, watch)
}

/// Returns the event of a request before it is served, so that its claims are known beforehand: nothing is
/// computed from the data. `records` is the number of records after the request.
///
/// # Errors
/// See [`MechanismError`].
pub fn next_event(
    constants: &Constants,
    plan: &CheckedNoisyGd,
    previous: &NoisyGd,
    change: &Change<'_>,
    records: usize,
) -> Result<NoisyGd, MechanismError> {
    let steps = plan.plan().removal_steps;
    same_constants(constants, plan, previous)?;
    let normalizer = constants.declared().normalizer;
    let capacity = normalizer.capacity().unwrap_or(u64::MAX);
    let known = normalizer.public_count(records);
    let last = Phase { steps, releases: 1, only_then: 0, only_now: 0, records: known };
    let (before, now) = (&previous.phases, records as u64);
    let phases = history::request(before, change, last, now, capacity, MOST_PHASES)?;
    let mut replaced = previous.replaced.clone();
    let deleted = change.deleted_since.len() as u64;
    if let Some(list) = &mut replaced {
        list.push(change.added.max(deleted));
    }
    let mut batches = previous.batches.clone();
    if let Some(list) = batches.as_mut().and_then(|batches| batches.changed.as_mut()) {
        list.push(deleted.saturating_add(change.added));
        history::merge_changed(list, phases.len());
    }
    Ok(NoisyGd {
        rounding: Decimal(previous.rounding.0.max(plan.rounding(constants, records)?)),
        // Merged phases have no numbers of their own.
        replaced: replaced.filter(|list| list.len() + 1 == phases.len()),
        phases,
        longest: previous.longest.max(steps),
        releases: previous.releases.saturating_add(1),
        batches,
        ..previous.clone()
    })
}

/// Steps of all phases of an event.
#[must_use]
pub fn steps_of(event: &NoisyGd) -> u64 {
    event.phases.iter().fold(0_u64, |sum, phase| sum.saturating_add(phase.steps))
}

fn same_constants(
    constants: &Constants,
    plan: &CheckedNoisyGd,
    previous: &NoisyGd,
) -> Result<(), MechanismError> {
    let setting = plan.setting(constants)?;
    if setting != previous.setting {
        let (before, now) = (format!("{:?}", previous.setting), format!("{setting:?}"));
        return Err(changed("setting", &before, &now));
    }
    let pairs = [
        ("eta", previous.step.0, plan.plan().step),
        ("noise", previous.noise.0, plan.grid().noise()),
        ("grid", previous.grid.0, plan.grid().spacing()),
    ];
    for (name, before, now) in pairs {
        if before != now {
            let (before, now) = (before.to_string(), now.to_string());
            return Err(changed(name, &before, &now));
        }
    }
    let same = match (&plan.plan().batches, &previous.batches) {
        (Some(now), Some(before)) => {
            (now.count, now.size, now.most) == (before.count, before.size, before.most)
        }
        (now, before) => now.is_none() && before.is_none(),
    };
    if !same {
        let (before, now) =
            (format!("{:?}", previous.batches), format!("{:?}", plan.plan().batches));
        return Err(changed("batches", &before, &now));
    }
    let radius = plan.plan().radius.map(Decimal);
    if radius != previous.radius {
        let shown = |radius: Option<Decimal>| radius.map_or("none".to_owned(), |r| r.to_string());
        let (before, now) = (shown(previous.radius), shown(radius));
        return Err(changed("radius", &before, &now));
    }
    Ok(())
}

/// Noisy steps on the grid, counted over the life of the model, then the release.
fn release(
    objective: &impl Steps,
    plan: &CheckedNoisyGd,
    mut weights: Vec<f64>,
    steps: RangeInclusive<u64>,
    event: NoisyGd,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let total = steps_of(&event);
    if total > plan::MOST_STEPS {
        let (name, rule) = ("steps", "at most 2^40 over the life of a model");
        return Err(out_of_range(name, rule, total as f64).into());
    }
    let eta = plan.plan().step;
    let mut largest_norm = outward::norm(&weights);
    let mut noise =
        plan.grid().noise_of(steps.end().saturating_add(1).saturating_sub(*steps.start()));
    let mut made = 0;
    for step in steps {
        made += 1;
        let (moved, gradient_norm) = noiseless(objective.along(step)?, eta, &weights)?;
        let progress = Progress { passes: made, gradient_norm, target: 0.0 };
        if watch(&progress).is_break() {
            return Err(MechanismError::Cancelled);
        }
        weights = plan.perturb(&moved, &mut noise, rng)?;
        largest_norm = largest_norm.max(outward::norm(&weights));
    }
    let round = plan.plan().batches.map_or(1, |batches| batches.count);
    let evidence = Evidence::Steps { passes: made.div_ceil(round), steps: made, largest_norm };
    Ok(Released { weights, event: Event::NoisyGd(event), evidence, kept: None })
}

/// w - eta grad F(w) in float64, and the norm of the gradient.
fn noiseless(
    objective: &Objective<'_>,
    eta: f64,
    weights: &[f64],
) -> Result<(Vec<f64>, f64), Refusal> {
    let at = objective.evaluate(weights)?;
    let moved = weights.iter().zip(&at.gradient).map(|(w, g)| w - eta * g).collect();
    Ok((moved, outward::add(at.gradient_norm, at.slack)))
}
