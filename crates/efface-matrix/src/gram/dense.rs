//! Gram matrices of dense rows: panels of rows, scaled, widened if products are in f64, and multiplied by
//! faer.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::{Products, Weights, zeros, zeros_of};
use crate::change::Refusal;
use crate::dense::Dense;
use crate::tree::{CHUNK, reduce_chunks};

/// Up to this order each chunk of rows has a result of its own; beyond it the threads share one
/// result and divide its tiles.
pub(super) const NARROW: usize = 256;
/// Number of rows that are summed into one result.
pub(super) const LEAF_ROWS: usize = CHUNK;
/// Number of rows per panel.
pub(super) const PANEL_ROWS: usize = CHUNK;
/// Tiles are halved until they are at most this wide.
const TILE: usize = 128;
/// Number of columns of a diagonal tile that are formed together.
const STRIP: usize = 24;

pub(super) fn gram(
    x: &Dense,
    blocks: usize,
    weights: Weights<'_>,
    order: usize,
    products: Products,
) -> Result<Mat<f64>, Refusal> {
    let leaf_rows = if order <= NARROW { LEAF_ROWS } else { x.rows() };
    let leaf = |rows| onto(zeros(order)?, x, rows, blocks, weights, products);
    let merge = |left: Result<Mat<f64>, Refusal>, right: Result<Mat<f64>, Refusal>| {
        let mut left = left?;
        left += right?;
        Ok(left)
    };
    reduce_chunks(x.rows(), leaf_rows, leaf, merge).unwrap_or_else(|| zeros(order))
}

/// Adds rows to the sum of those before them, panel by panel.
pub(super) fn onto(
    sum: Mat<f64>,
    x: &Dense,
    rows: Range<usize>,
    blocks: usize,
    weights: Weights<'_>,
    products: Products,
) -> Result<Mat<f64>, Refusal> {
    match products {
        Products::Double => onto_in::<f64>(sum, x, rows, blocks, weights),
        Products::Single => onto_in::<f32>(sum, x, rows, blocks, weights),
    }
}

fn onto_in<T: Factor>(
    mut sum: Mat<f64>,
    x: &Dense,
    rows: Range<usize>,
    blocks: usize,
    weights: Weights<'_>,
) -> Result<Mat<f64>, Refusal> {
    let (cols, order) = (x.cols(), sum.ncols());
    let mut plain = Panel::<T>::new(cols, PANEL_ROWS.min(rows.len()), order)?;
    let mut scaled = Panel::<T>::new(cols, PANEL_ROWS.min(rows.len()), order)?;
    let mut part = T::part(cols, order)?;
    for start in rows.clone().step_by(PANEL_ROWS) {
        let rows = start..rows.end.min(start + PANEL_ROWS);
        plain.fill(x, rows.clone(), |_| 1.0);
        for a in 0..blocks {
            for b in 0..=a {
                scaled.fill(x, rows.clone(), |i| weights(i, a, b));
                let block = sum.as_mut().submatrix_mut(a * cols, b * cols, cols, cols);
                let (plain, scaled) = (plain.columns(rows.len()), scaled.columns(rows.len()));
                T::add_products(block, &mut part, plain, scaled);
            }
        }
    }
    for a in 0..blocks {
        let mut block = sum.as_mut().submatrix_mut(a * cols, a * cols, cols, cols);
        (1..cols)
            .for_each(|column| block.as_mut().col_mut(column).subrows_mut(0, column).fill(0.0));
        for b in 0..a {
            mirror(sum.as_mut().submatrix_mut(a * cols, b * cols, cols, cols));
        }
    }
    Ok(sum)
}

/// What rows are multiplied in.
trait Factor: ComplexField + Copy + Default + Send + Sync {
    /// The type in which products of a panel are summed before they join the sum.
    type Part;

    fn part(cols: usize, order: usize) -> Result<Self::Part, Refusal>;

    /// Returns a scale, and `x` times it.
    fn scale(scale: f64) -> Self;
    fn times(self, x: f32) -> Self;

    /// Adds to the lower triangle of `sum` that of `left` times `right` transposed, as `add_lower` does.
    fn add_products(
        sum: MatMut<'_, f64>,
        part: &mut Self::Part,
        left: MatRef<'_, Self>,
        right: MatRef<'_, Self>,
    );
}

