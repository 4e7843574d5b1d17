//! A gradient clipped and rounded toward zero to whole multiples of the grid.

use pulp::{Simd, WithSimd};

use crate::registers;

/// Largest bound on the norm of integers: squares of 1024 of them are summed in 64 bits.
pub(crate) const MOST_LIMIT: u32 = 1 << 26;

/// Integers whose squares are summed before the sum is made wider.
const CHUNK: usize = 1024;

/// Writes the integers of a gradient: x_j = trunc(s g_j) with one s = min(1/g, K/|g|) for all of them
/// in floats, brought to a norm of at most K exactly.
///
/// `per_unit` is 1/g, `limit` is K <= 2^26. The norm of the integers is at most K for every input; a
/// gradient with a number that is not finite counts as 0.
pub(crate) fn clip(gradient: &[f32], per_unit: f64, limit: u32, integers: &mut [i32]) {
    let square = registers::run(FloatSquare(gradient));
    if !square.is_finite() {
        integers.fill(0);
        return;
    }
    let norm = square.sqrt();
    let bound = f64::from(limit);
    let factor = if norm * per_unit <= bound { per_unit } else { bound / norm };
    registers::run(Truncate { gradient, factor, limit: limit as i32, integers });
    let square = registers::run(Square(integers));
    if square > u128::from(limit) * u128::from(limit) {
        scale_down(integers, limit, square);
    }
}

pub(crate) fn add(sums: &mut [i64], integers: &[i32]) {
    registers::run(Add { sums, integers });
}

/// Sets x_j <- trunc(x_j K/R) with R the root of the sum of squares, rounded up: the norm is then at most K.
#[cold]
fn scale_down(integers: &mut [i32], limit: u32, square: u128) {
    let root = square.isqrt();
    let root = (root + u128::from(root * root < square)) as i128;
    for integer in integers {
        *integer = (i128::from(*integer) * i128::from(limit) / root) as i32;
    }
}

/// The sum of squares in double precision, in eight lanes: not finite if a number is not, and never too large
/// otherwise.
struct FloatSquare<'a>(&'a [f32]);

impl WithSimd for FloatSquare<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let (blocks, rest) = self.0.as_chunks::<8>();
        let mut lanes = [0.0_f64; 8];
        for block in blocks {
            for (lane, &value) in lanes.iter_mut().zip(block) {
                *lane += f64::from(value) * f64::from(value);
            }
        }
        for (lane, &value) in lanes.iter_mut().zip(rest) {
            *lane += f64::from(value) * f64::from(value);
        }
        lanes.iter().sum()
    }
}

/// Multiplies, cuts off the fraction, and what is beyond the limit.
struct Truncate<'a> {
    gradient: &'a [f32],
    factor: f64,
    limit: i32,
    integers: &'a mut [i32],
}

impl WithSimd for Truncate<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let limit = f64::from(self.limit);
        for (integer, &value) in self.integers.iter_mut().zip(self.gradient) {
            let scaled = f64::from(value) * self.factor;
            let scaled = if scaled > limit { limit } else { scaled };
            let scaled = if scaled < -limit { -limit } else { scaled };
            *integer = scaled as i32;
        }
    }
}

/// The exact sum of squares of integers of at most 2^26.
struct Square<'a>(&'a [i32]);

impl WithSimd for Square<'_> {
    type Output = u128;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u128 {
        let mut sum = 0_u128;
        for chunk in self.0.chunks(CHUNK) {
            let mut part = 0_u64;
            for &integer in chunk {
                part += (i64::from(integer) * i64::from(integer)) as u64;
            }
            sum += u128::from(part);
        }
        sum
    }
}

struct Add<'a> {
    sums: &'a mut [i64],
    integers: &'a [i32],
}

impl WithSimd for Add<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (sum, &integer) in self.sums.iter_mut().zip(self.integers) {
            *sum += i64::from(integer);
        }
    }
}

#[cfg(test)]
mod tests;
