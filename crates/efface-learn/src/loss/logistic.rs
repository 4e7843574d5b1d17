#![doc = include_str!("logistic.md")]

use efface_matrix::Link;

/// 1/(6 sqrt 3), rounded up.
pub(super) const THIRD_DERIVATIVE: f64 = 0.096_225_044_864_937_65;

/// The logistic loss of given targets (1 is the positive class).
pub(crate) struct LogisticLink<'a>(pub(crate) &'a [f64]);

/// 1/(1 + exp(-t)), without overflow and with small relative error on both sides.
pub(crate) fn sigmoid(t: f64) -> f64 {
    let e = libm::exp(-t.abs());
    if t >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Second derivative of the link at `margin`; the same for both classes.
pub(crate) fn curvature(margin: f64) -> f64 {
    let e = libm::exp(-margin.abs());
    e / ((1.0 + e) * (1.0 + e))
}

/// First derivative of the link at `margin`.
pub(crate) fn slope(margin: f64, target: f64) -> f64 {
    let sign = if target == 1.0 { 1.0 } else { -1.0 };
    -sign * sigmoid(-sign * margin)
}

impl Link for LogisticLink<'_> {
    fn outputs(&self) -> usize {
        1
    }

    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let sign = if self.0[row] == 1.0 { 1.0 } else { -1.0 };
        let t = sign * margins[0];
        let e = libm::exp(-t.abs());
        let (towards, value) = if t >= 0.0 {
            (e / (1.0 + e), libm::log1p(e))
        } else {
            (1.0 / (1.0 + e), libm::log1p(e) - t)
        };
        coefficients[0] = -sign * towards;
        value
    }
}
