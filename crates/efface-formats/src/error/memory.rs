//! Rules of tables in memory.

/// A table in memory that breaks a rule of its layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryFault {
    /// Numbers that do not make whole rows.
    #[error("{numbers} numbers do not make rows of {width}")]
    Ragged {
        /// How many there are.
        numbers: usize,
        /// Columns.
        width: u32,
    },
    /// Row limits of a sparse table that do not divide its entries.
    #[error("the starts of sparse rows must ascend from 0 to at most the {entries} entries")]
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
    #[error("column indices of a sparse row must ascend from 0 and stay below {width}, got {got}")]
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
    /// Columns other than the schema's, or in another order.
    #[error("column {position} is named `{got}`, the schema has `{expected}` there")]
    OtherName {
        /// Counted from 1.
        position: usize,
        /// The name given.
        got: String,
        /// The name declared.
        expected: String,
    },
}
