//! A data set that several threads fill in place.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use efface_matrix::{ChangeError, Fill, Matrix};
use zeroize::Zeroize;

use super::{Dataset, is_weight, no_weight, norm_of, not_finite};

/// A data set of a known number of dense records, which threads write in any order: a [`Dataset`] once all
/// are written.
#[derive(Debug)]
pub struct Filling {
    x: Fill,
    targets: usize,
    beside: Mutex<Beside>,
}

/// The data of records other than their rows.
#[derive(Debug)]
struct Beside {
    y: Vec<f64>,
    norms: Vec<f64>,
    sample_weights: Vec<f64>,
}

impl Drop for Beside {
    fn drop(&mut self) {
        for numbers in [&mut self.y, &mut self.norms, &mut self.sample_weights] {
            numbers.zeroize();
        }
    }
}

impl Beside {
    fn of(rows: usize, targets: usize) -> Result<Self, ChangeError> {
        let mut of = Self { y: Vec::new(), norms: Vec::new(), sample_weights: Vec::new() };
        let values = rows.saturating_mul(targets);
        let room = [(&mut of.y, values), (&mut of.norms, rows), (&mut of.sample_weights, rows)];
        for (numbers, length) in room {
            let refused = |()| ChangeError::Memory { bytes: length.saturating_mul(8) };
            *numbers = bytemuck::allocation::try_zeroed_vec(length).map_err(refused)?;
        }
        Ok(of)
    }
}

impl Filling {
    /// Places for so many records of `cols` columns and `targets` targets.
    ///
    /// # Errors
    /// Fails if memory runs out.
    pub fn new(rows: usize, cols: usize, targets: usize) -> Result<Self, ChangeError> {
        let beside = Mutex::new(Beside::of(rows, targets)?);
        Ok(Self { x: Fill::new(rows, cols)?, targets, beside })
    }

    /// Makes room in the memory of other records, which are overwritten.
    ///
    /// # Errors
    /// Fails if records are sparse or memory runs out.
    pub fn over(used: Dataset, rows: usize) -> Result<Self, ChangeError> {
        let Dataset { x, targets, .. } = used;
        let Matrix::Dense(x) = x else {
            refuse!("`row` must be dense like its matrix, got sparse");
        };
        let beside = Mutex::new(Beside::of(rows, targets)?);
        Ok(Self { x: Fill::over(x, rows)?, targets, beside })
    }

