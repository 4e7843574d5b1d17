//! `solve` on MNIST 3 versus 8: what noise costs, and what deletions cost beside their rivals.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use efface::{Notion, Plan, Settings, Which};
use efface_bench::Failure;
use efface_bench::bench::{deviation, mean, median, run, say, timed};
use efface_bench::data::{self, Split};
use efface_bench::rows::Rows;
use efface_bench::shop::{Run, Shop, effort};
use efface_bench::table::{Table, ms};
use efface_learn::mechanism::{
    CheckedOutputNoise, Evidence, OutputNoisePlan, Released, retrain, solve,
};
use efface_learn::solver::{self, Optimum, Solver, Start, Stopping, unwatched};
use efface_learn::{Constants, Loss, Objective, Summation};
use efface_privacy::event::Event;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const LAMBDA: f64 = 1e-3;
const DRAWS: u64 = 20;
const SIZES: [usize; 3] = [1, 20, 100];
/// Deletions of each size, each from the model on all rows.
const REPEATS: usize = 5;

fn main() -> ExitCode {
    run("MNIST 3 versus 8, `solve`", || {
        let split = data::mnist(&["3", "8"])?;
        let (train, test) = (Rows::read(&split.train)?, Rows::read(&split.test)?);
        let n = train.len();
        say(&format!(
            "{n} training rows, {} test rows, unit rows, no intercept, lambda {LAMBDA}, epsilon 1 \
             and delta 1/n for closeness to retraining.\n",
            test.len()
        ))?;
        let shop = Shop::open()?;
        let cases = [
            ("perfect, capacity n", "perfect", Some(n as u64), None),
            ("perfect, capacity 1.25 n", "perfect", None, None),
            ("secret, 20 releases, capacity n", "secret", Some(n as u64), None),
            ("perfect, capacity n, noise 0.03", "perfect", Some(n as u64), Some(0.03)),
        ];
        let mut models = Vec::new();
        for (name, state, capacity, noise) in cases {
            let settings = Settings {
                state: Some(state.to_owned()),
                releases: (state == "secret").then_some(20),
                capacity,
                noise,
                ..settings(n)
            };
            let trained = shop.train(state_file(name), &split.train, settings)?;
            let plan = shop.plan(state_file(name))?;
            models.push(Trained { name, run: trained, plan });
        }
        accuracies(&train, &test, &models)?;
        models.retain(|model| model.name.ends_with("capacity n"));
        for model in &models {
            in_memory(&train, &test, model)?;
        }
        whole_commands(&shop, &split, &train, &models)
    })
}

struct Trained {
    name: &'static str,
    run: Run,
    plan: Plan,
}

fn state_file(name: &str) -> &str {
    match name {
        "perfect, capacity n" => "tight",
        "perfect, capacity 1.25 n" => "roomy",
        "perfect, capacity n, noise 0.03" => "noisy",
        _ => "secret",
    }
}

fn settings(n: usize) -> Settings {
    Settings {
        lambda: Some(LAMBDA),
        intercept: Some(0.0),
        row_map: Some("unit".to_owned()),
        epsilon: Some(1.0),
        delta: Some(1.0 / n as f64),
        public_n: Some(n as u64),
        ..Settings::default()
    }
}

/// The mechanism's plan, from the event of the first release.
fn mechanism(model: &Trained, records: usize) -> Result<(Constants, CheckedOutputNoise), Failure> {
    let constants = model.plan.constants()?;
    let Event::OutputNoise(event) = model.run.event()? else {
        return Err("`solve` has an event of another kind".into());
    };
    let plan = OutputNoisePlan {
        distance: event.distance.0,
        noise: event.noise.0,
        grid: event.grid.0,
        state: event.state,
        joint_releases: event.joint_releases,
        group: 1,
        solver: Solver::Automatic,
    }
    .check(&constants, records)?;
    Ok((constants, plan))
}

fn accuracies(train: &Rows, test: &Rows, models: &[Trained]) -> Result<(), Failure> {
    let data = train.dataset()?;
    let mut table = Table::new(&[
        "model",
        "sigma",
        "tau",
        "noiseless optimum",
        "mean of 20 draws",
        "deviation",
        "epsilon to retraining",
        "epsilon of DP of the rest",
    ]);
    for model in models {
        let (constants, plan) = mechanism(model, train.len())?;
        let objective = Objective::new(&constants, &data)?;
        let zeros = vec![0.0; constants.parameters()];
        let start = Start { weights: &zeros, factor: None };
        let tau = plan.plan().distance;
        let precise = Stopping {
            distance: 8.0 * solver::least_distance(&constants, Summation::AnyOrder, train.len()),
        };
        let found = solver::solve(&objective, Solver::Newton, precise, start, &mut unwatched)?;
        let optimum = test.accuracy(Loss::Logistic, &found.weights)?;
        let mut draws = Vec::new();
        for seed in 0..DRAWS {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let released = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched)?;
            draws.push(test.accuracy(Loss::Logistic, &released.weights)?);
        }
        table.row([
            model.name.to_owned(),
            format!("{:.3e}", plan.plan().noise),
            format!("{tau:.2e}"),
            format!("{optimum:.4}"),
            format!("{:.4}", mean(&draws)),
            format!("{:.4}", deviation(&draws)),
            model.run.epsilon(Notion::IndistinguishableFromRetraining),
            model.run.epsilon(Notion::DifferentialPrivacy),
        ]);
    }
    say(&table.render())
}

