//! Figure 3: the digits that are hardest and easiest to remove.

use efface::Result;
use efface_matrix::margins;
use serde::Deserialize;

use super::influence;
use super::perturbed::{constants, perturbed_objective, train};
use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Outcome, number};
use crate::trial::failed;

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    lambda: f64,
    sigma: f64,
    /// How many are listed of each.
    shown: usize,
    #[serde(default)]
    rows: Option<usize>,
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (_, split) = bench.data(grid.rows)?;
    let rows = &split.train;
    let data = rows.dataset()?;
    let constants = constants(rows, grid.lambda)?;
    bench.say("training")?;
    let (weights, b) = train(&constants, &data, grid.sigma, bench.seed(), bench.stop)?;
    let objective = perturbed_objective(&constants, &data, &b)?;
    bench.say("the influence of every record")?;
    let everyone: Vec<usize> = (0..rows.len()).collect();
    let norms = influence::of(&objective, &data, &weights, &everyone)?.norms;
    let at = margins(data.x(), &weights, 1).map_err(failed)?;
    // How far on the right side of the boundary.
    let margin = |i: usize| if rows.y[i] > 0.5 { at[i] } else { -at[i] };
    let mut order = everyone;
    order.sort_by(|a, b| norms[*b].total_cmp(&norms[*a]).then(a.cmp(b)));
    let hardest = &order[..grid.shown];
    let easiest: Vec<usize> = order.iter().rev().take(grid.shown).copied().collect();
    let mut outcome = Outcome::of(&["rank", "row", "digit", "norm of the step", "margin"]);
    for (rank, &i) in order.iter().enumerate() {
        if rank < grid.shown || rank + grid.shown >= order.len() {
            let digit = if rows.y[i] > 0.5 { "8" } else { "3" };
            let cells = [number(norms[i]), number(margin(i))];
            let head = [(rank + 1).to_string(), i.to_string(), digit.to_owned()];
            outcome.row(head.into_iter().chain(cells));
        }
    }
    let wrong = |list: &[usize]| list.iter().filter(|i| margin(**i) < 0.0).count() as f64;
    outcome.measure("hardest-misclassified", wrong(hardest) / grid.shown as f64);
    outcome.measure("easiest-misclassified", wrong(&easiest) / grid.shown as f64);
    let middle = norms[order[order.len() / 2]];
    outcome.measure("largest-over-median", norms[hardest[0]] / middle);
    outcome.measure(
        "largest-over-least",
        norms[hardest[0]] / norms[easiest[0]].max(f64::MIN_POSITIVE),
    );
    Ok(outcome)
}
