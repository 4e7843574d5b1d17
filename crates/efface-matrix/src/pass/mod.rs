//! One read of the rows: gradient, curvature, predictions.

mod dense;
mod sparse;
mod twice;

pub use twice::{TwiceTotals, twice_pass, twice_totals};

use crate::matrix::Matrix;
use crate::tree::add_into;

/// What a loss tells the kernel about one record.
///
/// `record` is called once per row, from several threads and in no particular order. For results
/// that are the same on every machine it must use IEEE arithmetic and its own `exp` and `log`.
pub trait Link: Sync {
    /// Numbers per record that the loss looks at: 1, or the number of classes for softmax.
    fn outputs(&self) -> usize;

    /// The loss of record `row`. `margins` holds `outputs()` products x . w_c; `coefficients`
    /// (as many, zero on entry) receives the numbers r_c with gradient = sum_c r_c x, block c of
    /// the gradient being r_c x.
    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64;
}

/// Sums over all records, not means.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Sum of the losses.
    pub loss: f64,
    /// Sum of the gradients: `outputs()` blocks of `cols()` entries.
    pub gradient: Vec<f64>,
}

/// Why a pass was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// No outputs.
    #[error("`outputs` must be at least 1, got 0")]
    NoOutputs,
    /// Weights of the wrong length.
    #[error("`weights` must have {outputs} x {columns} values (outputs x columns), got {got}")]
    Length {
        /// Outputs of the link.
        outputs: usize,
        /// Columns of the matrix.
        columns: usize,
        /// Length of the weights given.
        got: usize,
    },
    /// NaN or an infinity among the weights.
    #[error("`weights` must be finite, got {value} at position {index}")]
    NotFinite {
        /// Position in the weights, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
}

/// Loss and gradient summed over all records, in one read of `x`; products and sums in f64.
///
/// `weights` holds `link.outputs()` blocks of `x.cols()` values. Sums are exact in shape (see the
/// crate's section on determinism) and rounded in f64: any bound for f64 sums "in any order" of
/// `rows + cols` terms covers them. Not finite only where a product or sum overflows or the link
/// returns such a number.
///
/// # Errors
/// When the weights have the wrong length or are not finite.
pub fn fused_pass<L: Link>(x: &Matrix, weights: &[f64], link: &L) -> Result<Totals, PassError> {
    let outputs = link.outputs();
    check(x.cols(), outputs, weights)?;
    let record = |row, margins: &[f64], out: &mut [f64]| link.record(row, margins, out);
    Ok(match x {
        Matrix::Dense(x) => dense::totals(x, weights, outputs, &record),
        Matrix::Sparse(x) => sparse::totals(x, weights, outputs, &record),
    })
}

/// The products of every row with every block of `weights`: `x.rows()` groups of `outputs`
/// margins. The same bits as the margins that [`fused_pass`] hands to its link.
///
/// # Errors
/// As [`fused_pass`].
pub fn margins(x: &Matrix, weights: &[f64], outputs: usize) -> Result<Vec<f64>, PassError> {
    check(x.cols(), outputs, weights)?;
    Ok(match x {
        Matrix::Dense(x) => dense::margins(x, weights, outputs),
        Matrix::Sparse(x) => sparse::margins(x, weights, outputs),
    })
}

/// A Hessian-vector product in one read of `x`: sum_i over records of the blocks a_ic x_i, where
/// `curvature(i, m, a)` turns the margins m_c = x_i . v_c of `vector` into the coefficients a_c
/// (zero on entry). For a scalar link a = l''(margin of the weights) m.
///
/// Returns `outputs` blocks of `x.cols()` entries; f64 products and sums, same bits on any number
/// of threads.
///
/// # Errors
/// As [`fused_pass`], for `vector`.
pub fn curvature_pass<F>(
    x: &Matrix,
    vector: &[f64],
    outputs: usize,
    curvature: F,
) -> Result<Vec<f64>, PassError>
where
    F: Fn(usize, &[f64], &mut [f64]) + Sync,
{
    check(x.cols(), outputs, vector)?;
    let record = |row, margins: &[f64], out: &mut [f64]| {
        curvature(row, margins, out);
        0.0
    };
    let totals = match x {
        Matrix::Dense(x) => dense::totals(x, vector, outputs, &record),
        Matrix::Sparse(x) => sparse::totals(x, vector, outputs, &record),
    };
    Ok(totals.gradient)
}

fn check(columns: usize, outputs: usize, weights: &[f64]) -> Result<(), PassError> {
    if outputs == 0 {
        return Err(PassError::NoOutputs);
    }
    if outputs.checked_mul(columns) != Some(weights.len()) {
        return Err(PassError::Length { outputs, columns, got: weights.len() });
    }
    match weights.iter().position(|w| !w.is_finite()) {
        Some(index) => Err(PassError::NotFinite { index, value: weights[index] }),
        None => Ok(()),
    }
}

impl Totals {
    fn zero(parameters: usize) -> Self {
        Self { loss: 0.0, gradient: vec![0.0; parameters] }
    }

    /// The totals of these rows and of those that follow them: added number by number, as the tree of
    /// [`reduce_chunks`](crate::reduce_chunks) adds them.
    #[must_use]
    pub fn merge(mut self, right: Self) -> Self {
        self.loss += right.loss;
        add_into(&mut self.gradient, &right.gradient);
        self
    }
}
