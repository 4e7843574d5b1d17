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
pub use kept::{KeptCopy, KeptParts};
pub use part::Part;
pub use plan::{CheckedDistributed, DistributedPlan, Reach};
pub use run::{Averages, Records, learn, request};
pub use sample::{Membership, Sample};

use crate::dataset::Dataset;
use crate::mechanism::MechanismError;

/// Reads one row for each key, in the order of the keys, repetitions included.
pub type Load<'a> = dyn FnMut(&[u64]) -> Result<Dataset, MechanismError> + 'a;
