//! Why adaptivity is paid from every fixed earlier model: a mechanism that is perfectly private
//! against every request fixed in advance, and against nobody who has seen its first release.
//!
//! theta_0 is a fair coin b. Deleting index i publishes theta xor h(i) xor D[i] with h = (0, 1, 0), for data of
//! one bit each, D[0] = D[1] = 0. Every fixed sequence of requests sees fair coins whatever the data, so
//! that deletion privacy and differential privacy both hold with epsilon 0, and Theorem 4.3 as printed promises
//! 0 + p 0 against adaptive requests. A requester who deletes index b first, then 2, makes the release D[2].

use efface_learn::Loss;
use efface_learn::mechanism::Change;

use super::draws::{coin, generator};
use super::engine::{Engine, Public, dataset, deletion_privacy};
use super::outcome::Tally;
use super::{Attack, Failure, Outcome, Setup};

pub(super) const ATTACK: Attack = Attack {
    name: "coin",
    target: "a mechanism whose deletion bound holds on average over earlier models, not from each",
    adversary: "1-adaptive: the first release decides which record goes first, then the target goes; \
                sees the last release",
    reason: "a fixed request cannot follow the coin that hides the target, an adaptive one can",
    source: "a counterexample to chourasia2023, Theorem 4.3, as printed",
    run,
};

/// What the target publishes at last; `first(b)` is the index deleted before index 2.
fn published(bit: bool, b: bool, first: usize) -> bool {
    let h = [false, true, false];
    let data = [false, false, bit];
    let after = b ^ h[first] ^ data[first];
    after ^ h[2] ^ data[2]
}

fn run(setup: &Setup) -> Result<Vec<Outcome>, Failure> {
    let trials = setup.trials(10_000);
    let played = |first: fn(bool) -> usize| {
        Tally::of(setup, trials, |bit, trial| {
            let b = coin(&mut generator(setup.seed, trial, bit));
            Ok(published(bit, b, first(b)))
        })
    };
    let mut outcomes = vec![
        played(usize::from)?
            .advantage("the coin, requests that follow it", 0.0)
            .by("Theorem 4.3 as printed: 0 + 1 x 0")
            .must_break(),
        played(|_| 0)?
            .advantage("the coin, requests fixed in advance", 0.0)
            .by("deletion-privacy with epsilon 0")
            .must_not_break(),
    ];
    let public = Public::line(Loss::Squared { clip: 2.0 }, 3);
    for engine in [Engine::solve(&public, 4.0, 1e-3)?, Engine::noisy_gd(&public, 4.0, 40, 20)?] {
        outcomes.push(against(&engine, setup, trials)?);
    }
    Ok(outcomes)
}

/// The same requests with the sign of the model in the place of the coin.
fn against(engine: &Engine, setup: &Setup, trials: u64) -> Result<Outcome, Failure> {
    let one: &[f32] = &[1.0];
    let mut promise = None;
    let tally = Tally::of(setup, trials, |bit, trial| {
        let mut rng = generator(setup.seed, trial, bit);
        let mut values = vec![-1.0, -1.0, if bit { 1.0 } else { -1.0 }];
        let data = |values: &[f64]| dataset(1, values.iter().map(|y| (one, *y)));
        let first = engine.train(&data(&values)?, &mut rng)?;
        let change = Change { deleted_since: &[0], added: 0 };
        values.remove(usize::from(first.weights[0] > 0.0));
        let second = engine.request(&data(&values)?, &first, &change, &mut rng)?;
        values.truncate(1);
        let third = engine.request(&data(&values)?, &second, &change, &mut rng)?;
        if promise.is_none() {
            promise = Some(deletion_privacy(&third.event, Some(2))?);
        }
        Ok(third.weights[0] > 0.0)
    })?;
    let claim = promise.ok_or_else(|| Failure::of("no trials"))?;
    Ok(tally
        .advantage(engine.name(), claim.advantage.0)
        .by(format!("2-adaptive deletion-privacy, epsilon {:.3}", claim.epsilon.0)))
}
