//! Inverses of the privacy profile by monotone bracketing; the safe end is returned.

use super::profile::{complement, ln_delta};

/// The bracket is narrowed to this relative width.
const WIDTH: f64 = 1e-14;

/// Returns the least epsilon with delta(epsilon; mu) <= delta, relative error about 1e-12; the upper end of
/// the last bracket.
///
/// Infinity for infinite `mu` and for NaN.
#[must_use]
pub fn epsilon(mu: f64, delta: f64) -> f64 {
    epsilon_with_margin(mu, delta, 0.0)
}

/// Returns the largest mu with delta(epsilon; mu) <= delta, relative error about 1e-12; the lower end of the
/// last bracket.
#[must_use]
pub fn mu(epsilon: f64, delta: f64) -> f64 {
    mu_with_margin(epsilon, delta, 0.0)
}

/// Returns [`epsilon`] for a target lower by the relative `margin` that delta may be wrong by.
pub(super) fn epsilon_with_margin(mu: f64, delta: f64, margin: f64) -> f64 {
    if mu.is_nan() || delta.is_nan() || delta <= 0.0 || mu == f64::INFINITY {
        return f64::INFINITY;
    }
    let excess = |epsilon: f64| excess(epsilon, mu, delta) + margin;
    if mu == 0.0 || excess(0.0) <= 0.0 {
        return 0.0;
    }
    // delta(epsilon) <= Phi(a) <= exp(-a^2/2) for a <= 0: this epsilon is enough.
    let mut high = (0.5 * mu * mu + mu * (-2.0 * libm::log(delta)).max(0.0).sqrt()) * (1.0 + 1e-9);
    while high < f64::INFINITY && excess(high) > 0.0 {
        high *= 2.0;
    }
    if high == f64::INFINITY {
        return high;
    }
    let mut low = 0.5 * high;
    while low > 0.0 && excess(low) <= 0.0 {
        (low, high) = (0.5 * low, low);
    }
    narrow(low, high, excess).1
}

/// Returns [`mu`], for a target lower by the relative `margin`.
pub(super) fn mu_with_margin(epsilon: f64, delta: f64, margin: f64) -> f64 {
    if epsilon.is_nan() || delta.is_nan() || delta <= 0.0 {
        return 0.0;
    }
    if delta >= 1.0 || epsilon == f64::INFINITY {
        return f64::INFINITY;
    }
    let shortfall = |mu: f64| -(excess(epsilon, mu, delta) + margin);
    let (mut low, mut high) = (1.0, 1.0);
    while shortfall(high) >= 0.0 {
        (low, high) = (high, 2.0 * high);
        if high == f64::INFINITY {
            return low;
        }
    }
    while shortfall(low) < 0.0 {
        (low, high) = (0.5 * low, low);
        if low == 0.0 {
            return 0.0;
        }
    }
    narrow(low, high, shortfall).0
}

/// Positive exactly when delta(epsilon; mu) exceeds `delta`; its size is a relative measure of the excess,
/// relative to 1 - delta if that is the smaller of the two.
fn excess(epsilon: f64, mu: f64, delta: f64) -> f64 {
    if delta > 0.5 {
        1.0 - complement(epsilon, mu) / (1.0 - delta)
    } else {
        ln_delta(epsilon, mu) - libm::log(delta)
    }
}

/// Shrinks [low, high] around the sign change of a decreasing `f` (f(low) >= 0 >= f(high)) to a
/// relative width of 1e-14, keeping both signs.
///
/// Interpolates, truncates towards the middle and never strays further from it than bisection
/// would (the ITP method of Oliveira and Takahashi, 2020).
fn narrow(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let tolerance = 0.5 * WIDTH * high;
    let (mut at_low, mut at_high) = (f(low), f(high));
    let first_width = high - low;
    let bisections = (first_width / (2.0 * tolerance)).log2().ceil().max(0.0) as i32 + 2;
    for step in 0..=bisections {
        let width = high - low;
        let middle = low + 0.5 * width;
        if width <= 2.0 * tolerance || middle <= low || middle >= high {
            break;
        }
        let radius = (tolerance * 2f64.powi(bisections - step) - 0.5 * width).max(0.0);
        let mut guess = middle;
        if at_low.is_finite() && at_high.is_finite() && at_low > at_high {
            let secant = (low * at_high - high * at_low) / (at_high - at_low);
            let side = (middle - secant).signum();
            let nudge = 0.2 * width * (width / first_width);
            let truncated =
                if nudge <= (middle - secant).abs() { secant + side * nudge } else { middle };
            guess = if (truncated - middle).abs() <= radius {
                truncated
            } else {
                middle - side * radius
            };
        }
        if !(guess > low && guess < high) {
            guess = middle;
        }
        let value = f(guess);
        if value > 0.0 {
            (low, at_low) = (guess, value);
        } else {
            (high, at_high) = (guess, value);
        }
    }
    (low, high)
}
