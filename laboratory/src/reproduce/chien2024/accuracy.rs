//! Figures 3a and 5b: accuracy against epsilon when one record is forgotten by one noisy step, or by
//! a few steps of descent-to-delete.

use efface::Result;
use efface_learn::{Constants, Loss};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::tight;
use crate::reproduce::bench::Bench;
use crate::reproduce::data::Split;
use crate::reproduce::memory::{self, spread};
use crate::reproduce::outcome::{Outcome, number};
use crate::reproduce::{Experiment, account};
use crate::trial::draws::generator;

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    /// lambda over n.
    lambda_per_record: f64,
    /// Classes; two are learnt by the logistic loss.
    classes: usize,
    epsilons: Vec<f64>,
    /// Steps of descent-to-delete for the request.
    iterations: Vec<u64>,
    /// Steps of learning.
    learning: u64,
    /// Draws of the noise of descent-to-delete.
    draws: usize,
    #[serde(default)]
    rows: Option<usize>,
}

/// The published bound, or the sharper one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Published,
    Tight,
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let mut outcome =
        Outcome::of(&["bound", "method", "epsilon", "sigma", "accuracy", "deviation"]);
    let (_, split) = bench.data(grid.rows)?;
    let loss = match grid.classes {
        2 => Loss::Logistic,
        classes => Loss::Softmax { classes },
    };
    let lambda = grid.lambda_per_record * split.train.len() as f64;
    let constants = memory::constants(&split.train, loss, lambda)?;
    bench.say("the optimum")?;
    let optimum = memory::optimum(&constants, &split.train.dataset()?, 1e-6, None, bench.stop)?;
    let best = split.test.accuracy(loss, &optimum)?;
    let (experiment, split) = (bench.experiment, &split);
    let problem =
        Problem { experiment, grid, split, loss, constants: &constants, optimum: &optimum };
    outcome.remarks.push(format!(
        "{} rows, L/m = {}; M = {}, L = {} from rows of length 1 alone. The optimum without noise has an \
         accuracy of {}.",
        split.train.len(),
        number(constants.total_smoothness() / lambda),
        number(constants.lipschitz()),
        number(constants.total_smoothness()),
        number(best)
    ));

    outcome.measure("noiseless", best);
    for bound in [Bound::Published, Bound::Tight] {
        let word = if bound == Bound::Published { "published" } else { "tight" };
        let mut lines = vec![("Langevin, K = 1".to_owned(), problem.langevin(bound, bench)?)];
        for &iterations in &grid.iterations {
            let name = format!("descent-to-delete, I = {iterations}");
            bench.say(&format!("{name}, {word}"))?;
            lines.push((name, problem.descent(bound, iterations)?));
        }
        for (place, (name, points)) in lines.into_iter().enumerate() {
            for point in &points {
                let numbers = [point.epsilon, point.sigma, point.mean, point.deviation].map(number);
                outcome.row([word.to_owned(), name.clone()].into_iter().chain(numbers));
                outcome.measure(format!("{word}-{place}-{}", point.epsilon), point.mean);
            }
        }
    }
    compare(grid, &mut outcome);
    Ok(outcome)
}

/// How far noisy descent is ahead of each descent-to-delete at its worst epsilon from 0.1 on.
fn compare(grid: &Grid, outcome: &mut Outcome) {
    for word in ["published", "tight"] {
        for place in 1..=grid.iterations.len() {
            let gaps = grid.epsilons.iter().filter(|epsilon| **epsilon >= 0.1).map(|epsilon| {
                let of = |line: usize| outcome.measured[&format!("{word}-{line}-{epsilon}")];
                of(0) - of(place)
            });
            let least = gaps.fold(f64::INFINITY, f64::min);
            outcome.measure(format!("{word}-ahead-{}", grid.iterations[place - 1]), least);
            if let Some(epsilon) = grid.epsilons.iter().find(|epsilon| **epsilon >= 0.1) {
                let of = |line: usize| outcome.measured[&format!("{word}-{line}-{epsilon}")];
                let ahead = of(0) - of(place);
                outcome.measure(format!("{word}-low-ahead-{}", grid.iterations[place - 1]), ahead);
            }
        }
        let first =
            grid.epsilons.iter().copied().find(|epsilon| *epsilon >= 0.1).unwrap_or(f64::NAN);
        let last = grid.epsilons.last().copied().unwrap_or(f64::NAN);
        for (name, epsilon) in [("low", first), ("high", last)] {
            if let Some(&value) = outcome.measured.get(&format!("{word}-0-{epsilon}")) {
                outcome.measure(format!("{word}-langevin-{name}"), value);
                if word == "published" {
                    outcome
                        .measure(format!("behind-{name}"), outcome.measured["noiseless"] - value);
                }
            }
        }
    }
}

