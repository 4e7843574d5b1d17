//! Converts records to the input of a network.

use std::collections::HashMap;

use efface_learn::Dataset;

use crate::error::{Code, Error, Result};
use crate::rows::Rows;
use crate::weights::predictor::append;

/// Returns the rows, `width` values each, one after another, and the class of each.
pub(super) fn of(data: &Dataset, width: usize) -> Result<(Vec<f32>, Vec<u32>)> {
    let x = data.x();
    if x.cols() != width {
        let message = format!("rows have {} values, but the network takes {width}", x.cols());
        return Err(Error::storage(Code::Damaged, message));
    }
    let mut rows = Vec::with_capacity(x.rows() * width);
    (0..x.rows()).for_each(|row| append(x.row(row), width, &mut rows));
    // Classes are whole numbers: targets of a classifier are checked.
    Ok((rows, data.y().iter().map(|class| *class as u32).collect()))
}

/// Returns the subject of each row, numbered in order of first appearance.
pub(super) fn subjects(rows: &dyn Rows) -> Result<Vec<u32>> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let number = |subject: String| {
        let next = numbers.len() as u32;
        *numbers.entry(subject).or_insert(next)
    };
    Ok(rows.subjects()?.into_iter().map(number).collect())
}
