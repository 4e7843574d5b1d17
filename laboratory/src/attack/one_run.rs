//! One-run auditing (Steinke, Nasr, Jagielski 2023): many canaries, each in the data by a coin of its own, one
//! training, and a guess for each.
//!
//! If the training is (epsilon, delta)-DP, the guesses are right no more often than r coins that fall right with
//! probability e^epsilon/(1 + e^epsilon), but for 2 m delta (their Theorem 5.2 with its factor alpha <= 1). delta is so
//! small here that this is part of the error of the bound.

use efface::{Error, Result};
use efface_learn::mechanism::retrain;
use efface_learn::solver::Solver;
use efface_learn::{Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::claim::Question;
use efface_privacy::event::{Adjacency, Event, Normalizer, Procedure, State};

use super::outcome::ERROR;
use super::promise::claim;
use super::{Attack, Outcome, Setup};
use crate::trial::draws::{coin, normal, unit};
use crate::trial::engine::{declared, output_noise};
use crate::trial::{failed, until};
use efface_audit::statistics::lower;

pub(super) const ATTACK: Attack = Attack {
    name: "one-run",
    target: "a model whose noise is a twentieth of what its event states",
    adversary: "plants 2000 canaries, each with a column of its own and each in the data by a coin; \
                sees one release of one training",
    reason: "the weight of a canary's column says whether it was there",
    source: "Steinke, Nasr, Jagielski 2023, Theorem 5.2",
    run,
};

const CANARIES: usize = 2_000;
/// Ordinary columns and records beside the canaries'.
const ORDINARY: usize = 10;
const DELTA: f64 = 1e-12;
const LAMBDA: f64 = 0.01;
/// N: with lambda N = 10 one record moves the optimum by at most 1/10.
const N: u64 = 1_000;

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    // Noise for mu of about 1/2, 1 and 3.
    for sigma in [0.2, 0.1, 1.0 / 30.0] {
        outcomes.push(audit(sigma, 1.0, setup)?);
    }
    outcomes.push(audit(0.2, 1.0 / 20.0, setup)?.must_break());
    Ok(outcomes)
}

/// Trains with a `share` of the noise that is claimed, and bounds epsilon from below.
fn audit(sigma: f64, share: f64, setup: &Setup) -> Result<Outcome> {
    let capacity = (CANARIES + ORDINARY * ORDINARY) as u64;
    let cols = ORDINARY + CANARIES;
    let normalizer = Normalizer::Fixed { n: N, capacity };
    let public = Declared { normalizer, ..declared(Loss::Logistic, cols, LAMBDA, N) };
    let constants = public.check().map_err(failed)?;
    let plan = |sigma| {
        let plan = output_noise(sigma, 1e-4, (State::Perfect, 1), Solver::Lbfgs)?;
        plan.check(&constants, 0).map_err(failed)
    };
    let mut rng = setup.generator(0, false);
    let mut data = Dataset::new(Matrix::sparse(cols), Vec::new()).map_err(failed)?;
    for _ in 0..ORDINARY * ORDINARY {
        let row: Vec<f64> = (0..ORDINARY).map(|_| normal(&mut rng)).collect();
        let indices: Vec<u32> = (0..ORDINARY as u32).collect();
        push(&mut data, &indices, &unit(&row), f64::from(u8::from(row[0] > 0.0)))?;
    }
    let inside: Vec<bool> = (0..CANARIES).map(|_| coin(&mut rng)).collect();
    for canary in (0..CANARIES).filter(|canary| inside[*canary]) {
        push(&mut data, &[(ORDINARY + canary) as u32], &[1.0], 1.0)?;
    }
    let objective = Objective::new(&constants, &data).map_err(failed)?;
    // One long training: it is watched itself.
    let watch = &mut until(setup.stop);
    let released = retrain::retrain(&objective, &plan(sigma * share)?, 1, &mut rng, watch)
        .map_err(|error| if (setup.stop)() { Error::interrupted() } else { failed(error) })?;
    let stated = plan(sigma)?.event(&constants, data.rows(), Procedure::Retrain, 1);
    let event = Event::OutputNoise(stated);
    let question = Question::Differential { delta: DELTA, adjacency: Adjacency::Remove };
    let claimed = claim(Some(&event), &question)?;

    // The quarter with the largest weights is guessed in, the quarter with the smallest out.
    let mut order: Vec<usize> = (0..CANARIES).collect();
    let weight = |canary: usize| released.weights[ORDINARY + canary];
    order.sort_unstable_by(|a, b| weight(*b).total_cmp(&weight(*a)));
    let quarter = CANARIES / 4;
    let (top, bottom) = (&order[..quarter], &order[CANARIES - quarter..]);
    let right =
        top.iter().filter(|c| inside[**c]).count() + bottom.iter().filter(|c| !inside[**c]).count();
    let guesses = 2 * quarter as u64;
    let error = ERROR - 2.0 * CANARIES as f64 * DELTA;
    let odds = |p: f64| (p / (1.0 - p)).ln();
    let name = if share < 1.0 {
        format!("noise a twentieth of what is claimed ({sigma:.3})")
    } else {
        format!("efface `retrain`, noise {sigma:.3}")
    };
    let least = lower(right as u64, guesses, error);
    Ok(Outcome {
        trials: guesses,
        // Half a guess more of each kind keeps it finite.
        measured: odds((right as f64 + 0.5) / (guesses + 1) as f64).max(0.0),
        lower: Some(odds(least).max(0.0)),
        ..Outcome::certain(&name, "epsilon", 0.0, claimed.epsilon.0)
    }
    .by(format!("differential privacy at delta {DELTA:e}")))
}

fn push(data: &mut Dataset, indices: &[u32], values: &[f32], y: f64) -> Result<()> {
    data.push(Row::Sparse { indices, values }, y).map_err(failed)
}
