//! Exact sums of the columns of a dense array.

use super::number;
use super::raw::Reader;
use super::sums::Sums;
use crate::error::FitFault;
use crate::row_bytes::RowBytes;

/// Columns summed in one walk over the rows, so that their buckets fit the cache.
const BLOCK: usize = 128;
/// Arrays of more columns are summed without buckets, which would take too much memory.
const WIDE: usize = 4096;
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
    /// Of the last rows, for each column; none for wide arrays.
    buckets: Vec<Buckets>,
    /// How many rows are in the buckets.
    held: usize,
}

impl DenseSums {
    pub(super) fn new(width: u32) -> Self {
        let width = width as usize;
        let kept = if width > WIDE { 0 } else { width };
        let buckets = vec![[(0, 0); 260]; kept];
        Self { columns: vec![(Sums::default(), 0); width], buckets, held: 0 }
    }

    /// Adds rows, of which the first has this number.
    pub(super) fn add(&mut self, first: usize, rows: &RowBytes) -> Result<(), FitFault> {
        let width = self.columns.len();
        let numbers = |row: usize, bytes| {
            let mut reader = Reader::new(bytes);
            let read = reader.skip_target().and_then(|()| reader.dense(width as u32));
            read.map_err(|fault| FitFault::Row { row: first + row, fault })
        };
        if self.buckets.len() < width {
            for (row, bytes) in rows.iter().enumerate() {
                for (bytes, (sums, missing)) in numbers(row, bytes)?.iter().zip(&mut self.columns) {
                    let value = f64::from(f32::from_le_bytes(*bytes));
                    *missing += u64::from(value.is_nan());
                    if !value.is_nan() {
                        sums.add(number::canonical(value));
                    }
                }
            }
            return Ok(());
        }
        let mut from = 0;
        while from < rows.len() {
            let to = rows.len().min(from + ROWS - self.held);
            for start in (0..width).step_by(BLOCK) {
                let columns = start..(start + BLOCK).min(width);
                for (row, bytes) in (from..to).zip(rows.range(from..to)) {
                    let numbers = numbers(row, bytes)?.get(columns.clone()).unwrap_or_default();
                    for (bytes, buckets) in numbers.iter().zip(&mut self.buckets[columns.clone()]) {
                        put(u32::from_le_bytes(*bytes), buckets);
                    }
                }
            }
            self.held += to - from;
            from = to;
            if self.held == ROWS {
                self.transfer();
            }
        }
        Ok(())
    }

    fn transfer(&mut self) {
        for (column, buckets) in self.columns.iter_mut().zip(&mut self.buckets) {
            transfer(buckets, column);
        }
        self.held = 0;
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, mut other: Self) {
        other.transfer();
        for ((sums, missing), (more, more_missing)) in self.columns.iter_mut().zip(&other.columns) {
            sums.merge(more);
            *missing += more_missing;
        }
    }

    /// The sums of each column, and how many of its cells are missing.
    pub(super) fn columns(mut self) -> Vec<(Sums, u64)> {
        self.transfer();
        self.columns
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
