//! The standard normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI, SQRT_2};

use super::{erfcx, ln_erfc};

/// Returns Phi(x): probability that a standard normal is at most x, relative error about x^2 * 1e-16 in the
/// lower tail.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Returns ln Phi(x), without underflow in the lower tail.
#[must_use]
pub fn ln_normal_cdf(x: f64) -> f64 {
    if x > 0.0 { libm::log1p(-normal_cdf(-x)) } else { ln_erfc(-x * FRAC_1_SQRT_2) - LN_2 }
}

/// Returns phi(x) = exp(-x^2/2) / sqrt(2 pi), relative error about 1e-15 for |x| <= 38.
#[must_use]
pub fn normal_density(x: f64) -> f64 {
    // x^2 = high + low exactly, so that the exponent's rounding is not magnified.
    let high = x * x;
    if !high.is_finite() {
        return 0.0;
    }
    let low = x.mul_add(x, -high);
    libm::exp(-0.5 * high) * (1.0 - 0.5 * low) / (2.0 * PI).sqrt()
}

/// Mills ratio M(x) = (1 - Phi(x)) / phi(x), relative error about 1e-15.
#[must_use]
pub fn mills(x: f64) -> f64 {
    (0.5 * PI).sqrt() * erfcx(x / SQRT_2)
}

/// Returns -M'(x) = 1 - x M(x), positive and decreasing; relative error below 2e-14 for x >= -1.
///
/// It is the integral of t exp(-x t - t^2/2) over t > 0. Beyond x = 2 it is taken from the continued fraction
/// of the Mills ratio, in which no leading digits cancel.
#[must_use]
pub fn mills_decay(x: f64) -> f64 {
    if x < 2.0 {
        return 1.0 - x * mills(x);
    }
    if x > 1e8 {
        return 1.0 / (x * x);
    }
    let terms = 20 + (400.0 / (x * x)) as u32;
    let below = (1..=terms).rev().fold(0.0, |below, k| f64::from(k) / (x + below));
    below / (x + below)
}
