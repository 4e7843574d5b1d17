//! Parquet and Arrow IPC: typed columns.

/// A columnar file that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnarFault {
    /// The file itself is broken.
    #[error("{message}")]
    File {
        /// The reader's reason.
        message: String,
    },
    /// A type that is neither number nor text.
    #[error("columns of type {kind} are not read; use numbers, booleans or text")]
    Type {
        /// The type.
        kind: String,
    },
}
