//! Backtracking along a descent direction of a convex function.

use super::SolveError;
use super::run::{Point, Run, dot};

/// Trials before a direction is given up.
pub(super) const TRIALS: usize = 30;

/// Returns the first step length, from 1 downward, at which F has decreased enough; with that length.
///
/// Enough is the usual fraction (1e-4) of what the slope promises, or, if differences of F drown in rounding,
/// a slope along the direction that has at least halved in size or turned negative still (F is convex, so F
/// has then not grown beyond rounding). `None`: no length found.
pub(super) fn search(
    run: &mut Run<'_, '_>,
    from: &Point,
    direction: &[f64],
) -> Result<Option<(Point, f64)>, SolveError> {
    let slope = dot(&from.at.gradient, direction);
    if !(slope < 0.0 && slope.is_finite()) {
        return Ok(None);
    }
    let noise = 1e-12 * from.at.value.abs();
    let mut length = 1.0;
    for _ in 0..TRIALS {
        let moved: Vec<f64> =
            from.weights.iter().zip(direction).map(|(w, d)| w + length * d).collect();
        if moved.iter().any(|w| !w.is_finite()) {
            length *= 0.1;
            continue;
        }
        let trial = run.visit(moved)?;
        let there = dot(&trial.at.gradient, direction);
        let armijo = trial.at.value <= from.at.value + 1e-4 * length * slope;
        let flat = there <= -0.5 * slope && trial.at.value <= from.at.value + noise;
        if armijo || flat || run.accepts(&trial) {
            return Ok(Some((trial, length)));
        }
        // The point at which the slope, taken as linear, vanishes; kept within a tenth and a half.
        let zero = slope / (slope - there);
        let factor = if zero.is_finite() { zero.clamp(0.1, 0.5) } else { 0.1 };
        length *= factor;
    }
    Ok(None)
}
