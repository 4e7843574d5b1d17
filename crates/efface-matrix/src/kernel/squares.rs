//! The squared norm of a row, in twice the precision.

use crate::simd::{Isa, LANES, Simd, Task};

use super::fill;
use super::twice::{sum_of_lanes, two_sums};

/// Returns the sum of the squares of some values, as a float and what rounding took from it; the errors of
/// their sum are of about d 2^-105 of it.
///
/// Lane l takes the values l, l + 8, l + 16, ... in this order, and the lanes are added from the first
/// to the last, on every processor.
#[must_use]
pub fn sum_of_squares(values: &[f32]) -> (f64, f64) {
    Isa::detect().run(Squares(values))
}

/// The squares of a row's values.
pub(crate) struct Squares<'a>(pub(crate) &'a [f32]);

impl Task for Squares<'_> {
    type Out = (f64, f64);
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        let (blocks, tail) = self.0.as_chunks::<LANES>();
        let (mut sums, mut rests) = (simd.splat(0.0), simd.splat(0.0));
        // Squares of 32-bit floats are exact in 64 bits.
        for block in blocks.iter().chain([&fill(tail)]) {
            let x = simd.load_wide(block);
            let (sum, rest) = two_sums(simd, sums, simd.mul(x, x));
            sums = sum;
            rests = simd.add(rests, rest);
        }
        sum_of_lanes(simd, sums, rests)
    }
}
