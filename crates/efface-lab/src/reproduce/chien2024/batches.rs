//! Figures 3c and 5a: accuracy after a batch is forgotten, with the steps that each bound asks for.

use efface::Result;
use efface::below::learn::Loss;
use serde::Deserialize;
use serde_json::json;

use super::tight;
use crate::figure::{Axis, Figure, Panel, Series};
use crate::reproduce::bench::Bench;
use crate::reproduce::memory::{self, Noisy, generator, moments};
use crate::reproduce::outcome::{Outcome, Sheet, number};
use crate::reproduce::{Experiment, account};

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

pub(crate) fn run(experiment: &Experiment, grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let set = experiment.sets()[0];
    let all = bench.shelf.load(set)?;
    let rows = all.train.thinned(grid.rows);
    let (n, data) = (rows.len(), rows.dataset()?);
    let lambda = grid.lambda_per_record * n as f64;
    let constants = memory::constants(&rows, Loss::Logistic, lambda)?;
    let eta = (1.0 / constants.total_smoothness()).next_down();
    let columns =
        ["sigma", "S", "epsilon", "bound", "K", "accuracy before", "accuracy after", "retrained"];
    let mut sheet = Sheet::new("", &columns);

    // The learnt models of each noise serve every batch, and so do the models of the other data.
    let mut serve = |batch: Batch, outcome: &mut Outcome| -> Result<[(u64, f64); 2]> {
        let Batch { sigma, group, epsilon } = batch;
        let asked = json!({ "n": n, "strong_convexity": lambda, "lipschitz": 1, "eta": eta,
            "sigma": sigma, "group": group, "steps": 0, "delta": 1.0 / n as f64,
            "target_epsilon": epsilon });
        let published = account::number("langevin", &asked, "least_steps_for_target")? as u64;
        let inputs = asked.as_object().cloned().unwrap_or_default();
        let sharp = tight::steps(&inputs, 1)?;
        let mut results = [(published, 0.0), (sharp, 0.0)];
        for (place, (steps, mean)) in results.iter_mut().enumerate() {
            let bound = if place == 0 { "published" } else { "tight" };
            bench.say(&format!(
                "sigma {sigma}, S = {group}, epsilon {epsilon}, {bound}: K = {steps}"
            ))?;
            let plan = memory::noisy_plan(&constants, eta, sigma, grid.learning, *steps)?;
            let (mut before, mut after, mut anew) = (Vec::new(), Vec::new(), Vec::new());
            for &seed in &experiment.seeds {
                let mut rng = generator(seed, 3);
                let first = Noisy::learn(&constants, &data, &plan, &mut rng)?;
                let gone = rows.picked(group as usize);
                let rest = memory::replaced(&rows, &gone, 2, &mut rng)?.dataset()?;
                let second = first.request(&constants, &rest, &plan, group, &mut rng)?;
                let other = Noisy::learn(&constants, &rest, &plan, &mut rng)?;
                for (list, weights) in
                    [(&mut before, &first), (&mut after, &second), (&mut anew, &other)]
                {
                    list.push(all.test.accuracy(Loss::Logistic, &weights.weights)?);
                }
            }
            *mean = moments(&after).0;
            let key = format!("{sigma}-{group}-{epsilon}-{bound}");
            outcome.measure(key.clone(), *mean);
            outcome.measure(format!("{key}-loss"), moments(&anew).0 - *mean);
            sheet.row([
                number(sigma),
                group.to_string(),
                number(epsilon),
                bound.to_owned(),
                steps.to_string(),
                number(moments(&before).0),
                number(*mean),
                number(moments(&anew).0),
            ]);
        }
        Ok(results)
    };

    let (mut by_noise, mut lowest, mut highest) = (Vec::new(), 1.0_f64, 0.0_f64);
    for &sigma in &grid.sigmas {
        let batch = Batch { sigma, group: grid.group, epsilon: 1.0 };
        by_noise.push((sigma, serve(batch, &mut outcome)?));
    }
    let mut by_group = Vec::new();
    for &epsilon in &grid.epsilons {
        for &group in &grid.groups {
            let results = serve(Batch { sigma: grid.sigma, group, epsilon }, &mut outcome)?;
            for (_, accuracy) in results {
                (lowest, highest) = (lowest.min(accuracy), highest.max(accuracy));
            }
            by_group.push((epsilon, group, results));
        }
    }
    outcome.measure("groups-lowest", lowest);
    outcome.measure("groups-spread", highest - lowest);
    outcome.sheets.push(sheet);

    let noise =
        ["steps by the published bound", "steps by the tight bound"].into_iter().enumerate();
    let left = Panel::new(
        format!("{} records at once, epsilon = 1", grid.group),
        Axis::log("sigma"),
        Axis::linear("test accuracy"),
    )
    .with_all(noise.map(|(place, name)| {
        let points = by_noise.iter().map(|(sigma, results)| (*sigma, results[place].1)).collect();
        Series::new(name, place, points)
    }));
    let right = Panel::new(
        format!("sigma = {}, steps by the tight bound", grid.sigma),
        Axis::linear("records at once"),
        Axis::linear("test accuracy").from(0.8, 1.0),
    )
    .with_all(grid.epsilons.iter().enumerate().map(|(place, epsilon)| {
        let points = by_group
            .iter()
            .filter(|(e, _, _)| e == epsilon)
            .map(|(_, group, results)| (*group as f64, results[1].1))
            .collect();
        Series::new(format!("epsilon = {epsilon}"), place + 2, points)
    }));
    let title = format!("{}: accuracy after a batch is forgotten, delta = 1/n", set.title());
    outcome.draw("", &Figure::new(title, vec![left, right]))?;
    Ok(outcome)
}
