//! Why a mechanism released nothing: one error for all of them.

use efface_matrix::{GramError, PassError};
use efface_privacy::quantity::Decimal;

use super::noisy_gd::HistoryError;
use super::ridge::SumsError;
use super::{GridError, KeptError};
use crate::constants::ConstantsError;
use crate::newton::{MemoryError, NewtonError};
use crate::objective::{LARGEST_HESSIAN, ObjectiveError, SumError};
use crate::solver::SolveError;

/// Why nothing was released. Nothing may be published then, and what was kept before is unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MechanismError {
    /// A number of the plan, or a count, out of range.
    #[error("`{name}` must be {rule}, got {}", Decimal(*.got))]
    Range {
        /// Its name as users type it.
        name: &'static str,
        /// The rule in words.
        rule: &'static str,
        /// The value.
        got: f64,
    },
    /// Records of a batch that was not read.
    #[error("the records of batch {0} are not at hand")]
    Batch(u64),
    /// Grid and noise.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The public constants.
    #[error(transparent)]
    Constants(#[from] ConstantsError),
    /// Another loss than the mechanism is for.
    #[error("`{mechanism}` is for the loss {wanted}, got {got}")]
    Loss {
        /// The mechanism.
        mechanism: &'static str,
        /// The loss it is for.
        wanted: &'static str,
        /// The loss it got.
        got: String,
    },
    /// Records with weights.
    #[error("`{0}` takes records of weight 1")]
    Weights(&'static str),
    /// A weight that no whole-number sum can count.
    #[error(
        "`ridge` counts a record as often as its weight says: weights and `max-weight` must be whole \
         numbers, and `max-weight` from 1 to 2^29, got {0}"
    )]
    Fraction(f64),
    /// Every part averages over its own positions.
    #[error(
        "`distributed-descent` needs the normaliser `mean`, got `fixed`: each of its parts averages \
         over its own positions"
    )]
    Normalizer,
    /// A dense matrix would be too large.
    #[error("`{mechanism}` takes at most {most} parameters, got {got}")]
    Large {
        /// The mechanism.
        mechanism: &'static str,
        /// The most it takes.
        most: usize,
        /// The number it got.
        got: usize,
    },
    /// No grid keeps the sums of so many records in 64 bits.
    #[error(
        "`capacity` {capacity} leaves the sums {bits} bits for each entry of a row, at least \
         {least} are needed"
    )]
    Capacity {
        /// The declared capacity.
        capacity: u64,
        /// Bits it leaves.
        bits: u32,
        /// Fewest bits.
        least: u32,
    },
    /// A lambda that f64 could lose beside the sums, or that leaves its range.
    #[error(
        "`lambda` must be between {least:e} and {most:e} for these public constants, got {got}"
    )]
    Lambda {
        /// The least for which the solve cannot fail.
        least: f64,
        /// The most.
        most: f64,
        /// The declared one.
        got: f64,
    },
    /// Rounding errors that outweigh the contraction of a step.
    #[error(
        "one step's rounding error {rounding:e} must be at most {limit:e}; raise `eta`, lambda or \
         the noise"
    )]
    Rounding {
        /// Bound on the rounding error of one step.
        rounding: f64,
        /// What the bound on |w| leaves room for.
        limit: f64,
    },
    /// Constants that differ from those of the earlier event.
    #[error("`{name}` is fixed for the life of a model: it was {before}, got {now}")]
    Changed {
        /// Its name.
        name: &'static str,
        /// In the earlier event.
        before: String,
        /// In this plan.
        now: String,
    },
    /// Numbers of deleted and added records that contradict the phases.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// Fewer records than the theorems allow.
    #[error(
        "the data set would have {got} records, but `descent-to-delete` needs half of the {learnt} \
         it learnt from; train a new model"
    )]
    Half {
        /// Records at learning or the last refresh.
        learnt: u64,
        /// Records after the request.
        got: u64,
    },
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
    /// Weights of the wrong length, off the grid or beyond their bound, or a kept state that is
    /// missing or of no use.
    #[error("a run must start from what its plan can publish or keep: {0}")]
    Start(&'static str),
    /// Weights that are not known to be near enough.
    #[error("the weights are within {distance:e} of the optimum, `distance` (tau) is {limit:e}")]
    Distance {
        /// The bound.
        distance: f64,
        /// tau.
        limit: f64,
    },
    /// A kept state that cannot be read, or is not of this plan.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// Kept sums that cannot be read.
    #[error(transparent)]
    Sums(#[from] SumsError),
    /// What is left after taking records out is no sum of records.
    #[error("the removed records are not the added ones: {0}")]
    Foreign(SumsError),
    /// A memory that cannot be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A memory that cannot be made or changed.
    #[error(transparent)]
    Newton(NewtonError),
    /// More records changed than there are.
    #[error("{got} records were reportedly {change}, but there are {records}")]
    Records {
        /// `added` or `removed`.
        change: &'static str,
        /// Records there are.
        records: u64,
        /// Records reported.
        got: u64,
    },
    /// Rows that could not be read.
    #[error("rows could not be read: {0}")]
    Rows(String),
    /// Not the rows that were asked for.
    #[error("{expected} rows were asked for, got {got}")]
    Missing {
        /// Keys asked for.
        expected: usize,
        /// Rows given.
        got: usize,
    },
    /// Keys that are no ascending list, or that do not fit together.
    #[error("`{name}` must be {rule}")]
    Keys {
        /// Which list.
        name: &'static str,
        /// The rule in words.
        rule: &'static str,
    },
    /// Rows that do not obey the public constants, or too few records.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The records could not be summed, or are in parts.
    #[error(transparent)]
    Sum(#[from] SumError),
    /// Data and weights do not fit together.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// A matrix could not be formed.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// The distance, the start, or a solver.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A factor or a solution that float64 does not hold.
    #[error("{0} in float64; raise lambda")]
    Singular(&'static str),
    /// The watcher asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl MechanismError {
    /// Whether the watcher asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Solve(SolveError::Cancelled { .. }))
    }

    /// Refuses more parameters than a dense Hessian is formed for.
    pub(super) fn check_hessian(mechanism: &'static str, got: usize) -> Result<(), Self> {
        let most = LARGEST_HESSIAN;
        if got > most { Err(Self::Large { mechanism, most, got }) } else { Ok(()) }
    }
}

impl From<NewtonError> for MechanismError {
    fn from(error: NewtonError) -> Self {
        match error {
            NewtonError::Solve(error) => Self::Solve(error),
            other => Self::Newton(other),
        }
    }
}

/// Refuses a number of a plan that does not obey its rule.
pub(super) fn range(
    name: &'static str,
    rule: &'static str,
    got: f64,
    obeys: bool,
) -> Result<(), MechanismError> {
    if obeys { Ok(()) } else { Err(MechanismError::Range { name, rule, got }) }
}
