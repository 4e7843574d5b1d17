//! Table 1: what a removal costs beside training.

use efface::Result;
use efface_learn::newton::Memory;
use efface_learn::solver::{Solver, Start, Stopping, solve};
use efface_learn::{Dataset, Objective};
use efface_matrix::Matrix;
use serde::Deserialize;

use super::perturbed::{DISTANCE, constants};
use crate::perturbation::{Plan, request, train};
use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Outcome, number};
use crate::trial::draws::generator;
use crate::trial::{failed, until};

/// How often training is timed; the median counts.
const TRAININGS: usize = 5;

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    lambda: f64,
    sigma: f64,
    /// Removals that are timed; the median counts.
    removals: usize,
    #[serde(default)]
    rows: Option<usize>,
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let mut outcome = Outcome::of(&["data", "what", "milliseconds (median)"]);
    for &set in bench.experiment.sets() {
        let rows = bench.load(set, grid.rows)?.train;
        let mut data = rows.dataset()?;
        let constants = constants(&rows, grid.lambda)?;
        let plan = Plan::new(&constants, grid.sigma, f64::MAX, DISTANCE, Solver::Lbfgs)?;
        let mut rng = generator(bench.seed(), 6);
        let (stop, stopping) = (bench.stop, Stopping { distance: DISTANCE });
        let objective = Objective::new(&constants, &data).map_err(failed)?;
        let fit = |objective: &Objective<'_>, weights: &[f64]| {
            let start = Start { weights, factor: None };
            let found = solve(objective, Solver::Lbfgs, stopping, start, &mut until(stop));
            Ok(found.map_err(failed)?.weights)
        };
        let zeros = vec![0.0; constants.parameters()];
        let (mut optimum, mut trainings) = (Vec::new(), Vec::new());
        for _ in 0..TRAININGS {
            let (seconds, found) = bench.timed(|| fit(&objective, &zeros))?;
            trainings.push(seconds);
            optimum = found;
        }
        let training = median(trainings);
        let mut model = train(&objective, &plan, &mut rng, &mut until(stop))?;
        let mut memory = Memory::new(&objective, &optimum).map_err(failed)?;
        let mut warm = optimum;
        let nothing = Dataset::new(Matrix::dense(rows.x.cols()), Vec::new()).map_err(failed)?;
        let (mut published, mut remembered, mut refits) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..grid.removals {
            bench.say(&format!("{}: removal {}", set.title(), index + 1))?;
            // The first row that is left: which one hardly matters for the time.
            let removed = rows.at(&[index]).dataset()?;
            data.remove_rows(&[0]).map_err(failed)?;
            let objective = Objective::new(&constants, &data).map_err(failed)?;
            let (seconds, next) = bench.timed(|| {
                let changed = (&removed, &nothing);
                request(&objective, &plan, &model, changed, &mut rng, &mut until(stop))
            })?;
            model = next;
            published.push(seconds);
            let (seconds, _) = bench.timed(|| {
                memory.change(&constants, &removed, &nothing, stopping).map_err(failed)
            })?;
            remembered.push(seconds);
            let (seconds, next) = bench.timed(|| fit(&objective, &warm))?;
            warm = next;
            refits.push(seconds);
        }
        let (published, remembered, refit) =
            (median(published), median(remembered), median(refits));
        for (what, seconds) in [
            ("training from zeros (L-BFGS)", training),
            ("removal as published: one Newton step with a new Hessian", published),
            ("removal from a Newton memory, O(d^2)", remembered),
            ("refit from the last weights (L-BFGS)", refit),
        ] {
            outcome.row([set.name().to_owned(), what.to_owned(), number(1e3 * seconds)]);
        }
        for (what, seconds) in [("published", published), ("memory", remembered), ("refit", refit)]
        {
            outcome.measure(format!("{}-{what}", set.name()), training / seconds);
        }
        outcome.measure(format!("{}-training", set.name()), training);
    }
    Ok(outcome)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
