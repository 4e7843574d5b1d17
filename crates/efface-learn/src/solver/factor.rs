//! The Cholesky factor of a Hessian, kept and handed on.

use efface_matrix::Refusal;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{factor, solve, update};
use faer::traits::RealField;
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
    pub fn new(mut matrix: Mat<f64>) -> Option<Self> {
        let done = decompose(matrix.as_mut());
        for j in 1..matrix.ncols() {
            matrix.col_as_slice_mut(j)[..j].fill(0.0);
        }
        Some(Self { lower: matrix }).filter(|factor| done && factor.is_positive())
    }

    /// Factors in float32, in half the time: for solutions that are corrected by their residual. `None` also
    /// if float32 does not suffice.
    pub(crate) fn rough(mut matrix: Mat<f32>) -> Option<Self> {
        let (done, n) = (decompose(matrix.as_mut()), matrix.nrows());
        let mut lower = Mat::zeros(n, n);
        for j in 0..n {
            let from = &mut matrix.col_as_slice_mut(j)[j..];
            for (entry, rough) in lower.col_as_slice_mut(j)[j..].iter_mut().zip(&*from) {
                *entry = f64::from(*rough);
            }
            from.zeroize();
        }
        Some(Self { lower }).filter(|factor| done && factor.is_positive())
    }

    fn is_positive(&self) -> bool {
        (0..self.dimension()).all(|j| self.lower[(j, j)] > 0.0 && self.lower[(j, j)].is_finite())
    }

    /// Returns n, the number of parameters it belongs to.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.lower.nrows()
    }

    /// Replaces b by the solution of L L^T x = b.
    pub fn solve_in_place(&self, b: &mut [f64]) {
        let n = b.len();
        solve::solve_in_place(
            self.lower.as_ref(),
            MatMut::from_column_major_slice_mut(b, n, 1),
            Par::Seq,
            MemStack::new(&mut []),
        );
    }

    /// Makes it the factor of L L^T + sum of weight times the outer product of x with itself, over all
    /// (weight, x). Returns false if that is not positive definite in float64; the factor is then spoilt and
    /// must be made again.
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
        done.is_ok() && self.is_positive()
    }

    /// Returns the lower triangle, column by column: n (n + 1)/2 numbers.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f64> {
        let n = self.dimension();
        let mut packed = Vec::with_capacity(n * (n + 1) / 2);
        for j in 0..n {
            packed.extend_from_slice(&self.lower.col_as_slice(j)[j..]);
        }
        packed
    }

    /// Returns a factor from what [`to_vec`](Self::to_vec) returned.
    ///
    /// # Errors
    /// Fails if the numbers are not n (n + 1)/2, an entry is not finite, or a diagonal entry is not above 0.
    pub fn from_slice(dimension: usize, packed: &[f64]) -> Result<Self, Refusal> {
        let got = packed.len();
        let expected = dimension.saturating_mul(dimension.saturating_add(1)) / 2;
        if got != expected {
            refuse!("a factor of dimension {dimension} has {expected} numbers, got {got}");
        }
        let mut lower = Mat::zeros(dimension, dimension);
        let mut index = 0;
        for j in 0..dimension {
            for i in j..dimension {
                let value = packed[index];
                if !value.is_finite() || (i == j && value <= 0.0) {
                    refuse!(
                        "a factor must have finite entries and a positive diagonal, \
                         entry {index} is {value}"
                    );
                }
                lower[(i, j)] = value;
                index += 1;
            }
        }
        Ok(Self { lower })
    }
}

/// Replaces the lower triangle of a matrix by that of its factor; what is above stays. Returns false if there
/// is no factor.
fn decompose<T: RealField>(matrix: MatMut<'_, T>) -> bool {
    let scratch =
        factor::cholesky_in_place_scratch::<T>(matrix.nrows(), Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    factor::cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default())
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of eigenvalues from 1 to 1 + n.
    fn matrix(n: usize, scale: f64) -> Mat<f64> {
        let corner = |i: usize, j: usize| ((7 * i + 3 * j) % 11) as f64 - 5.0;
        let root = Mat::from_fn(n, n, corner);
        let square = &root * root.transpose();
        let most = (0..n).map(|i| (0..n).map(|j| square[(i, j)].abs()).sum()).fold(0.0, f64::max);
        Mat::from_fn(n, n, |i, j| {
            scale * (square[(i, j)] * n as f64 / most + f64::from(u8::from(i == j)))
        })
    }

    fn rounded(matrix: &Mat<f64>) -> Mat<f32> {
        Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)] as f32)
    }

    #[test]
    fn a_rough_factor_is_near_and_none_is_made_beyond_float32() {
        for n in [1, 2, 9, 130] {
            let of = matrix(n, 1.0);
            let (exact, rough) = (Factor::new(of.clone()).unwrap(), Factor::rough(rounded(&of)));
            let (exact, rough) = (exact.to_vec(), rough.unwrap().to_vec());
            let most = exact.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
            for (exact, rough) in exact.iter().zip(&rough) {
                assert!((exact - rough).abs() <= 1e-4 * most, "{n}: {exact} {rough}");
                assert_eq!(*rough, f64::from(*rough as f32));
            }
        }
        for scale in [1e-60, 1e60] {
            assert!(Factor::new(matrix(5, scale)).is_some());
            assert!(Factor::rough(rounded(&matrix(5, scale))).is_none());
        }
        // Positive definite, but not in float32.
        let near = |i, j| if i == j { 1.0 } else { 1.0 - 1e-12 };
        let near = Mat::from_fn(2, 2, near);
        assert!(Factor::rough(rounded(&near)).is_none());
        assert!(Factor::new(near).is_some());
    }
}
