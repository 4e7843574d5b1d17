//! How long rows were before they were scaled, in few numbers.

use std::collections::BTreeMap;

/// Buckets to an octave: each is about 1.1 % wide.
const FINE: f64 = 64.0;

/// A histogram of lengths on a logarithmic scale; its size does not grow with the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lengths {
    /// Number of rows by the exponent, in steps of 1/64, of the power of 2 they are not longer than.
    buckets: BTreeMap<i32, u64>,
}

impl Lengths {
    /// Counts a row of this length; 0 is none.
    pub fn add(&mut self, length: f64) {
        if length > 0.0 && length.is_finite() {
            let bucket = (length.log2() * FINE).ceil() as i32;
            *self.buckets.entry(bucket).or_default() += 1;
        }
    }

    /// Counts the rows of another histogram, too.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (&bucket, count) in &other.buckets {
            *self.buckets.entry(bucket).or_default() += count;
        }
    }

    /// Returns how many rows were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.values().sum()
    }

    /// Returns a length, in three digits, that at most `rows` of the counted rows exceed; `None` when no more
    /// were counted.
    #[must_use]
    pub fn exceeded_by(&self, rows: u64) -> Option<f64> {
        let mut longer = 0;
        for (bucket, count) in self.buckets.iter().rev() {
            longer += count;
            if longer > rows {
                return Some(three_digits((f64::from(*bucket) / FINE).exp2() * (1.0 + 1e-9)));
            }
        }
        None
    }
}

/// Rounds `value` up to three digits.
fn three_digits(value: f64) -> f64 {
    let written = |x: f64| format!("{x:.2e}").parse().unwrap_or(x);
    let near = written(value);
    if near >= value { near } else { written(value * 1.01) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_few_rows_exceed() {
        let mut lengths = Lengths::default();
        assert_eq!(lengths.exceeded_by(0), None);
        (1..=1000).for_each(|row| lengths.add(f64::from(row) * 0.01));
        for rows in [0_u64, 1, 10, 100, 999] {
            let found = lengths.exceeded_by(rows).unwrap();
            let longer = (1..=1000).filter(|row| f64::from(*row) * 0.01 > found).count() as u64;
            assert!(longer <= rows, "{found}: {longer} above {rows}");
            let exact = (1000 - rows) as f64 * 0.01;
            assert!(found <= exact * 1.03 + 1e-9, "{found} far above {exact}");
            assert!(format!("{found}").len() <= 6, "{found}");
        }
        assert_eq!((lengths.exceeded_by(1000), lengths.count()), (None, 1000));
    }

    #[test]
    fn extreme_lengths_are_counted() {
        let mut lengths = Lengths::default();
        [0.0, f64::INFINITY, f64::NAN].into_iter().for_each(|length| lengths.add(length));
        assert_eq!(lengths, Lengths::default());
        lengths.add(1e-45);
        lengths.add(3e41);
        assert!(lengths.exceeded_by(0).unwrap() >= 3e41);
        assert!(lengths.exceeded_by(1).unwrap() >= 1e-45);
    }
}
