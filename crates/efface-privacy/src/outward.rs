//! Rounds certified numbers to the side that errs against the holder of the certificate.

use crate::quantity::{Epsilon, Mu};

/// Relative margin of every certified number; it swallows the rounding of the formulas.
pub(crate) const MARGIN: f64 = 1e-9;

/// Rounds `x >= 0` up by a relative 1e-9, never to 0 unless x is 0; NaN becomes infinity.
pub(crate) fn up(x: f64) -> f64 {
    if x.is_nan() {
        return f64::INFINITY;
    }
    if x == 0.0 {
        return 0.0;
    }
    (x * (1.0 + MARGIN)).max(f64::MIN_POSITIVE)
}

/// Rounds `x >= 0` down by a relative 1e-9; NaN becomes 0.
pub(crate) fn down(x: f64) -> f64 {
    if x.is_nan() {
        return 0.0;
    }
    let lower = x * (1.0 - MARGIN);
    if lower < f64::MIN_POSITIVE { 0.0 } else { lower }
}

/// Returns the quantity at `x` clamped into [0, infinity]; NaN, which no formula here should give, says "no
/// bound".
pub(crate) fn mu(x: f64) -> Mu {
    match Mu::new(if x.is_nan() { f64::INFINITY } else { x.max(0.0) }) {
        Ok(mu) => mu,
        Err(_) => unreachable!("a number that is not NaN and at least 0 is a mu"),
    }
}

/// Returns the quantity at `x` clamped into [0, infinity]; NaN says "no bound".
pub(crate) fn epsilon(x: f64) -> Epsilon {
    match Epsilon::new(if x.is_nan() { f64::INFINITY } else { x.max(0.0) }) {
        Ok(epsilon) => epsilon,
        Err(_) => unreachable!("a number that is not NaN and at least 0 is an epsilon"),
    }
}
