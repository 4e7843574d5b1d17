//! Khi, "DP unlearning" (2024): group privacy, and unlearning on top of a private learner.

use efface::Result;
use serde::Deserialize;
use serde_json::json;

use super::account;
use super::bench::Bench;
use super::outcome::{Outcome, Sheet, number};
use efface_page::figure::{Axis, Figure, Panel, Series};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grid {
    /// delta of a group's target, of the learner, and of unlearning.
    delta: f64,
    /// epsilons of a group's target.
    targets: Vec<f64>,
    /// Sizes of groups.
    groups: Vec<u64>,
    /// epsilons of learner and unlearning, equal.
    epsilons: Vec<f64>,
    /// mu of learner and unlearning, equal.
    mus: Vec<f64>,
}

pub(super) fn run(grid: &Grid, _: &mut Bench<'_>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    groups(grid, &mut outcome)?;
    composition(grid, &mut outcome)?;
    Ok(outcome)
}

/// delta of one record that is enough for a group's (epsilon, delta).
fn groups(grid: &Grid, outcome: &mut Outcome) -> Result<()> {
    let mut sheet =
        Sheet::new("groups", &["epsilon", "delta", "k", "delta as noted", "delta that is enough"]);
    let mut panel = Panel::new(
        format!("one record's delta for a group's delta of {:e}", grid.delta),
        Axis::log("records of the group, k"),
        Axis::log("delta of one record"),
    );
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for (place, &epsilon) in grid.targets.iter().enumerate() {
        let (mut noted, mut enough) = (Vec::new(), Vec::new());
        for &k in &grid.groups {
            let asked = json!({ "epsilon": epsilon, "delta": grid.delta, "k": k });
            let strict = account::number("group-privacy-noted", &asked, "delta")?;
            let tight = account::number("group-privacy", &asked, "single_delta_for_group_target")?;
            sheet.row([
                number(epsilon),
                number(grid.delta),
                k.to_string(),
                number(strict),
                number(tight),
            ]);
            if strict > 0.0 {
                noted.push((k as f64, strict));
            }
            enough.push((k as f64, tight));
            if k == 10 {
                outcome.measure(format!("ratio-{epsilon}-10"), tight / strict);
            }
            if k > 1 {
                (least, most) = (least.min(tight / strict), most.max(tight / strict));
            }
        }
        panel = panel
            .with(Series::new(format!("as noted, epsilon = {epsilon}"), place, noted).dashed())
            .with(Series::new(format!("enough, epsilon = {epsilon}"), place, enough));
    }
    outcome.measure("least-ratio", least);
    outcome.sheets.push(sheet);
    let title = "Group privacy: what must be asked of one record (khi2024, 2.2.2)";
    outcome.draw("groups", &Figure::new(title, vec![panel]).sized(560, 400));
    Ok(())
}

/// delta of a private learner followed by unlearning.
fn composition(grid: &Grid, outcome: &mut Outcome) -> Result<()> {
    let columns = ["epsilon of each", "delta noted", "delta proven", "delta tight"];
    let mut sheet = Sheet::new("composition", &columns);
    let (mut noted, mut proven, mut tight) = (Vec::new(), Vec::new(), Vec::new());
    let asked = |epsilon: f64, mu: f64| {
        json!({ "epsilon": epsilon, "delta": grid.delta, "k": 1, "epsilon_second": epsilon,
            "delta_second": grid.delta, "mu": mu, "mu_second": mu })
    };
    for &epsilon in &grid.epsilons {
        let both = account::ask("compose", &asked(epsilon, 0.0))?;
        let of = |name: &str| account::read(&both[name]);
        let [as_noted, as_proven, as_tight] =
            [of("delta_as_noted")?, of("delta_as_proven")?, of("delta")?];
        let cells = [epsilon, as_noted, as_proven, as_tight];
        sheet.row(cells.map(number));
        noted.push((2.0 * epsilon, as_noted));
        proven.push((2.0 * epsilon, as_proven));
        tight.push((2.0 * epsilon, as_tight));
    }
    let last = tight.len() - 1;
    outcome.measure("noted-over-tight", noted[last].1 / tight[last].1);
    outcome.measure("proven-over-noted", proven[last].1 / noted[last].1);
    let deltas = Panel::new(
        format!("delta of both, each with delta = {:e}", grid.delta),
        Axis::linear("epsilon of both together"),
        Axis::log("delta of both together"),
    )
    .with(Series::new("as noted, and as its proof supports", 0, noted).dashed())
    .with(Series::new("tight", 1, tight));
    // The same two steps as Gaussians: epsilon at delta, by addition and by composition of mu.
    let (mut added, mut composed) = (Vec::new(), Vec::new());
    let mut sheet_mu =
        Sheet::new("gaussian", &["mu of each", "epsilon by addition", "epsilon tight"]);
    for &mu in &grid.mus {
        let at = |mu: f64, delta: f64| {
            account::number("gdp-epsilon", &json!({ "mu": mu, "delta": delta }), "epsilon")
        };
        // Half of delta for each part, so that both sides promise the same delta.
        let sum = 2.0 * at(mu, 0.5 * grid.delta)?;
        let both = account::number("compose", &asked(0.0, mu), "mu")?;
        let tight = at(both, grid.delta)?;
        sheet_mu.row([mu, sum, tight].map(number));
        added.push((mu, sum));
        composed.push((mu, tight));
    }
    let last = added.len() - 1;
    outcome.measure("addition-over-gaussian", added[last].1 / composed[last].1);
    let gaussian = Panel::new(
        format!("Gaussian learner and unlearning, delta = {:e}", grid.delta),
        Axis::log("mu of each part"),
        Axis::log("epsilon of both together"),
    )
    .with(Series::new("epsilons and deltas added", 2, added).dashed())
    .with(Series::new("mu composed: sqrt(mu² + mu'²)", 3, composed));
    outcome.sheets.push(sheet);
    outcome.sheets.push(sheet_mu);
    let title = "Unlearning on top of a private learner (khi2024, 2.3.2)";
    outcome.draw("composition", &Figure::new(title, vec![deltas, gaussian]));
    Ok(())
}
