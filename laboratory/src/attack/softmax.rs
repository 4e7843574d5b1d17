//! Clipping the gradient of each record of a softmax model: the clipped gradient is not the gradient of a
//! convex function, and a step may expand where the published analysis says that it contracts.
//!
//! With S the Hessian of one record's loss in the scores, u the direction of its gradient g and h < |g| the clip,
//! the clipped gradient has the Jacobian (h/|g|)(I - u u^T) S: a product of two symmetric matrices that do not
//! commute, whose symmetric part has negative eigenvalues. For losses of one score, clipping only
//! flattens the link, and nothing of the kind can happen.

use efface::{Code, Result, Settings, Source};
use efface_learn::{Constants, Loss, Objective};
use rand_chacha::ChaCha20Rng;

use super::{Attack, Outcome, Setup};
use crate::trial::draws::normal;
use crate::trial::engine::{constants, line};
use crate::trial::failed;

pub(super) const ATTACK: Attack = Attack {
    name: "softmax-clipping",
    target: "noisy gradient descent on softmax with clipped gradients of records",
    adversary: "chooses the data and two models",
    reason: "a clipped matrix gradient is not monotone",
    source: "chourasia2023, Lemma F.3 and chien2024's clipping, corrected",
    run,
};

const CLASSES: usize = 5;
const LAMBDA: f64 = 0.01;
/// Scores at which the expansion is nearly largest: the label's class, one likely class, and three
/// of equal probability.
const SCORES: [f64; CLASSES] = [-32.0, 0.0, -2.087, -2.087, -2.087];
/// Models tried against the real engine.
const PAIRS: u64 = 2_000;

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    // One record with |x| = 1: smoothness 1/2, step 1/L.
    let step = 1.0 / (0.5 + LAMBDA);
    let claimed = 1.0 - step * LAMBDA;
    let mut outcomes = vec![
        Outcome::certain(
            "a softmax step with clipped gradients",
            "expansion",
            clipped_expansion(step),
            claimed,
        )
        .by("contraction 1 - eta lambda")
        .must_break(),
    ];
    let softmax = constants(Loss::Softmax { classes: CLASSES }, 1, LAMBDA, 1)?;
    let clipped = constants(Loss::Squared { clip: 0.3 }, 1, LAMBDA, 1)?;
    for (name, constants) in [
        ("efface's softmax step, rows bounded", softmax),
        ("efface's squared step, residuals clipped", clipped),
    ] {
        outcomes.push(engine_expansion(name, &constants, setup)?);
    }
    outcomes.push(accepted_clips(setup)?);
    Ok(outcomes)
}

/// By how much a step of the clipped gradient moves two near models apart, in the worst direction.
fn clipped_expansion(step: f64) -> f64 {
    let full = gradient(&SCORES);
    let clip = norm(&full) * (1.0 - 1e-6);
    let moved = |w: &[f64]| -> Vec<f64> {
        let g = gradient(w);
        let scale = (clip / norm(&g)).min(1.0);
        w.iter().zip(&g).map(|(w, g)| w - step * (scale * g + LAMBDA * w)).collect()
    };
    // The largest singular value of the step's Jacobian by power iteration on differences.
    const NEAR: f64 = 1e-7;
    let from = moved(&SCORES);
    let jacobian: Vec<Vec<f64>> = (0..CLASSES)
        .map(|k| {
            let mut w = SCORES;
            w[k] += NEAR;
            moved(&w).iter().zip(&from).map(|(a, b)| (a - b) / NEAR).collect()
        })
        .collect();
    let mut v = [1.0, -0.5, 0.3, 0.2, 0.1];
    for _ in 0..2_000 {
        let mapped: Vec<f64> =
            (0..CLASSES).map(|i| (0..CLASSES).map(|k| jacobian[k][i] * v[k]).sum()).collect();
        for (k, row) in jacobian.iter().enumerate() {
            v[k] = row.iter().zip(&mapped).map(|(a, b)| a * b).sum();
        }
        let size = norm(&v);
        v.iter_mut().for_each(|x| *x /= size);
    }
    // Not the estimate of the iteration: two models, and how far the step takes them.
    let mut other = SCORES;
    other.iter_mut().zip(&v).for_each(|(w, v)| *w += 1e-6 * v);
    distance(&moved(&other), &from) / distance(&other, &SCORES)
}

/// p - e_0, the gradient of one record's loss in the scores.
fn gradient(scores: &[f64]) -> Vec<f64> {
    let top = scores.iter().fold(f64::MIN, |m, s| m.max(*s));
    let sum: f64 = scores.iter().map(|s| (s - top).exp()).sum();
    let class = |k: usize| f64::from(u8::from(k == 0));
    scores.iter().enumerate().map(|(k, s)| (s - top).exp() / sum - class(k)).collect()
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The largest factor by which the engine's own gradient step moved random pairs of models apart.
fn engine_expansion(name: &str, constants: &Constants, setup: &Setup) -> Result<Outcome> {
    let data = line([0.0])?;
    let objective = Objective::new(constants, &data).map_err(failed)?;
    let step = 1.0 / constants.total_smoothness();
    let moved = |w: &[f64]| -> Result<Vec<f64>> {
        let at = objective.evaluate(w).map_err(failed)?;
        Ok(w.iter().zip(&at.gradient).map(|(w, g)| w - step * g).collect())
    };
    let mut rng: ChaCha20Rng = setup.generator(0, false);
    let mut largest = 0.0_f64;
    for _ in 0..PAIRS {
        let spread = 3.0 * normal(&mut rng);
        let w: Vec<f64> = (0..constants.parameters()).map(|_| spread * normal(&mut rng)).collect();
        let toward: Vec<f64> = w.iter().map(|_| normal(&mut rng)).collect();
        let size = norm(&toward);
        let other: Vec<f64> = w.iter().zip(&toward).map(|(w, t)| w + 1e-3 * t / size).collect();
        largest = largest.max(distance(&moved(&w)?, &moved(&other)?) / distance(&w, &other));
    }
    // Models a thousandth apart: their distances are exact to about 1e-11.
    let outcome = Outcome::certain(name, "expansion", largest, constants.contraction(step) + 1e-9);
    Ok(Outcome { trials: PAIRS, ..outcome.by("contraction of the accountant") })
}

/// How many softmax models with a clip the engine agrees to train.
fn accepted_clips(setup: &Setup) -> Result<Outcome> {
    let mut accepted = 0_u32;
    for mechanism in ["noisy-gd", "solve"] {
        let mut sandbox = setup.sandbox()?;
        let table = sandbox.write("data.csv", "y,x\na,1\nb,0.5\nc,-1\na,0.2\nb,-0.3\nc,0.7\n")?;
        let source = Source { path: Some(table), label: Some("y".into()), ..Source::default() };
        let settings = Settings {
            mechanism: Some(mechanism.into()),
            loss: Some("softmax".into()),
            clip: Some(0.5),
            lambda: Some(LAMBDA),
            ..Settings::default()
        };
        let vault = sandbox.path("model.efface");
        match sandbox.run(|s| efface::train(&source, settings, &vault, s)) {
            Ok(_) => accepted += 1,
            Err(error)
                if error.code() == Code::Settings && error.to_string().contains("`clip`") => {}
            Err(error) => return Err(error),
        }
    }
    let against = "efface, asked to clip a softmax model";
    Ok(Outcome::certain(against, "clipped models trained, of 2", f64::from(accepted), 0.0)
        .by("refused: rows are bounded instead"))
}
