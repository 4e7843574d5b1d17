//! Exact sums of numbers and of their squares: a function of the multiset, whatever the order.

use num_bigint::BigInt;

use super::number::{parts, ratio, root_of_ratio};

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

/// Of the numbers with one exponent: the sum of their significands and of the squares of these.
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
    /// Adds a canonical number.
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let (significand, exponent) = parts(value);
        if significand != 0 {
            let square = u128::from(significand.unsigned_abs()).pow(2);
            self.add_at(exponent, i128::from(significand), square);
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

    /// Adds the sums of other numbers.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (exponent, bucket) in (other.base..).zip(&other.buckets) {
            if bucket.squares != 0 {
                self.add_at(exponent, bucket.sum, bucket.squares);
            }
        }
    }

    /// Mean and deviation of `count` numbers: those added, and zeros. At least one.
    pub(crate) fn moments(&self, count: u64) -> Moments {
        let (mut sum, mut squares) = (BigInt::from(0), BigInt::from(0));
        for bucket in self.buckets.iter().rev() {
            sum = (sum << 1_u32) + bucket.sum;
            squares = (squares << 2_u32) + bucket.squares;
        }
        let count = BigInt::from(count.max(1));
        let base = i64::from(self.base);
        let spread = &count * squares - &sum * &sum;
        Moments {
            mean: ratio(&sum, &count, base) + 0.0,
            deviation: root_of_ratio(&spread, &(&count * &count), 2 * base),
        }
    }
}

impl Moments {
    /// What numbers are divided by: the deviation, or `constant` where they are all equal or differ by
    /// less than can be divided by.
    pub(crate) fn scale(&self, constant: f64) -> f64 {
        if self.deviation < f64::MIN_POSITIVE { constant } else { self.deviation }
    }
}
