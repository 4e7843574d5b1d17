//! Neel, Roth and Sharifi-Malvajerdi, "Descent-to-delete" (2020): the trade-offs of Table 1, measured
//! with the published noise and numbers of steps.

use efface::{Code, Error, Result, Settings};
use efface_learn::{Loss, Objective};
use serde::Deserialize;

use super::bench::Bench;
use super::data::Split;
use super::memory;
use super::outcome::{Outcome, number};
use crate::trial::{Rows, Stop, Table, Vaults, failed};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Grid {
    epsilon: f64,
    /// Single deletions, one after another.
    updates: usize,
    /// lambda of the strongly convex problems.
    lambda: f64,
    /// lambda of the problem whose optimum convex losses are held against.
    reference: f64,
    method: Vec<Method>,
    #[serde(default)]
    rows: Option<usize>,
    /// At most so many values of I for each method.
    #[serde(default)]
    most: Option<usize>,
}

/// A line of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Method {
    name: String,
    key: String,
    settings: Settings,
    /// I; 0 leaves it to the theorem.
    iterations: Vec<u64>,
    /// Whether the loss alone counts, the theorem choosing lambda.
    #[serde(default)]
    convex: bool,
}

/// What one model was like.
struct Story {
    steps: Vec<f64>,
    learning: f64,
    noise: f64,
    excess: f64,
    accuracy: f64,
    baseline: Option<u64>,
}

/// No baseline makes more steps than this.
const MOST_BASELINE: u64 = 20_000;

pub(super) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (_, split) = bench.data(grid.rows)?;
    let columns = [
        "method",
        "I",
        "noise",
        "steps to learn",
        "steps of update 1",
        "steps of the last update",
        "baseline steps",
        "excess loss",
        "accuracy",
    ];
    let mut outcome = Outcome::of(&columns);
    for method in &grid.method {
        let mut is_first = true;
        let most = grid.most.unwrap_or(usize::MAX);
        for &iterations in method.iterations.iter().take(most) {
            bench.say(&format!("{}, I = {iterations}", method.name))?;
            let story = match serve(bench, grid, method, iterations, &split) {
                Ok(story) => story,
                Err(error) if error.kind() == efface::Kind::Interrupted => return Err(error),
                Err(error) => {
                    let why = error.said();
                    outcome.remarks.push(format!("{}, I = {iterations}: {why}.", method.name));
                    continue;
                }
            };
            let (first, last) = (story.steps[0], story.steps[story.steps.len() - 1]);
            outcome.row([
                method.name.clone(),
                if iterations == 0 { "least".to_owned() } else { iterations.to_string() },
                number(story.noise),
                number(story.learning),
                number(first),
                number(last),
                story.baseline.map_or("never".to_owned(), |steps| steps.to_string()),
                number(story.excess),
                number(story.accuracy),
            ]);
            if is_first {
                outcome.measure(format!("{}-growth", method.key), last / first);
                outcome.measure(format!("{}-excess-first", method.key), story.excess);
            }
            is_first = false;
            outcome.measure(format!("{}-excess-last", method.key), story.excess);
            outcome.measure(format!("{}-accuracy-last", method.key), story.accuracy);
            if let Some(baseline) = story.baseline {
                outcome.measure(
                    format!("{}-baseline-over-update", method.key),
                    baseline as f64 / first,
                );
            }
        }
        if is_first {
            continue;
        }
        let of = |name: &str| outcome.measured[&format!("{}-{name}", method.key)];
        let gain = of("excess-first") / of("excess-last");
        outcome.measure(format!("{}-gain", method.key), gain);
    }
    Ok(outcome)
}

fn serve(
    bench: &Bench<'_>,
    grid: &Grid,
    method: &Method,
    iterations: u64,
    split: &Split,
) -> Result<Story> {
    let stop = bench.stop;
    let n = split.train.len() as u64;
    let settings = Settings {
        lambda: (!method.convex).then_some(grid.lambda),
        row_map: Some("unit".to_owned()),
        intercept: Some(0.0),
        epsilon: Some(grid.epsilon),
        delta: Some(1.0 / n as f64),
        accountant: Some("descent".to_owned()),
        normalizer: Some("mean".to_owned()),
        minimum: Some(n.div_ceil(2)),
        // In `secret` state the first model and every update count together.
        releases: (method.settings.variant.as_deref() != Some("perfect"))
            .then_some(grid.updates as u64 + 1),
        iterations: (iterations > 0).then_some(iterations),
        ..method.settings.clone()
    };
    let table = Table::of(&split.train, true);
    let mut source = table.source();
    source.classes = Some(vec!["0".to_owned(), "1".to_owned()]);
    let mut vaults = Vaults::open(bench.seed(), stop)?;
    let first = vaults.train("model", &source, settings)?;
    let steps_of = |served: &efface::Served| served.work.as_ref().map_or(0.0, |w| w.passes as f64);
    let mut steps = Vec::new();
    let gone = split.train.picked(grid.updates);
    for &position in &gone {
        steps.push(steps_of(&vaults.delete("model", &[position])?).max(1.0));
    }
    let weights = vaults.weights("model")?;
    let lambda = Vaults::constant(&first, "lambda")
        .ok_or_else(|| Error::refused(Code::Lambda, "the certificate states no lambda"))?;
    let left: Vec<usize> = (0..split.train.len()).filter(|i| !gone.contains(i)).collect();
    let rest = split.train.at(&left);
    // What the loss is held against: the optimum of the problem itself.
    let goal = if method.convex { grid.reference } else { grid.lambda };
    let own = if method.convex { 0.0 } else { grid.lambda };
    let constants = memory::constants(&rest, Loss::Logistic, goal)?;
    let best = memory::optimum(&constants, &rest.dataset()?, 1e-6, None, stop)?;
    let floor = value(&rest, own, &best)?;
    let excess = value(&rest, own, &weights)? - floor;
    vaults.discard("model")?;
    Ok(Story {
        steps,
        learning: steps_of(&first),
        noise: Vaults::noise(&first).unwrap_or(f64::NAN),
        accuracy: split.test.accuracy(Loss::Logistic, &weights)?,
        baseline: baseline(&rest, lambda, own, floor + excess, stop)?,
        excess: excess.max(f64::MIN_POSITIVE),
    })
}

/// Mean loss plus (lambda/2)|w|^2.
fn value(rows: &Rows, lambda: f64, weights: &[f64]) -> Result<f64> {
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    Ok(rows.log_loss(weights)? + 0.5 * lambda * squares)
}

/// Steps of plain descent from zeros until it is as good as `goal`, where it ever is.
fn baseline(rows: &Rows, lambda: f64, own: f64, goal: f64, stop: Stop) -> Result<Option<u64>> {
    let constants = memory::constants(rows, Loss::Logistic, lambda)?;
    let data = rows.dataset()?;
    let objective = Objective::new(&constants, &data).map_err(failed)?;
    let eta = 2.0 / (constants.total_smoothness() + lambda);
    let mut weights = vec![0.0; constants.parameters()];
    for steps in 0..MOST_BASELINE {
        if stop() {
            return Err(Error::interrupted());
        }
        let at = objective.evaluate(&weights).map_err(failed)?;
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        if at.value + 0.5 * (own - lambda) * squares <= goal {
            return Ok(Some(steps));
        }
        weights.iter_mut().zip(&at.gradient).for_each(|(w, g)| *w -= eta * g);
    }
    Ok(None)
}
