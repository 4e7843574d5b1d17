//! Exact sums of numbers and of their squares: a function of the multiset, whatever the order.

use num_bigint::BigInt;

use super::learned::Exact;
use super::number::{parts, ratio, root_of_ratio};
use super::source::Merge;

/// Numbers summed at most: 2^32 squares of 96 bits fill 128.
pub(crate) const MOST: u64 = u32::MAX as u64;

/// Sums by exponent: each bucket holds an integer that is itself a function of the multiset, so that
/// neither order nor grouping has a part in it, and nothing is rounded before the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sums {
    /// The exponent of the first bucket; each next one is one higher.
    base: i32,
    buckets: Vec<Bucket>,
}

/// The sum of the significands of numbers with one exponent, and of the squares of these.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bucket {
    sum: i128,
    squares: u128,
}

/// Mean and standard deviation (of the population).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    /// The exact mean, rounded once.
    pub(crate) mean: f64,
    /// The root of the exact variance, which was rounded once; 0 for equal numbers.
    pub(crate) deviation: f64,
}

impl Sums {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let (significand, exponent) = parts(value);
        if significand != 0 {
            let square = u128::from(significand.unsigned_abs()).pow(2);
            self.add_at(exponent, i128::from(significand), square);
        }
    }

    /// Adds a canonical number so many times, at most [`MOST`].
    pub(crate) fn add_times(&mut self, value: f64, times: u64) {
        let (significand, exponent) = parts(value);
        if significand != 0 {
            let square = u128::from(significand.unsigned_abs()).pow(2);
            let sum = i128::from(significand) * i128::from(times);
            self.add_at(exponent, sum, square * u128::from(times));
        }
    }

    /// Adds to the bucket of an exponent.
    #[inline]
    pub(crate) fn add_at(&mut self, exponent: i32, sum: i128, squares: u128) {
        let at = exponent - self.base;
        let bucket = match self.buckets.get_mut(at as usize) {
            Some(bucket) if at >= 0 => bucket,
            _ => self.reach(exponent),
        };
        bucket.sum += sum;
        bucket.squares += squares;
    }

    /// Makes room for an exponent.
    #[cold]
    fn reach(&mut self, exponent: i32) -> &mut Bucket {
        if self.buckets.is_empty() {
            self.base = exponent;
        }
        if exponent < self.base {
            let more = (self.base - exponent) as usize;
            self.buckets.splice(0..0, std::iter::repeat_n(Bucket::default(), more));
            self.base = exponent;
        }
        let at = (exponent - self.base) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, Bucket::default());
        }
        &mut self.buckets[at]
    }

    /// Returns the sums of numbers and of squares, in units of 2 to the base and to twice the base.
    fn totals(&self) -> (BigInt, BigInt, i64) {
        let (mut sum, mut squares) = (BigInt::from(0), BigInt::from(0));
        for bucket in self.buckets.iter().rev() {
            sum = (sum << 1_u32) + bucket.sum;
            squares = (squares << 2_u32) + bucket.squares;
        }
        (sum, squares, i64::from(self.base))
    }

    /// Returns the root of the exact mean square of `count` numbers, which was rounded once. At least one.
    pub(crate) fn root_mean_square(&self, count: u64) -> f64 {
        let (_, squares, base) = self.totals();
        root_of_ratio(&squares, &BigInt::from(count.max(1)), 2 * base)
    }

    /// Returns the mean that `count` numbers are centred by, and the scale that [divides](Moments::scale)
    /// them.
    pub(super) fn standard(&self, count: u64, constant: f64, rounding: f64) -> (Exact, Exact) {
        let moments = self.moments(count);
        (Exact(moments.mean), Exact(moments.scale(constant, rounding)))
    }

    /// Returns mean and deviation of `count` numbers: those added, and zeros. `count` is at least 1.
    pub(crate) fn moments(&self, count: u64) -> Moments {
        let (sum, squares, base) = self.totals();
        let count = BigInt::from(count.max(1));
        let spread = &count * squares - &sum * &sum;
        Moments {
            mean: ratio(&sum, &count, base) + 0.0,
            deviation: root_of_ratio(&spread, &(&count * &count), 2 * base),
        }
    }
}

impl Merge for Sums {
    fn merge(&mut self, other: Self) {
        for (exponent, bucket) in (other.base..).zip(other.buckets) {
            if bucket.squares != 0 {
                self.add_at(exponent, bucket.sum, bucket.squares);
            }
        }
    }
}

/// Relative difference of numbers in double precision that are equal apart from rounding.
pub(crate) const DOUBLE: f64 = 4.0 * f64::EPSILON;
/// The relative tolerance of single precision.
pub(crate) const SINGLE: f64 = 2.0 * f32::EPSILON as f64;

impl Moments {
    /// Returns the divisor of numbers: the deviation, or `constant` if they are all equal apart from
    /// `rounding`, relative to their size, or differ by too little to divide by.
    pub(crate) fn scale(&self, constant: f64, rounding: f64) -> f64 {
        let deviates = self.deviation > self.mean.abs() * rounding;
        divisor(if deviates { self.deviation } else { 0.0 }, constant)
    }
}

