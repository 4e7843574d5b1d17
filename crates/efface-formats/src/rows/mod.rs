//! The rows of a table, whatever holds them, and the single way of reading them.

mod layout;
mod maker;

pub(crate) use layout::{array, columns, implied, options_for};
pub(crate) use maker::{RowForm, RowMaker};

use crate::cell::Cell;
use crate::error::{ReadError, Spot};
use crate::numbers::Numbers;

/// Rows that are read one after another.
pub(crate) trait Rows {
    /// Goes to the next row and returns its place; `None` after the last one.
    fn advance(&mut self) -> Result<Option<Spot>, ReadError>;

    /// Returns the label at a position among those that are read.
    fn label(&mut self, at: usize) -> Result<Cell<'_>, ReadError>;

    /// Returns the features of the row.
    fn features(&mut self) -> Result<RowValues<'_>, ReadError>;

    /// Returns the id, the subject and the weight of the row.
    fn keys(&mut self) -> Result<Keys<'_>, ReadError>;
}

/// What a record carries besides features and label.
#[derive(Default)]
pub(crate) struct Keys<'c> {
    pub(crate) id: Option<Cell<'c>>,
    pub(crate) subject: Option<Cell<'c>>,
    pub(crate) weight: Option<Cell<'c>>,
}

/// Cells of one row, by column.
pub(crate) trait Cells {
    /// Returns the cell of a column counted from 0; `Null` beyond the last.
    fn cell(&self, column: usize) -> Cell<'_>;
}

/// The features of one row as the table has them.
#[derive(Clone, Copy)]
pub(crate) enum RowValues<'r> {
    /// Values of any type in named columns.
    Cells(&'r dyn Cells),
    /// All numbers of an array's row.
    Dense(Numbers<'r>),
    /// The numbers of a sparse array's row, at columns that ascend.
    Sparse { indices: &'r [u32], numbers: Numbers<'r> },
}

impl RowValues<'_> {
    /// Returns the value of a column; `Null` for sparse rows.
    fn cell(&self, column: usize) -> Cell<'_> {
        match self {
            Self::Cells(cells) => cells.cell(column),
            Self::Dense(numbers) => numbers.get(column).map_or(Cell::Null, Cell::Number),
            Self::Sparse { .. } => Cell::Null,
        }
    }
}