struct Problem<'a> {
    experiment: &'a Experiment,
    grid: &'a Grid,
    split: &'a Split,
    loss: Loss,
    constants: &'a Constants,
    optimum: &'a [f64],
}

struct Point {
    epsilon: f64,
    sigma: f64,
    mean: f64,
    deviation: f64,
}

impl Problem<'_> {
    fn accuracy(&self, weights: &[f64]) -> Result<f64> {
        self.split.test.accuracy(self.loss, weights)
    }

    /// Inputs of the accountants.
    fn inputs(&self, epsilon: f64) -> Map<String, Value> {
        let (n, m) = (self.split.train.len(), self.constants.strong_convexity());
        let asked = json!({ "n": n, "strong_convexity": m, "lipschitz": self.constants.lipschitz(),
            "eta": self.eta(), "group": 1, "steps": 1, "target_epsilon": epsilon,
            "delta": 1.0 / n as f64 });
        asked.as_object().cloned().unwrap_or_default()
    }

    fn eta(&self) -> f64 {
        (1.0 / self.constants.total_smoothness()).next_down()
    }

    fn langevin(&self, bound: Bound, bench: &mut Bench<'_>) -> Result<Vec<Point>> {
        let data = self.split.train.dataset()?;
        let mut points = Vec::new();
        for &epsilon in &self.grid.epsilons {
            bench.say(&format!("Langevin, epsilon {epsilon}, {bound:?}"))?;
            let inputs = self.inputs(epsilon);
            let sigma = match bound {
                Bound::Published => {
                    account::number("langevin-least-sigma", &inputs.into(), "sigma")?
                }
                Bound::Tight => tight::sigma(&inputs)?,
            };
            let (eta, steps) = (self.eta(), (self.grid.learning, 1));
            let engine = memory::noisy(self.constants, eta, sigma, steps, bench.stop)?;
            let mut measured = Vec::new();
            for &seed in &self.experiment.seeds {
                let mut rng = generator(seed, 1);
                let first = engine.train(&data, &mut rng)?;
                let gone = self.split.train.picked(seed as usize + 1)[seed as usize];
                let classes = self.grid.classes as u64;
                let after = memory::replaced(&self.split.train, &[gone], classes, &mut rng)?;
                let second = engine.request(&after.dataset()?, &first, (1, 1), &mut rng)?;
                measured.push(self.accuracy(&second.weights)?);
            }
            let (mean, deviation) = spread(&measured);
            points.push(Point { epsilon, sigma, mean, deviation });
        }
        Ok(points)
    }

    fn descent(&self, bound: Bound, iterations: u64) -> Result<Vec<Point>> {
        let (m, smooth) = (self.constants.strong_convexity(), self.constants.total_smoothness());
        let eta = 2.0 / (smooth + m);
        let seed = self.experiment.seeds.first().copied().unwrap_or(1);
        let mut rng = generator(seed, 2);
        // Descent for as long as the paper learns ends at the optimum, to far below the noise.
        let learnt = self.optimum.to_vec();
        let gone = self.split.train.picked(1);
        let classes = self.grid.classes as u64;
        let after = memory::replaced(&self.split.train, &gone, classes, &mut rng)?.dataset()?;
        let weights = memory::descend(self.constants, &after, eta, iterations, learnt)?;
        let mut points = Vec::new();
        for &epsilon in &self.grid.epsilons {
            let n = self.split.train.len();
            let asked = json!({ "lipschitz": self.constants.lipschitz(), "strong_convexity": m,
                "smoothness": smooth, "n": n, "d": self.constants.parameters(),
                "epsilon": epsilon, "delta": 1.0 / n as f64, "iterations": iterations,
                "diameter": 100 });
            let sigma = match (bound, asked.as_object()) {
                (Bound::Tight, Some(inputs)) => tight::descent_noise(inputs)?,
                _ => account::number("descent-to-delete", &asked, "thm31_sigma")?,
            };
            let draws = (0..self.grid.draws)
                .map(|_| self.accuracy(&memory::perturbed(&weights, sigma, &mut rng)));
            let (mean, deviation) = spread(&draws.collect::<Result<Vec<f64>>>()?);
            points.push(Point { epsilon, sigma, mean, deviation });
        }
        Ok(points)
    }
}
