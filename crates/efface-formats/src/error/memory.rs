//! Rules of tables in memory.

/// A table in memory that breaks a rule of its layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryFault {
    /// Numbers that do not make whole rows.
    #[error("{numbers} numbers cannot be split into rows of {width}")]
    Ragged {
        /// How many there are.
        numbers: usize,
        /// Columns.
        width: u32,
    },
    /// Row limits of a sparse table that do not divide its entries.
    #[error(
        "the row starts (`indptr`) must increase from 0 to at most {entries}, the number of \
        entries"
    )]
    Starts {
        /// How many entries there are.
        entries: usize,
    },
    /// Sparse entries without a column each.
    #[error("{indices} column indices for {entries} entries")]
    Entries {
        /// Indices given.
        indices: usize,
        /// Entries given.
        entries: usize,
    },
    /// A column that is not there, or columns out of order.
    #[error("the column indices of a sparse row must increase and be below {width}, got {got}")]
    Index {
        /// The index.
        got: i32,
        /// Columns.
        width: u32,
    },
    /// Not one name for each column.
    #[error("{got} names for {width} columns")]
    Names {
        /// Names given.
        got: usize,
        /// Columns.
        width: u32,
    },
    /// Several values for each row where one is wanted.
    #[error("`{part}` must have one value for each row, got {got}")]
    Several {
        /// `ids`, `subjects` or `weights`.
        part: String,
        /// Values of a row.
        got: usize,
    },
    /// A column of values without one for each row.
    #[error("column `{name}` has {got} values for {rows} rows")]
    ColumnLength {
        /// The column.
        name: String,
        /// Values of the column.
        got: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// A column by code, with a code that no category has.
    #[error("column `{name}`: code {code} is not one of the {categories} categories")]
    Code {
        /// The column.
        name: String,
        /// The code.
        code: i32,
        /// How many categories there are.
        categories: usize,
    },
    /// Columns of values where rows are to be encoded by a schema.
    #[error("columns of values are read as raw rows only; give an array of numbers instead")]
    ColumnsWithoutFrame,
    /// Columns other than the schema's, or in another order.
    #[error("column {position} is `{got}`, but `{expected}` in the schema")]
    OtherName {
        /// Counted from 1.
        position: usize,
        /// The name given.
        got: String,
        /// The name declared.
        expected: String,
    },
}
