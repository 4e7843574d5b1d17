//! Why adaptivity is paid from every fixed earlier model: a mechanism that is perfectly private
//! against every request fixed in advance, and against nobody who has seen its first release.
//!
//! theta_0 is a fair coin b. Deleting index i publishes theta xor h(i) xor D[i] with h = (0, 1, 0), for data of
//! one bit each, D[0] = D[1] = 0. Every fixed sequence of requests sees fair coins whatever the data, so
//! that deletion privacy and differential privacy both hold with epsilon 0, and Theorem 4.3 as printed promises
//! 0 + p 0 against adaptive requests. A requester who deletes index b first, then 2, makes the release D[2].

use efface::Result;
use efface_learn::Loss;

use super::outcome::Tally;
use super::promise::deletion_privacy;
use super::{Attack, Outcome, Setup, noisy_gd};
use crate::trial::Engine;
use crate::trial::draws::coin;
use crate::trial::engine::{constants, line};

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

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let trials = setup.trials(10_000);
    let played = |first: fn(bool) -> usize| {
        Tally::of(setup, trials, |bit, trial| {
            let b = coin(&mut setup.generator(trial, bit));
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
    let public = constants(Loss::Squared { clip: 2.0 }, 1, 1.0, 3)?;
    for engine in [Engine::solve(&public, 4.0, 1e-3)?, noisy_gd(&public, 4.0, (40, 20))?] {
        outcomes.push(against(&engine, setup, trials)?);
    }
    Ok(outcomes)
}

/// The same requests with the sign of the model in the place of the coin.
fn against(engine: &Engine, setup: &Setup, trials: u64) -> Result<Outcome> {
    let mut event = None;
    let tally = Tally::of(setup, trials, |bit, trial| {
        let mut rng = setup.generator(trial, bit);
        let mut values = vec![-1.0, -1.0, if bit { 1.0 } else { -1.0 }];
        let first = engine.train(&line(values.clone())?, &mut rng)?;
        values.remove(usize::from(first.weights[0] > 0.0));
        let second = engine.request(&line(values.clone())?, &first, (1, 0), &mut rng)?;
        values.truncate(1);
        let third = engine.request(&line(values)?, &second, (1, 0), &mut rng)?;
        event.get_or_insert(third.event);
        Ok(third.weights[0] > 0.0)
    })?;
    let claim = deletion_privacy(event.as_ref(), Some(2))?;
    Ok(tally
        .advantage(engine.name(), claim.advantage.0)
        .by(format!("2-adaptive deletion-privacy, epsilon {:.3}", claim.epsilon.0)))
}
