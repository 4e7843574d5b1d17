//! Figures 1 and 4 (right): accuracy against the removals that a perturbation supports.

use efface::Result;
use efface_learn::{Constants, Dataset, Loss};
use serde::Deserialize;

use super::influence;
use super::perturbed::{constants, perturbed_objective, tail, train};
use crate::reproduce::bench::Bench;
use crate::reproduce::data::Split;
use crate::reproduce::outcome::{Outcome, number};
use crate::trial::Stop;

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    lambdas: Vec<f64>,
    sigmas: Vec<f64>,
    epsilons: Vec<f64>,
    /// Removals to be supported where epsilon varies.
    removals: f64,
    delta: f64,
    /// Records whose bound is averaged.
    sample: usize,
    #[serde(default)]
    rows: Option<usize>,
}

/// A model at one lambda and sigma.
struct Trained {
    accuracy: f64,
    /// Mean of the published bound over the sample.
    share: f64,
}

struct Problem<'a> {
    grid: &'a Grid,
    split: &'a Split,
    data: &'a Dataset,
    seeds: &'a [u64],
    stop: Stop,
}

impl Problem<'_> {
    /// Trains with this perturbation; the accuracy is the mean over the seeds.
    fn train(&self, constants: &Constants, sigma: f64) -> Result<Trained> {
        let positions = self.split.train.picked(self.grid.sample);
        let (mut accuracy, mut share) = (0.0, 0.0);
        for &seed in self.seeds {
            let (weights, b) = train(constants, self.data, sigma, seed, self.stop)?;
            accuracy += self.split.test.accuracy(Loss::Logistic, &weights)?;
            let objective = perturbed_objective(constants, self.data, &b)?;
            let found = influence::of(&objective, self.data, &weights, &positions)?;
            share += found.shares.iter().sum::<f64>() / found.shares.len() as f64;
        }
        let count = self.seeds.len() as f64;
        Ok(Trained { accuracy: accuracy / count, share: share / count })
    }
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (set, split) = bench.data(grid.rows)?;
    let data = split.train.dataset()?;
    let (seeds, stop) = (&bench.experiment.seeds, bench.stop);
    let problem = Problem { grid, split: &split, data: &data, seeds, stop };
    let c = tail(grid.delta);
    let columns = ["lambda", "sigma", "epsilon", "accuracy", "mean bound", "removals"];
    let mut outcome = Outcome::of(&columns);
    let mut best = 0.0_f64;
    for &lambda in &grid.lambdas {
        let constants = constants(&split.train, lambda)?;
        for &sigma in &grid.sigmas {
            bench.say(&format!("{}: lambda {lambda}, sigma {sigma}", set.title()))?;
            let trained = problem.train(&constants, sigma)?;
            let removals = sigma / c / trained.share;
            let cells = [lambda, sigma, 1.0, trained.accuracy, trained.share, removals];
            outcome.row(cells.map(number));
            outcome.measure(format!("accuracy-{lambda}-{sigma}"), trained.accuracy);
            outcome.measure(format!("removals-{lambda}-{sigma}"), removals);
            best = best.max(trained.accuracy);
        }
        // The bound hardly depends on the perturbation: that of the least noise chooses sigma.
        let share = problem.train(&constants, grid.sigmas[0])?.share;
        for &epsilon in &grid.epsilons {
            let sigma = grid.removals * share * c / epsilon;
            let trained = problem.train(&constants, sigma)?;
            let removals = sigma * epsilon / c / trained.share;
            let cells = [lambda, sigma, epsilon, trained.accuracy, trained.share, removals];
            outcome.row(cells.map(number));
        }
    }
    outcome.measure("best", best);
    // The most removals at an accuracy of at most 0.05 below the best.
    let close = |name: &str, floor: f64| {
        let keep = |&(lambda, sigma): &(f64, f64)| {
            outcome.measured[&format!("accuracy-{lambda}-{sigma}")] >= floor
        };
        let pairs = grid.lambdas.iter().flat_map(|l| grid.sigmas.iter().map(|s| (*l, *s)));
        let removals =
            pairs.filter(keep).map(|(l, s)| outcome.measured[&format!("{name}-{l}-{s}")]);
        removals.fold(0.0, f64::max)
    };
    let most = close("removals", best - 0.053);
    outcome.measure("most-removals", most);
    if let [first, .., last] = grid.lambdas[..] {
        let sigma = grid.sigmas[grid.sigmas.len() - 1];
        let of = |lambda: f64| outcome.measured[&format!("removals-{lambda}-{sigma}")];
        let gain = of(last) / of(first);
        outcome.measure("gain-of-lambda", gain);
        let low = grid.sigmas[0];
        let drop = outcome.measured[&format!("accuracy-{first}-{low}")]
            - outcome.measured[&format!("accuracy-{first}-{sigma}")];
        outcome.measure("drop-of-sigma", drop);
    }
    Ok(outcome)
}
