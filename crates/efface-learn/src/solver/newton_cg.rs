//! Newton's method with conjugate gradients: no matrix is formed.

use super::SolveError;
use super::line_search::search;
use super::run::{Point, Run, dot};

/// Most gradient passes. Public, as it decides when the last resort takes over.
pub(super) const PASSES: u64 = 300;

/// Most products for one direction.
pub(super) const PRODUCTS: usize = 1000;

pub(super) fn descend(run: &mut Run<'_, '_>, mut point: Point) -> Result<Point, SolveError> {
    let first = point.at.gradient_norm;
    while !run.accepts(&point) && run.passes < PASSES {
        // Tighter as the gradient falls (superlinear), never tighter than the target needs.
        let relative = (point.at.gradient_norm / first).sqrt().min(0.1);
        let useful = 0.25 * run.target / point.at.gradient_norm;
        let direction = direction(run, &point, relative.max(useful))?;
        match search(run, &point, &direction)? {
            Some((next, _)) => point = next,
            None => break,
        }
    }
    Ok(point)
}

/// Solves H d = -gradient until the residual is `relative` times the gradient.
fn direction(run: &mut Run<'_, '_>, point: &Point, relative: f64) -> Result<Vec<f64>, SolveError> {
    let curvature = run.objective.curvature(&point.weights)?;
    run.multiplied(1, point.at.gradient_norm)?;
    let mut solution = vec![0.0; point.weights.len()];
    let mut residual: Vec<f64> = point.at.gradient.iter().map(|g| -g).collect();
    let mut search = residual.clone();
    let mut square = dot(&residual, &residual);
    let stop = relative * relative * square;
    for _ in 0..PRODUCTS {
        if square <= stop {
            break;
        }
        let image = run.objective.product(&curvature, &search)?;
        run.multiplied(1, point.at.gradient_norm)?;
        let bend = dot(&search, &image);
        if !(bend > 0.0 && bend.is_finite()) {
            break;
        }
        let step = square / bend;
        for (s, d) in solution.iter_mut().zip(&search) {
            *s += step * d;
        }
        for (r, h) in residual.iter_mut().zip(&image) {
            *r -= step * h;
        }
        let next = dot(&residual, &residual);
        let turn = next / square;
        square = next;
        for (d, r) in search.iter_mut().zip(&residual) {
            *d = r + turn * *d;
        }
    }
    if solution.iter().all(|s| *s == 0.0) {
        solution = point.at.gradient.iter().map(|g| -g).collect();
    }
    Ok(solution)
}
