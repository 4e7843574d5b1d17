//! The records an objective is built on: rows, targets, weights, and the norm of each row.

mod filling;

use efface_matrix::{ChangeError, Matrix, Refusal, Row, sum_of_squares};
use rayon::prelude::*;
use zeroize::Zeroize;

use crate::outward;

pub use filling::Filling;

/// Rows x (features stored in 32 bits, the intercept an ordinary last column), one weight and one
/// target each, or several targets. A record's loss counts as often as its weight says; 1 unless another
/// is given.
///
/// Holds nothing but the current records and what is computed from each alone, so that removing
/// a record leaves no trace of it here; memory that held removed rows is wiped by
/// [`Matrix::remove_rows`].
#[derive(Debug)]
pub struct Dataset {
    x: Matrix,
    /// A block of `targets` for each row.
    y: Vec<f64>,
    targets: usize,
    norms: Vec<f64>,
    sample_weights: Vec<f64>,
}

/// Returns the refusal of targets that are not `each` for every row.
fn other_targets(each: usize, targets: usize, rows: usize) -> Refusal {
    refusal!("`y` must have {each} target(s) per row, got {targets} targets for {rows} rows")
}

/// Returns the refusal of NaN or infinity as a target.
fn not_finite(row: usize, got: f64) -> Refusal {
    refusal!("the target of row {row} must be finite, got {got}")
}

/// Returns the refusal of a weight that is negative, NaN or infinite.
fn no_weight(row: usize, got: f64) -> Refusal {
    refusal!("the weight of row {row} must be finite and at least 0, got {got}")
}

impl Dataset {
    /// Takes rows and their targets; every record has weight 1.
    ///
    /// # Errors
    /// Fails if targets and rows differ in number, or a target is not finite.
    pub fn new(x: Matrix, y: Vec<f64>) -> Result<Self, ChangeError> {
        let ones = vec![1.0; x.rows()];
        Self::weighted(x, y, ones)
    }

    /// Takes rows, their targets and their weights.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does, if weights and rows differ in number, or if a weight is not finite
    /// and at least 0.
    pub fn weighted(x: Matrix, y: Vec<f64>, sample_weights: Vec<f64>) -> Result<Self, ChangeError> {
        Self::several(x, y, 1, sample_weights)
    }

    /// Takes rows, a block of `targets` numbers for each of them, and their weights.
    ///
    /// # Errors
    /// Fails as [`weighted`](Self::weighted) does.
    pub fn several(
        x: Matrix,
        y: Vec<f64>,
        targets: usize,
        sample_weights: Vec<f64>,
    ) -> Result<Self, ChangeError> {
        if targets == 0 || x.rows().checked_mul(targets) != Some(y.len()) {
            let (each, targets, rows) = (targets, y.len(), x.rows());
            return Err(other_targets(each, targets, rows).into());
        }
        if let Some(at) = y.iter().position(|y| !y.is_finite()) {
            return Err(not_finite(at / targets, y[at]).into());
        }
        if x.rows() != sample_weights.len() {
            let (weights, rows) = (sample_weights.len(), x.rows());
            refuse!(
                "`sample_weight` must have one weight per row, got {weights} weights for {rows} rows"
            );
        }
        if let Some(row) = sample_weights.iter().position(|&weight| !is_weight(weight)) {
            return Err(no_weight(row, sample_weights[row]).into());
        }
        let norms = norms(&x);
        Ok(Self { x, y, targets, norms, sample_weights })
    }

