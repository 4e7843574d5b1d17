#![doc = include_str!("distributed_descent.md")]

mod forecast;
mod kept;
mod part;
mod plan;
mod run;
mod sample;
mod uniform;

#[cfg(test)]
mod tests;

pub use forecast::{Gradients, Occasion};
pub use kept::{KeptCopy, KeptParts, KeptPartsError};
pub use part::Part;
pub use plan::{CheckedDistributed, DistributedPlan, Reach};
pub use run::{Averages, Records, learn, request};
pub use sample::{Membership, Sample};

use super::GridError;
use crate::constants::ConstantsError;
use crate::dataset::Dataset;
use crate::objective::ObjectiveError;
use crate::solver::SolveError;

/// Why nothing was released.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DistributedError {
    /// Every part averages over its own positions.
    #[error(
        "`distributed-descent` needs the normaliser `mean`, got `fixed`: each of its parts averages \
         over its own positions"
    )]
    Normalizer,
    /// A count out of range.
    #[error("`{name}` must be {rule}, got {got}")]
    Count {
        /// Its name as users type it.
        name: &'static str,
        /// The rule in words.
        rule: &'static str,
        /// The value.
        got: u64,
    },
    /// Grid and noise.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The public constants.
    #[error(transparent)]
    Constants(#[from] ConstantsError),
    /// Rows that do not obey the public constants, or too few records.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The distance, the start, or a solver.
    #[error(transparent)]
    Solve(#[from] SolveError),
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
    /// The kept state is not of this plan.
    #[error("the kept state does not fit the plan: {0}")]
    Kept(&'static str),
    /// All jointly covered releases are made.
    #[error(
        "{spent} of {limit} releases since the last refresh are used up, and this request needs \
         one more; \
         refresh: draw a new sample and start again from the published model"
    )]
    Releases {
        /// Releases made since learning or the last refresh.
        spent: u64,
        /// R.
        limit: u64,
    },
}

/// Reads one row for each key, in the order of the keys, repetitions included.
pub type Load<'a> = dyn FnMut(&[u64]) -> Result<Dataset, DistributedError> + 'a;
