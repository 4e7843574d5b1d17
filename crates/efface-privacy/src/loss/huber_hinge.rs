#![doc = include_str!("huber_hinge.md")]

use super::{Description, LinkBounds, Parameter, Task};
use crate::upward;

pub(super) const DESCRIPTION: Description = Description {
    name: "huber-hinge",
    task: Task::Binary,
    parameter: Some(Parameter::HingeWidth),
    probabilities: false,
};

pub(super) fn link_bounds(width: f64) -> LinkBounds {
    LinkBounds {
        derivative: 1.0,
        curvature: upward::div(1.0, width),
        third_derivative: None,
        self_concordance: None,
    }
}

/// Loss at w = 0, rounded up: at most 1.
pub(super) fn zero_value(width: f64) -> f64 {
    if width >= 1.0 { upward::div(0.5, width) } else { (1.0 - width / 2.0).next_up().min(1.0) }
}
