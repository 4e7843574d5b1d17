//! Losses, solvers and mechanisms that train linear models and remove records from them.
#![forbid(unsafe_code)]

pub mod constants;
pub mod dataset;
#[cfg(test)]
mod example;
pub mod loss;
pub mod objective;
mod outward;
pub mod solver;

pub use constants::{Constants, ConstantsError, Declared, effective_row_bound};
pub use dataset::{Dataset, DatasetError};
pub use loss::{Loss, LossError, Task};
pub use objective::{Objective, ObjectiveError};
