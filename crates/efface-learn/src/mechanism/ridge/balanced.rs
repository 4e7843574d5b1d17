//! The normal equations of classes whose records count by how many they are.

use efface_matrix::{Matrix, Refusal};

use super::sums::{Sides, Sums, triangle};
use super::{Quantiser, Watch};
use crate::dataset::Dataset;
use crate::mechanism::MechanismError;
use crate::mechanism::kept::foreign;

/// S and t of the weighted records: whole-number sums of each class, each converted, multiplied by what a
/// record of the class counts, and added up in the classes' order. Each of these operations is rounded
/// separately, so the order of records does not matter.
pub(super) struct Balanced {
    /// S, its lower triangle column by column.
    pub(super) gram: Vec<f64>,
    /// t, a block of columns for each class.
    pub(super) moment: Vec<f64>,
}

impl Balanced {
    /// Sums all classes. `fold` adds the records of one class, as [`fold`] does, and returns how much each of
    /// them counts; `None` if the class has no record. One class's sums are in memory at a time besides the
    /// total.
    pub(super) fn of(
        columns: usize,
        classes: usize,
        quantiser: Quantiser,
        mut fold: impl FnMut(usize, &mut Sums) -> Result<Option<f64>, MechanismError>,
    ) -> Result<Self, MechanismError> {
        let mut gram = vec![0.0; triangle(columns)];
        let mut moment = vec![0.0; columns * classes];
        let mut of_all = vec![0.0; columns];
        for (class, own) in moment.chunks_exact_mut(columns).enumerate() {
            let mut sums = Sums::empty(columns, Sides::Targets(1), quantiser);
            let Some(weight) = fold(class, &mut sums)? else { continue };
            let add = |(sum, of_class): (&mut f64, &i64)| *sum += weight * *of_class as f64;
            gram.iter_mut().zip(sums.triangle()).for_each(add);
            of_all.iter_mut().zip(sums.moment()).for_each(add);
            own.iter_mut().zip(sums.moment()).for_each(add);
        }
        // y is +1 for the records of the class, -1 for all others.
        for own in moment.chunks_exact_mut(columns) {
            own.iter_mut().zip(&of_all).for_each(|(sum, all)| *sum = 2.0 * *sum - all);
        }
        Ok(Self { gram, moment })
    }
}

/// Adds the records of a class, each once and with y = 1. Each of them counts `weight`, which is set if it
/// was `None`.
pub(super) fn fold(
    sums: &mut Sums,
    data: &Dataset,
    class: usize,
    weight: &mut Option<f64>,
    watch: &mut Watch<'_>,
) -> Result<(), MechanismError> {
    let members: Vec<usize> =
        (0..data.rows()).filter(|&row| data.targets_of(row)[0] == class as f64).collect();
    *weight = weight.or_else(|| members.first().map(|&row| data.sample_weights()[row]));
    if members.iter().any(|&row| Some(data.sample_weights()[row]) != *weight) {
        return Err(foreign("records of one class have different weights").into());
    }
    // Rows in the shape of stored ones: only memory can fail.
    let memory = |_| Refusal::no_memory(data.cols());
    for rows in members.chunks(sums.quantiser().exact_records()) {
        let none = match data.x() {
            Matrix::Dense(_) => Matrix::dense(data.cols()),
            Matrix::Sparse(_) => Matrix::sparse(data.cols()),
        };
        let mut part = Dataset::new(none, Vec::new()).map_err(memory)?;
        for &row in rows {
            part.push(data.x().row(row), 1.0).map_err(memory)?;
        }
        let before = sums.records();
        sums.fold(&part, 1, &mut |_| watch(before))?;
    }
    Ok(())
}