/// One way to serve a deletion: seconds, accuracy and effort of each repeat.
struct Line {
    name: String,
    seconds: Vec<f64>,
    accuracy: Vec<f64>,
    effort: String,
}

impl Line {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), seconds: vec![], accuracy: vec![], effort: String::new() }
    }

    fn released(&mut self, test: &Rows, (done, seconds): (Released, f64)) -> Result<(), Failure> {
        if let Evidence::Optimum { passes, hessians, hessian_products, .. } = done.evidence {
            self.effort = effort(passes, hessians, hessian_products);
        }
        self.seconds.push(seconds);
        self.accuracy.push(test.accuracy(Loss::Logistic, &done.weights)?);
        Ok(())
    }

    fn found(&mut self, test: &Rows, (done, seconds): (Optimum, f64)) -> Result<(), Failure> {
        self.effort = effort(done.passes, done.hessians, done.hessian_products);
        self.seconds.push(seconds);
        self.accuracy.push(test.accuracy(Loss::Logistic, &done.weights)?);
        Ok(())
    }
}

/// Deletions by the mechanism alone, rows in memory, beside retraining and uncertified refits.
fn in_memory(train: &Rows, test: &Rows, model: &Trained) -> Result<(), Failure> {
    let (constants, plan) = mechanism(model, train.len())?;
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let all = train.dataset()?;
    let objective = Objective::new(&constants, &all)?;
    let first = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched)?;
    let zeros = vec![0.0; constants.parameters()];
    let stopping = Stopping { distance: plan.plan().distance };
    let from = |weights, factor| Start { weights, factor };
    let kept =
        solver::solve(&objective, Solver::Newton, stopping, from(&zeros, None), &mut unwatched)?;
    say(&format!(
        "Deletions in memory ({}): the mechanism alone, median of {REPEATS}.\n",
        model.name
    ))?;
    let mut table = Table::new(&["deleted", "how", "time", "work", "accuracy"]);
    for size in SIZES {
        let mut lines = [
            "efface, certified",
            "full retrain by efface, certified",
            "warm refit by L-BFGS, no certificate",
            "warm refit by Newton, no certificate",
            "warm refit by Newton with the old factor, no certificate",
        ]
        .map(Line::new);
        for repeat in 0..REPEATS {
            let rest = train.without(&train.pick(1000 * repeat, size))?;
            let objective = Objective::new(&constants, &rest)?;
            let watch = &mut unwatched;
            let served = timed(|| match &first.kept {
                Some(kept) => solve::from_kept(&objective, &plan, kept, 2, &mut rng, watch),
                None => {
                    solve::from_published(&objective, &plan, &first.weights, 2, &mut rng, watch)
                }
            })?;
            lines[0].released(test, served)?;
            let again = timed(|| retrain::retrain(&objective, &plan, 2, &mut rng, &mut unwatched))?;
            lines[1].released(test, again)?;
            let refits = [
                (2, Solver::Lbfgs, None),
                (3, Solver::Newton, None),
                (4, Solver::Newton, kept.factor.as_ref()),
            ];
            for (line, solver, factor) in refits {
                let start = from(&kept.weights, factor);
                let found =
                    timed(|| solver::solve(&objective, solver, stopping, start, &mut unwatched))?;
                lines[line].found(test, found)?;
            }
        }
        for line in lines {
            table.row([
                size.to_string(),
                line.name,
                ms(median(&line.seconds)),
                line.effort,
                format!("{:.4}", mean(&line.accuracy)),
            ]);
        }
    }
    say(&table.render())
}

/// Deletions as a user makes them: open, load, learn, certify, erase, commit.
fn whole_commands(
    shop: &Shop,
    split: &Split,
    train: &Rows,
    models: &[Trained],
) -> Result<(), Failure> {
    say(&format!(
        "Whole requests through the engine, vault on disk, median of {REPEATS} in a row. `before` \
         is opening, taking rows out, loading and the first pass; `storing` is certifying, \
         erasing and committing.\n"
    ))?;
    let mut table = Table::new(&[
        "model",
        "request",
        "total",
        "before",
        "learning",
        "storing",
        "work",
        "accuracy after",
    ]);
    for model in models {
        let file = state_file(model.name);
        let mut line = |what: String, runs: &[Run]| -> Result<(), Failure> {
            let of = |f: fn(&Run) -> f64| ms(median(&runs.iter().map(f).collect::<Vec<_>>()));
            let after = shop.evaluate(file, &split.test)?;
            table.row([
                model.name.to_owned(),
                what,
                of(|r| r.phases.total()),
                of(|r| r.phases.before),
                of(|r| r.phases.learning),
                of(|r| r.phases.storing),
                runs.last().map(Run::work).unwrap_or_default(),
                format!("{:.4}", after.accuracy.unwrap_or(f64::NAN)),
            ]);
            Ok(())
        };
        line("train".to_owned(), std::slice::from_ref(&model.run))?;
        let mut next = 0;
        for size in SIZES {
            let mut runs = Vec::new();
            for _ in 0..REPEATS {
                let ids = train.ids(&train.pick(next, size));
                next += size;
                runs.push(shop.delete(file, Which::Ids(ids))?);
            }
            line(format!("delete {size}"), &runs)?;
        }
    }
    say(&table.render())
}
