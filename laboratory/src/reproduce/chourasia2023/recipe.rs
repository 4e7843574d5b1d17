//! Theorem 5.1's recipe in practice: differential privacy, deletion privacy and accuracy together.

use efface::{Code, Error, Result};
use efface_learn::{Loss, Objective};
use serde::Deserialize;
use serde_json::json;

use crate::reproduce::account;
use crate::reproduce::bench::Bench;
use crate::reproduce::memory;
use crate::reproduce::outcome::{Outcome, number};
use crate::trial::draws::generator;
use crate::trial::{Release, failed};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    lambda: f64,
    q: f64,
    epsilons_dp: Vec<f64>,
    /// `epsilon_dd` is this part of `epsilon_dp`.
    part: f64,
    /// Requests of one replaced record each.
    requests: usize,
    #[serde(default)]
    rows: Option<usize>,
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (_, split) = bench.data(grid.rows)?;
    let rows = &split.train;
    let (n, d, data) = (rows.len(), rows.x.cols(), rows.dataset()?);
    let constants = memory::constants(rows, Loss::Logistic, grid.lambda)?;
    let objective = Objective::new(&constants, &data).map_err(failed)?;
    let best = memory::optimum(&constants, &data, 1e-6, None, bench.stop)?;
    let value = |weights: &[f64]| -> Result<f64> {
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        Ok(rows.log_loss(weights)? + 0.5 * grid.lambda * squares)
    };
    let floor = objective.evaluate(&best).map_err(failed)?.value;
    let optimum = split.test.accuracy(Loss::Logistic, &best)?;
    let columns = [
        "epsilon_dp",
        "epsilon_dd",
        "sigma",
        "K to learn",
        "K published",
        "K tight",
        "dp of one release, tight",
        "excess risk bound",
        "excess risk, published K",
        "excess risk, tight K",
        "accuracy, published K",
        "accuracy, tight K",
    ];
    let mut outcome = Outcome::of(&columns);
    let mut bounds_hold = 1.0_f64;
    for &epsilon_dp in &grid.epsilons_dp {
        let epsilon_dd = grid.part * epsilon_dp;
        bench.say(&format!("epsilon_dp {epsilon_dp}"))?;
        let recipe = account::ask(
            "deletion-rdp-recipe",
            &json!({ "lambda": grid.lambda, "beta": constants.smoothness(), "lipschitz": 1,
                "n": n, "d": d, "q": grid.q, "epsilon_dp": epsilon_dp, "epsilon_dd": epsilon_dd }),
        )?;
        let of = |name: &str| account::read(&recipe[name]);
        let (eta, sigma, bound) = (of("eta")?, of("sigma")?, of("excess_risk")?);
        let steps = of("deletion_steps")?.max(of("utility_steps")?) as u64;
        let learning = of("learning_steps")?.max(1.0) as u64;
        // Deletion privacy does not grow with later requests; DP is over the longest run.
        let sharp = |steps: u64, name: &str| {
            let asked = json!({ "n": n, "lambda": grid.lambda, "beta": constants.smoothness(),
                "lipschitz": 1, "eta": eta, "sigma": sigma, "learning_steps": learning,
                "unlearning_steps": steps, "group": 1, "adjacency": "replace",
                "delta": 1.0 / n as f64 });
            account::number("noisy-gd-gdp", &asked, name)
        };
        let renyi = |mu: f64| 0.5 * grid.q * mu * mu;
        let fewest = account::least(1 << 30, |k| Ok(renyi(sharp(k, "mu")?) <= epsilon_dd))?
            .ok_or_else(|| Error::refused(Code::Steps, "no number of steps is enough"))?;
        let private = renyi(sharp(0, "mu")?);
        let mut results = Vec::new();
        for count in [steps, fewest] {
            let engine = memory::noisy(&constants, eta, sigma, (learning, count), bench.stop)?;
            let (mut risk, mut accuracy, mut made) = (0.0_f64, 0.0, 0.0);
            for &seed in &bench.experiment.seeds {
                let mut rng = generator(seed, 7);
                let mut model = engine.train(&data, &mut rng)?;
                for request in 0..grid.requests {
                    let gone = rows.picked(request + 1)[request];
                    let changed = memory::replaced(rows, &[gone], 2, &mut rng)?.dataset()?;
                    let next = engine.request(&changed, &model, (1, 1), &mut rng)?;
                    // One record of the first data set at a time, so that every request is alike.
                    model = Release { weights: next.weights, ..model };
                    risk += value(&model.weights)? - floor;
                    accuracy += split.test.accuracy(Loss::Logistic, &model.weights)?;
                    made += 1.0;
                }
            }
            results.push((count, risk / made, accuracy / made));
        }
        let [(_, risk_published, accurate_published), (_, risk_tight, accurate_tight)] =
            [results[0], results[1]];
        if risk_published > bound {
            bounds_hold = 0.0;
        }
        outcome.row(
            [
                epsilon_dp,
                epsilon_dd,
                sigma,
                learning as f64,
                steps as f64,
                fewest as f64,
                private,
                bound,
                risk_published,
                risk_tight,
                accurate_published,
                accurate_tight,
            ]
            .map(number),
        );
        outcome.measure("steps-share", steps as f64 / learning as f64);
        outcome.measure("tight-over-published", fewest as f64 / steps as f64);
        outcome.measure("dp-tight-share", private / epsilon_dp);
        outcome.measure("behind", optimum - accurate_published);
        outcome.measure("tight-behind", accurate_published - accurate_tight);
    }
    outcome.measure("bounds-hold", bounds_hold);
    let words = format!("The optimum without noise has an accuracy of {}.", number(optimum));
    outcome.remarks.push(words);
    Ok(outcome)
}
