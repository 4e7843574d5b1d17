//! Khi, "DP unlearning" (2024): group privacy, and unlearning on top of a private learner.

use efface::Result;
use serde::Deserialize;
use serde_json::json;

use super::account;
use super::bench::Bench;
use super::outcome::{Outcome, Sheet, number};

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
    let mut least = f64::INFINITY;
    for &epsilon in &grid.targets {
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
            if k == 10 {
                outcome.measure(format!("ratio-{epsilon}-10"), tight / strict);
            }
            if k > 1 {
                least = least.min(tight / strict);
            }
        }
    }
    outcome.measure("least-ratio", least);
    outcome.sheets.push(sheet);
    Ok(())
}

/// delta of a private learner followed by unlearning.
fn composition(grid: &Grid, outcome: &mut Outcome) -> Result<()> {
    let columns = ["epsilon of each", "delta noted", "delta proven", "delta tight"];
    let mut sheet = Sheet::new("composition", &columns);
    let mut last = [0.0; 3];
    let asked = |epsilon: f64, mu: f64| {
        json!({ "epsilon": epsilon, "delta": grid.delta, "k": 1, "epsilon_second": epsilon,
            "delta_second": grid.delta, "mu": mu, "mu_second": mu })
    };
    for &epsilon in &grid.epsilons {
        let both = account::ask("compose", &asked(epsilon, 0.0))?;
        let of = |name: &str| account::read(&both[name]);
        let [as_noted, as_proven, as_tight] =
            [of("delta_as_noted")?, of("delta_as_proven")?, of("delta")?];
        sheet.row([epsilon, as_noted, as_proven, as_tight].map(number));
        last = [as_noted, as_proven, as_tight];
    }
    let [noted, proven, tight] = last;
    outcome.measure("noted-over-tight", noted / tight);
    outcome.measure("proven-over-noted", proven / noted);
    // The same two steps as Gaussians: epsilon at delta, by addition and by composition of mu.
    let mut ratio = f64::NAN;
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
        ratio = sum / tight;
    }
    outcome.measure("addition-over-gaussian", ratio);
    outcome.sheets.push(sheet);
    outcome.sheets.push(sheet_mu);
    Ok(())
}
