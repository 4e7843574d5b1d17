#![doc = include_str!("pld.md")]

mod answer;
mod cells;
mod compose;
mod cumulant;
pub mod declared;
pub mod event;
mod mixture;
mod noise;
mod plan;
mod rdp;
mod segment;

pub use noise::noise;
pub use rdp::{Hops, rdp, rdp_epsilon, whole_orders_epsilon};
pub use segment::{PldError, Segment};

use crate::gaussian;
use crate::outward;
use crate::quantity::{Decimal, Delta, Epsilon, Mu};

use cells::{Direction, Step};
use compose::Composer;
use cumulant::Cumulant;
use plan::{Fineness, Plan, Question};
use segment::{COARSEST, ROUNDING_SHARE, Sampled, Steps};

/// The error that is accepted if a finer grid would only cost time.
const ENOUGH: f64 = 1e-4;
/// How often a plan is made again at most.
const ROUNDS: u32 = 4;
/// The share of delta that tails of single steps may take.
const TAILS: f64 = 1e-10;
/// A step's mass beyond its range is at least this.
const LEAST_TAIL: f64 = 1e-290;
/// The least delta that may be requested or computed.
const LEAST_DELTA: f64 = 1e-200;

/// Returns the least epsilon at `delta` that is known to hold in both directions, rounded up.
///
/// Bounds the segments, each of which may depend on what those before released, together with `head`:
/// something `head`-GDP from every outcome of the segments (0 if there is nothing). Returns 0 if `delta`
/// alone suffices; nothing is lost but rounding and the grid, together less than a relative 1e-3 in ordinary
/// cases and never more than 1e-2.
///
/// # Errors
/// Fails if a number is out of range, or the bound cannot be computed well: it is never guessed.
pub fn epsilon(segments: &[Segment], head: Mu, delta: Delta) -> Result<Epsilon, PldError> {
    if delta.get() < LEAST_DELTA {
        return Err(PldError::Range { name: "delta", rule: "at least 1e-200", got: delta.get() });
    }
    match Steps::new(segments, head)? {
        Steps::Gaussian(mu) => {
            Ok(gaussian::epsilon(mu, delta).unwrap_or(outward::epsilon(f64::INFINITY)))
        }
        Steps::Sampled(parts) => {
            if parts.total_variation() <= delta.get() {
                return Ok(outward::epsilon(0.0));
            }
            let added = epsilon_in(&parts, Direction::Added, delta)?;
            // Both orders have one delta at epsilon 0, their total variation.
            if added == 0.0 || added >= most_removed(&parts, delta) {
                return Ok(outward::epsilon(added));
            }
            // The other order has the smaller delta as a rule, which a rough grid shows.
            let there = Question::AtEpsilon(added);
            let rough = compose(&parts, Direction::Removed, there, Fineness::ROUGH);
            if rough.is_ok_and(|rough| rough.delta(added).value <= delta.get()) {
                return Ok(outward::epsilon(added));
            }
            Ok(outward::epsilon(added.max(epsilon_in(&parts, Direction::Removed, delta)?)))
        }
    }
}

/// Returns the least epsilon at `delta` that is known to hold in one direction.
fn epsilon_in(parts: &Sampled, direction: Direction, delta: Delta) -> Result<f64, PldError> {
    let (mut question, mut fine) = (Question::AtDelta(delta.get()), Fineness::FINE);
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (composed, found) = match found_at(parts, direction, question, fine, delta.get()) {
            Ok(found) => found,
            // A tilt for a Gaussian sum does not suit a sum that is far from Gaussian.
            Err(_) if matches!(question, Question::AtDelta(_)) => {
                question = Question::Anyhow(delta.get());
                continue;
            }
            Err(_) if least < f64::INFINITY => break,
            Err(error) => return Err(error),
        };
        least = least.min(found.value);
        let near = found.value >= 0.5 * composed.plan.epsilon;
        let finer = found.coarse > ENOUGH && !composed.plan.limited;
        if found.value == 0.0 || (near && !finer) {
            break;
        }
        // Tilt and grid were not made for it: again around what was found.
        if finer {
            fine.widest = composed.plan.finer(found.coarse / ENOUGH);
        }
        question = Question::AtEpsilon(found.value);
    }
    Ok(least)
}

/// Composes by one plan and returns the epsilon that results, if rounding is small against delta.
fn found_at(
    parts: &Sampled,
    direction: Direction,
    question: Question,
    fine: Fineness,
    delta: f64,
) -> Result<(compose::Composed, answer::Found), PldError> {
    let composed = compose(parts, direction, question, fine)?;
    let found = composed.epsilon(delta);
    let at = found.map_or(composed.plan.epsilon, |found| found.value);
    check_rounding(composed.rounding_at(at), delta)?;
    let found = found.ok_or_else(|| too_rough(1.0))?;
    Ok((composed, found))
}

