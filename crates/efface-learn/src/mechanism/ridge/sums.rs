//! What `ridge` keeps: integer sums over the current records.

use efface_matrix::{Refusal, weighted_gram};

use super::{Quantiser, Watch};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::mechanism::MechanismError;

/// X^T X and X^T y of the rounded records, as integers; of several targets one X^T y each; of classes
/// one each, in their order, with y = +1 for the records of the class and -1 for the others.
///
/// Integers add up to the same bits in any order, and a subtraction undoes its addition exactly:
/// the sums are a function of the multiset of records at hand and of the public quantiser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    columns: usize,
    sides: Sides,
    records: u64,
    quantiser: Quantiser,
    /// Lower triangle, column by column.
    gram: Vec<i64>,
    /// A block of columns for each right-hand side.
    moment: Vec<i64>,
}

/// The right-hand sides of the normal equations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// One for each target of a regression.
    Targets(usize),
    /// One side for each class.
    Classes(usize),
}

impl Sides {
    /// Returns the sides of the constants' loss and targets.
    #[must_use]
    pub fn of(constants: &Constants) -> Self {
        match constants.loss().classes() {
            Some(classes) => Self::Classes(classes),
            None => Self::Targets(constants.targets()),
        }
    }

    /// Returns how many there are.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::Targets(count) | Self::Classes(count) => count,
        }
    }
}

/// Numbers before the sums: columns, records, and the quantiser's p and q.
const HEADER: usize = 4;

impl Sums {
    /// Returns the sums over no records.
    #[must_use]
    pub fn empty(columns: usize, sides: Sides, quantiser: Quantiser) -> Self {
        let gram = vec![0; triangle(columns)];
        let moment = vec![0; columns * sides.count()];
        Self { columns, sides, records: 0, quantiser, gram, moment }
    }

    /// Records summed.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Columns, the intercept's included.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns its right-hand sides.
    pub(super) fn sides(&self) -> Sides {
        self.sides
    }

    /// Returns the grids their records were rounded to.
    pub(super) fn quantiser(&self) -> Quantiser {
        self.quantiser
    }

    /// Returns entry (i, j) of X^T X, i >= j.
    pub(super) fn gram(&self, i: usize, j: usize) -> i64 {
        self.gram[place(self.columns, i, j)]
    }

    /// Returns X^T X, its lower triangle column by column.
    pub(super) fn triangle(&self) -> &[i64] {
        &self.gram
    }

    /// Returns X^T y, a block of columns for each right-hand side.
    pub(super) fn moment(&self) -> &[i64] {
        &self.moment
    }

    /// Adds the records of `data`, each as often as its weight says, or takes them out when `sign` is -1. The
    /// records obey the constants, and their weights are whole numbers. `watch` is called every few hundred
    /// records with how many are done.
    pub(super) fn fold(
        &mut self,
        data: &Dataset,
        sign: i64,
        watch: &mut Watch<'_>,
    ) -> Result<(), MechanismError> {
        let step = self.quantiser.exact_records();
        let one = self.quantiser.target(1.0);
        // Each class gets twice its own records, less all of them.
        let of_classes = matches!(self.sides, Sides::Classes(_));
        let mut all = vec![0_i64; if of_classes { self.columns } else { 0 }];
        for start in (0..data.rows()).step_by(step) {
            if watch(start as u64).is_break() {
                return Err(MechanismError::Cancelled);
            }
            let rows = self.quantiser.rows(data, start)?;
            // Every partial sum is a whole number of at most 2^53: no order of additions and no
            // fused multiply-add changes a bit.
            let block = weighted_gram(&rows, &data.sample_weights()[start..start + rows.rows()])?;
            let mut rest = self.gram.as_mut_slice();
            for j in 0..self.columns {
                let (column, others) = rest.split_at_mut(self.columns - j);
                for (sum, &part) in column.iter_mut().zip(&block.col_as_slice(j)[j..]) {
                    *sum = sum.wrapping_add(sign * part as i64);
                }
                rest = others;
            }
            for i in 0..rows.rows() {
                let y = data.targets_of(start + i);
                let sign = sign * data.sample_weights()[start + i] as i64;
                let first = if of_classes { y[0] as usize } else { 0 };
                let sides = self.moment[first * self.columns..].chunks_exact_mut(self.columns);
                for (moment, &y) in sides.zip(y) {
                    let target =
                        if of_classes { 2 * sign * one } else { sign * self.quantiser.target(y) };
                    for (j, value) in rows.row(i).iter() {
                        moment[j] = moment[j].wrapping_add(value as i64 * target);
                    }
                }
                if of_classes {
                    for (j, value) in rows.row(i).iter() {
                        all[j] = all[j].wrapping_add(value as i64 * sign * one);
                    }
                }
            }
        }
        if of_classes {
            for moment in self.moment.chunks_exact_mut(self.columns) {
                moment.iter_mut().zip(&all).for_each(|(sum, of_all)| {
                    *sum = sum.wrapping_sub(*of_all);
                });
            }
        }
        let count = data.rows() as u64;
        self.records =
            if sign > 0 { self.records + count } else { self.records.saturating_sub(count) };
        Ok(())
    }