/// Returns a usable divisor: the value, or `constant` if it is too small.
pub(crate) fn divisor(value: f64, constant: f64) -> f64 {
    if value < f64::MIN_POSITIVE { constant } else { value }
}

#[cfg(test)]
mod tests {
    use super::super::number::canonical;
    use super::*;
    use proptest::prelude::*;

    /// Generates any finite number, with more of the ends of the range than a usual draw has.
    fn nasty() -> impl Strategy<Value = f64> {
        let ends = [0.0, -0.0, 5e-324, f64::MIN_POSITIVE, 1e-45, 1e38, -1e300, 1e300];
        prop_oneof![
            any::<f32>().prop_filter("finite", |value| value.is_finite()).prop_map(f64::from),
            any::<f64>().prop_filter("in range", |value| value.abs() <= 1e300),
            prop::sample::select(ends.to_vec()),
            (-100_i32..100).prop_map(f64::from),
            (-100_i32..100).prop_map(|value| 1e9 + f64::from(value) * 1e-3),
        ]
    }

    fn sums(values: &[f64]) -> Sums {
        let mut sums = Sums::default();
        values.iter().for_each(|value| sums.add(canonical(*value)));
        sums
    }

    /// Returns the value as a multiple of 2^-1074.
    fn integer(value: f64) -> BigInt {
        let bits = value.to_bits();
        let (exponent, low) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
        let magnitude = match exponent {
            0 => BigInt::from(low),
            _ => BigInt::from(low | 1 << 52) << (exponent - 1),
        };
        if value.is_sign_negative() { -magnitude } else { magnitude }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Compares with plain rational arithmetic: no number is nearer to the mean, and the deviation is
        /// between the roots of slightly less and slightly more than the variance.
        #[test]
        fn mean_and_deviation_are_those_of_the_rationals(
            values in prop::collection::vec(nasty(), 1..20),
        ) {
            let values: Vec<f64> = values.into_iter().map(canonical).collect();
            let moments = sums(&values).moments(values.len() as u64);
            let count = BigInt::from(values.len());
            let exact: Vec<BigInt> = values.iter().map(|value| integer(*value)).collect();
            let sum: BigInt = exact.iter().sum();
            let off = |mean: f64| (integer(mean) * &count - &sum).magnitude().clone();
            prop_assert!(off(moments.mean) <= off(moments.mean.next_up()));
            prop_assert!(off(moments.mean) <= off(moments.mean.next_down()));
            let squares: BigInt = exact.iter().map(|value| value * value).sum();
            // n^2 times the variance.
            let spread = &count * squares - &sum * &sum;
            let square = |deviation: f64| {
                let scaled = integer(deviation) * &count;
                &scaled * &scaled
            };
            if moments.deviation == 0.0 {
                prop_assert!(spread < square(5e-324));
            } else if moments.deviation >= f64::MIN_POSITIVE {
                prop_assert!(square(moments.deviation.next_down()) < spread);
                prop_assert!(square(moments.deviation.next_up()) > spread);
            }
            prop_assert!(moments.deviation.is_finite() && moments.scale(1.0, DOUBLE) > 0.0);
        }

        #[test]
        fn order_and_grouping_have_no_part(
            values in prop::collection::vec(nasty(), 1..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let at = cut.index(values.len());
            let whole = sums(&values).moments(values.len() as u64);
            let mut backwards = values.clone();
            backwards.reverse();
            let (left, right) = backwards.split_at(at);
            let mut parts = sums(right);
            parts.merge(sums(left));
            let parts = parts.moments(values.len() as u64);
            prop_assert_eq!(whole.mean.to_bits(), parts.mean.to_bits());
            prop_assert_eq!(whole.deviation.to_bits(), parts.deviation.to_bits());
        }
    }

    #[test]
    fn zeros_count_without_being_added() {
        let moments = sums(&[3.0]).moments(3);
        assert_eq!(moments, Moments { mean: 1.0, deviation: 2.0_f64.sqrt() });
        assert_eq!(Sums::default().moments(0), Moments { mean: 0.0, deviation: 0.0 });
    }

    #[test]
    fn the_root_of_the_mean_square_is_rounded_once() {
        assert_eq!(sums(&[3.0, -4.0]).root_mean_square(2), 12.5_f64.sqrt());
        assert_eq!(sums(&[-1e38; 5]).root_mean_square(5), canonical(1e38));
        assert_eq!(divisor(Sums::default().root_mean_square(0), 2.0), 2.0);
    }

    #[test]
    fn equal_numbers_have_no_spread() {
        for value in [0.1, 1e38, 3e-310, -7.0, f64::from(f32::MAX)] {
            let moments = sums(&[value; 7]).moments(7);
            assert_eq!(moments, Moments { mean: canonical(value), deviation: 0.0 });
            assert_eq!(moments.scale(255.0, DOUBLE), 255.0);
        }
    }
}
