//! `noisy-gd` on MNIST 3 versus 8: accuracy at epsilon 1, and passes for a hundred deletions.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use efface::{Notion, Settings, Which};
use efface_bench::Failure;
use efface_bench::bench::{deviation, mean, run, say, timed};
use efface_bench::data::{self, Split};
use efface_bench::rows::Rows;
use efface_bench::shop::Shop;
use efface_bench::table::{Table, ms};
use efface_learn::mechanism::{NoisyGdPlan, noisy_gd};
use efface_learn::solver::{self, Solver, Start, Stopping, unwatched};
use efface_learn::{Loss, Objective, Summation};
use efface_privacy::event::Event;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const DRAWS: u64 = 20;
const BATCHES: usize = 5;
const BATCH: usize = 20;

fn main() -> ExitCode {
    run("MNIST 3 versus 8, `noisy-gd`", || {
        let split = data::mnist(&["3", "8"])?;
        let (train, test) = (Rows::read(&split.train)?, Rows::read(&split.test)?);
        let shop = Shop::open()?;
        calibrated(&shop, &split, &train, &test)?;
        hundred(&shop, &split, &train, "2/(L + m)")?;
        hundred(&shop, &split, &train, "1/L")
    })
}

fn settings(n: usize) -> Settings {
    Settings {
        mechanism: Some("noisy-gd".to_owned()),
        intercept: Some(0.0),
        row_map: Some("unit".to_owned()),
        epsilon: Some(1.0),
        delta: Some(1.0 / n as f64),
        public_n: Some(n as u64),
        ..Settings::default()
    }
}

/// sigma for epsilon 1 after one step per single deletion.
fn calibrated(shop: &Shop, split: &Split, train: &Rows, test: &Rows) -> Result<(), Failure> {
    let n = train.len();
    let data = train.dataset()?;
    say(
        "lambda 1e-3, eta = 2/(L + m), sigma calibrated to epsilon 1 for single deletions, K = 1.\n",
    )?;
    let mut table = Table::new(&[
        "capacity",
        "sigma",
        "eta",
        "learning steps",
        "noiseless optimum",
        "mean of 20 draws",
        "deviation",
        "one draw",
        "epsilon after a deletion",
        "steps of it",
        "epsilon of DP of the rest",
    ]);
    for (name, capacity) in [("n", Some(n as u64)), ("1.25 n", None)] {
        let settings =
            Settings { lambda: Some(1e-3), removal_steps: Some(1), capacity, ..settings(n) };
        let file = format!("calibrated-{name}");
        let trained = shop.train(&file, &split.train, settings)?;
        let Event::NoisyGd(event) = trained.event()? else {
            return Err("`noisy-gd` has an event of another kind".into());
        };
        let constants = shop.plan(&file)?.constants()?;
        let objective = Objective::new(&constants, &data)?;
        let plan = NoisyGdPlan {
            step: event.step.0,
            noise: event.noise.0,
            grid: event.grid.0,
            learning_steps: event.learning,
            removal_steps: 1,
            radius: None,
            group: 1,
            batches: None,
        }
        .check(&constants)?;
        let zeros = vec![0.0; constants.parameters()];
        let start = Start { weights: &zeros, factor: None };
        let precise =
            Stopping { distance: 8.0 * solver::least_distance(&constants, Summation::AnyOrder, n) };
        let found = solver::solve(&objective, Solver::Newton, precise, start, &mut unwatched)?;
        let optimum = test.accuracy(Loss::Logistic, &found.weights)?;
        let mut draws = Vec::new();
        let mut seconds = 0.0;
        for seed in 0..DRAWS {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let learnt =
                timed(|| noisy_gd::learn(&objective, &plan, None, &mut rng, &mut unwatched))?;
            seconds = learnt.1;
            draws.push(test.accuracy(Loss::Logistic, &learnt.0.weights)?);
        }
        let deleted = shop.delete(&file, Which::Ids(train.ids(&train.pick(0, 1))))?;
        table.row([
            name.to_owned(),
            format!("{:.5}", event.noise.0 / (2.0 * event.step.0).sqrt()),
            format!("{:.4}", event.step.0),
            event.learning.to_string(),
            format!("{optimum:.4}"),
            format!("{:.4}", mean(&draws)),
            format!("{:.4}", deviation(&draws)),
            ms(seconds),
            deleted.epsilon(Notion::IndistinguishableFromRetraining),
            deleted.work(),
            deleted.epsilon(Notion::DifferentialPrivacy),
        ]);
    }
    say(&table.render())
}

/// A hundred records in batches of twenty, each request at epsilon at most 1.
fn hundred(shop: &Shop, split: &Split, train: &Rows, eta: &str) -> Result<(), Failure> {
    let n = train.len();
    let lambda = 1e-6 * n as f64;
    say(&format!(
        "{} deletions in batches of {BATCH}: sigma 0.03, lambda {lambda}, capacity n, eta = {eta}, \
         each request at epsilon at most 1.\n",
        BATCH * BATCHES
    ))?;
    let settings = Settings {
        lambda: Some(lambda),
        noise: Some(0.03),
        capacity: Some(n as u64),
        // L = r^2/4 + lambda with unit rows at capacity n.
        eta: (eta == "1/L").then_some(1.0 / (0.25 + lambda)),
        ..settings(n)
    };
    let file = if eta == "1/L" { "hundred-slow" } else { "hundred" };
    let trained = shop.train(file, &split.train, settings)?;
    let mut table =
        Table::new(&["request", "steps", "epsilon", "time", "learning", "accuracy after"]);
    let mut line = |what: &str, run: &efface_bench::shop::Run| -> Result<(), Failure> {
        let after = shop.evaluate(file, &split.test)?;
        table.row([
            what.to_owned(),
            run.work(),
            run.epsilon(Notion::IndistinguishableFromRetraining),
            ms(run.phases.total()),
            ms(run.phases.learning),
            format!("{:.4}", after.accuracy.unwrap_or(f64::NAN)),
        ]);
        Ok(())
    };
    line("train", &trained)?;
    let mut total = 0;
    for batch in 0..BATCHES {
        let ids = train.ids(&train.pick(batch * BATCH, BATCH));
        let deleted = shop.delete(file, Which::Ids(ids))?;
        total += deleted.served.work.as_ref().map_or(0, |work| work.steps);
        line(&format!("delete {}", (batch + 1) * BATCH), &deleted)?;
    }
    say(&table.render())?;
    say(&format!("Passes for all deletions: {total}.\n"))
}
