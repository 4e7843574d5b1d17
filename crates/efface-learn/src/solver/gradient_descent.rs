//! Gradient descent with step 2/(L + m), with a proven step count.

use super::SolveError;
use super::run::{Point, Run};
use crate::constants::Constants;
use crate::outward;

/// Steps of gradient descent with step 2/(L + m) after which, in exact arithmetic, every start
/// within `start_distance` of the optimum has gradient norm at most `gradient_norm`/2.
///
/// One step multiplies the distance to the optimum by at most gamma = (L - m)/(L + m), and the
/// gradient norm is at most L times the distance: ceil(log(2 L R/gradient_norm)/log(1/gamma)).
#[must_use]
pub fn sufficient_steps(constants: &Constants, start_distance: f64, gradient_norm: f64) -> u64 {
    let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
    let ratio = 2.0 * l * start_distance / gradient_norm;
    if ratio <= 1.0 {
        return 0;
    }
    // log(1/gamma) = log1p(2m/(L - m)), infinite when L = m.
    let rate = libm::log1p(2.0 * m / (l - m));
    let steps = (libm::log(ratio) * (1.0 + 1e-12) / rate).ceil();
    (steps as u64).saturating_add(1)
}

pub(super) fn descend(run: &mut Run<'_, '_>, mut point: Point) -> Result<Point, SolveError> {
    let constants = run.objective.constants();
    let distance = outward::add(outward::norm(&point.weights), constants.optimum_bound());
    let steps = sufficient_steps(constants, distance, run.target);
    let step = 2.0 / (constants.total_smoothness() + constants.strong_convexity());
    let mut taken = 0;
    while taken < steps && !run.accepts(&point) {
        for (w, g) in point.weights.iter_mut().zip(&point.at.gradient) {
            *w -= step * g;
        }
        point = run.visit(point.weights)?;
        taken += 1;
    }
    Ok(point)
}
