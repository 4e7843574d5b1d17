//! Reconstruction of a deleted row from the models before and after (Bertran et al. 2024).
//!
//! With g the gradient of the deleted record's loss, the two optima differ by nearly H^-1 g/N, and g is a multiple
//! of the row. Whoever holds both models and a public sample, which gives H nearly, has the row up to its
//! length. Unlearning promises are about the model after alone: they do not exclude it. Only noise that
//! hides the record while it is there does, and that is differential privacy over both releases.

use efface::Result;
use efface_learn::{Loss, Objective};
use efface_privacy::claim::Question;
use efface_privacy::event::Adjacency;

use super::outcome::Tally;
use super::pool::Pool;
use super::promise::claim;
use super::{Attack, Outcome, Setup};
use crate::trial::engine::constants;
use crate::trial::{Engine, failed};

pub(super) const ATTACK: Attack = Attack {
    name: "reconstruction",
    target: "the belief that a certificate of unlearning covers who kept the model before",
    adversary: "sees the releases before and after one deletion, has a public sample of other records, \
                and must say which of two candidates was deleted",
    reason: "the Hessian times the difference of the models is the deleted row up to a factor",
    source: "Bertran et al. 2024",
    run,
};

const RECORDS: usize = 200;
const SAMPLE: usize = 400;
const LAMBDA: f64 = 0.02;
const DELTA: f64 = 1e-6;
/// Noise, in units of G/(lambda N), how far one record can move the optimum.
const NOISES: [f64; 6] = [1e-4, 1e-3, 0.03, 0.3, 3.0, 10.0];

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let pool = Pool::of(setup, RECORDS + 1 + SAMPLE)?;
    let public = constants(Loss::Logistic, pool.cols(), LAMBDA, RECORDS as u64)?;
    let reach = 1.0 / (LAMBDA * RECORDS as f64);
    let mut outcomes = Vec::new();
    for noise in NOISES {
        let engine = Engine::solve(&public, noise * reach, 0.005 * noise * reach)?;
        outcomes.extend(against(&engine, noise, &pool, setup)?);
    }
    Ok(outcomes)
}

/// The game at one noise: which candidate was deleted, and how like the row the estimate is.
fn against(engine: &Engine, noise: f64, pool: &Pool, setup: &Setup) -> Result<Vec<Outcome>> {
    let trials = setup.trials(300);
    let of_sample = constants(Loss::Logistic, pool.cols(), LAMBDA, SAMPLE as u64)?;
    let (mut likeness, mut event) = (0.0, None);
    let tally = Tally::of(setup, trials, |second, trial| {
        let mut rng = setup.generator(trial, second);
        let drawn = pool.draw(RECORDS + 1 + SAMPLE, &mut rng);
        let (records, sample) = drawn.split_at(RECORDS + 1);
        // The candidates are the first two; one of them is in the data, and then deleted.
        let (candidates, rest) = records.split_at(2);
        let gone = candidates[usize::from(second)];
        let with: Vec<usize> = [gone].into_iter().chain(rest.iter().copied()).collect();
        let before = engine.train(&pool.records(&with)?, &mut rng)?;
        let after = engine.request(&pool.records(rest)?, &before, (1, 0), &mut rng)?;

        let sample = pool.records(sample)?;
        let objective = Objective::new(&of_sample, &sample).map_err(failed)?;
        let moved: Vec<f64> =
            before.weights.iter().zip(&after.weights).map(|(b, a)| b - a).collect();
        let curvature = objective.curvature(&after.weights).map_err(failed)?;
        let estimate = objective.product(&curvature, &moved).map_err(failed)?;
        event.get_or_insert(after.event);
        let like = candidates.iter().map(|place| cosine(pool.record(*place), &estimate));
        let like: Vec<f64> = like.collect();
        likeness += like[usize::from(second)] / (2 * trials) as f64;
        Ok(like[1] > like[0])
    })?;
    let unlearning = claim(event.as_ref(), &Question::Indistinguishable { delta: DELTA })?;
    let both = Question::Differential { delta: DELTA, adjacency: Adjacency::Replace };
    let both = claim(event.as_ref(), &both)?;
    let name = format!("{}: noise {noise} of a record's reach", pool.name);
    let mut outcomes = Vec::new();
    if noise <= 1e-3 {
        outcomes.push(
            tally
                .advantage(&format!("{name}, unlearning alone"), unlearning.advantage.0)
                .by(format!(
                    "indistinguishable from retraining, epsilon {:.3}, taken for both models",
                    unlearning.epsilon.0
                ))
                .must_break(),
        );
    }
    // A bound that allows everything is no promise.
    if both.advantage.0 < 0.95 {
        outcomes.push(
            tally.advantage(&name, both.advantage.0).by(format!(
                "differential privacy of both releases, epsilon {:.3}",
                both.epsilon.0
            )),
        );
    }
    let measure = "mean cosine with the deleted row";
    outcomes.push(Outcome::measured(&name, measure, 2 * trials, likeness));
    Ok(outcomes)
}

/// Of the estimate and the row with its sign: the gradient points away from the label.
fn cosine((row, label): (&[f32], f64), estimate: &[f64]) -> f64 {
    let sign = 2.0 * label - 1.0;
    let (mut inner, mut a, mut b) = (0.0, 0.0, 0.0);
    for (x, e) in row.iter().zip(estimate) {
        let x = sign * f64::from(*x);
        inner += x * e;
        a += x * x;
        b += e * e;
    }
    if a * b > 0.0 { inner / (a * b).sqrt() } else { 0.0 }
}
