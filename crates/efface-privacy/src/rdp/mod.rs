//! Rényi differential privacy and its conversions.

use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu, RenyiOrder};

/// Returns Rényi divergence of order alpha between a mu-GDP pair, alpha mu^2/2, rounded up by a relative
/// 1e-9; infinity for infinite `mu`.
///
/// Exact for two Gaussians, an upper bound for every other mu-GDP pair. Source: Mironov (2017),
/// Proposition 7; Dong, Roth and Su (2022), Corollary B.6.
#[must_use]
pub fn from_mu(mu: Mu, order: RenyiOrder) -> Epsilon {
    outward::epsilon(outward::up(0.5 * order.get() * mu.get() * mu.get()))
}

/// How to turn one point of a Rényi curve into (epsilon, delta).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Mironov (2017), Proposition 3: e + ln(1/delta)/(alpha - 1). As published; never better
    /// than the other.
    Mironov,
    /// Canonne, Kamath and Steinke (2020), Proposition 12:
    /// e + ln(1 - 1/alpha) - (ln delta + ln alpha)/(alpha - 1).
    CanonneKamathSteinke,
}

/// Returns the least epsilon at `delta` that a Rényi curve gives, over all orders above 1, rounded up by a
/// relative 1e-9 and never below 0.
///
/// `curve(alpha)` bounds the divergence of order alpha, in nats; infinity (or NaN) if it has no bound. Every
/// order gives a valid epsilon, so the answer is sound for any curve; it is the minimum (relative error below
/// 1e-9) for curves whose converted values fall and then rise.
pub fn epsilon(curve: impl Fn(f64) -> f64, delta: Delta, conversion: Conversion) -> Epsilon {
    outward::epsilon(outward::up(unrounded_epsilon(curve, delta.get(), conversion)))
}

/// Returns [`epsilon`] without the outward margin.
pub fn unrounded_epsilon(curve: impl Fn(f64) -> f64, delta: f64, conversion: Conversion) -> f64 {
    let ln_delta = libm::log(delta);
    let at = |position: f64| {
        let above = libm::exp(position);
        let alpha = 1.0 + above;
        let bound = curve(alpha);
        let value = match conversion {
            Conversion::Mironov => bound - ln_delta / above,
            Conversion::CanonneKamathSteinke => {
                bound + (position - libm::log(alpha)) - (ln_delta + libm::log(alpha)) / above
            }
        };
        if value.is_nan() || bound < 0.0 { f64::INFINITY } else { value }
    };
    minimum(at).max(0.0)
}

/// Range of ln(alpha - 1) that is searched, and the grid that brackets the minimum.
const FROM: f64 = -36.0;
const TO: f64 = 92.0;
const CELLS: u32 = 512;

/// Returns the least value of `f` on the search range: a grid, then golden sections around its best point.
fn minimum(f: impl Fn(f64) -> f64) -> f64 {
    let cell = (TO - FROM) / f64::from(CELLS);
    let (mut centre, mut best) = (FROM, f64::INFINITY);
    for k in 0..=CELLS {
        let position = FROM + cell * f64::from(k);
        let value = f(position);
        if value < best {
            (centre, best) = (position, value);
        }
    }
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (centre - cell, centre + cell);
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..64 {
        best = best.min(at_left).min(at_right);
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = f(right);
        }
    }
    best
}

#[cfg(test)]
mod tests;
