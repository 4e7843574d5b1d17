#![doc = include_str!("logistic.md")]

use super::{Description, LinkBounds, Task};

pub(super) const DESCRIPTION: Description =
    Description { name: "logistic", task: Task::Binary, parameter: None, probabilities: true };

/// 1/(6 sqrt 3), rounded up.
const THIRD_DERIVATIVE: f64 = 0.096_225_044_864_937_65;

pub(super) fn link_bounds() -> LinkBounds {
    LinkBounds {
        derivative: 1.0,
        curvature: 0.25,
        third_derivative: Some(THIRD_DERIVATIVE),
        self_concordance: Some(1.0),
    }
}

/// Loss at w = 0: log 2, rounded up.
pub(super) fn zero_value() -> f64 {
    std::f64::consts::LN_2.next_up()
}
