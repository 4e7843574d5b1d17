//! A preconditioner for losses of several classes: the Hessian's diagonal blocks, one for each class.

use efface_matrix::Products;

use super::SolveError;
use super::factor::Factor;
use super::run::{Point, Run};
use crate::objective::Curvature;

/// Cholesky factors of the blocks of a Hessian, one for each class.
///
/// Moving all classes alike changes no probability: along such directions the Hessian is lambda alone, which
/// no block represents. They are taken out before and after the blocks are solved, and solved separately.
pub(super) struct Blocks {
    factors: Vec<Factor>,
    lambda: f64,
}

impl Blocks {
    /// Returns the blocks at a point; `None` if the loss has no classes, the records are in parts or a block
    /// is not positive definite in float64.
    pub(super) fn at(
        run: &mut Run<'_, '_>,
        curvature: &Curvature,
        point: &Point,
    ) -> Result<Option<Self>, SolveError> {
        let lambda = run.objective.constants().strong_convexity();
        for products in [Products::Single, Products::Double] {
            let blocks = run.objective.class_blocks(curvature, products)?;
            let Some(blocks) = blocks else { return Ok(None) };
            run.hessians += 1;
            run.multiplied(0, point.at.gradient_norm)?;
            let factors: Option<Vec<Factor>> = blocks.into_iter().map(Factor::new).collect();
            if let Some(factors) = factors {
                return Ok(Some(Self { factors, lambda }));
            }
        }
        Ok(None)
    }

    /// Returns the vector multiplied by an approximate inverse of the Hessian.
    pub(super) fn solve(&self, vector: &[f64]) -> Vec<f64> {
        let classes = self.factors.len();
        let cols = vector.len() / classes.max(1);
        let mut solved = vector.to_vec();
        let alike = take_mean(&mut solved, cols);
        for (factor, block) in self.factors.iter().zip(solved.chunks_exact_mut(cols)) {
            factor.solve_in_place(block);
        }
        take_mean(&mut solved, cols);
        for block in solved.chunks_exact_mut(cols) {
            for (s, a) in block.iter_mut().zip(&alike) {
                *s += a / self.lambda;
            }
        }
        solved
    }
}

/// Subtracts from each block the mean of all, and returns it.
fn take_mean(vector: &mut [f64], cols: usize) -> Vec<f64> {
    let classes = (vector.len() / cols) as f64;
    let mut mean = vec![0.0; cols];
    for block in vector.chunks_exact(cols) {
        mean.iter_mut().zip(block).for_each(|(m, v)| *m += v / classes);
    }
    for block in vector.chunks_exact_mut(cols) {
        block.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
    }
    mean
}
