//! Scalar definition of the dense kernels with f64 products.
//!
//! Eight lanes stand for a vector register: lane l takes the columns l, l + 8, l + 16, ... in this
//! order. The functions are inlined into callers compiled for wider registers, which keeps every
//! rounding (see `simd`).

use crate::element::Element;

/// Lanes of a dot product.
pub(crate) const LANES: usize = 8;

/// The dot products of `R` rows with `w`. Every row has the length of `w`.
#[inline(always)]
pub(crate) fn dots<T: Element, const R: usize>(rows: [&[T]; R], w: &[f64]) -> [f64; R] {
    let (w_blocks, w_tail) = w.as_chunks::<LANES>();
    let blocks = rows.map(|row| &row.as_chunks::<LANES>().0[..w_blocks.len()]);
    let mut sums = [[0.0; LANES]; R];
    for (j, w) in w_blocks.iter().enumerate() {
        for (sum, block) in sums.iter_mut().zip(&blocks) {
            let x = &block[j];
            for lane in 0..LANES {
                sum[lane] += x[lane].to_f64() * w[lane];
            }
        }
    }
    for (sum, row) in sums.iter_mut().zip(&rows) {
        let tail = &row[w.len() - w_tail.len()..];
        for (lane, (x, w)) in tail.iter().zip(w_tail).enumerate() {
            sum[lane] += x.to_f64() * w;
        }
    }
    sums.map(fold)
}

/// Adds up the lanes, always in this order.
#[inline(always)]
pub(crate) fn fold(s: [f64; LANES]) -> f64 {
    let halves = [s[0] + s[4], s[1] + s[5], s[2] + s[6], s[3] + s[7]];
    (halves[0] + halves[2]) + (halves[1] + halves[3])
}

/// Adds to `sum` the `R` rows, each times its coefficient: one addition to `sum` per column.
#[inline(always)]
pub(crate) fn update<T: Element, const R: usize>(
    rows: [&[T]; R],
    coefficients: [f64; R],
    sum: &mut [f64],
) {
    let rows = rows.map(|row| &row[..sum.len()]);
    for (j, sum) in sum.iter_mut().enumerate() {
        let mut products = [0.0; R];
        for k in 0..R {
            products[k] = rows[k][j].to_f64() * coefficients[k];
        }
        *sum += pairwise(products);
    }
}

/// Sums neighbours, then neighbours of the sums, and so on: `R` must be a power of two.
#[inline(always)]
pub(crate) fn pairwise<F, const R: usize>(mut terms: [F; R]) -> F
where
    F: Copy + std::ops::Add<Output = F>,
{
    let mut width = R;
    while width > 1 {
        width /= 2;
        for k in 0..width {
            terms[k] = terms[2 * k] + terms[2 * k + 1];
        }
    }
    terms[0]
}
