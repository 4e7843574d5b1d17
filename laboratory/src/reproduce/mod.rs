//! Published experiments, repeated: each declared in one small file, each ending in a table
//! and the paper's words beside our numbers.
//!
//! [`experiments`] lists them; [`run`] runs some or all and writes a folder: CSV files, the
//! claims in Markdown, and `index.html`, which shows everything. Every random choice has a declared
//! seed, so nothing here may be released.

mod account;
mod bench;
mod bsa2024;
mod chien2024;
mod chourasia2023;
mod data;
mod declared;
mod frontier;
mod guo2020;
mod images;
mod khi2024;
mod koloskova2025;
mod memory;
mod neel2020;
mod nonconvex;
mod outcome;
mod page;
mod provenance;
mod runner;

mod write;

pub use declared::{Experiment, experiments};
pub use outcome::Line;
pub use provenance::Provenance;
pub use write::{Done, Options, run};
