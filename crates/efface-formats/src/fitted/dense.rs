//! Exact sums of the columns of a dense array, in blocks of columns that fit the cache.

use std::ops::Range;

use super::sums::Sums;
use crate::error::FitFault;

/// Columns summed in one walk over the rows.
const BLOCK: usize = 128;
/// Rows between two transfers to the wide sums: 2^16 squares of 48 bits fill 64.
const ROWS: usize = 1 << 16;
/// The exponent field of a number that is missing.
const NAN: usize = 0xff;
/// The significand of the one NaN that is stored.
const NAN_SIGNIFICAND: i64 = 0xc0_0000;

/// Sums of the significands and of their squares, by exponent field; four more, so that the buckets of
/// neighbouring columns do not compete for the same lines of the cache.
type Buckets = [(i64, u64); 260];

/// Sums of all columns.
pub(super) struct DenseSums {
    columns: Vec<(Sums, u64)>,
}

impl DenseSums {
    pub(super) fn new(width: u32) -> Self {
        Self { columns: vec![(Sums::default(), 0); width as usize] }
    }

    /// Adds the rows of a range; `numbers` shows those of a smaller one.
    pub(super) fn add<'a, N>(
        &mut self,
        rows: Range<usize>,
        numbers: impl Fn(Range<usize>) -> N,
    ) -> Result<(), FitFault>
    where
        N: Iterator<Item = Result<&'a [[u8; 4]], FitFault>>,
    {
        let width = self.columns.len();
        let mut buckets: Vec<Buckets> = vec![[(0, 0); 260]; width.min(BLOCK)];
        for start in (0..width).step_by(BLOCK) {
            let columns = start..(start + BLOCK).min(width);
            for first in rows.clone().step_by(ROWS) {
                for row in numbers(first..(first + ROWS).min(rows.end)) {
                    let numbers = row?.get(columns.clone()).unwrap_or_default();
                    for (bytes, buckets) in numbers.iter().zip(&mut buckets) {
                        put(u32::from_le_bytes(*bytes), buckets);
                    }
                }
                for (column, buckets) in self.columns[columns.clone()].iter_mut().zip(&mut buckets)
                {
                    transfer(buckets, column);
                }
            }
        }
        Ok(())
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &Self) {
        for ((sums, missing), (more, more_missing)) in self.columns.iter_mut().zip(&other.columns) {
            sums.merge(more);
            *missing += more_missing;
        }
    }

    /// The sums of each column, and how many of its cells are missing.
    pub(super) fn columns(&self) -> impl Iterator<Item = &(Sums, u64)> {
        self.columns.iter()
    }
}

/// Adds one number, by its bits.
#[inline]
fn put(bits: u32, buckets: &mut Buckets) {
    let exponent = (bits >> 23) as u8;
    let significand = i64::from(bits & 0x7f_ffff | u32::from(exponent != 0) << 23);
    let negative = -i64::from(bits >> 31);
    let (sum, squares) = &mut buckets[usize::from(exponent)];
    *sum += (significand ^ negative) - negative;
    *squares += (significand * significand) as u64;
}

/// Moves the sums of a column to where there is room for all rows.
fn transfer(buckets: &mut Buckets, (sums, missing): &mut (Sums, u64)) {
    for (field, bucket) in buckets.iter_mut().enumerate() {
        let (sum, squares) = std::mem::take(bucket);
        if field == NAN {
            *missing += (sum / NAN_SIGNIFICAND) as u64;
        } else if squares != 0 {
            // Subnormal numbers have the exponent of the least normal ones. Significands of 24 bits are
            // summed as such of 48.
            let exponent = field.max(1) as i32 - 150 - 24;
            sums.add_at(exponent, i128::from(sum) << 24, u128::from(squares) << 48);
        }
    }
}
