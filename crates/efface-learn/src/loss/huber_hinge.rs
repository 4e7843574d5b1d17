#![doc = include_str!("huber_hinge.md")]

use efface_matrix::Link;

use crate::outward;

/// The Huberised hinge of given targets (1 is the positive class).
pub(crate) struct HuberHingeLink<'a> {
    pub(crate) targets: &'a [f64],
    pub(crate) width: f64,
}

/// Second derivative of the link at `margin` (one of its one-sided limits at the two kinks).
pub(crate) fn curvature(margin: f64, target: f64, width: f64) -> f64 {
    let u = if target == 1.0 { margin } else { -margin };
    if u <= 1.0 && u >= 1.0 - width { 1.0 / width } else { 0.0 }
}

/// First derivative of the link at `margin`.
pub(crate) fn slope(margin: f64, target: f64, width: f64) -> f64 {
    let sign = if target == 1.0 { 1.0 } else { -1.0 };
    -sign * ((1.0 - sign * margin).clamp(0.0, width) / width)
}

/// Loss at w = 0, rounded up: at most 1.
pub(super) fn zero_value(width: f64) -> f64 {
    if width >= 1.0 { outward::div(0.5, width) } else { (1.0 - width / 2.0).next_up().min(1.0) }
}

impl Link for HuberHingeLink<'_> {
    fn outputs(&self) -> usize {
        1
    }

    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let sign = if self.targets[row] == 1.0 { 1.0 } else { -1.0 };
        let short = 1.0 - sign * margins[0];
        let clipped = short.clamp(0.0, self.width);
        let slope = clipped / self.width;
        coefficients[0] = -sign * slope;
        slope * (short - clipped / 2.0)
    }
}