    /// Appends a record of weight 1.
    ///
    /// # Errors
    /// Fails if the row does not fit or a value is not finite; the data set is then unchanged.
    pub fn push(&mut self, row: Row<'_>, target: f64) -> Result<(), ChangeError> {
        self.push_weighted(row, target, 1.0)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Fails as [`push`](Self::push) does, or if the weight is not finite and at least 0; the data set is
    /// then unchanged.
    pub fn push_weighted(
        &mut self,
        row: Row<'_>,
        target: f64,
        weight: f64,
    ) -> Result<(), ChangeError> {
        self.push_several(row, &[target], weight)
    }

    /// Appends a record with all of its targets.
    ///
    /// # Errors
    /// Fails as [`push_weighted`](Self::push_weighted) does, or if the number of targets is not that of the
    /// other records; the data set is then unchanged.
    pub fn push_several(
        &mut self,
        row: Row<'_>,
        targets: &[f64],
        weight: f64,
    ) -> Result<(), ChangeError> {
        if targets.len() != self.targets {
            return Err(other_targets(self.targets, targets.len(), 1).into());
        }
        if let Some(&got) = targets.iter().find(|target| !target.is_finite()) {
            return Err(not_finite(self.rows(), got).into());
        }
        if !is_weight(weight) {
            return Err(no_weight(self.rows(), weight).into());
        }
        self.x.push(row)?;
        targets.iter().for_each(|&target| append(&mut self.y, target));
        append(&mut self.norms, row_norm(row));
        append(&mut self.sample_weights, weight);
        Ok(())
    }

    /// Appends a record of another data set.
    ///
    /// # Errors
    /// Fails if the position is out of range or the row does not fit; the data set is then unchanged.
    pub fn push_from(&mut self, from: &Self, row: usize) -> Result<(), ChangeError> {
        match from.sample_weights.get(row) {
            Some(&weight) => self.push_several(from.x.row(row), from.targets_of(row), weight),
            None => {
                Err(refusal!("`rows` must be below the {} rows, got {row}", from.rows()).into())
            }
        }
    }

    /// Returns the records at these positions, in the order named.
    ///
    /// # Errors
    /// Fails as [`push_from`](Self::push_from) does.
    pub fn picked(&self, rows: impl IntoIterator<Item = usize>) -> Result<Self, ChangeError> {
        let x = match &self.x {
            Matrix::Dense(_) => Matrix::dense(self.cols()),
            Matrix::Sparse(_) => Matrix::sparse(self.cols()),
        };
        let mut picked = Self::several(x, Vec::new(), self.targets, Vec::new())?;
        rows.into_iter().try_for_each(|row| picked.push_from(self, row))?;
        Ok(picked)
    }

    /// Appends all records of a data set of the same shape.
    ///
    /// # Errors
    /// Fails if rows are of another kind or have another number of columns, or memory runs out. Nothing of
    /// the data set may be used then.
    pub fn append(&mut self, from: Self) -> Result<(), ChangeError> {
        if from.targets != self.targets {
            let (each, targets, rows) = (self.targets, from.y.len(), from.rows());
            return Err(other_targets(each, targets, rows).into());
        }
        self.x.append(from.x)?;
        for (own, new) in [
            (&mut self.y, &from.y),
            (&mut self.norms, &from.norms),
            (&mut self.sample_weights, &from.sample_weights),
        ] {
            make_room(own, new.len());
            own.extend_from_slice(new);
        }
        Ok(())
    }

    /// Removes records by position (ascending, without repetition), keeping the order of the rest.
    ///
    /// # Errors
    /// Fails if positions are out of order, repeated or out of range; the data set is then unchanged.
    pub fn remove_rows(&mut self, positions: &[usize]) -> Result<(), Refusal> {
        self.x.remove_rows(positions)?;
        let lists =
            [(&mut self.y, self.targets), (&mut self.norms, 1), (&mut self.sample_weights, 1)];
        for (values, each) in lists {
            take_out(values, positions, each);
        }
        Ok(())
    }

    /// Overwrites the records at these ascending positions in place, so that they can be
    /// [removed](Self::remove_rows) later. Returns false and does nothing if rows are kept without their
    /// zeros.
    ///
    /// # Errors
    /// Fails if positions do not ascend or are out of range.
    pub fn clear_rows(&mut self, positions: &[usize]) -> Result<bool, Refusal> {
        let Matrix::Dense(dense) = &mut self.x else { return Ok(false) };
        dense.clear_rows(positions)?;
        let targets = self.targets;
        for &at in positions {
            self.y[at * targets..(at + 1) * targets].zeroize();
            (self.norms[at], self.sample_weights[at]) = (0.0, 0.0);
        }
        Ok(true)
    }

    /// Returns the number of records.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.sample_weights.len()
    }

