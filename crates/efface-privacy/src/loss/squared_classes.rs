#![doc = include_str!("squared_classes.md")]

use super::{Description, LinkBounds, Task};

pub(super) const DESCRIPTION: Description = Description {
    name: "squared-classes",
    task: Task::Multiclass,
    parameter: None,
    probabilities: false,
};

/// Returns the bounds, the same for any number of classes.
pub(super) fn link_bounds() -> LinkBounds {
    LinkBounds {
        derivative: f64::INFINITY,
        curvature: 1.0,
        third_derivative: None,
        self_concordance: None,
    }
}

/// Returns |t - y| for |t| at most `reach`, rounded up.
pub(super) fn derivative_within(classes: usize, reach: f64) -> f64 {
    (reach + target_norm(classes)).next_up()
}

/// Returns sqrt(C), the length of the targets +1 and -1, rounded up.
pub(super) fn target_norm(classes: usize) -> f64 {
    (classes as f64).sqrt().next_up()
}

/// Loss at w = 0: C/2.
pub(super) fn zero_value(classes: usize) -> f64 {
    classes as f64 / 2.0
}
