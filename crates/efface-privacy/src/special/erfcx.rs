//! The scaled complementary error function.

use std::f64::consts::PI;

/// Below this, exp(x^2) erfc(x) is multiplied out; above, the continued fraction is short.
const FRACTION_FROM: f64 = 2.0;
/// From here on 1/x^2 terms of the asymptotic series vanish against one.
const ASYMPTOTIC_FROM: f64 = 1e8;

/// Returns erfcx(x) = exp(x^2) erfc(x), relative error about 1e-15.
///
/// Positive and decreasing; infinity below about -26.6, where the true value exceeds the largest
/// float; 0 at infinity; NaN only for NaN. Source: Abramowitz and Stegun 7.1.14 (continued
/// fraction), `libm` for erfc and exp.
#[must_use]
pub fn erfcx(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < FRACTION_FROM {
        // x^2 = high + low exactly; exp(high + low) = exp(high) (1 + low) to the last place.
        let high = x * x;
        if high > 710.0 {
            return f64::INFINITY;
        }
        let low = x.mul_add(x, -high);
        let scale = libm::exp(high);
        return (scale + scale * low) * libm::erfc(x);
    }
    if x >= ASYMPTOTIC_FROM {
        return 1.0 / (x * PI.sqrt());
    }
    1.0 / ((x + tail(x)) * PI.sqrt())
}

/// Returns the part of erfcx(x)'s continued fraction below its first x: (1/2)/(x + 1/(x + (3/2)/(x + ...))).
fn tail(x: f64) -> f64 {
    // The n-th convergent is off by about exp(-4 x sqrt(n/2)); 20 + 200/x^2 terms leave < 1e-18.
    let terms = 20 + (200.0 / (x * x)) as u32;
    (1..=terms).rev().fold(0.0, |below, k| 0.5 * f64::from(k) / (x + below))
}

/// Returns ln erfc(x), relative error about 1e-15 except near the zero of the logarithm at x = 0, where the
/// absolute error is about 1e-16. No underflow: finite up to x about 1e154.
#[must_use]
pub fn ln_erfc(x: f64) -> f64 {
    if x < 0.5 { libm::log1p(-libm::erf(x)) } else { libm::log(erfcx(x)) - x * x }
}
