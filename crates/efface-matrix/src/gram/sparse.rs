//! Gram matrices of sparse rows: each row scatters its products directly into the result.

use std::ops::Range;

use faer::{Mat, MatMut};
use rayon::prelude::*;

use super::{Weights, zeros};
use crate::change::Refusal;
use crate::csr::Csr;
use crate::tree::reduce_chunks;

/// Up to this order each chunk of rows has a result of its own, which fits the cache; beyond it the
/// threads share one result and divide its columns.
pub(super) const NARROW: usize = 256;
/// Number of rows that are summed into one result.
pub(super) const LEAF_ROWS: usize = 8192;
/// Number of column strips that threads work on; every entry is summed by one thread in row order, so the
/// number has no influence on the result.
const STRIPS: usize = 32;

pub(super) fn gram(
    x: &Csr,
    blocks: usize,
    weights: Weights<'_>,
    order: usize,
) -> Result<Mat<f64>, Refusal> {
    if order <= NARROW {
        let leaf = |rows: Range<usize>| {
            let mut sum = zeros(order)?;
            for b in 0..blocks {
                let columns = sum.as_mut().submatrix_mut(0, b * x.cols(), order, x.cols());
                scatter(x, rows.clone(), blocks, weights, b, 0, columns);
            }
            Ok(sum)
        };
        let merge = |left: Result<Mat<f64>, Refusal>, right: Result<Mat<f64>, Refusal>| {
            let mut left = left?;
            left += right?;
            Ok(left)
        };
        return reduce_chunks(x.rows(), LEAF_ROWS, leaf, merge).unwrap_or_else(|| zeros(order));
    }
    Ok(onto(zeros(order)?, x, blocks, weights))
}

/// Adds all rows to the sum of those before them, one after another.
pub(super) fn onto(mut sum: Mat<f64>, x: &Csr, blocks: usize, weights: Weights<'_>) -> Mat<f64> {
    let order = sum.ncols();
    let width = x.cols().div_ceil(STRIPS).max(1);
    for b in 0..blocks {
        let columns = sum.as_mut().submatrix_mut(0, b * x.cols(), order, x.cols());
        columns.par_col_chunks_mut(width).enumerate().for_each(|(strip, columns)| {
            scatter(x, 0..x.rows(), blocks, weights, b, strip * width, columns);
        });
    }
    sum
}

/// Adds rows to the columns of block column `b` that stand for the columns of `x` from `first` on.
fn scatter(
    x: &Csr,
    rows: Range<usize>,
    blocks: usize,
    weights: Weights<'_>,
    b: usize,
    first: usize,
    mut columns: MatMut<'_, f64>,
) {
    let all = first == 0 && columns.ncols() == x.cols();
    let end = first + columns.ncols();
    for row in rows {
        let (indices, values) = x.row(row);
        let (start, stop) = if all {
            (0, indices.len())
        } else {
            let start = indices.partition_point(|&j| (j as usize) < first);
            (start, start + indices[start..].partition_point(|&j| (j as usize) < end))
        };
        if start == stop {
            continue;
        }
        for a in b..blocks {
            let weight = weights(row, a, b);
            let top = a * x.cols();
            for k in start..stop {
                let scaled = weight * f64::from(values[k]);
                let below = if a == b { k } else { 0 };
                let column = indices[k] as usize - first;
                for (&i, &value) in indices[below..].iter().zip(&values[below..]) {
                    columns[(top + i as usize, column)] += scaled * f64::from(value);
                }
            }
        }
    }
}
