//! Parquet and Arrow IPC: typed columns, behind the cargo feature `parquet`.
//!
//! Booleans, integers, floats, text and dictionaries of these are read; nested columns, dates and
//! bytes are refused unless the column is ignored. A null equals the missing token `""`.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod batches;
#[cfg(feature = "parquet")]
mod messages;
#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "parquet")]
pub(crate) use batches::open;

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
    #[error("columns of type {kind} are not read; use numbers, booleans or text, or ignore it")]
    Type {
        /// The type.
        kind: String,
    },
}
