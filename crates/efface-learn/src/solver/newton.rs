//! Newton's method with a Cholesky factor that is kept while it serves.

use super::SolveError;
use super::factor::Factor;
use super::line_search::search;
use super::run::{Point, Run};

/// Most gradient passes. Public, as it decides when the last resort takes over.
pub(super) const PASSES: u64 = 200;

/// A factor is rebuilt after a step that did not shrink the gradient this much.
const SHRINK: f64 = 0.1;

/// Steps until the stopping rule holds or the cap is reached; returns the last point. `factor`
/// may hold an older factor to begin with, and holds the last one used afterwards.
pub(super) fn descend(
    run: &mut Run<'_, '_>,
    mut point: Point,
    factor: &mut Option<Factor>,
) -> Result<Point, SolveError> {
    let mut fresh = false;
    while !run.accepts(&point) && run.passes < PASSES {
        let usable = match factor.take() {
            Some(kept) => Some(kept),
            None => {
                fresh = true;
                build(run, &point)?
            }
        };
        let Some(usable) = usable else { break };
        let mut direction: Vec<f64> = point.at.gradient.iter().map(|g| -g).collect();
        usable.solve_in_place(&mut direction);
        match search(run, &point, &direction)? {
            Some((next, length)) => {
                let shrunk = next.at.gradient_norm <= SHRINK * point.at.gradient_norm;
                point = next;
                if (shrunk && length == 1.0) || run.accepts(&point) {
                    *factor = Some(usable);
                }
                fresh = false;
            }
            // The factor of the very point leads nowhere: rounding rules here.
            None if fresh => break,
            None => {}
        }
    }
    Ok(point)
}

fn build(run: &mut Run<'_, '_>, point: &Point) -> Result<Option<Factor>, SolveError> {
    let curvature = run.objective.curvature(&point.weights)?;
    run.multiplied(1, point.at.gradient_norm)?;
    run.hessians += 1;
    Ok(Factor::new(run.objective.hessian(&curvature)?))
}
