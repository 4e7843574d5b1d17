//! Figures 3c and 5a: accuracy after a batch is forgotten, with the steps that each bound asks for.

use efface::Result;
use efface_learn::{Constants, Dataset, Loss};
use serde::Deserialize;
use serde_json::json;

use super::tight;
use crate::reproduce::bench::Bench;
use crate::reproduce::memory::{self, spread};
use crate::reproduce::outcome::{Outcome, number};
use crate::reproduce::{Experiment, account};
use crate::trial::draws::generator;
use crate::trial::{Engine, Release, Rows, Stop};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    lambda_per_record: f64,
    learning: u64,
    /// Noises at which `group` records are forgotten with epsilon 1.
    sigmas: Vec<f64>,
    group: u64,
    /// The noise at which groups of these sizes are forgotten with these epsilons.
    sigma: f64,
    groups: Vec<u64>,
    epsilons: Vec<f64>,
    #[serde(default)]
    rows: Option<usize>,
}

/// One batch to forget.
#[derive(Debug, Clone, Copy)]
struct Batch {
    sigma: f64,
    group: u64,
    epsilon: f64,
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (_, split) = bench.data(grid.rows)?;
    let (experiment, rows) = (bench.experiment, &split.train);
    let (n, data) = (rows.len(), rows.dataset()?);
    let lambda = grid.lambda_per_record * n as f64;
    let constants = memory::constants(rows, Loss::Logistic, lambda)?;
    let eta = (1.0 / constants.total_smoothness()).next_down();
    let columns =
        ["sigma", "S", "epsilon", "bound", "K", "accuracy before", "accuracy after", "retrained"];
    let mut outcome = Outcome::of(&columns);

    let setting = Setting {
        experiment,
        grid,
        rows,
        data: &data,
        constants: &constants,
        eta,
        stop: bench.stop,
    };
    let mut serve = |batches: &[Batch], outcome: &mut Outcome| -> Result<Vec<[f64; 2]>> {
        let mut accuracies = Vec::new();
        // The model of one noise is learnt once for all its batches.
        let firsts = setting.first(batches[0].sigma)?;
        for batch in batches {
            let Batch { sigma, group, epsilon } = *batch;
            let counts = setting.steps(*batch)?;
            let mut results = [0.0; 2];
            for (place, steps) in counts.into_iter().enumerate() {
                let bound = if place == 0 { "published" } else { "tight" };
                let told =
                    format!("sigma {sigma}, S = {group}, epsilon {epsilon}, {bound}: K = {steps}");
                bench.say(&told)?;
                let (mut before, mut after, mut anew) = (Vec::new(), Vec::new(), Vec::new());
                for (first, &seed) in firsts.iter().zip(&experiment.seeds) {
                    let [second, other] = setting.after(*batch, steps, first, seed)?;
                    for (list, weights) in [
                        (&mut before, &first.weights),
                        (&mut after, &second.weights),
                        (&mut anew, &other.weights),
                    ] {
                        list.push(split.test.accuracy(Loss::Logistic, weights)?);
                    }
                }
                results[place] = spread(&after).0;
                let key = format!("{sigma}-{group}-{epsilon}-{bound}");
                outcome.measure(key.clone(), results[place]);
                outcome.measure(format!("{key}-loss"), spread(&anew).0 - results[place]);
                outcome.row([
                    number(sigma),
                    group.to_string(),
                    number(epsilon),
                    bound.to_owned(),
                    steps.to_string(),
                    number(spread(&before).0),
                    number(results[place]),
                    number(spread(&anew).0),
                ]);
            }
            accuracies.push(results);
        }
        Ok(accuracies)
    };

    for &sigma in &grid.sigmas {
        serve(&[Batch { sigma, group: grid.group, epsilon: 1.0 }], &mut outcome)?;
    }
    let groups = grid.groups.iter();
    let batches: Vec<Batch> = grid
        .epsilons
        .iter()
        .flat_map(|&epsilon| {
            groups.clone().map(move |&group| Batch { sigma: grid.sigma, group, epsilon })
        })
        .collect();
    let (mut lowest, mut highest) = (1.0_f64, 0.0_f64);
    for accuracy in serve(&batches, &mut outcome)?.into_iter().flatten() {
        (lowest, highest) = (lowest.min(accuracy), highest.max(accuracy));
    }
    outcome.measure("groups-lowest", lowest);
    outcome.measure("groups-spread", highest - lowest);

    Ok(outcome)
}

/// What every batch has in common.
struct Setting<'a> {
    experiment: &'a Experiment,
    grid: &'a Grid,
    rows: &'a Rows,
    data: &'a Dataset,
    constants: &'a Constants,
    eta: f64,
    stop: Stop,
}

impl Setting<'_> {
    /// Noisy descent with so many steps for a request.
    fn engine(&self, sigma: f64, removal: u64) -> Result<Engine> {
        let steps = (self.grid.learning, removal);
        memory::noisy(self.constants, self.eta, sigma, steps, self.stop)
    }

    /// The first model of each seed.
    fn first(&self, sigma: f64) -> Result<Vec<Release>> {
        let engine = self.engine(sigma, 1)?;
        let seeds = self.experiment.seeds.iter();
        seeds.map(|&seed| engine.train(self.data, &mut generator(seed, 3))).collect()
    }

    /// Steps by the published and by the tight bound.
    fn steps(&self, batch: Batch) -> Result<[u64; 2]> {
        let n = self.rows.len();
        let asked = json!({ "n": n, "strong_convexity": self.constants.strong_convexity(),
            "lipschitz": 1, "eta": self.eta, "sigma": batch.sigma, "group": batch.group,
            "steps": 0, "delta": 1.0 / n as f64, "target_epsilon": batch.epsilon });
        let published = account::number("langevin", &asked, "least_steps_for_target")? as u64;
        let inputs = asked.as_object().cloned().unwrap_or_default();
        Ok([published, tight::steps(&inputs, 1)?])
    }

    /// The model after the request, and one learnt from the changed data alone.
    fn after(&self, batch: Batch, steps: u64, first: &Release, seed: u64) -> Result<[Release; 2]> {
        let mut rng = generator(seed, 8);
        let engine = self.engine(batch.sigma, steps)?;
        let gone = self.rows.picked(batch.group as usize);
        let rest = memory::replaced(self.rows, &gone, 2, &mut rng)?.dataset()?;
        let second = engine.request(&rest, first, (gone.len(), batch.group), &mut rng)?;
        Ok([second, engine.train(&rest, &mut rng)?])
    }
}
