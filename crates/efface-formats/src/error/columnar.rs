//! Rules of Parquet and Arrow.

/// A columnar file that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnarFault {
    /// The file itself is broken.
    #[error("the file cannot be decoded: {message}")]
    Decode {
        /// The decoder's reason.
        message: String,
    },
    /// A type that is neither number nor text.
    #[error(
        "columns of type {kind} are not supported; leave this one out with `§ignore {column}`, \
         or store it as numbers, booleans or text"
    )]
    Type {
        /// The type.
        kind: String,
        /// The column.
        column: String,
    },
}
