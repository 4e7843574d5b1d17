//! Chourasia and Shah (2023), Theorem 3.2: a secret state that tells a little of a deleted record
//! with every later release.
//!
//! The printed algorithm adds (deleted count)/i to the release of step i. The releases then differ by
//! 1/i, and the sum of the squares of that is finite: however many releases are seen, the two worlds stay
//! apart by a fixed distance (Kakutani), so that an attacker is not sure of the record where epsilon is
//! small. What the theorem needs, one bit told again and again, is had by telling the bit of one deleted
//! record at a time, each in turn: step k(k-1)/2 + j tells the j-th. A release still differs from
//! retraining by at most 1, hence still (epsilon, 0)-unlearning, and every record is told infinitely often.

use efface::Result;
use efface_learn::mechanism::{MechanismError, retrain, solve};
use efface_learn::solver::{Solver, unwatched};
use efface_learn::{Constants, Loss, Objective};
use efface_privacy::advantage::from_epsilon_delta;
use efface_privacy::event::State;
use efface_privacy::quantity::Epsilon;
use rand_chacha::ChaCha20Rng;

use super::outcome::Tally;
use super::promise::deletion_privacy;
use super::{Attack, Outcome, Setup, noisy_gd};
use crate::trial::draws::laplace;
use crate::trial::engine::{constants, line, output_noise};
use crate::trial::{Engine, failed};

pub(super) const ATTACK: Attack = Attack {
    name: "counter",
    target: "a Laplace count whose secret state remembers what deleted records answered",
    adversary: "non-adaptive; sees every release from the deletion on",
    reason: "the guarantee is for one release, and the state outlives all of them",
    source: "chourasia2023, Theorem 3.2 and appendix C; the printed share 1/i is too small for small \
             epsilon and is repaired here",
    run,
};

/// epsilon of the target's every release.
const EPSILON: f64 = 0.5;
/// Rounds k of the repaired algorithm that the attacker waits for.
const ROUNDS: u64 = 100;

/// Log-likelihood ratio of the worlds with and without a shift, from one Laplace release.
fn ratio(noisy: f64, shift: f64) -> f64 {
    EPSILON * (noisy.abs() - (noisy - shift).abs())
}

/// One game; `share(step)` is how much of the first deleted record the release of a step tells.
fn game(remembered: bool, rng: &mut ChaCha20Rng, share: impl Fn(u64) -> f64) -> bool {
    // The count itself is known to the attacker and left out.
    let sum: f64 = (1..=ROUNDS * (ROUNDS + 1) / 2)
        .map(|step| (step, share(step)))
        .filter(|(_, shift)| *shift > 0.0)
        .map(|(_, shift)| {
            let told = if remembered { shift } else { 0.0 };
            ratio(told + laplace(rng) / EPSILON, shift)
        })
        .sum();
    sum > 0.0
}

/// Whether a step tells the first deleted record: the first step of each round, 1, 2, 4, 7, ...
fn in_turn(step: u64) -> f64 {
    let before = step - 1;
    let round = ((((8 * before + 1) as f64).sqrt() - 1.0) / 2.0).floor() as u64;
    f64::from(u8::from(round * (round + 1) / 2 == before))
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let trials = setup.trials(10_000);
    // Each world is epsilon-close to the same retraining.
    let epsilon = Epsilon::new(2.0 * EPSILON).map_err(failed)?;
    let allowed = from_epsilon_delta(epsilon, 0.0);
    let promise = format!("({EPSILON}, 0)-unlearning, for each release");
    let played = |share: fn(u64) -> f64| {
        Tally::of(setup, trials, |bit, trial| {
            Ok(game(bit, &mut setup.generator(trial, bit), share))
        })
    };
    let mut outcomes = vec![
        played(in_turn)?
            .advantage("a secret counter that tells each record in turn", allowed)
            .by(promise.clone())
            .must_break(),
        played(|step| 1.0 / step as f64)?
            .advantage("the counter as printed, 5050 releases", allowed)
            .by(promise)
            .must_not_break(),
    ];
    let public = constants(Loss::Squared { clip: 2.0 }, 1, 0.1, RECORDS as u64)?;
    for engine in [Engine::solve(&public, 0.05, 0.01)?, noisy_gd(&public, 0.5, (60, 8))?] {
        outcomes.push(against(&engine, setup, setup.trials(2_000))?);
    }
    outcomes.push(releases_beyond_the_public_number(&public, setup)?);
    Ok(outcomes)
}

const RECORDS: usize = 40;
/// Requests after the deletion of the target.
const LATER: usize = 20;

fn values(count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(|k| if k % 2 == 0 { 0.3 } else { -0.5 })
}

/// The target, y = -1 or 1, is deleted first, then twenty others, one per request. The attacker adds
/// up what all releases from the first deletion on say.
fn against(engine: &Engine, setup: &Setup, trials: u64) -> Result<Outcome> {
    let mut event = None;
    let tally = Tally::of_scores(setup, trials, |positive, trial| {
        let mut rng = setup.generator(trial, positive);
        let target = if positive { 1.0 } else { -1.0 };
        let all = std::iter::once(target).chain(values(RECORDS - 1));
        let mut now = engine.train(&line(all)?, &mut rng)?;
        let mut sum = 0.0;
        for gone in 0..=LATER {
            let rest = line(values(RECORDS - 1 - gone))?;
            now = engine.request(&rest, &now, (1, 0), &mut rng)?;
            event.get_or_insert_with(|| now.event.clone());
            // The first release is nearest to the model that knew the target.
            sum += now.weights[0] * 0.5_f64.powi(gone as i32);
        }
        Ok(sum)
    })?;
    let claim = deletion_privacy(event.as_ref(), None)?;
    Ok(tally.advantage(engine.name(), claim.advantage.0).by(format!(
        "deletion-privacy of all releases after the deletion, epsilon {:.3}",
        claim.epsilon.0
    )))
}

/// efface's own secret state promises R releases jointly, and makes no more.
fn releases_beyond_the_public_number(constants: &Constants, setup: &Setup) -> Result<Outcome> {
    const COVERED: u64 = 3;
    let plan = output_noise(0.05, 1e-4, (State::Secret, COVERED), Solver::Newton)?;
    let plan = plan.check(constants, 0).map_err(failed)?;
    let mut rng = setup.generator(0, false);
    let data = line(values(RECORDS))?;
    let objective = Objective::new(constants, &data).map_err(failed)?;
    let first = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched);
    let mut released = first.map_err(failed)?;
    let mut made = 1;
    for count in 2..=COVERED + 5 {
        let Some(kept) = released.kept.take() else {
            return Err(failed("secret state keeps something"));
        };
        match solve::from_kept(&objective, &plan, &kept, count, &mut rng, &mut unwatched) {
            Ok(next) => released = next,
            Err(MechanismError::Releases { .. }) => break,
            Err(error) => return Err(failed(error)),
        }
        made = count;
    }
    let against = "efface `solve`, secret state";
    Ok(Outcome::certain(against, "releases without a refresh", made as f64, COVERED as f64)
        .by("R = 3 releases jointly, the next is refused"))
}
