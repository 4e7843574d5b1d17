//! Chourasia and Shah (2023), Theorem 3.1: a requester who saw the target's value writes it into
//! other records before the target is deleted.

use efface::Result;
use efface_learn::Loss;
use rand_chacha::ChaCha20Rng;

use super::outcome::Tally;
use super::promise::deletion_privacy;
use super::{Attack, Outcome, Setup, noisy_gd};
use crate::trial::Engine;
use crate::trial::draws::{below, uniform};
use crate::trial::engine::{constants, line};

pub(super) const ATTACK: Attack = Attack {
    name: "median",
    target: "release the median; serve every edit by the median of the edited data",
    adversary: "a 1-adaptive requester replaces other records by the first release, one per request, \
                then the target is replaced; sees only the release after that",
    reason: "copies of the target survive its deletion, and retraining finds them",
    source: "chourasia2023, Theorem 3.1 and appendix C",
    run,
};

/// Records, an odd number: half below -0.3, half above 0.3, and the target, -0.2 or 0.2.
const RECORDS: usize = 101;
/// i: the request that replaces the target; those before replace others.
const STEP: usize = 12;
/// What the target is replaced by.
const AFTER: f64 = 1.0;

/// Values with the target first.
fn records(positive: bool, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let mut values = vec![if positive { 0.2 } else { -0.2 }];
    for k in 1..RECORDS {
        let size = 0.3 + 0.7 * uniform(rng);
        values.push(if k % 2 == 0 { size } else { -size });
    }
    values
}

/// Plays the game; `serve(values, replaced)` publishes the values after a request. Returns the last release.
fn play(
    values: &mut [f64],
    first: f64,
    rng: &mut ChaCha20Rng,
    mut serve: impl FnMut(&[f64], usize, &mut ChaCha20Rng) -> Result<f64>,
) -> Result<f64> {
    let mut others: Vec<usize> = (1..values.len()).collect();
    for _ in 1..STEP {
        let place = others.swap_remove(below(rng, others.len()));
        values[place] = first.clamp(-1.0, 1.0);
        serve(values, place, rng)?;
    }
    values[0] = AFTER;
    serve(values, 0, rng)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let trials = setup.trials(10_000);
    let medians = Tally::of(setup, trials, |positive, trial| {
        let mut rng = setup.generator(trial, positive);
        let mut values = records(positive, &mut rng);
        let first = median(&values);
        Ok(play(&mut values, first, &mut rng, |now, _, _| Ok(median(now)))? > 0.0)
    })?;
    let mut outcomes = vec![
        medians
            .advantage("the median and its retraining", 0.0)
            .by("(0, 0)-adaptive-unlearning")
            .must_break(),
    ];
    let public = constants(Loss::Squared { clip: 0.1 }, 1, 0.01, RECORDS as u64)?;
    let trials = setup.trials(2_000);
    for engine in [Engine::solve(&public, 1.5, 1e-4)?, noisy_gd(&public, 0.2, (60, 30))?] {
        outcomes.push(against(&engine, setup, trials)?);
    }
    Ok(outcomes)
}

/// The same game with a location that is hardly more than a median: residuals clipped at 0.1.
fn against(engine: &Engine, setup: &Setup, trials: u64) -> Result<Outcome> {
    let mut event = None;
    let tally = Tally::of(setup, trials, |positive, trial| {
        let mut rng = setup.generator(trial, positive);
        let mut values = records(positive, &mut rng);
        let mut now = engine.train(&line(values.clone())?, &mut rng)?;
        let first = now.weights[0];
        let last = play(&mut values, first, &mut rng, |values, _, rng| {
            // A record is deleted and another one added: places are used once, so all are of the
            // first training.
            now = engine.request(&line(values.to_vec())?, &now, (1, 1), rng)?;
            Ok(now.weights[0])
        })?;
        event.get_or_insert(now.event);
        Ok(last > 0.0)
    })?;
    let claim = deletion_privacy(event.as_ref(), Some(STEP as u64))?;
    Ok(tally
        .advantage(engine.name(), claim.advantage.0)
        .by(format!("{STEP}-adaptive deletion-privacy, epsilon {:.3}", claim.epsilon.0)))
}