/// Returns the least delta at `epsilon` that is known to hold in both directions, rounded up; at most 1.
///
/// If it is below 1e-200, the result may be anything up to about 1e-200.
///
/// # Errors
/// Fails if a number is out of range, or the bound cannot be computed well.
pub fn delta(segments: &[Segment], head: Mu, epsilon: Epsilon) -> Result<f64, PldError> {
    if epsilon.get() == f64::INFINITY {
        return Ok(0.0);
    }
    match Steps::new(segments, head)? {
        Steps::Gaussian(mu) => Ok(gaussian::delta(epsilon, mu)),
        Steps::Sampled(parts) => {
            let added = delta_in(&parts, Direction::Added, epsilon)?;
            let enough = Delta::new(added).map_or(0.0, |delta| most_removed(&parts, delta));
            if epsilon.get() == 0.0 || epsilon.get() >= enough {
                return Ok(added);
            }
            Ok(added.max(delta_in(&parts, Direction::Removed, epsilon)?))
        }
    }
}

/// Returns the least delta at `epsilon` that is known to hold in one direction.
fn delta_in(parts: &Sampled, direction: Direction, epsilon: Epsilon) -> Result<f64, PldError> {
    let (mut least, mut fine) = (1.0, Fineness::FINE);
    for _ in 0..ROUNDS {
        let composed = compose(parts, direction, Question::AtEpsilon(epsilon.get()), fine)?;
        let found = composed.delta(epsilon.get());
        check_rounding(composed.rounding_at(epsilon.get()), found.value)?;
        least = f64::min(least, found.value);
        if found.coarse <= ENOUGH || composed.plan.limited {
            break;
        }
        fine.widest = composed.plan.finer(found.coarse / ENOUGH);
    }
    Ok(least)
}

/// Returns an epsilon that holds at `delta` when units are removed: sampled losses are at most those of
/// drawing no unit, and the Gaussian part has its own epsilon.
fn most_removed(parts: &Sampled, delta: Delta) -> f64 {
    let drawn: f64 =
        parts.drawn.iter().map(|(mixture, steps)| mixture.most_removed() * *steps as f64).sum();
    let head = gaussian::epsilon(parts.gaussian, delta).map_or(f64::INFINITY, Epsilon::get);
    outward::up(drawn) + head
}

fn check_rounding(rounding: f64, delta: f64) -> Result<(), PldError> {
    if rounding <= ROUNDING_SHARE * delta {
        return Ok(());
    }
    Err(too_rough(rounding / delta))
}

fn too_rough(share: f64) -> PldError {
    PldError::Refused(format!(
        "rounding amounts to {} of delta, more than {ROUNDING_SHARE}: take fewer steps, or a \
         larger `delta`",
        Decimal(share)
    ))
}

/// Returns the distribution of the sum of all losses in one direction.
fn compose(
    parts: &Sampled,
    direction: Direction,
    mut question: Question,
    fine: Fineness,
) -> Result<compose::Composed, PldError> {
    let count: u64 = parts.parts().map(|(_, steps)| steps).sum();
    let mut tail = match question {
        Question::AtDelta(delta) | Question::Anyhow(delta) => delta * TAILS / count as f64,
        Question::AtEpsilon(_) => 1e-40,
    };
    loop {
        tail = tail.max(LEAST_TAIL);
        let mut steps = Vec::new();
        let mut cumulants = Vec::new();
        for (mixture, number) in parts.parts() {
            let mut step = Step::new(mixture, direction, tail);
            step.check()?;
            cumulants.push(Cumulant::new(&mut step, number));
            steps.push((step, number));
        }
        let plan = Plan::new(&cumulants, count, question, fine);
        if plan.delta < LEAST_DELTA && matches!(question, Question::AtEpsilon(_)) {
            // The search goes up to the epsilon of the least computed delta: delta falls with epsilon.
            question = Question::AtDelta(LEAST_DELTA);
            tail = LEAST_TAIL;
            continue;
        }
        let needed = plan.delta * TAILS / count as f64;
        if needed < 0.5 * tail && tail > LEAST_TAIL {
            // Deltas far below what was expected: wider ranges.
            tail = needed * 1e-3;
            continue;
        }
        if plan.coarse > COARSEST {
            return Err(PldError::Coarse { error: plan.coarse });
        }
        for (cumulant, (step, _)) in cumulants.iter().zip(&mut steps) {
            step.raise(plan::floor(cumulant, plan.theta));
        }
        let scales = cumulants.iter().map(|cumulant| {
            let of_one = |theta: f64| cumulant.at(theta).value / cumulant.steps();
            (of_one(plan.theta), of_one(plan.far))
        });
        let mut composer = Composer::new(plan);
        let mut last = None;
        for ((step, number), scale) in steps.iter_mut().zip(scales) {
            if count == 1 {
                last = Some((step, scale));
            } else {
                composer.take(step, *number, scale);
            }
        }
        return Ok(match last {
            Some((step, scale)) => composer.one(step, scale),
            None => composer.finish(),
        });
    }
}

#[cfg(test)]
mod tests;
