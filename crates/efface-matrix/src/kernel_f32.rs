//! Scalar definition of the dense kernels with f32 products.
//!
//! Products and short sums are f32, long sums f64: twice as many lanes per register, and no
//! conversion per stored value.

use crate::kernel::{LANES, fold, pairwise};

/// Products that one f32 lane adds up before it is emptied into its f64 lane.
const RUN: usize = 16;

/// A margin of [`fused_pass_f32`](crate::fused_pass_f32) is off by at most this times
/// sum_j |x_j||w_j|, plus 2^-148 per column where an f32 product, value or weight underflows.
///
/// 1 rounding of the weight, 1 of the product, at most 15 in the f32 lane: (1 + 2^-24)^17 - 1 <
/// 17.1 x 2^-24; the rest of 19 x 2^-24 covers the f64 sum for up to 2^27 columns.
pub const F32_MARGIN_ERROR: f64 = 19.0 / 16_777_216.0;

/// With exact coefficients r_i, a gradient entry of [`fused_pass_f32`](crate::fused_pass_f32) is
/// off by at most this times sum_i |r_i||x_ij|, plus 2^-148 per row where an f32 product or
/// coefficient underflows. An error of the coefficients comes on top.
///
/// 1 rounding of the coefficient, 1 of the product, 3 of the sum of eight: (1 + 2^-24)^5 - 1 < 5.1
/// x 2^-24; the rest of 6 x 2^-24 covers the f64 sum for up to 2^28 rows.
pub const F32_GRADIENT_ERROR: f64 = 6.0 / 16_777_216.0;

/// The dot products of `R` rows with `w`. Every row has the length of `w`.
#[inline(always)]
pub(crate) fn dots<const R: usize>(rows: [&[f32]; R], w: &[f32]) -> [f64; R] {
    let mut sums = [[0.0_f64; LANES]; R];
    let run = RUN * LANES;
    let mut start = 0;
    while start < w.len() {
        let end = w.len().min(start + run);
        let part = short_dots(rows.map(|row| &row[start..end]), &w[start..end]);
        for (sum, part) in sums.iter_mut().zip(&part) {
            for lane in 0..LANES {
                sum[lane] += f64::from(part[lane]);
            }
        }
        start = end;
    }
    sums.map(fold)
}

/// The f32 lanes of at most `RUN` products each.
#[inline(always)]
fn short_dots<const R: usize>(rows: [&[f32]; R], w: &[f32]) -> [[f32; LANES]; R] {
    let (w_blocks, w_tail) = w.as_chunks::<LANES>();
    let blocks = rows.map(|row| &row.as_chunks::<LANES>().0[..w_blocks.len()]);
    let mut sums = [[0.0; LANES]; R];
    for (j, w) in w_blocks.iter().enumerate() {
        for (sum, block) in sums.iter_mut().zip(&blocks) {
            let x = &block[j];
            for lane in 0..LANES {
                sum[lane] += x[lane] * w[lane];
            }
        }
    }
    for (sum, row) in sums.iter_mut().zip(&rows) {
        let tail = &row[w.len() - w_tail.len()..];
        for (lane, (x, w)) in tail.iter().zip(w_tail).enumerate() {
            sum[lane] += x * w;
        }
    }
    sums
}

/// Adds to `sum` the `R` rows, each times its coefficient: f32 products and their f32 sum, then one
/// f64 addition per column.
#[inline(always)]
pub(crate) fn update<const R: usize>(rows: [&[f32]; R], coefficients: [f32; R], sum: &mut [f64]) {
    let rows = rows.map(|row| &row[..sum.len()]);
    for (j, sum) in sum.iter_mut().enumerate() {
        let mut products = [0.0; R];
        for k in 0..R {
            products[k] = rows[k][j] * coefficients[k];
        }
        *sum += f64::from(pairwise(products));
    }
}
