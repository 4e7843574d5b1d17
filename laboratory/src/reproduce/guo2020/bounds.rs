//! Figure 2: bounds on the gradient that Newton removals leave, beside the gradient itself.

use efface::Result;
use efface_learn::solver::Solver;
use efface_learn::{Constants, Dataset, Objective};
use efface_matrix::{Matrix, margins};
use serde::Deserialize;

use super::perturbed::{DISTANCE, constants, perturbed_objective};
use crate::perturbation::{Plan, request, train};
use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Outcome, number};
use crate::trial::draws::generator;
use crate::trial::{Rows, failed, until};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    lambda: f64,
    sigma: f64,
    /// Records removed in all.
    removals: usize,
    /// Records of each removal, in two variants.
    batches: Vec<usize>,
    #[serde(default)]
    rows: Option<usize>,
}

/// Sums after some removals.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    removed: usize,
    worst: f64,
    dependent: f64,
    ours: f64,
    real: f64,
}

/// sup of the third derivative of the logistic loss.
const KAPPA: f64 = 0.096_225_044_864_937_63;

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (_, split) = bench.data(grid.rows)?;
    let rows = &split.train;
    let constants = constants(rows, grid.lambda)?;
    let columns = ["batch", "removed", "worst case", "data-dependent", "ours", "true residual"];
    let mut outcome = Outcome::of(&columns);
    for &batch in &grid.batches {
        let sums = remove(grid, rows, &constants, batch, bench)?;
        for s in &sums {
            let numbers = [s.worst, s.dependent, s.ours, s.real].map(number);
            outcome.row([batch.to_string(), s.removed.to_string()].into_iter().chain(numbers));
        }
        if let (Some(last), Some(half)) = (sums.last(), sums.get(sums.len() / 2 - 1)) {
            outcome.measure(format!("worst-over-dependent-{batch}"), last.worst / last.dependent);
            outcome.measure(format!("dependent-over-real-{batch}"), last.dependent / last.real);
            outcome.measure(format!("dependent-over-ours-{batch}"), last.dependent / last.ours);
            outcome.measure(format!("ours-over-real-{batch}"), last.ours / last.real);
            outcome.measure(format!("growth-{batch}"), last.dependent / half.dependent);
        }
    }
    Ok(outcome)
}

fn remove(
    grid: &Grid,
    rows: &Rows,
    constants: &Constants,
    batch: usize,
    bench: &mut Bench<'_>,
) -> Result<Vec<Sums>> {
    let mut data = rows.dataset()?;
    // A budget that is never spent: the bounds are watched, not obeyed.
    let plan = Plan::new(constants, grid.sigma, f64::MAX, DISTANCE, Solver::Lbfgs)?;
    let mut rng = generator(bench.seed(), 5);
    let objective = Objective::new(constants, &data).map_err(failed)?;
    let mut model = train(&objective, &plan, &mut rng, &mut until(bench.stop))?;
    let picked = rows.picked(grid.removals);
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let mut sums = Sums::default();
    let mut story = Vec::new();
    let nothing = Dataset::new(empty(rows), Vec::new()).map_err(failed)?;
    for (index, chunk) in picked.chunks(batch).enumerate() {
        bench.say(&format!("batches of {batch}: {} of {}", index * batch, grid.removals))?;
        let removed = rows.at(chunk).dataset()?;
        let mut places: Vec<usize> =
            chunk.iter().filter_map(|row| left.binary_search(row).ok()).collect();
        places.sort_unstable();
        left.retain(|row| !chunk.contains(row));
        data.remove_rows(&places).map_err(failed)?;
        let objective = Objective::new(constants, &data).map_err(failed)?;
        let watch = &mut until(bench.stop);
        let next = request(&objective, &plan, &model, (&removed, &nothing), &mut rng, watch)?;
        let (share, worst) = next.step.ok_or_else(|| failed("a removal trained anew"))?;
        let step: Vec<f64> = next.weights.iter().zip(&model.weights).map(|(a, b)| a - b).collect();
        let moved = margins(data.x(), &step, 1).map_err(failed)?;
        let largest = moved.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let size = moved.iter().map(|v| v * v).sum::<f64>().sqrt();
        let perturbed = perturbed_objective(constants, &data, &next.perturbation)?;
        let at = perturbed.evaluate(&next.weights).map_err(failed)?;
        sums = Sums {
            removed: sums.removed + chunk.len(),
            worst: sums.worst + worst,
            dependent: sums.dependent + share,
            ours: sums.ours + 0.5 * KAPPA * next.spectral.sqrt() * largest * size,
            real: at.gradient_norm * perturbed.normalizer(),
        };
        story.push(sums);
        model = next;
    }
    Ok(story)
}

fn empty(rows: &Rows) -> Matrix {
    match &rows.x {
        Matrix::Dense(x) => Matrix::dense(x.cols()),
        Matrix::Sparse(x) => Matrix::sparse(x.cols()),
    }
}
