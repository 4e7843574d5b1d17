//! Table 1: what a removal costs beside training.

use efface::Result;
use efface_learn::mechanism::PerturbationPlan;
use efface_learn::mechanism::objective_perturbation::{self, Changed};
use efface_learn::newton::Memory;
use efface_learn::solver::{Solver, Start, Stopping, solve};
use efface_learn::{Dataset, Objective};
use efface_matrix::Matrix;
use serde::Deserialize;

use super::perturbed::{DISTANCE, constants};
use crate::reproduce::Experiment;
use crate::reproduce::bench::{Bench, until};
use crate::reproduce::memory::{failed, generator, on_grid};
use crate::reproduce::outcome::{Outcome, Sheet, number};

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

pub(crate) fn run(experiment: &Experiment, grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut sheet = Sheet::new("", &["data", "what", "milliseconds (median)"]);
    for &set in experiment.sets() {
        let rows = bench.shelf.load(set)?.train.thinned(grid.rows);
        let mut data = rows.dataset()?;
        let constants = constants(&rows, grid.lambda)?;
        let (noise, spacing) = on_grid(grid.sigma);
        let plan = PerturbationPlan {
            noise,
            grid: spacing,
            budget: f64::MAX,
            distance: DISTANCE,
            group: 1,
            solver: Solver::Lbfgs,
        };
        let plan = plan.check(&constants, data.rows()).map_err(failed)?;
        let mut rng = generator(experiment.seeds.first().copied().unwrap_or(1), 6);
        let zeros = vec![0.0; constants.parameters()];
        let stopping = Stopping { distance: DISTANCE };
        let objective = Objective::new(&constants, &data).map_err(failed)?;
        let (mut optimum, mut trainings) = (Vec::new(), Vec::new());
        for _ in 0..TRAININGS {
            let begin = (bench.seconds)();
            let start = Start { weights: &zeros, factor: None };
            optimum = solve(&objective, Solver::Lbfgs, stopping, start, &mut until(bench.stop))
                .map_err(failed)?
                .weights;
            trainings.push((bench.seconds)() - begin);
        }
        let training = median(trainings);
        let mut model =
            objective_perturbation::train(&objective, &plan, 1, &mut rng, &mut until(bench.stop))
                .map_err(failed)?;
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
            let kept = model.kept.take().ok_or_else(|| failed("nothing is kept"))?;
            let changed = Changed {
                published: &model.weights,
                kept: &kept,
                removed: &removed,
                added: &nothing,
            };
            let begin = (bench.seconds)();
            model = objective_perturbation::request(
                &objective,
                &plan,
                changed,
                index as u64 + 2,
                &mut rng,
                &mut until(bench.stop),
            )
            .map_err(failed)?;
            published.push((bench.seconds)() - begin);
            let begin = (bench.seconds)();
            memory.change(&constants, &removed, &nothing, stopping).map_err(failed)?;
            remembered.push((bench.seconds)() - begin);
            let begin = (bench.seconds)();
            let start = Start { weights: &warm, factor: None };
            warm = solve(&objective, Solver::Lbfgs, stopping, start, &mut until(bench.stop))
                .map_err(failed)?
                .weights;
            refits.push((bench.seconds)() - begin);
        }
        let (published, remembered, refit) =
            (median(published), median(remembered), median(refits));
        for (what, seconds) in [
            ("training from zeros (L-BFGS)", training),
            ("removal as published: one Newton step with a new Hessian", published),
            ("removal from a Newton memory, O(d^2)", remembered),
            ("refit from the last weights (L-BFGS)", refit),
        ] {
            sheet.row([set.name().to_owned(), what.to_owned(), number(1e3 * seconds)]);
        }
        for (what, seconds) in [("published", published), ("memory", remembered), ("refit", refit)]
        {
            outcome.measure(format!("{}-{what}", set.name()), training / seconds);
        }
        outcome.measure(format!("{}-training", set.name()), training);
    }
    outcome.sheets.push(sheet);
    Ok(outcome)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
