//! The public dyadic grids that rows and targets are rounded to.

use efface_matrix::{Csr, Dense, Matrix, Refusal, Row};

use super::{balances, target_bound};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::mechanism::MechanismError;

/// log2 of what no sum may exceed: a bit below the range of i64.
const SUM_BITS: u32 = 62;

/// Most bits of a rounded entry: those of the bound on a row, so that entries below 2^-23 of it
/// become 0. Sums of 512 products are then exact in f64.
const MOST_BITS: u32 = 22;

/// log2 of the whole numbers that f64 adds exactly.
const EXACT_BITS: u32 = 53;

/// Fewest bits that are worth learning from.
const LEAST_BITS: u32 = 12;

/// log2 of the capacity under `mean`, if none is declared.
const MEAN_CAPACITY_BITS: u32 = 24;

/// How rows become integers; follows from the public constants alone.
///
/// An entry x of a row is stored as round(2^p x), a target y as round(2^q y), ties to even. Both
/// are at most 2^`bits` in absolute value, and `capacity` w 4^`bits` <= 2^62 with w = 2^`weight_bits` at
/// least the largest weight: no sum of products over any data set of the model leaves i64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantiser {
    bits: u32,
    weight_bits: u32,
    row_places: i32,
    target_places: i32,
    capacity: u64,
}

impl Quantiser {
    /// Returns the finest grids that fit the capacity, the row bound and the target bound.
    ///
    /// # Errors
    /// Fails if the capacity leaves fewer than 12 bits.
    pub fn new(constants: &Constants) -> Result<Self, MechanismError> {
        let declared = constants.declared();
        let capacity = declared.normalizer.capacity().unwrap_or(1 << MEAN_CAPACITY_BITS);
        // Balanced classes are summed separately, with weights of 1.
        let heaviest = if balances(constants) { 1.0 } else { constants.max_weight() };
        let weight_bits = ceil_log2(heaviest.ceil().max(1.0) as u64);
        // A record of the largest weight must be an exact product in f64, too.
        let room = SUM_BITS.saturating_sub(ceil_log2(capacity) + weight_bits);
        let bits = room.min(EXACT_BITS.saturating_sub(weight_bits)) / 2;
        if bits < LEAST_BITS {
            refuse!(
                "`capacity` {capacity} leaves the sums {bits} bits for each entry of a \
                 row, at least {LEAST_BITS} are needed"
            );
        }
        let bits = bits.min(MOST_BITS);
        let places = |bound: f64| bits as i32 - exponent_above(bound);
        Ok(Self {
            bits,
            weight_bits,
            row_places: places(declared.row_bound),
            target_places: places(target_bound(constants)),
            capacity,
        })
    }

    /// Returns k: rounded entries are at most 2^k in absolute value.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns p: entries of rows are rounded to multiples of 2^-p.
    #[must_use]
    pub fn row_places(&self) -> i32 {
        self.row_places
    }

    /// Returns q: targets are rounded to multiples of 2^-q.
    #[must_use]
    pub fn target_places(&self) -> i32 {
        self.target_places
    }

    /// Returns the most records whose sums are kept: the declared capacity, or 2^24 under `mean`.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the largest absolute value of a sum over `records` records.
    pub(super) fn sum_bound(&self, records: u64) -> u64 {
        records.saturating_mul(1 << (2 * self.bits + self.weight_bits))
    }

    /// Records whose sums of products are exact in f64, in any order of additions.
    pub(super) fn exact_records(&self) -> usize {
        1 << (EXACT_BITS - 2 * self.bits - self.weight_bits).min(12)
    }

    /// Returns the rows of `data` from `start` on, at most `exact_records` of them, rounded; they are whole
    /// numbers that f32 holds exactly.
    pub(super) fn rows(&self, data: &Dataset, start: usize) -> Result<Matrix, MechanismError> {
        let scale = power_of_two(self.row_places);
        let end = data.rows().min(start + self.exact_records());
        let mut buffer = Vec::with_capacity(data.cols());
        let mut rounded = match data.x() {
            Matrix::Dense(_) => Matrix::Dense(Dense::new(data.cols())),
            Matrix::Sparse(_) => Matrix::Sparse(Csr::new(data.cols())),
        };
        for i in start..end {
            let row = data.x().row(i);
            buffer.clear();
            buffer.extend(row.values().iter().map(|x| round(f64::from(*x), scale) as f32));
            let row = match row {
                Row::Dense(_) => Row::Dense(&buffer),
                Row::Sparse { indices, .. } => Row::Sparse { indices, values: &buffer },
            };
            // Whole numbers of at most 2^22 in the shape of a stored row: only memory can fail.
            rounded.push(row).map_err(|_| Refusal::no_memory(data.cols()))?;
        }
        Ok(rounded)
    }

    /// Returns a target, rounded.
    pub(super) fn target(&self, y: f64) -> i64 {
        round(y, power_of_two(self.target_places)) as i64
    }
}

/// Returns x times `scale`, a power of two, rounded to the nearest whole number, ties to even. Exact but for
/// that rounding: the product of a stored value and a power of two is a float.
fn round(x: f64, scale: f64) -> f64 {
    (x * scale).round_ties_even()
}

/// Returns the least e with 2^e >= n, for n >= 1.
fn ceil_log2(n: u64) -> u32 {
    u64::BITS - (n - 1).leading_zeros()
}

/// Returns the least e with 2^e >= x, for normal x > 0.
fn exponent_above(x: f64) -> i32 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    if x.to_bits().trailing_zeros() >= 52 { exponent } else { exponent + 1 }
}

/// Returns 2^e for -1022 <= e <= 1023.
pub(super) fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_the_least_that_reach() {
        for (n, e) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 48, 48), ((1 << 48) + 1, 49)] {
            assert_eq!(ceil_log2(n), e, "{n}");
        }
        for (x, e) in [(1.0, 0), (1.0_f64.next_up(), 1), (2.0, 1), (0.5, -1), (0.75, 0), (3.0, 2)] {
            assert_eq!(exponent_above(x), e, "{x}");
            assert!(power_of_two(e) >= x && power_of_two(e) / 2.0 < x);
        }
        for x in [1e-100, 1e100] {
            let e = exponent_above(x);
            assert!(power_of_two(e) >= x && power_of_two(e) / 2.0 < x);
        }
    }
}
