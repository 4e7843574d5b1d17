#![doc = include_str!("squared.md")]

use efface_matrix::Link;

use crate::outward;

/// The squared loss with the residual clipped to [-clip, clip], of given real targets.
pub(crate) struct SquaredLink<'a> {
    pub(crate) targets: &'a [f64],
    pub(crate) clip: f64,
}

/// Second derivative of the link at `margin` (one of its one-sided limits at the two kinks).
pub(crate) fn curvature(margin: f64, target: f64, clip: f64) -> f64 {
    if (margin - target).abs() <= clip { 1.0 } else { 0.0 }
}

/// First derivative of the link at `margin`.
pub(crate) fn slope(margin: f64, target: f64, clip: f64) -> f64 {
    (margin - target).clamp(-clip, clip)
}

/// Loss at w = 0 for |y| = `target`, rounded up.
pub(super) fn zero_value(clip: f64, target: f64) -> f64 {
    if target <= clip {
        outward::mul(0.5, outward::mul(target, target))
    } else {
        // h (|y| - h/2); the subtraction is rounded outward by hand.
        outward::mul(clip, (target - clip / 2.0).next_up())
    }
}

impl Link for SquaredLink<'_> {
    fn outputs(&self) -> usize {
        1
    }

    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let residual = margins[0] - self.targets[row];
        let clipped = residual.clamp(-self.clip, self.clip);
        coefficients[0] = clipped;
        clipped.abs() * (residual.abs() - clipped.abs() / 2.0)
    }
}