    /// Returns the number of columns, the intercept's included.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.x.cols()
    }

    /// Returns the feature matrix, one row per record.
    #[must_use]
    pub fn x(&self) -> &Matrix {
        &self.x
    }

    /// Returns the target of each row, a class index, 0 or 1, or a number; a block of them for each row if
    /// there are several.
    #[must_use]
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Returns the number of targets of each row.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Returns all targets of a row; an empty slice beyond the last row.
    #[must_use]
    pub fn targets_of(&self, row: usize) -> &[f64] {
        self.y.get(row * self.targets..(row + 1) * self.targets).unwrap_or_default()
    }

    /// Returns the Euclidean norms of the rows, each rounded up by at most one unit in the last place.
    #[must_use]
    pub fn norms(&self) -> &[f64] {
        &self.norms
    }

    /// Returns the records' weights, each finite and at least 0.
    #[must_use]
    pub fn sample_weights(&self) -> &[f64] {
        &self.sample_weights
    }
}

/// Returns what a weight may be.
fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}

fn append(values: &mut Vec<f64>, value: f64) {
    make_room(values, 1);
    values.push(value);
}

/// Makes room for more values; memory that they outgrow is wiped before it is freed.
fn make_room(values: &mut Vec<f64>, more: usize) {
    let needed = values.len().saturating_add(more);
    if needed > values.capacity() {
        let mut larger = Vec::with_capacity((2 * values.capacity()).max(needed).max(64));
        larger.extend_from_slice(values);
        values.zeroize();
        *values = larger;
    }
}

/// Leaves out the values at these positions, which ascend, `each` for each of them. What lay behind is
/// overwritten while it is still part of the allocation.
fn take_out(values: &mut Vec<f64>, positions: &[usize], each: usize) {
    let Some(&first) = positions.first() else { return };
    let ends = positions.iter().skip(1).map(|next| next * each).chain([values.len()]);
    let mut to = first * each;
    for (gone, end) in positions.iter().zip(ends) {
        let from = (gone + 1) * each;
        values.copy_within(from..end, to);
        to += end - from;
    }
    values[to..].zeroize();
    values.truncate(to);
}

/// Returns the norms of all rows.
fn norms(x: &Matrix) -> Vec<f64> {
    /// Number of rows that are not worth sharing between cores.
    const FEW: usize = 1024;
    let norm = |row| row_norm(x.row(row));
    if x.rows() <= FEW {
        return (0..x.rows()).map(norm).collect();
    }
    (0..x.rows()).into_par_iter().with_min_len(FEW).map(norm).collect()
}

/// Returns the norm of a row, not below the exact one and the least such float but for errors of about d
/// 2^-105 in the sum of squares.
fn row_norm(row: Row<'_>) -> f64 {
    norm_of(sum_of_squares(row.values()))
}

