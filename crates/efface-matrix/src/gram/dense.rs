//! Gram matrices of dense rows: panels of rows, widened and scaled, multiplied by faer.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::{GramError, Weights, zeros};
use crate::dense::Dense;
use crate::tree::{CHUNK, reduce_chunks};

/// Up to this order each chunk of rows has a result of its own; beyond it the threads share one
/// result and divide its tiles.
pub(super) const NARROW: usize = 256;
/// Rows per own result.
pub(super) const LEAF_ROWS: usize = 1024;
/// Rows per panel.
pub(super) const PANEL_ROWS: usize = CHUNK;
/// Tiles are halved until they are at most this wide.
const TILE: usize = 128;

pub(super) fn gram(
    x: &Dense,
    blocks: usize,
    weights: Weights<'_>,
    order: usize,
) -> Result<Mat<f64>, GramError> {
    let leaf_rows = if order <= NARROW { LEAF_ROWS } else { x.rows() };
    let leaf = |rows| onto(zeros(order)?, x, rows, blocks, weights);
    let merge = |left: Result<Mat<f64>, GramError>, right: Result<Mat<f64>, GramError>| {
        let mut left = left?;
        left += right?;
        Ok(left)
    };
    reduce_chunks(x.rows(), leaf_rows, leaf, merge).unwrap_or_else(|| zeros(order))
}

/// Adds rows to the sum of those before them, panel by panel. A panel whose weights are all zero adds
/// nothing and is not read.
pub(super) fn onto(
    mut sum: Mat<f64>,
    x: &Dense,
    rows: Range<usize>,
    blocks: usize,
    weights: Weights<'_>,
) -> Result<Mat<f64>, GramError> {
    let (cols, order) = (x.cols(), sum.ncols());
    let mut plain = Panel::new(cols, PANEL_ROWS.min(rows.len()), order)?;
    let mut scaled = Panel::new(cols, PANEL_ROWS.min(rows.len()), order)?;
    for start in rows.clone().step_by(PANEL_ROWS) {
        let rows = start..rows.end.min(start + PANEL_ROWS);
        let mut filled = false;
        for a in 0..blocks {
            for b in 0..=a {
                if rows.clone().all(|i| weights(i, a, b) == 0.0) {
                    continue;
                }
                if !filled {
                    plain.fill(x, rows.clone(), |_| 1.0);
                    filled = true;
                }
                scaled.fill(x, rows.clone(), |i| weights(i, a, b));
                let block = sum.as_mut().submatrix_mut(a * cols, b * cols, cols, cols);
                add_lower(block, plain.columns(rows.len()), scaled.columns(rows.len()));
            }
        }
    }
    for a in 0..blocks {
        for b in 0..a {
            mirror(sum.as_mut().submatrix_mut(a * cols, b * cols, cols, cols));
        }
    }
    Ok(sum)
}

/// One column of f64 per row of data.
struct Panel {
    values: Vec<f64>,
    cols: usize,
    stride: usize,
}

impl Panel {
    fn new(cols: usize, rows: usize, order: usize) -> Result<Self, GramError> {
        let stride = (cols.div_ceil(8) | 1) * 8;
        let mut values = Vec::new();
        let length = stride.checked_mul(rows).ok_or(GramError::Memory { order })?;
        values.try_reserve_exact(length).map_err(|_| GramError::Memory { order })?;
        values.resize(length, 0.0);
        Ok(Self { values, cols, stride })
    }

    fn fill(&mut self, x: &Dense, rows: Range<usize>, scale: impl Fn(usize) -> f64 + Sync) {
        let columns = self.values.par_chunks_mut(self.stride).with_min_len(64);
        columns.zip(rows).for_each(|(column, i)| {
            let s = scale(i);
            for (value, x) in column.iter_mut().zip(x.row(i)) {
                *value = s * f64::from(*x);
            }
        });
    }

    fn columns(&self, rows: usize) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice_with_stride(&self.values, self.cols, rows, self.stride)
    }
}

/// Adds to the lower triangle of `sum` that of `left` times `right` transposed.
fn add_lower(sum: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    let order = sum.nrows();
    if order <= TILE {
        triangular::matmul(
            sum,
            BlockStructure::TriangularLower,
            Accum::Add,
            left,
            BlockStructure::Rectangular,
            right.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        return;
    }
    let half = middle(order);
    let (upper, _, corner, lower) = sum.split_at_mut(half, half);
    let (left_upper, left_lower) = left.split_at_row(half);
    let (right_upper, right_lower) = right.split_at_row(half);
    rayon::join(
        || add_tile(corner, left_lower, right_upper),
        || {
            rayon::join(
                || add_lower(upper, left_upper, right_upper),
                || add_lower(lower, left_lower, right_lower),
            )
        },
    );
}

/// Adds to all of `sum` `left` times `right` transposed.
fn add_tile(sum: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    let (rows, cols) = (sum.nrows(), sum.ncols());
    if rows <= 2 * TILE && cols <= 2 * TILE {
        matmul(sum, Accum::Add, left, right.transpose(), 1.0, Par::Seq);
    } else if rows >= cols {
        let half = middle(rows);
        let (upper, lower) = sum.split_at_row_mut(half);
        let (left_upper, left_lower) = left.split_at_row(half);
        rayon::join(|| add_tile(upper, left_upper, right), || add_tile(lower, left_lower, right));
    } else {
        let half = middle(cols);
        let (before, after) = sum.split_at_col_mut(half);
        let (right_before, right_after) = right.split_at_row(half);
        rayon::join(|| add_tile(before, left, right_before), || add_tile(after, left, right_after));
    }
}

/// About half, on a cache line.
fn middle(length: usize) -> usize {
    length.div_ceil(16) * 8
}

/// Copies the lower triangle of a square matrix over the upper one.
fn mirror(mut block: MatMut<'_, f64>) {
    for j in 0..block.ncols() {
        for i in j + 1..block.nrows() {
            block[(j, i)] = block[(i, j)];
        }
    }
}
