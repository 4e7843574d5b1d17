//! Parquet and Arrow IPC: typed columns, behind the cargo feature `parquet`.
//!
//! Booleans, integers, floats, text and dictionaries of these are read, and dates and times where raw
//! rows are asked for; nested columns and bytes are refused unless the column is ignored. A null equals the missing token `""`.
//!
//! The decoders are libraries that take memory by what a file states, and may panic on a damaged
//! one. What is stated is checked first, and a panic becomes an error.

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

/// Why a file is not given to the decoder.
#[cfg(feature = "parquet")]
#[derive(Debug)]
enum Refusal {
    /// It cannot be read.
    Io(std::io::Error),
    /// It would take too much memory.
    Expansion(crate::error::Fault),
    /// It breaks a rule of its format.
    Broken(String),
}

#[cfg(feature = "parquet")]
impl Refusal {
    fn at(self, file: &str) -> crate::error::ReadError {
        use crate::error::ReadError;
        match self {
            Self::Io(error) => ReadError::of_file(file, error),
            Self::Expansion(fault) => ReadError::of_file(file, fault),
            Self::Broken(message) => batches::decode(file, &message),
        }
    }
}
