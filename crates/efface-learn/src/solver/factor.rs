//! The Cholesky factor of a Hessian, kept and handed on.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{factor, solve, update};
use faer::{Mat, MatMut, Par};
use zeroize::Zeroize;

/// A lower Cholesky factor L with L L^T the Hessian of some objective.
///
/// It depends on every row the Hessian saw: in `perfect` state a request drops it with the rows, in
/// `secret` state it may be kept and must be stored (and erased) as secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    lower: Mat<f64>,
}

/// Numbers that are no Cholesky factor.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FactorError {
    /// Not n (n + 1)/2 numbers.
    #[error("a factor of dimension {dimension} has {expected} numbers, got {got}")]
    Length {
        /// n.
        dimension: usize,
        /// n (n + 1)/2.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// A number that is not finite, or a diagonal entry not above 0.
    #[error("a factor must have finite entries and a positive diagonal, entry {index} is {got}")]
    Entry {
        /// Position in the packed vector, from 0.
        index: usize,
        /// The number.
        got: f64,
    },
}

impl Drop for Factor {
    fn drop(&mut self) {
        for j in 0..self.lower.ncols() {
            self.lower.col_as_slice_mut(j).zeroize();
        }
    }
}

impl Factor {
    /// Factors a positive definite matrix given by its lower triangle; `None` when a pivot is not
    /// positive. Runs on one thread, so that its bits do not depend on the number of threads.
    pub(crate) fn new(mut matrix: Mat<f64>) -> Option<Self> {
        let n = matrix.nrows();
        let scratch = factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let done = factor::cholesky_in_place(
            matrix.as_mut(),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        let positive = (0..n).all(|j| matrix[(j, j)] > 0.0 && matrix[(j, j)].is_finite());
        for j in 1..n {
            matrix.col_as_slice_mut(j)[..j].fill(0.0);
        }
        (done.is_ok() && positive).then_some(Self { lower: matrix })
    }

    /// n, the number of parameters it belongs to.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.lower.nrows()
    }

    /// Replaces b by the solution of L L^T x = b.
    pub(crate) fn solve_in_place(&self, b: &mut [f64]) {
        let n = b.len();
        solve::solve_in_place(
            self.lower.as_ref(),
            MatMut::from_column_major_slice_mut(b, n, 1),
            Par::Seq,
            MemStack::new(&mut []),
        );
    }

    /// Makes it the factor of L L^T + sum of weight times the outer product of x with itself, over
    /// all (weight, x). False when that is not positive definite in float64; the factor is then
    /// spoilt and must be made anew.
    pub(crate) fn change<'a>(
        &mut self,
        changes: impl ExactSizeIterator<Item = (f64, &'a [f64])>,
    ) -> bool {
        let (n, rank) = (self.dimension(), changes.len());
        let mut vectors = Mat::zeros(n, rank);
        let mut weights = Diag::zeros(rank);
        for (k, (weight, x)) in changes.enumerate() {
            vectors.col_as_slice_mut(k).copy_from_slice(x);
            weights.column_vector_mut()[k] = weight;
        }
        let done =
            update::rank_r_update_clobber(self.lower.as_mut(), vectors.as_mut(), weights.as_mut());
        // They were rows.
        (0..rank).for_each(|k| vectors.col_as_slice_mut(k).zeroize());
        done.is_ok() && (0..n).all(|j| self.lower[(j, j)] > 0.0 && self.lower[(j, j)].is_finite())
    }

    /// The lower triangle, column by column: n (n + 1)/2 numbers.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f64> {
        let n = self.dimension();
        let mut packed = Vec::with_capacity(n * (n + 1) / 2);
        for j in 0..n {
            packed.extend_from_slice(&self.lower.col_as_slice(j)[j..]);
        }
        packed
    }

    /// A factor from what [`to_vec`](Self::to_vec) returned.
    ///
    /// # Errors
    /// Another count of numbers than n (n + 1)/2, an entry that is not finite, or a diagonal entry
    /// that is not above 0.
    pub fn from_slice(dimension: usize, packed: &[f64]) -> Result<Self, FactorError> {
        let got = packed.len();
        let expected = dimension.saturating_mul(dimension.saturating_add(1)) / 2;
        if got != expected {
            return Err(FactorError::Length { dimension, expected, got });
        }
        let mut lower = Mat::zeros(dimension, dimension);
        let mut index = 0;
        for j in 0..dimension {
            for i in j..dimension {
                let value = packed[index];
                if !value.is_finite() || (i == j && value <= 0.0) {
                    return Err(FactorError::Entry { index, got: value });
                }
                lower[(i, j)] = value;
                index += 1;
            }
        }
        Ok(Self { lower })
    }
}
