//! f32 products.
//!
//! Products and short sums are f32, long sums f64: half the registers, and no conversion per
//! stored value.

use super::{fill, fold, prefetch};
use crate::simd::{LANES, Simd, Task};

/// Products that one f32 lane adds up before it is emptied into its f64 lane.
const RUN: usize = 16;

/// A margin of [`fused_pass_f32`](crate::fused_pass_f32) is off by at most this times
/// sum_j |x_j||w_j|, plus 2^-149 (1 + |x_j|) for each column where an f32 product or the weight
/// underflows.
///
/// 1 rounding of the weight, 1 of the product, at most 15 in the f32 lane: (1 + 2^-24)^17 - 1 <
/// 17.1 x 2^-24; the rest of 19 x 2^-24 covers the f64 sum for up to 2^27 columns.
pub const F32_MARGIN_ERROR: f64 = 19.0 / 16_777_216.0;

/// With exact coefficients r_i, a gradient entry of [`fused_pass_f32`](crate::fused_pass_f32) is
/// off by at most this times sum_i |r_i||x_ij|, plus 2^-149 (1 + |x_ij|) for each row where an f32
/// product or the coefficient underflows. An error of the coefficients comes on top.
///
/// 1 rounding of the coefficient, 1 of the product, 3 of the sum of eight: (1 + 2^-24)^5 - 1 < 5.1
/// x 2^-24; the rest of 6 x 2^-24 covers the f64 sum for up to 2^28 rows.
pub const F32_GRADIENT_ERROR: f64 = 6.0 / 16_777_216.0;

/// The dot products of `R` rows with `weights`; every row is as long. Asks for the rows in `next`
/// meanwhile.
pub(crate) struct Dots<'a, const R: usize, const N: usize> {
    pub(crate) rows: [&'a [f32]; R],
    pub(crate) weights: &'a [f32],
    pub(crate) next: [&'a [f32]; N],
}

/// Adds to `sum` the `R` rows, each times its coefficient; every row is as long as `sum`. Asks for
/// the rows in `next` meanwhile.
pub(crate) struct Update<'a, const R: usize, const N: usize> {
    pub(crate) rows: [&'a [f32]; R],
    pub(crate) coefficients: [f32; R],
    pub(crate) sum: &'a mut [f64],
    pub(crate) next: [&'a [f32]; N],
}

impl<const R: usize, const N: usize> Task for Dots<'_, R, N> {
    type Out = [f64; R];
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        let (w_blocks, w_tail) = self.weights.as_chunks::<LANES>();
        let blocks = self.rows.map(|row| &row.as_chunks::<LANES>().0[..w_blocks.len()]);
        let mut sums = [simd.splat(0.0); R];
        let mut start = 0;
        while start < w_blocks.len() {
            let end = w_blocks.len().min(start + RUN);
            let run = blocks.map(|blocks| &blocks[start..end]);
            let part = short_dots(simd, run, &w_blocks[start..end], self.next, start);
            for k in 0..R {
                sums[k] = simd.add(sums[k], simd.widen(part[k]));
            }
            start = end;
        }
        if !w_tail.is_empty() {
            let start = w_blocks.len() * LANES;
            let tails = self.rows.map(|row| [fill(&row[start..self.weights.len()])]);
            let part = short_dots(simd, tails.each_ref().map(|t| &t[..]), &[fill(w_tail)], [], 0);
            for k in 0..R {
                sums[k] = simd.add(sums[k], simd.widen(part[k]));
            }
        }
        let mut dots = [0.0; R];
        for k in 0..R {
            let mut lanes = [0.0; LANES];
            simd.store(sums[k], &mut lanes);
            dots[k] = fold(lanes);
        }
        dots
    }
}

/// The f32 lanes of at most `RUN` products each; asks for the rows in `next` from block `first` on.
#[inline(always)]
fn short_dots<S: Simd, const R: usize, const N: usize>(
    simd: S,
    rows: [&[[f32; LANES]]; R],
    weights: &[[f32; LANES]],
    next: [&[f32]; N],
    first: usize,
) -> [S::F32; R] {
    let rows = rows.map(|row| &row[..weights.len()]);
    let mut sums = [simd.splat_f32(0.0); R];
    for (j, w) in weights.iter().enumerate() {
        let w = simd.load_f32(w);
        prefetch(simd, next, first + j);
        for k in 0..R {
            sums[k] = simd.add_f32(sums[k], simd.mul_f32(simd.load_f32(&rows[k][j]), w));
        }
    }
    sums
}

impl<const R: usize, const N: usize> Task for Update<'_, R, N> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let length = self.sum.len();
        let (sums, sum_tail) = self.sum.as_chunks_mut::<LANES>();
        let blocks = self.rows.map(|row| &row.as_chunks::<LANES>().0[..sums.len()]);
        let mut coefficients = [simd.splat_f32(0.0); R];
        for (lanes, coefficient) in coefficients.iter_mut().zip(self.coefficients) {
            *lanes = simd.splat_f32(coefficient);
        }
        let start = sums.len() * LANES;
        for (j, sum) in sums.iter_mut().enumerate() {
            prefetch(simd, self.next, j);
            let total = total(simd, std::array::from_fn(|k| &blocks[k][j]), coefficients);
            simd.store(simd.add(simd.load(sum), total), sum);
        }
        if !sum_tail.is_empty() {
            let x = self.rows.map(|row| fill(&row[start..length]));
            let mut sum = fill(sum_tail);
            let total = total(simd, x.each_ref(), coefficients);
            simd.store(simd.add(simd.load(&sum), total), &mut sum);
            sum_tail.copy_from_slice(&sum[..sum_tail.len()]);
        }
    }
}

/// The sum of eight columns of the rows, each times its coefficient: neighbours first, then
/// neighbours of the sums, and so on.
#[inline(always)]
fn total<S: Simd, const R: usize>(
    simd: S,
    x: [&[f32; LANES]; R],
    coefficients: [S::F32; R],
) -> S::F64 {
    let mut terms = coefficients;
    for k in 0..R {
        terms[k] = simd.mul_f32(simd.load_f32(x[k]), coefficients[k]);
    }
    let mut width = R;
    while width > 1 {
        width /= 2;
        for k in 0..width {
            terms[k] = simd.add_f32(terms[2 * k], terms[2 * k + 1]);
        }
    }
    simd.widen(terms[0])
}
