//! The privacy profile delta(epsilon; mu) of a Gaussian pair.

use std::f64::consts::{PI, SQRT_2};

use crate::special::{mills, mills_decay, normal_cdf, normal_density};

/// Eight-point Gauss-Legendre rule on [-1, 1]: positive nodes and their weights.
const RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Returns a = mu/2 - epsilon/mu to one rounding of a itself, however much cancels.
fn threshold(epsilon: f64, mu: f64) -> f64 {
    let quotient = epsilon / mu;
    if !quotient.is_finite() {
        return f64::NEG_INFINITY;
    }
    let rest = (-quotient).mul_add(mu, epsilon) / mu;
    let rest = if rest.is_finite() { rest } else { 0.0 };
    (0.5 * mu - quotient) - rest
}

/// Returns M(x) - M(x + mu) for Mills' ratio M, without cancellation.
fn mills_drop(x: f64, mu: f64) -> f64 {
    if mu > 0.5 && mu > 0.25 * x {
        return mills(x) - mills(x + mu);
    }
    let half = 0.5 * mu;
    let at = |t: f64| mills_decay(x + half * (1.0 + t));
    half * RULE.iter().map(|&(node, weight)| weight * (at(node) + at(-node))).sum::<f64>()
}

/// Returns delta(epsilon; mu), relative error below 1e-12 wherever it is at least 1e-300.
///
/// For `epsilon >= 0` and `mu >= 0`, both may be infinite; NaN for other input.
#[must_use]
pub fn delta(epsilon: f64, mu: f64) -> f64 {
    if let Some(end) = extreme(epsilon, mu) {
        return end;
    }
    if epsilon == 0.0 {
        return libm::erf(mu / (2.0 * SQRT_2));
    }
    let a = threshold(epsilon, mu);
    if a > 0.0 && mu > 0.5 {
        normal_cdf(a) - normal_density(a) * mills(mu - a)
    } else {
        let density = normal_density(a);
        if density == 0.0 { 0.0 } else { density * mills_drop(-a, mu) }
    }
}

/// Returns 1 - delta(epsilon; mu), a sum of positive terms: relative error below 1e-12 while it is at least
/// 1e-300.
#[must_use]
pub fn complement(epsilon: f64, mu: f64) -> f64 {
    if let Some(end) = extreme(epsilon, mu) {
        return 1.0 - end;
    }
    let a = threshold(epsilon, mu);
    if a == f64::NEG_INFINITY {
        return 1.0;
    }
    normal_cdf(-a) + normal_density(a) * mills(mu - a)
}

/// Returns ln delta(epsilon; mu), absolute error below 1e-12 while delta >= 1e-300 and a few units in the
/// last place below; no underflow before a^2 overflows.
#[must_use]
pub fn ln_delta(epsilon: f64, mu: f64) -> f64 {
    if let Some(end) = extreme(epsilon, mu) {
        return libm::log(end);
    }
    let a = threshold(epsilon, mu);
    if epsilon == 0.0 || (a > 0.0 && mu > 0.5) {
        let rest = complement(epsilon, mu);
        return if rest < 0.5 { libm::log1p(-rest) } else { libm::log(delta(epsilon, mu)) };
    }
    let drop = mills_drop(-a, mu);
    if drop == 0.0 {
        return f64::NEG_INFINITY;
    }
    libm::log(drop) - 0.5 * a * a - 0.5 * libm::log(2.0 * PI)
}

/// Returns the values at the ends of the ranges.
fn extreme(epsilon: f64, mu: f64) -> Option<f64> {
    if epsilon.is_nan() || mu.is_nan() || epsilon < 0.0 || mu < 0.0 {
        Some(f64::NAN)
    } else if mu == 0.0 {
        Some(0.0)
    } else if mu == f64::INFINITY {
        Some(1.0)
    } else if epsilon == f64::INFINITY {
        Some(0.0)
    } else {
        None
    }
}
