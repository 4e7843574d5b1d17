#![doc = include_str!("squared.md")]

use super::{Description, LinkBounds, Parameter, Task};
use crate::upward;

pub(super) const DESCRIPTION: Description = Description {
    name: "squared",
    task: Task::Regression,
    parameter: Some(Parameter::Clip),
    probabilities: false,
};

pub(super) fn link_bounds(clip: f64) -> LinkBounds {
    let kinks = clip != f64::INFINITY;
    LinkBounds {
        derivative: clip,
        curvature: 1.0,
        third_derivative: None,
        self_concordance: if kinks { None } else { Some(0.0) },
    }
}

/// The derivative is the residual, or the clip if that is less.
pub(super) fn derivative_within(clip: f64, reach: f64) -> f64 {
    clip.min(reach)
}

/// Loss at w = 0 for |y| = `target`, rounded up.
pub(super) fn zero_value(clip: f64, target: f64) -> f64 {
    if target <= clip {
        upward::mul(0.5, upward::mul(target, target))
    } else {
        // h (|y| - h/2); the subtraction is rounded outward by hand.
        upward::mul(clip, (target - clip / 2.0).next_up())
    }
}
