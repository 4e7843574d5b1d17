//! Why a mechanism released nothing: one error for all of them.

use efface_matrix::Refusal;

use super::KeptError;
use crate::newton::NewtonError;
use crate::objective::LARGEST_HESSIAN;
use crate::solver::SolveError;

/// Why nothing was released. Nothing may be published then, and what was kept before is unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MechanismError {
    /// A plan, records, weights or an earlier event that do not obey their rules.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Weights beyond what float64 holds exactly on this grid.
    #[error(
        "weights up to {reach:e} need a `grid` above {reach:e}/(3 x 2^49), got {spacing:e}; raise the \
         noise or lambda"
    )]
    Reach {
        /// Public bound on |w|.
        reach: f64,
        /// g: distance of neighbouring grid points.
        spacing: f64,
    },
    /// A weight that no whole-number sum can count.
    #[error(
        "`ridge` counts a record as often as its weight says: weights and `max-weight` must be whole \
         numbers, and `max-weight` from 1 to 2^29, got {0}"
    )]
    Fraction(f64),
    /// All jointly covered releases are made.
    #[error(
        "{spent} of {limit} releases since the last refresh are used up, and this request needs \
         one more; refresh: start again from the published model without what is kept"
    )]
    Releases {
        /// Releases made since learning or the last refresh.
        spent: u64,
        /// R.
        limit: u64,
    },
    /// A kept state that cannot be read, or belongs to another plan.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// Kept sums that cannot be read, or do not hold the records of a request.
    #[error(transparent)]
    Sums(Refusal),
    /// Rows that could not be read.
    #[error("rows could not be read: {0}")]
    Rows(String),
    /// Keys that do not ascend, or that do not fit together.
    #[error(transparent)]
    Keys(Refusal),
    /// The distance, the start, or a solver.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The Hessian of a Newton removal has no Cholesky factor in float64.
    #[error("{}", NewtonError::NoFactor)]
    NoFactor,
    /// The watcher asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl MechanismError {
    /// Returns whether the watcher asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Solve(SolveError::Cancelled { .. }))
    }

    /// Refuses more parameters than a dense Hessian is formed for.
    pub(super) fn check_hessian(mechanism: &str, got: usize) -> Result<(), Refusal> {
        check_size(mechanism, LARGEST_HESSIAN, got)
    }
}

impl From<NewtonError> for MechanismError {
    fn from(error: NewtonError) -> Self {
        match error {
            NewtonError::Solve(error) => Self::Solve(error),
            NewtonError::Refused(error) => Self::Refused(error),
            NewtonError::NoFactor => Self::NoFactor,
        }
    }
}

/// Refuses more parameters than a mechanism takes.
pub(super) fn check_size(mechanism: &str, most: usize, got: usize) -> Result<(), Refusal> {
    if got <= most {
        return Ok(());
    }
    Err(refusal!("`{mechanism}` takes at most {most} parameters, got {got}"))
}

/// Returns the error of constants that differ from those of the earlier event.
pub(super) fn changed(name: &str, before: &str, now: &str) -> MechanismError {
    refusal!("`{name}` is fixed for the life of a model: it was {before}, got {now}").into()
}

/// Returns the error of weights of the wrong length, off the grid or beyond their bound, or of a kept state
/// that is missing or useless.
pub(super) fn start(why: &str) -> MechanismError {
    refusal!("a run must start from what its plan can publish or keep: {why}").into()
}

/// Returns the error of a factor or solution that float64 cannot represent.
pub(super) fn singular(what: &str) -> MechanismError {
    refusal!("{what} in float64; raise lambda").into()
}