    /// Checks that some records could have these sums: each within the range of their count, squares not
    /// negative, and |x.y|^2 <= |x|^2 |y|^2.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let bound = self.quantiser.sum_bound(self.records);
        let mut sums = self.gram.iter().chain(&self.moment);
        let refuse = |index| {
            Err(refusal!(
                "the kept sums are those of no {} records: entry {index} is out of range",
                self.records
            ))
        };
        if let Some(index) = sums.position(|sum| sum.unsigned_abs() > bound) {
            return refuse(index);
        }
        let squares: Vec<i128> = (0..self.columns).map(|j| self.gram(j, j).into()).collect();
        let mut index = 0;
        for j in 0..self.columns {
            for i in j..self.columns {
                let product = i128::from(self.gram[index]);
                if squares[j] < 0 || product * product > squares[i] * squares[j] {
                    return refuse(index);
                }
                index += 1;
            }
        }
        Ok(())
    }

    /// Encodes, little-endian, 8 bytes each: columns, records, p, q, then the lower triangle of X^T X column
    /// by column, then X^T y, one right-hand side after the other.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = [
            self.columns as i64,
            self.records as i64,
            self.quantiser.row_places().into(),
            self.quantiser.target_places().into(),
        ];
        let numbers = header.iter().chain(&self.gram).chain(&self.moment);
        let mut bytes = Vec::with_capacity(8 * (HEADER + self.gram.len() + self.moment.len()));
        numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote, for a model of `columns` columns and these sides.
    ///
    /// # Errors
    /// Fails if the bytes are of another length, quantiser or number of columns, there are more records than
    /// the capacity, or no records give the sums. An altered sum within its range is not noticed here.
    pub fn from_bytes(
        bytes: &[u8],
        columns: usize,
        sides: Sides,
        quantiser: Quantiser,
    ) -> Result<Self, Refusal> {
        let expected = 8 * (HEADER + triangle(columns) + columns * sides.count());
        let (words, _) = bytes.as_chunks::<8>();
        let mut numbers = words.iter().map(|word| i64::from_le_bytes(*word));
        let mut next = || numbers.next().filter(|_| bytes.len() == expected);
        let (Some(has), Some(records), Some(p), Some(q)) = (next(), next(), next(), next()) else {
            refuse!("the kept sums must have {expected} bytes, got {}", bytes.len());
        };
        for (name, got, expected) in [
            ("columns", has, columns as i64),
            ("row-places", p, quantiser.row_places().into()),
            ("target-places", q, quantiser.target_places().into()),
        ] {
            if got != expected {
                let rule = expected.to_string();
                refuse!("the kept sums' `{name}` must be {rule}, got {got}");
            }
        }
        if !(0..=quantiser.capacity() as i64).contains(&records) {
            let rule = format!("in 0..={}", quantiser.capacity());
            refuse!("the kept sums' `records` must be {rule}, got {records}");
        }
        let records = records as u64;
        let gram = numbers.by_ref().take(triangle(columns)).collect();
        let moment = numbers.collect();
        let sums = Self { columns, sides, records, quantiser, gram, moment };
        sums.check()?;
        Ok(sums)
    }
}

/// Returns the position of entry (i, j), i >= j, in a lower triangle of so many columns.
pub(super) fn place(columns: usize, i: usize, j: usize) -> usize {
    j * columns - j * (j + 1) / 2 + i
}

/// Entries of a lower triangle.
pub(super) fn triangle(columns: usize) -> usize {
    columns * (columns + 1) / 2
}
