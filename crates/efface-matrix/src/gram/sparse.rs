//! Gram matrices of sparse rows: each row scatters its products straight into the result.

use faer::{Mat, MatMut};
use rayon::prelude::*;

use super::{GramError, Weights, zeros};
use crate::csr::Csr;

/// Strips of columns that threads work on; every entry is summed by one thread in row order, so
/// the number has no influence on the result.
const STRIPS: usize = 32;

pub(super) fn gram(
    x: &Csr,
    blocks: usize,
    weights: Weights<'_>,
    order: usize,
) -> Result<Mat<f64>, GramError> {
    let mut sum = zeros(order)?;
    let width = x.cols().div_ceil(STRIPS).max(1);
    if order > 0 {
        for b in 0..blocks {
            let columns = sum.as_mut().submatrix_mut(0, b * x.cols(), order, x.cols());
            columns.par_col_chunks_mut(width).enumerate().for_each(|(strip, columns)| {
                scatter(x, blocks, weights, b, strip * width, columns);
            });
        }
    }
    Ok(sum)
}

/// Fills the columns of block column `b` that stand for the columns of `x` from `first` on.
fn scatter(
    x: &Csr,
    blocks: usize,
    weights: Weights<'_>,
    b: usize,
    first: usize,
    mut columns: MatMut<'_, f64>,
) {
    let end = first + columns.ncols();
    for row in 0..x.rows() {
        let (indices, values) = x.row(row);
        let start = indices.partition_point(|&j| (j as usize) < first);
        let stop = start + indices[start..].partition_point(|&j| (j as usize) < end);
        if start == stop {
            continue;
        }
        for a in b..blocks {
            let weight = weights(row, a, b);
            for k in start..stop {
                let scaled = weight * f64::from(values[k]);
                let below = if a == b { k } else { 0 };
                let column = indices[k] as usize - first;
                for (&i, &value) in indices[below..].iter().zip(&values[below..]) {
                    columns[(a * x.cols() + i as usize, column)] += scaled * f64::from(value);
                }
            }
        }
    }
}
