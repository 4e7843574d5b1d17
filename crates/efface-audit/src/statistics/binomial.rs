//! Exact confidence bounds on a probability from counts.

use libm::lgamma as ln_gamma;

/// The most trials for which the error of log-gamma is covered.
pub const MOST_TRIALS: u64 = 10_000_000;

/// The part of an error probability that is kept back for rounding.
const SPARE: f64 = 1e-6;

/// Returns a Clopper-Pearson upper bound: a number that a probability exceeds with probability at most
/// `error`, when it came true `hits` times in `trials` independent trials. Errs upward; 1 if nothing can be
/// said (no trials, all hits, or more than [`MOST_TRIALS`]).
#[must_use]
pub fn upper(hits: u64, trials: u64, error: f64) -> f64 {
    if hits >= trials || trials > MOST_TRIALS || !(error > 0.0 && error < 1.0) {
        return 1.0;
    }
    let allowed = error * (1.0 - SPARE);
    let (mut low, mut high) = (hits as f64 / trials as f64, 1.0);
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if tail(hits, trials, middle) <= allowed { high = middle } else { low = middle }
    }
    high
}

/// Returns the Clopper-Pearson lower bound: a number that the probability is under with probability at most
/// `error`. Errs downward.
#[must_use]
pub fn lower(hits: u64, trials: u64, error: f64) -> f64 {
    1.0 - upper(trials.saturating_sub(hits), trials, error)
}

/// Computes P(Bin(n, p) <= k) for k/n < p < 1, from its largest term downward; not below the sum.
fn tail(k: u64, n: u64, p: f64) -> f64 {
    let (kf, nf) = (k as f64, n as f64);
    let ways = ln_gamma(nf + 1.0) - ln_gamma(kf + 1.0) - ln_gamma(nf - kf + 1.0);
    let largest = (ways + kf * p.ln() + (nf - kf) * (-p).ln_1p()).exp();
    let odds = (1.0 - p) / p;
    let (mut sum, mut term, mut j) = (1.0, 1.0, kf);
    while j > 0.0 {
        let ratio = j / (nf - j + 1.0) * odds;
        term *= ratio;
        sum += term;
        j -= 1.0;
        // Later ratios are smaller still.
        let rest = term * ratio / (1.0 - ratio).max(f64::MIN_POSITIVE);
        if rest < 1e-12 * sum {
            sum += rest;
            break;
        }
    }
    largest * sum
}
