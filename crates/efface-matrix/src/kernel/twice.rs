//! The kernels in twice the precision: sums are unevaluated pairs of a float and what rounding took
//! from it.
//!
//! A weight is cut into a part of 29 significant bits and the other 24. A feature has 24, so both
//! products are exact in f64 without a fused multiply-add, unless they underflow. The products with
//! the first part are added with their rounding errors kept ([`two_sum`]); the second products and
//! the errors are added plainly.

use crate::simd::{LANES, Simd, Task};

use super::{fill, total};

/// Returns the rounded sum of two numbers and, exactly, what rounding took from it (Knuth); for any order of
/// sizes, unless the sum overflows.
#[inline(always)]
pub(super) fn two_sums<S: Simd>(simd: S, a: S::F64, b: S::F64) -> (S::F64, S::F64) {
    let sum = simd.add(a, b);
    let of_b = simd.sub(sum, a);
    let of_a = simd.sub(sum, of_b);
    (sum, simd.add(simd.sub(a, of_a), simd.sub(b, of_b)))
}

/// Returns the rounded sum of two numbers and, exactly, what rounding took from it.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// Returns the sum of all lanes, from the first to the last, and of the corrections to them.
#[inline(always)]
pub(super) fn sum_of_lanes<S: Simd>(simd: S, sums: S::F64, rests: S::F64) -> (f64, f64) {
    let (mut lanes, mut corrections) = ([0.0; LANES], [0.0; LANES]);
    simd.store(sums, &mut lanes);
    simd.store(rests, &mut corrections);
    let (mut sum, mut rest) = (0.0, 0.0);
    for (lane, correction) in lanes.into_iter().zip(corrections) {
        let (next, error) = two_sum(sum, lane);
        rest += error + correction;
        sum = next;
    }
    two_sum(sum, rest)
}

/// Returns the leading 29 significant bits of a weight and the other 24: their sum is the weight.
pub(crate) fn split(weight: f64) -> (f64, f64) {
    let high = f64::from_bits(weight.to_bits() & !((1 << 24) - 1));
    (high, weight - high)
}

/// The dot products of `R` rows with weights in two parts ([`split`]), each as a float and a
/// correction; every row is as long as the weights.
pub(crate) struct TwiceDots<'a, const R: usize> {
    pub(crate) rows: [&'a [f32]; R],
    pub(crate) high: &'a [f64],
    pub(crate) low: &'a [f64],
}

/// Adds to `sum` and its corrections `low` the `R` rows, each times its coefficient.
pub(crate) struct TwiceUpdate<'a, const R: usize> {
    pub(crate) rows: [&'a [f32]; R],
    pub(crate) coefficients: [f64; R],
    pub(crate) sum: &'a mut [f64],
    pub(crate) low: &'a mut [f64],
}

impl<const R: usize> Task for TwiceDots<'_, R> {
    type Out = [(f64, f64); R];
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // several arrays share the index
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        let (high_blocks, high_tail) = self.high.as_chunks::<LANES>();
        let low_blocks = &self.low.as_chunks::<LANES>().0[..high_blocks.len()];
        let blocks = self.rows.map(|row| &row.as_chunks::<LANES>().0[..high_blocks.len()]);
        let mut sums = [simd.splat(0.0); R];
        let mut rests = [simd.splat(0.0); R];
        for (j, (high, low)) in high_blocks.iter().zip(low_blocks).enumerate() {
            let (high, low) = (simd.load(high), simd.load(low));
            for k in 0..R {
                let x = simd.load_wide(&blocks[k][j]);
                let (sum, rest) = two_sums(simd, sums[k], simd.mul(x, high));
                sums[k] = sum;
                rests[k] = simd.add(rests[k], simd.add(rest, simd.mul(x, low)));
            }
        }
        if !high_tail.is_empty() {
            let start = high_blocks.len() * LANES;
            let (high, low) = (simd.load(&fill(high_tail)), simd.load(&fill(&self.low[start..])));
            for k in 0..R {
                let x = simd.load_wide(&fill(&self.rows[k][start..self.high.len()]));
                let (sum, rest) = two_sums(simd, sums[k], simd.mul(x, high));
                sums[k] = sum;
                rests[k] = simd.add(rests[k], simd.add(rest, simd.mul(x, low)));
            }
        }
        let mut dots = [(0.0, 0.0); R];
        for k in 0..R {
            dots[k] = sum_of_lanes(simd, sums[k], rests[k]);
        }
        dots
    }
}

impl<const R: usize> Task for TwiceUpdate<'_, R> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let length = self.sum.len();
        let (sums, sum_tail) = self.sum.as_chunks_mut::<LANES>();
        let (lows, low_tail) = self.low.as_chunks_mut::<LANES>();
        let blocks = self.rows.map(|row| &row.as_chunks::<LANES>().0[..sums.len()]);
        let mut coefficients = [simd.splat(0.0); R];
        for (lanes, coefficient) in coefficients.iter_mut().zip(self.coefficients) {
            *lanes = simd.splat(coefficient);
        }
        let start = sums.len() * LANES;
        for (j, (sum, low)) in sums.iter_mut().zip(lows).enumerate() {
            let total = total(simd, std::array::from_fn(|k| &blocks[k][j]), coefficients);
            let (next, rest) = two_sums(simd, simd.load(sum), total);
            simd.store(next, sum);
            simd.store(simd.add(simd.load(low), rest), low);
        }
        if !sum_tail.is_empty() {
            let x = self.rows.map(|row| fill(&row[start..length]));
            let total = total(simd, x.each_ref(), coefficients);
            let (next, rest) = two_sums(simd, simd.load(&fill(sum_tail)), total);
            let (mut sum, mut low) = ([0.0; LANES], [0.0; LANES]);
            simd.store(next, &mut sum);
            simd.store(simd.add(simd.load(&fill(low_tail)), rest), &mut low);
            let columns = sum_tail.len();
            sum_tail.copy_from_slice(&sum[..columns]);
            low_tail.copy_from_slice(&low[..columns]);
        }
    }
}
