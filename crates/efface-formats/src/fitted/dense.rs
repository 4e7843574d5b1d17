//! Exact sums of the columns of a dense array.

use super::number;
use super::raw::Reader;
use super::source::Merge;
use super::sums::Sums;
use crate::error::FitFault;
use crate::row_bytes::RowBytes;

/// Columns summed in one walk over the rows, so that their buckets fit the cache.
const BLOCK: usize = 128;
/// Arrays of more columns are summed without buckets, which would take too much memory.
const WIDE: usize = 4096;
/// Rows between two transfers to the wide sums: 2^16 squares of 46 bits fill 62.
const ROWS: usize = 1 << 16;
/// The exponent field of a number that is missing.
const NAN: usize = 0xff;
const FRACTION: u32 = 23;
/// First bit of the count of a bucket, above the sum of 2^16 fractions.
const COUNT: u32 = 40;

/// By sign and exponent field, how many numbers there are and the sum of their fractions, and the sum of
/// the squares of these; four more, so that the buckets of neighbouring columns do not compete for the
/// same lines of the cache.
type Buckets = [(u64, u64); 516];

pub(super) struct DenseSums {
    columns: Vec<(Sums, u64)>,
    /// The buckets of the last rows, for each column; empty for wide arrays.
    buckets: Vec<Buckets>,
    /// How many rows are in the buckets.
    held: usize,
}

impl DenseSums {
    pub(super) fn new(width: u32) -> Self {
        let width = width as usize;
        let kept = if width > WIDE { 0 } else { width };
        let buckets = vec![[(0, 0); 516]; kept];
        Self { columns: vec![(Sums::default(), 0); width], buckets, held: 0 }
    }

    /// Adds rows, the first of which has this number.
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

    /// Returns the sums of each column, and how many of its cells are missing.
    pub(super) fn columns(mut self) -> Vec<(Sums, u64)> {
        self.transfer();
        self.columns
    }
}

impl Merge for DenseSums {
    fn merge(&mut self, mut other: Self) {
        other.transfer();
        self.columns.merge(other.columns);
    }
}

/// Adds one number, by its bits.
#[inline]
fn put(bits: u32, buckets: &mut Buckets) {
    let fraction = u64::from(bits & ((1 << FRACTION) - 1));
    let (counted, squares) = &mut buckets[(bits >> FRACTION) as usize];
    *counted += fraction | 1 << COUNT;
    *squares += fraction * fraction;
}

/// Moves the sums of a column to wider integers, which have room for all rows.
fn transfer(buckets: &mut Buckets, (sums, missing): &mut (Sums, u64)) {
    for (place, bucket) in buckets.iter_mut().enumerate() {
        let (counted, squares) = std::mem::take(bucket);
        let (count, fractions) = (counted >> COUNT, counted & ((1 << COUNT) - 1));
        let field = place & NAN;
        if field == NAN {
            *missing += count;
        } else if count != 0 {
            // The leading one, which is not stored; subnormal numbers have none, and the exponent of the
            // least normal ones. (1 + f)^2 = 1 + 2f + f^2.
            let one = if field == 0 { 0 } else { 1 << FRACTION };
            let [count, fractions, squares] = [count, fractions, squares].map(u128::from);
            let sum = (count * one + fractions) as i128;
            let sum = if place > NAN { -sum } else { sum };
            let squares = (count * one + 2 * fractions) * one + squares;
            // Significands of 24 bits are summed as such of 48.
            let exponent = field.max(1) as i32 - 150 - 24;
            if squares != 0 {
                sums.add_at(exponent, sum << 24, squares << 48);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fitted::raw::RawTarget;
    use crate::fitted::write::RawWriter;

    fn raw<'a>(rows: impl IntoIterator<Item = &'a [f32]>) -> RowBytes {
        let mut all = RowBytes::new();
        for row in rows {
            let mut writer = RawWriter::default();
            writer.start(RawTarget::Class("a"));
            row.iter().for_each(|number| writer.dense(*number));
            all.push(writer.bytes());
        }
        all
    }

    /// Generates numbers of like sizes, of all sizes, whole ones, and those at the ends of the range.
    fn columns() -> impl Strategy<Value = Vec<Vec<f32>>> {
        let ends = [0.0, f32::MIN_POSITIVE, 1e-45, -1e-45, f32::MAX, f32::MIN, f32::NAN, 1.0];
        let number = prop_oneof![
            4 => -1.0_f32..1.0,
            2 => (-300_i16..300).prop_map(f32::from),
            1 => any::<f32>().prop_map(|value| if value.is_finite() { value } else { f32::NAN }),
            1 => prop::sample::select(ends.to_vec()),
        ];
        (1_usize..20, 1_usize..40).prop_flat_map(move |(width, rows)| {
            prop::collection::vec(prop::collection::vec(number.clone(), width), rows)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

        /// Means and deviations are those of numbers that are added one by one, and all of them are there.
        #[test]
        fn sums_are_those_of_single_numbers(rows in columns(), cut in any::<prop::sample::Index>()) {
            let width = rows[0].len();
            let raw = raw(rows.iter().map(Vec::as_slice));
            let at = cut.index(rows.len());
            let mut all = DenseSums::new(width as u32);
            all.add(0, &raw.slice(at..rows.len())).unwrap();
            let mut others = DenseSums::new(width as u32);
            others.add(0, &raw.slice(0..at)).unwrap();
            all.merge(others);
            for (column, (sums, missing)) in all.columns().into_iter().enumerate() {
                let numbers = || rows.iter().map(|row| f64::from(row[column]));
                let present: Vec<f64> = numbers().filter(|number| !number.is_nan()).collect();
                prop_assert_eq!(missing, (rows.len() - present.len()) as u64);
                let mut plain = Sums::default();
                present.iter().for_each(|number| plain.add(number::canonical(*number)));
                let count = present.len() as u64;
                prop_assert_eq!(sums.moments(count), plain.moments(count), "{}", column);
            }
        }
    }
}
