#![doc = include_str!("softmax.md")]

use super::{Description, LinkBounds, Task};

pub(super) const DESCRIPTION: Description =
    Description { name: "softmax", task: Task::Multiclass, parameter: None, probabilities: true };

/// Returns the bounds, the same for any number of classes.
pub(super) fn link_bounds() -> LinkBounds {
    LinkBounds {
        derivative: std::f64::consts::SQRT_2.next_up(),
        curvature: 0.5,
        third_derivative: None,
        self_concordance: None,
    }
}

/// Returns the trace of (I - 11^T/C)/2, which lies above the second derivative.
pub(super) fn curvature_trace(classes: usize) -> f64 {
    (classes as f64 - 1.0) / 2.0
}

/// Loss at w = 0: log C, rounded up.
pub(super) fn zero_value(classes: usize) -> f64 {
    libm::log(classes as f64).next_up().next_up()
}
