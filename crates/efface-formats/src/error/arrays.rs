//! Rules of arrays, whatever file they come from.

/// An array that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayFault {
    /// The data end early.
    #[error("the data end in row {row} of {rows}")]
    Truncated {
        /// The row, counted from 1.
        row: u64,
        /// The rows the header states.
        rows: u64,
    },
    /// The data go on.
    #[error("there are further bytes after the {rows} rows of the header")]
    TrailingBytes {
        /// The rows the header states.
        rows: u64,
    },
    /// More elements than can be counted.
    #[error("the shape has more elements than can be counted")]
    Overflow,
    /// Text where numbers are needed.
    #[error("the elements are text, features must be numbers")]
    TextFeatures,
    /// The wrong number of axes for features.
    #[error("features need 2 axes, rows and columns, got {got}")]
    FeatureAxes {
        /// Axes of the array.
        got: usize,
    },
    /// The wrong number of axes for labels and keys.
    #[error("labels, ids, subjects and weights need one value per row, got shape {shape}")]
    ColumnAxes {
        /// The shape, as in NumPy.
        shape: String,
    },
    /// Two arrays of one table with different lengths.
    #[error("{got} rows, but the features have {expected}")]
    Rows {
        /// Rows of this array.
        got: u64,
        /// Rows of the features.
        expected: u64,
    },
    /// A string that is not Unicode.
    #[error("the string is not valid Unicode")]
    NotUnicode,
}
