//! What can go wrong when rows are added to or removed from a matrix.

/// Why a row was not added. The matrix is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// A dense row of the wrong length.
    #[error("`row` must have {columns} values, one per column, got {got}")]
    Length {
        /// Columns of the matrix.
        columns: usize,
        /// Length of the row given.
        got: usize,
    },
    /// A sparse row whose two parts differ in length.
    #[error("`values` must have {indices} entries, one per index, got {got}")]
    Parts {
        /// Number of indices.
        indices: usize,
        /// Number of values.
        got: usize,
    },
    /// NaN or an infinity among the values.
    #[error("`row` must hold finite values, got {value} in column {column}")]
    NotFinite {
        /// Column of the value, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A sparse index at or beyond the number of columns.
    #[error("`indices` must be below the {columns} columns, got {index}")]
    Index {
        /// Columns of the matrix.
        columns: usize,
        /// The index.
        index: u32,
    },
    /// Sparse indices out of order, or one twice.
    #[error("`indices` must increase strictly, got {index} after {before}")]
    Order {
        /// The earlier index.
        before: u32,
        /// The index after it.
        index: u32,
    },
    /// A dense row for a sparse matrix, or the reverse.
    #[error("`row` must be {expected} like its matrix, got {got}")]
    Kind {
        /// "dense" or "sparse".
        expected: &'static str,
        /// "dense" or "sparse".
        got: &'static str,
    },
    /// The allocator refused the next block.
    #[error("`row` does not fit in memory: a block of {bytes} bytes was refused")]
    Memory {
        /// Size of the block asked for.
        bytes: usize,
    },
}

/// Why a matrix was not filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// A row that no matrix takes, or no memory.
    #[error(transparent)]
    Push(#[from] PushError),
    /// Rows at or beyond the number of rows.
    #[error("rows must end at {rows} at most, got {end}")]
    Range {
        /// Rows of the matrix.
        rows: usize,
        /// Where those given end.
        end: usize,
    },
    /// A row that nobody wrote.
    #[error("row {row} was not written")]
    Missing {
        /// The first such row.
        row: usize,
    },
}

/// Why no row was removed. The matrix is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// A row number at or beyond the number of rows.
    #[error("`rows` must be below the {rows} rows, got {row}")]
    Range {
        /// Rows of the matrix.
        rows: usize,
        /// The row number.
        row: usize,
    },
    /// Row numbers out of order, or one twice.
    #[error("`rows` must increase strictly, got {row} after {before}")]
    Order {
        /// The earlier row number.
        before: usize,
        /// The row number after it.
        row: usize,
    },
}

/// Checks that `remove` increases strictly and stays below `rows`.
pub(crate) fn check_removal(remove: &[usize], rows: usize) -> Result<(), RemoveError> {
    for pair in remove.windows(2) {
        if pair[0] >= pair[1] {
            return Err(RemoveError::Order { before: pair[0], row: pair[1] });
        }
    }
    match remove.last() {
        Some(&row) if row >= rows => Err(RemoveError::Range { rows, row }),
        _ => Ok(()),
    }
}

/// Checks that every value is finite; `column` names the column of the k-th value.
pub(crate) fn check_finite(
    values: impl Iterator<Item = f64>,
    column: impl Fn(usize) -> usize,
) -> Result<(), PushError> {
    for (k, value) in values.enumerate() {
        if !value.is_finite() {
            return Err(PushError::NotFinite { column: column(k), value });
        }
    }
    Ok(())
}
