//! Parquet and Arrow IPC: typed columns, behind the cargo feature `parquet`.
//!
//! Booleans, integers, floats, text and dictionaries of these are read, and dates and times if raw
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

#[cfg(feature = "parquet")]
use crate::error::{Fault, fault};

/// Returns the refusal of a file that the decoder cannot take.
#[cfg(feature = "parquet")]
fn broken(reason: impl std::fmt::Display) -> Fault {
    // Some reasons go on for lines about the decoder's own path.
    let reason = reason.to_string();
    fault!("the file cannot be decoded: {}", reason.lines().next().unwrap_or_default())
}
