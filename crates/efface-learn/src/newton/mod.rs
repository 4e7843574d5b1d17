#![doc = include_str!("newton.md")]

mod bound;
mod bytes;
mod forecast;
mod gradient;
mod hessian;
mod pass;
mod point;
mod serve;
mod symmetric;
mod typical;

#[cfg(test)]
mod tests;

pub use bound::Bound;
pub use forecast::{most_corrections, serving_operations, sure_changes, usual_changes};
pub use pass::{Effort, check_newton};
pub use point::Point;

use efface_matrix::Refusal;
use std::sync::Arc;

use crate::constants::Constants;
use crate::solver::{Factor, SolveError};
use gradient::Gradient;
use hessian::Hessian;
use typical::Typical;

/// What `secret` state keeps so that a change of a few rows needs no pass over the others.
///
/// Weights b + s with a bound on their distance to the optimum of the current rows, the gradient
/// at b, the Hessian at h and its factor. All of it saw every row that was ever there: it is
/// secret, and erased at a refresh.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    records: u64,
    hessian: Hessian,
    /// Approximates the factor of C plus the ridge; nothing rests on its accuracy.
    factor: Arc<Factor>,
    gradient: Gradient,
    step: Vec<f64>,
    bound: Bound,
    /// Rows changed since the gradient was last summed over all rows.
    changes: u64,
    /// Gradient passes since the Hessian was last formed.
    passes: u64,
    typical: Typical,
}

/// Why the memory was not made or not changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NewtonError {
    /// A loss without a Newton bound, too many parameters, or records, weights or a memory that do
    /// not fit each other.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The Hessian has no Cholesky factor in float64.
    #[error("the Hessian is not positive definite in float64; raise lambda")]
    NoFactor,
    /// A full solve failed, or was cancelled.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// Refuses what is of `got` parameters for a model of another number.
fn check_size(constants: &Constants, got: usize) -> Result<(), Refusal> {
    let expected = constants.parameters();
    if expected == got {
        return Ok(());
    }
    Err(refusal!("the memory is of {got} parameters, but the model has {expected}"))
}

/// Another number of records than the memory accounts for.
fn other_records(expected: u64, got: u64) -> Refusal {
    refusal!("the memory is of {expected} records, got {got}")
}

impl Memory {
    /// The weights b + s: unperturbed, never to be published.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        self.gradient.at.iter().zip(&self.step).map(|(b, s)| b + s).collect()
    }

    /// A factor of about the Hessian there, to precondition steps by.
    #[must_use]
    pub fn factor(&self) -> &Factor {
        &self.factor
    }

    /// What is known about these weights. Depends on the data.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// Refuses constants of another size.
    ///
    /// # Errors
    /// Fails if the memory is of another model.
    pub fn check(&self, constants: &Constants) -> Result<(), Refusal> {
        check_size(constants, self.step.len())
    }

    /// Number of records the memory accounts for.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Rows changed since the last pass over all rows.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }
}