    /// Returns the number of records.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.x.rows()
    }

    /// Bytes allocated for the records.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.x.bytes() + 8 * self.rows() * (2 + self.targets)
    }

    /// Shows the places of these records to `write`, one after another: how many came before among them,
    /// the values of the row, and its targets. It returns the record's weight.
    ///
    /// # Errors
    /// Fails if `write` does, if `rows` are not all among the records, if a value is not finite, or if a
    /// weight is invalid.
    pub fn write<E: From<ChangeError>>(
        &self,
        rows: Range<usize>,
        mut write: impl FnMut(usize, &mut [f32], &mut [f64]) -> Result<f64, E>,
    ) -> Result<(), E> {
        let (first, targets) = (rows.start, self.targets);
        let mut own = Beside::of(rows.len(), targets)?;
        let write = |at: usize, values: &mut [f32]| {
            let y = &mut own.y[at * targets..(at + 1) * targets];
            let weight = write(at, values, y)?;
            let fault = match y.iter().find(|target| !target.is_finite()) {
                Some(&got) => Some(not_finite(first + at, got)),
                None if is_weight(weight) => None,
                None => Some(no_weight(first + at, weight)),
            };
            if let Some(fault) = fault {
                return Err(E::from(ChangeError::from(fault)));
            }
            own.sample_weights[at] = weight;
            Ok(())
        };
        let mut norms = own.norms.iter_mut();
        let squares = |squares| {
            if let Some(norm) = norms.next() {
                *norm = norm_of(squares);
            }
        };
        self.x.write::<E>(rows.clone(), write, squares)?;
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        beside.y[first * targets..rows.end * targets].copy_from_slice(&own.y);
        beside.norms[rows.clone()].copy_from_slice(&own.norms);
        beside.sample_weights[rows].copy_from_slice(&own.sample_weights);
        Ok(())
    }

    /// Returns the data set.
    ///
    /// # Errors
    /// Fails if a record was not written.
    pub fn finish(self) -> Result<Dataset, ChangeError> {
        let Self { x, targets, beside } = self;
        let mut beside = beside.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Dataset {
            x: Matrix::Dense(x.finish()?),
            y: std::mem::take(&mut beside.y),
            targets,
            norms: std::mem::take(&mut beside.norms),
            sample_weights: std::mem::take(&mut beside.sample_weights),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::said;

    fn written(filling: &Filling, rows: Range<usize>) -> Result<(), ChangeError> {
        let first = rows.start;
        filling.write(rows, |at, values, y| {
            let row = (first + at) as f32;
            values.copy_from_slice(&[row, -1.0, 0.5]);
            y.copy_from_slice(&[f64::from(row), 7.0]);
            Ok(f64::from(row) + 1.0)
        })
    }

    fn pushed(rows: usize) -> Dataset {
        use efface_matrix::Row;
        let mut data = Dataset::several(Matrix::dense(3), Vec::new(), 2, Vec::new()).unwrap();
        for row in 0..rows {
            let value = row as f32;
            let y = [value.into(), 7.0];
            data.push_several(Row::Dense(&[value, -1.0, 0.5]), &y, y[0] + 1.0).unwrap();
        }
        data
    }

    fn alike(a: &Dataset, b: &Dataset) {
        assert_eq!((a.x(), a.y(), a.targets()), (b.x(), b.y(), b.targets()));
        assert_eq!((a.norms(), a.sample_weights()), (b.norms(), b.sample_weights()));
    }

    #[test]
    fn records_in_their_places_are_those_in_order() {
        let filling = Filling::new(1300, 3, 2).unwrap();
        std::thread::scope(|scope| {
            for rows in [900..1300, 500..900, 0..500] {
                let filling = &filling;
                scope.spawn(move || written(filling, rows).unwrap());
            }
        });
        let data = filling.finish().unwrap();
        alike(&data, &pushed(1300));
        let filling = Filling::over(data, 600).unwrap();
        written(&filling, 0..600).unwrap();
        alike(&filling.finish().unwrap(), &pushed(600));
    }

    #[test]
    fn records_that_do_not_fit_are_refused() {
        let filling = Filling::new(4, 3, 2).unwrap();
        written(&filling, 0..3).unwrap();
        assert!(said(written(&filling, 3..5).err(), "rows must end at 4 at most, got 5"));
        let with = |value: f32, target: f64, weight: f64| {
            filling.write::<ChangeError>(3..4, |_, values, y| {
                values[1] = value;
                y[1] = target;
                Ok(weight)
            })
        };
        let nan = with(f32::NAN, 0.0, 1.0).unwrap_err();
        assert!(said(Some(&nan), "`row` must hold finite values"), "{nan}");
        let target = with(0.0, f64::NAN, 1.0).unwrap_err();
        assert!(said(Some(&target), "the target of row 3 must be"), "{target}");
        let weight = with(0.0, 0.0, -1.0).unwrap_err();
        assert!(
            said(Some(&weight), "the weight of row 3 must be finite and at least 0, got -1"),
            "{weight}"
        );
        let missing = filling.finish().unwrap_err();
        assert!(said(Some(&missing), "row 3 was not written"), "{missing}");
        let sparse = Dataset::new(Matrix::sparse(3), Vec::new()).unwrap();
        assert!(said(Filling::over(sparse, 1).err(), "`row` must be dense like its matrix"));
    }
}
