//! Threshold tests: their errors, what these show, and the choice of the threshold.

use serde::{Deserialize, Serialize};

use super::binomial::upper;
use super::normal::quantile_above;

/// How often a test went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Reference runs taken for deletions.
    pub false_positives: u64,
    /// Number of reference runs.
    pub reference_runs: u64,
    /// Deletions taken for reference runs.
    pub false_negatives: u64,
    /// Number of deletions counted.
    pub deletion_runs: u64,
}

/// What the errors of a test show, with every number on the safe side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// Upper bound on the false positive rate.
    pub fpr_upper: f64,
    /// Upper bound on the false negative rate.
    pub fnr_upper: f64,
    /// Lower bound on mu, at least 0.
    pub mu_lower: f64,
    /// Lower bound on epsilon at the given delta, at least 0.
    pub epsilon_lower: f64,
}

/// What a threshold is chosen for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The largest lower bound on mu.
    Mu,
    /// The largest lower bound on epsilon at this delta.
    Epsilon(f64),
}

impl Errors {
    /// Counts the errors of the test that takes scores above `threshold` for deletions.
    #[must_use]
    pub fn count(deletions: &[f64], references: &[f64], threshold: f64) -> Self {
        let above = |scores: &[f64]| scores.iter().filter(|&&s| s > threshold).count() as u64;
        Self {
            false_positives: above(references),
            reference_runs: references.len() as u64,
            false_negatives: deletions.len() as u64 - above(deletions),
            deletion_runs: deletions.len() as u64,
        }
    }

    /// Computes bounds, each of which fails with probability at most `error`; see the module's page.
    #[must_use]
    pub fn show(&self, delta: f64, error: f64) -> Shown {
        let fpr = upper(self.false_positives, self.reference_runs, error);
        let fnr = upper(self.false_negatives, self.deletion_runs, error);
        Shown {
            fpr_upper: fpr,
            fnr_upper: fnr,
            mu_lower: mu_from(fpr, fnr).max(0.0),
            epsilon_lower: epsilon_from(fpr, fnr, delta).max(0.0),
        }
    }

    /// Returns the mu at which the rates counted would be those of the best test: an estimate, not a bound;
    /// `None` if a count is 0 or all.
    #[must_use]
    pub fn mu_estimate(&self) -> Option<f64> {
        let rate = |hits: u64, of: u64| (hits > 0 && hits < of).then(|| hits as f64 / of as f64);
        let fpr = rate(self.false_positives, self.reference_runs)?;
        let fnr = rate(self.false_negatives, self.deletion_runs)?;
        Some(mu_from(fpr, fnr))
    }
}

/// Computes Phi^-1(1 - fpr) - Phi^-1(fnr), rounded down.
fn mu_from(fpr: f64, fnr: f64) -> f64 {
    -quantile_above(fpr) - quantile_above(fnr)
}

/// Returns the larger of log((1 - delta - fnr)/fpr) and log((1 - delta - fpr)/fnr), rounded down.
fn epsilon_from(fpr: f64, fnr: f64, delta: f64) -> f64 {
    let side = |kept: f64, lost: f64| {
        let inside = 1.0 - delta - kept;
        if inside > 0.0 { (inside / lost).ln() - 1e-12 } else { f64::NEG_INFINITY }
    };
    side(fnr, fpr).max(side(fpr, fnr))
}

/// How many thresholds are tried.
const TRIED: usize = 256;

/// Returns the threshold that serves `goal` best on these scores, which must not be those that are counted
/// later; bounds for the choice are made at `error`. None without scores.
#[must_use]
pub fn choose(deletions: &[f64], references: &[f64], goal: Goal, error: f64) -> Option<f64> {
    let (mut a, mut b) = (deletions.to_vec(), references.to_vec());
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let mut all: Vec<f64> = a.iter().chain(&b).copied().collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    let value = |threshold: f64| {
        let above = |sorted: &[f64]| sorted.len() - sorted.partition_point(|&s| s <= threshold);
        let fpr = upper(above(&b) as u64, b.len() as u64, error);
        let fnr = upper((a.len() - above(&a)) as u64, a.len() as u64, error);
        match goal {
            Goal::Mu => mu_from(fpr, fnr),
            Goal::Epsilon(delta) => epsilon_from(fpr, fnr, delta),
        }
    };
    let step = (all.len() / TRIED).max(1);
    // Between two scores, so that equal scores fall on one side.
    let middles = all.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    let tried = middles.skip(step / 2).step_by(step);
    let best = tried.map(|t| (t, value(t))).max_by(|x, y| x.1.total_cmp(&y.1));
    best.map(|(threshold, _)| threshold).or(all.first().copied())
}