fn norm_of((total, rest): (f64, f64)) -> f64 {
    let root = total.sqrt();
    // root^2 < total + rest, decided with the exact remainder total - root^2.
    if (-root).mul_add(root, total) + rest > 0.0 { root.next_up() } else { outward::sqrt(total) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::said;

    fn norm(values: &[f32]) -> f64 {
        row_norm(Row::Dense(values))
    }

    #[test]
    fn norms_are_exact_where_they_can_be() {
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[0.0, 1.0, 0.0]), 1.0);
        assert_eq!(norm(&[3.0, -4.0]), 5.0);
        assert!(norm(&[1.0, 1.0]) >= std::f64::consts::SQRT_2);
        assert!(norm(&[1.0, 1e-20]) > 1.0);
        assert_eq!(norm(&[1.0, 1e-20]), 1.0_f64.next_up());
        assert!(norm(&[f32::MAX; 8]).is_finite());
    }

    #[test]
    fn removals_keep_rows_targets_and_norms_together() {
        let mut data = Dataset::new(Matrix::dense(1), Vec::new()).unwrap();
        for i in 0..10_u8 {
            data.push(Row::Dense(&[f32::from(i)]), f64::from(i)).unwrap();
        }
        data.remove_rows(&[0, 4, 9]).unwrap();
        let left = [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0];
        assert_eq!((data.y(), data.norms()), (&left[..], &left[..]));
        assert_eq!(data.x().row(3).values(), [5.0]);
        for wrong in [&[7][..], &[2, 2], &[3, 1]] {
            assert!(said(data.remove_rows(wrong).as_ref().err(), "`rows` must"));
        }
        data.remove_rows(&[]).unwrap();
        assert_eq!((data.rows(), data.y()), (7, &left[..]));
    }

    /// Cleared where they are, then removed: the others are as if they had been removed at once.
    #[test]
    fn cleared_records_hold_nothing_until_they_are_removed() {
        let mut data = Dataset::several(Matrix::dense(2), Vec::new(), 2, Vec::new()).unwrap();
        for i in 1..9_u8 {
            let x = f32::from(i);
            data.push_several(Row::Dense(&[x, -x]), &[f64::from(i), 9.0], 3.0).unwrap();
        }
        let expected = data.picked([1, 2, 3, 4, 6, 7]).unwrap();
        assert!(data.clear_rows(&[0, 5]).unwrap());
        for row in [0, 5] {
            assert_eq!(data.x().row(row).values(), [0.0, 0.0]);
            assert_eq!((data.targets_of(row), data.norms()[row]), (&[0.0, 0.0][..], 0.0));
            assert_eq!(data.sample_weights()[row], 0.0);
        }
        assert_eq!((data.rows(), data.x().row(1).values()), (8, &[2.0, -2.0][..]));
        for wrong in [&[8][..], &[2, 2], &[3, 1]] {
            assert!(said(data.clear_rows(wrong).as_ref().err(), "`rows` must"));
        }
        data.remove_rows(&[0, 5]).unwrap();
        assert_eq!((data.x(), data.y()), (expected.x(), expected.y()));
        assert_eq!(
            (data.norms(), data.sample_weights()),
            (expected.norms(), expected.sample_weights())
        );
        let mut sparse = Dataset::new(Matrix::sparse(2), Vec::new()).unwrap();
        sparse.push(Row::Sparse { indices: &[0], values: &[1.0] }, 1.0).unwrap();
        assert!(!sparse.clear_rows(&[0]).unwrap());
        assert_eq!((sparse.rows(), sparse.y()), (1, &[1.0][..]));
    }

    #[test]
    fn several_targets_stay_with_their_row() {
        let x = || Matrix::dense(1);
        let mut data = Dataset::several(x(), Vec::new(), 3, Vec::new()).unwrap();
        for i in 0..6_u8 {
            let y = f64::from(i);
            data.push_several(Row::Dense(&[f32::from(i)]), &[y, 10.0 + y, -y], 2.0).unwrap();
        }
        data.remove_rows(&[1, 2, 5]).unwrap();
        assert_eq!(data.y(), [0.0, 10.0, 0.0, 3.0, 13.0, -3.0, 4.0, 14.0, -4.0]);
        assert_eq!((data.rows(), data.targets_of(1)), (3, &[3.0, 13.0, -3.0][..]));
        let mut other = Dataset::several(x(), Vec::new(), 3, Vec::new()).unwrap();
        other.push_from(&data, 2).unwrap();
        assert_eq!((other.y(), other.sample_weights()), (&[4.0, 14.0, -4.0][..], &[2.0][..]));
        let short = data.push_several(Row::Dense(&[1.0]), &[1.0, 2.0], 1.0);
        assert!(said(short.err(), "`y` must have 3 target(s) per row, got 2 targets for 1 rows"));
        let nan = data.push_several(Row::Dense(&[1.0]), &[1.0, f64::NAN, 2.0], 1.0);
        assert!(said(nan.as_ref().err(), "the target of row 3 must be"));
        assert_eq!((data.rows(), data.y().len(), data.x().rows()), (3, 9, 3));
        let none = Dataset::several(x(), Vec::new(), 0, Vec::new());
        assert!(said(none.as_ref().err(), "`y` must have 0 target(s) per row"));
    }

    #[test]
    fn records_that_do_not_fit_are_refused() {
        let mut data = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
        let nan = data.push(Row::Dense(&[1.0, f32::NAN]), 0.0);
        assert!(said(nan.err(), "`row` must hold finite values"));
        let target = data.push(Row::Dense(&[1.0, 0.0]), f64::INFINITY);
        assert!(said(target.as_ref().err(), "the target of row 0 must be"));
        assert_eq!((data.rows(), data.x().rows()), (0, 0));
        let short = Dataset::new(Matrix::dense(2), vec![1.0]);
        assert!(said(short.err(), "`y` must have 1 target(s) per row, got 1 targets for 0 rows"));
    }

    #[test]
    fn a_row_on_the_bound_with_its_intercept_stays_within_the_effective_bound() {
        for k in 1..2000_u32 {
            let a = k as f32 / 1999.0;
            let row = [a, 0.25, 1.0];
            let r = norm(&row[..2]);
            assert!(norm(&row) <= crate::effective_row_bound(r, 1.0), "{a}");
        }
    }
}
