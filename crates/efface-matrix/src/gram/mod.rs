//! Hessians: weighted sums of outer products of the rows.

mod dense;
mod sparse;

use faer::Mat;

use crate::change::{Refusal, refusal, refuse};
use crate::matrix::Matrix;

/// Weight of record i in block (a, b) of the result.
type Weights<'a> = &'a (dyn Fn(usize, usize, usize) -> f64 + Sync);

/// What the products of a Gram matrix of dense rows are made and, for 512 rows, summed in; further sums, and all
/// of sparse rows, are in f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// Products in f64: rounding is that of the sums.
    Double,
    /// f32, about twice as fast: entries are off by some 1e-7 of the sum of their products' sizes.
    Single,
}

/// Computes sum_i s_i x_i x_i^T: the lower triangle, `x.cols()` square; zeros above the diagonal.
///
/// `s` holds one weight per row, at least 0. Products and sums are in f64, in an order fixed by the shape:
/// the same bits for any number of threads on one type of processor (dense rows use fused multiply-add if the
/// processor has it; sparse rows give the same bits everywhere). Needs room for the result and about 2 MiB
/// per 128 columns; below 257 columns one result per thread and level of the tree.
///
/// The result remembers every row: after a removal it is the caller's to erase.
///
/// # Errors
/// Fails if `s` has the wrong length, if a weight is negative or not finite, or if memory is refused.
pub fn weighted_gram(x: &Matrix, s: &[f64]) -> Result<Mat<f64>, Refusal> {
    weighted_gram_onto(None, x, s, Products::Double)
}

/// Works as [`weighted_gram`], for rows that follow those of a sum (see [`Summing`]), by products of a kind.
///
/// # Errors
/// Fails as [`weighted_gram`] does, and if the sum is not of order `x.cols()`.
pub fn weighted_gram_onto(
    sum: Option<Mat<f64>>,
    x: &Matrix,
    s: &[f64],
    products: Products,
) -> Result<Mat<f64>, Refusal> {
    check("s", s, x.rows())?;
    form(sum, x, 1, &|i, _, _| s[i], products)
}

/// Computes the softmax Hessian sum_i (diag(p_i) - p_i p_i^T / s_i) (x) x_i x_i^T, s_i = sum of p_i: the
/// lower triangle, of order `classes` times `x.cols()`, block (a, b) at rows a cols.. and columns b cols..;
/// zeros above the diagonal.
///
/// `p` holds `classes` weights for each row, at least 0. Probabilities have s_i = 1 up to rounding;
/// a record of sample weight s has s times its probabilities. Takes classes (classes + 1) / 2 times
/// the work of one [`weighted_gram`]; rounding, determinism and erasure as there.
///
/// # Errors
/// Fails if `p` has the wrong length, if a weight is negative or not finite, or if memory is refused.
pub fn weighted_block_gram(x: &Matrix, classes: usize, p: &[f64]) -> Result<Mat<f64>, Refusal> {
    weighted_block_gram_onto(None, x, classes, p, Products::Double)
}

/// Works as [`weighted_block_gram`], for rows that follow those of a sum (see [`Summing`]), by products of a
/// kind.
///
/// # Errors
/// Fails as [`weighted_block_gram`] does, and if the sum is not of order `classes` times `x.cols()`.
pub fn weighted_block_gram_onto(
    sum: Option<Mat<f64>>,
    x: &Matrix,
    classes: usize,
    p: &[f64],
    products: Products,
) -> Result<Mat<f64>, Refusal> {
    let expected = x.rows().checked_mul(classes).ok_or_else(|| Refusal::no_memory(usize::MAX))?;
    check("p", p, expected)?;
    let weight = |i: usize, a: usize, b: usize| {
        let p = &p[i * classes..][..classes];
        let sum: f64 = p.iter().sum();
        if p[a] == 0.0 {
            0.0
        } else if a == b {
            p[a] * ((sum - p[a]) / sum)
        } else {
            -p[a] * (p[b] / sum)
        }
    };
    form(sum, x, classes, &weight, products)
}

fn check(name: &'static str, weights: &[f64], expected: usize) -> Result<(), Refusal> {
    if weights.len() != expected {
        refuse!("`{name}` must have {expected} values, got {}", weights.len());
    }
    match weights.iter().position(|&w| !(w.is_finite() && w >= 0.0)) {
        Some(index) => Err(refusal!(
            "`{name}` must be finite and at least 0, got {} at position {index}",
            weights[index]
        )),
        None => Ok(()),
    }
}

/// How the Gram matrix of rows that come window by window gets the same bits as if all came at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summing {
    /// Windows of chunks of so many rows have a matrix each, and these are merged by `+=` as
    /// [`windows`](crate::windows) says.
    Tree(usize),
    /// Windows of chunks of so many rows are added one after another to the same matrix.
    InOrder(usize),
}

impl Summing {
    /// Returns how matrices of this order are summed.
    #[must_use]
    pub fn of(sparse: bool, order: usize) -> Self {
        match (sparse, order) {
            (false, ..=dense::NARROW) => Self::Tree(dense::LEAF_ROWS),
            (false, _) => Self::InOrder(dense::PANEL_ROWS),
            (true, ..=sparse::NARROW) => Self::Tree(sparse::LEAF_ROWS),
            (true, _) => Self::InOrder(1),
        }
    }

    /// Returns the number of rows of a chunk.
    #[must_use]
    pub fn chunk(self) -> usize {
        match self {
            Self::Tree(rows) | Self::InOrder(rows) => rows,
        }
    }
}

fn form(
    sum: Option<Mat<f64>>,
    x: &Matrix,
    blocks: usize,
    weights: Weights<'_>,
    products: Products,
) -> Result<Mat<f64>, Refusal> {
    let order = x.cols().checked_mul(blocks).ok_or_else(|| Refusal::no_memory(usize::MAX))?;
    match (sum, x) {
        (Some(sum), _) if (sum.nrows(), sum.ncols()) != (order, order) => {
            Err(refusal!("`sum` must have {order} values, got {}", sum.ncols()))
        }
        (None, Matrix::Dense(x)) => dense::gram(x, blocks, weights, order, products),
        (None, Matrix::Sparse(x)) => sparse::gram(x, blocks, weights, order),
        (Some(sum), Matrix::Dense(x)) => {
            dense::onto(sum, x, 0..x.rows(), blocks, weights, products)
        }
        (Some(sum), Matrix::Sparse(x)) => Ok(sparse::onto(sum, x, blocks, weights)),
    }
}

/// Returns a zero matrix whose columns are an odd number of cache lines apart: at a power-of-two distance a
/// row of the matrix would fall into few sets of the cache.
fn zeros(order: usize) -> Result<Mat<f64>, Refusal> {
    zeros_of(order).ok_or_else(|| Refusal::no_memory(order))
}

fn zeros_of<T: Default>(order: usize) -> Option<Mat<T>> {
    let stride = (order.div_ceil(8) | 1) * 8;
    let mut matrix: Mat<T> = Mat::new();
    matrix.try_reserve(stride, order).ok()?;
    matrix.resize_with(order, order, |_, _| T::default());
    Some(matrix)
}
