//! Chourasia and Shah (2023), section 3: an unlearning algorithm that retrains, and a requester
//! whose choice leaves the deleted record's sign in the records that remain.

use efface::Result;
use efface_learn::{Declared, Loss};

use super::outcome::Tally;
use super::promise::deletion_privacy;
use super::{Attack, Outcome, Setup, noisy_gd};
use crate::trial::engine::{declared, line};
use crate::trial::{Engine, failed};

pub(super) const ATTACK: Attack = Attack {
    name: "sum",
    target: "release the sum; delete by summing the rest (perfect imitation of retraining)",
    adversary: "knows that the negative records ask to be forgotten when the first release was \
                negative, else the positive ones; sees only the release after the deletion",
    reason: "which records remain depends on the deleted one",
    source: "chourasia2023, section 3, equations 8 and 9",
    run,
};

/// The data but for the target, which is -1 or 1.
const OTHERS: [f64; 2] = [-2.0, 2.0];

fn records(positive: bool) -> [f64; 3] {
    [OTHERS[0], if positive { 1.0 } else { -1.0 }, OTHERS[1]]
}

/// Who stays: the requester takes away all records of the first release's sign.
fn stays(first: f64, value: f64) -> bool {
    (value < 0.0) != (first < 0.0)
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let trials = setup.trials(10_000);
    let summed = Tally::of(setup, trials, |positive, _| {
        let all = records(positive);
        let first: f64 = all.iter().sum();
        let rest: f64 = all.iter().filter(|value| stays(first, **value)).sum();
        Ok(rest < 0.0)
    })?;
    let mut outcomes = vec![
        summed
            .advantage("the sum and its retraining", 0.0)
            .by("(0, 0)-indistinguishable from retraining")
            .must_break(),
    ];
    let public = declared(Loss::Squared { clip: 2.0 }, 1, 1.0, 3);
    let public = Declared { target_bound: 2.0, ..public }.check().map_err(failed)?;
    for engine in [Engine::solve(&public, 3.0, 1e-3)?, noisy_gd(&public, 2.6, (40, 20))?] {
        outcomes.push(against(&engine, setup, trials)?);
    }
    Ok(outcomes)
}

/// The same game with a mean in the place of the sum: one weight, x = 1, y the record's value.
fn against(engine: &Engine, setup: &Setup, trials: u64) -> Result<Outcome> {
    let mut event = None;
    let tally = Tally::of(setup, trials, |positive, trial| {
        let mut rng = setup.generator(trial, positive);
        let all = records(positive);
        let first = engine.train(&line(all)?, &mut rng)?;
        let seen = first.weights[0];
        let rest = line(all.into_iter().filter(|y| stays(seen, *y)))?;
        let second = engine.request(&rest, &first, (3 - rest.rows(), 0), &mut rng)?;
        event.get_or_insert(second.event);
        Ok(second.weights[0] < 0.0)
    })?;
    let claim = deletion_privacy(event.as_ref(), Some(1))?;
    Ok(tally.advantage(engine.name(), claim.advantage.0).by(format!(
        "1-adaptive deletion-privacy, order {}, epsilon {:.3}",
        claim.order.map_or(f64::NAN, |q| q.0),
        claim.epsilon.0
    )))
}