impl Factor for f64 {
    type Part = ();

    fn part(_: usize, _: usize) -> Result<(), Refusal> {
        Ok(())
    }

    fn scale(scale: f64) -> Self {
        scale
    }

    #[inline(always)]
    fn times(self, x: f32) -> Self {
        self * Self::from(x)
    }

    fn add_products(
        sum: MatMut<'_, f64>,
        (): &mut (),
        left: MatRef<'_, f64>,
        right: MatRef<'_, f64>,
    ) {
        add_lower(sum, left, right);
    }
}

impl Factor for f32 {
    type Part = Mat<f32>;

    fn part(cols: usize, order: usize) -> Result<Mat<f32>, Refusal> {
        zeros_of(cols).ok_or_else(|| Refusal::no_memory(order))
    }

    fn scale(scale: f64) -> Self {
        scale as Self
    }

    #[inline(always)]
    fn times(self, x: f32) -> Self {
        self * x
    }

    fn add_products(
        sum: MatMut<'_, f64>,
        part: &mut Mat<f32>,
        left: MatRef<'_, f32>,
        right: MatRef<'_, f32>,
    ) {
        part.fill(0.0);
        add_lower(part.as_mut(), left, right);
        let part = part.as_ref();
        let columns = sum.par_col_chunks_mut(TILE).zip(part.par_col_chunks(TILE)).enumerate();
        columns.for_each(|(tile, (mut sum, part))| {
            for column in 0..sum.ncols() {
                let first = tile * TILE + column;
                for row in first..sum.nrows() {
                    sum[(row, column)] += f64::from(part[(row, column)]);
                }
            }
        });
    }
}

/// One column of numbers per row of data.
struct Panel<T> {
    values: Vec<T>,
    cols: usize,
    stride: usize,
}

impl<T: Factor> Panel<T> {
    fn new(cols: usize, rows: usize, order: usize) -> Result<Self, Refusal> {
        let line = 64 / size_of::<T>();
        let stride = (cols.div_ceil(line) | 1) * line;
        let mut values = Vec::new();
        let length = stride.checked_mul(rows).ok_or_else(|| Refusal::no_memory(order))?;
        values.try_reserve_exact(length).map_err(|_| Refusal::no_memory(order))?;
        values.resize(length, T::default());
        Ok(Self { values, cols, stride })
    }

    fn fill(&mut self, x: &Dense, rows: Range<usize>, scale: impl Fn(usize) -> f64 + Sync) {
        let fill = |(column, i): (&mut [T], usize)| {
            let s = T::scale(scale(i));
            for (value, x) in column.iter_mut().zip(x.row(i)) {
                *value = s.times(*x);
            }
        };
        if self.cols <= TILE {
            // Panels of narrow rows are made by several threads as they are.
            self.values.chunks_mut(self.stride).zip(rows).for_each(fill);
        } else {
            let columns = self.values.par_chunks_mut(self.stride).with_min_len(64);
            columns.zip(rows).for_each(fill);
        }
    }

    fn columns(&self, rows: usize) -> MatRef<'_, T> {
        MatRef::from_column_major_slice_with_stride(&self.values, self.cols, rows, self.stride)
    }
}

/// Adds to the lower triangle of `sum` that of `left` times `right` transposed; what is above the diagonal
/// becomes anything.
fn add_lower<T: Factor>(sum: MatMut<'_, T>, left: MatRef<'_, T>, right: MatRef<'_, T>) {
    let order = sum.nrows();
    if order <= TILE {
        let mut sum = sum;
        for first in (0..order).step_by(STRIP) {
            let (height, width) = (order - first, STRIP.min(order - first));
            let strip = sum.as_mut().submatrix_mut(first, first, height, width);
            let (left, right) = (left.subrows(first, height), right.subrows(first, width));
            matmul(strip, Accum::Add, left, right.transpose(), T::one_impl(), Par::Seq);
        }
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
fn add_tile<T: Factor>(sum: MatMut<'_, T>, left: MatRef<'_, T>, right: MatRef<'_, T>) {
    let (rows, cols) = (sum.nrows(), sum.ncols());
    if rows <= 2 * TILE && cols <= 2 * TILE {
        matmul(sum, Accum::Add, left, right.transpose(), T::one_impl(), Par::Seq);
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

/// Returns about half the length, on a cache line.
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
