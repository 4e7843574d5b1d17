//! What the benchmarks share: where the data are, models in throw-away vaults, rows in memory,
//! and tables of results.
//!
//! Each binary of this package measures one thing and prints Markdown tables; none asserts
//! anything about time. The data come from the folder that `EFFACE_DATA` names.
#![forbid(unsafe_code)]

pub mod bench;
pub mod data;
pub mod encoded;
pub mod machine;
pub mod rows;
pub mod shop;
pub mod synthetic;
pub mod table;

/// Whatever went wrong, for a message.
pub type Failure = Box<dyn std::error::Error>;
