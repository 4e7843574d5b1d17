//! The schema of a table that needs none: every column a number, taken as it is.

use super::{Body, Column, CsvShape, Kind, Matrix, Origin, Scaling, Schema, Storage};
use crate::error::Fault;

impl Schema {
    /// Columns that are numbers except for those with another role; `csv` is kept as stated.
    pub(crate) fn implied<'a>(
        csv: CsvShape,
        columns: impl Iterator<Item = (&'a str, Option<Kind>)>,
    ) -> Result<Self, Fault> {
        let columns = columns
            .map(|(name, role)| {
                let kind = role.unwrap_or(Kind::Numeric(Scaling::AsIs));
                Column::new(name, kind, Origin::Default)
            })
            .collect();
        Self::new(csv, Body::Columns { storage: Storage::Dense, columns })
    }

    /// Named columns of numbers, taken as they are.
    pub(crate) fn numbers(storage: Storage, names: &[String]) -> Result<Self, Fault> {
        let column = |name: &String| {
            Column::new(name.as_str(), Kind::Numeric(Scaling::AsIs), Origin::Default)
        };
        let columns = names.iter().map(column).collect();
        Self::new(CsvShape::default(), Body::Columns { storage, columns })
    }

    /// An array of numbers.
    pub(crate) fn matrix(matrix: Matrix) -> Result<Self, Fault> {
        Self::new(CsvShape::default(), Body::Matrix(matrix))
    }
}
