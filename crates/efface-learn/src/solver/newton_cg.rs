//! Newton's method with conjugate gradients: no matrix is formed but, for losses of several classes,
//! one for each class, which makes far fewer products do.

use super::SolveError;
use super::blocks::Blocks;
use super::line_search::search;
use super::run::{Point, Run, dot};
use super::work::hessian_in_passes;
use crate::objective::LARGEST_HESSIAN;

/// Most gradient passes. Public, as it decides when the last resort takes over.
pub(super) const PASSES: u64 = 300;

/// Most products for one direction.
pub(super) const PRODUCTS: usize = 1000;

pub(super) fn descend(run: &mut Run<'_, '_>, mut point: Point) -> Result<Point, SolveError> {
    let first = point.at.gradient_norm;
    let mut blocks = Held::none(run);
    while !run.accepts(&point) && run.passes < PASSES {
        // Tighter as the gradient falls (superlinear), never tighter than the target needs.
        let relative = (point.at.gradient_norm / first).sqrt().min(0.1);
        let useful = 0.25 * run.target / point.at.gradient_norm;
        let direction = direction(run, &point, relative.max(useful), &mut blocks)?;
        match search(run, &point, &direction)? {
            Some((next, _)) => point = next,
            None => break,
        }
    }
    Ok(point)
}

/// The preconditioner in use, and whether there may be one.
struct Held {
    blocks: Option<Blocks>,
    /// What blocks cost, in products.
    price: usize,
    /// Products left until those made with these blocks cost as much as new blocks; `None` if no blocks are
    /// to be used.
    left: Option<usize>,
}

impl Held {
    fn none(run: &Run<'_, '_>) -> Self {
        let constants = run.objective.constants();
        let outputs = constants.loss().outputs();
        let cols = constants.parameters() / outputs.max(1);
        let price = (hessian_in_passes(cols) as usize).max(20);
        Self { blocks: None, price, left: (outputs > 1 && cols <= LARGEST_HESSIAN).then_some(0) }
    }

    fn solve(&self, vector: &[f64]) -> Vec<f64> {
        self.blocks.as_ref().map_or_else(|| vector.to_vec(), |blocks| blocks.solve(vector))
    }
}

/// Solves H d = -gradient until the residual is `relative` times the gradient.
fn direction(
    run: &mut Run<'_, '_>,
    point: &Point,
    relative: f64,
    held: &mut Held,
) -> Result<Vec<f64>, SolveError> {
    let curvature = run.objective.curvature(&point.weights)?;
    run.multiplied(1, point.at.gradient_norm)?;
    if held.left == Some(0) {
        held.blocks = Blocks::at(run, &curvature, point)?;
        held.left = held.blocks.is_some().then_some(held.price);
    }
    let mut solution = vec![0.0; point.weights.len()];
    let mut residual: Vec<f64> = point.at.gradient.iter().map(|g| -g).collect();
    let mut solved = held.solve(&residual);
    let mut search = solved.clone();
    let mut square = dot(&residual, &solved);
    let stop = relative * relative * dot(&residual, &residual);
    for _ in 0..PRODUCTS {
        if dot(&residual, &residual) <= stop {
            break;
        }
        held.left = held.left.map(|left| left.saturating_sub(1));
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
        solved = held.solve(&residual);
        let next = dot(&residual, &solved);
        let turn = next / square;
        square = next;
        for (d, r) in search.iter_mut().zip(&solved) {
            *d = r + turn * *d;
        }
    }
    if solution.iter().all(|s| *s == 0.0) {
        solution = point.at.gradient.iter().map(|g| -g).collect();
    }
    Ok(solution)
}
