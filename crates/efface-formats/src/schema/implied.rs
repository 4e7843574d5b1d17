//! The schema of a table that needs none: every column a number, taken as it is.

use super::{Body, Column, CsvShape, Kind, Matrix, Origin, Scaling, Schema, Storage};
use crate::error::Fault;

impl Schema {
    /// Declares columns that are numbers except for those with another role; `csv` is kept as stated.
    pub(crate) fn implied<'a>(
        csv: CsvShape,
        storage: Storage,
        columns: impl Iterator<Item = (&'a str, Option<Kind>)>,
    ) -> Result<Self, Fault> {
        let columns = columns
            .map(|(name, role)| {
                let kind = role.unwrap_or(Kind::Numeric(Scaling::AsIs));
                Column::new(name, kind, Origin::Default)
            })
            .collect();
        Self::new(csv, Body::Columns { storage, columns })
    }

    /// Declares named columns of numbers, taken as they are.
    pub(crate) fn numbers<'a>(
        storage: Storage,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<Self, Fault> {
        Self::implied(CsvShape::default(), storage, names.map(|name| (name, None)))
    }

    pub(crate) fn matrix(matrix: Matrix) -> Result<Self, Fault> {
        Self::new(CsvShape::default(), Body::Matrix(matrix))
    }
}
