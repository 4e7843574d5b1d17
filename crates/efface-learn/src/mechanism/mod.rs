//! Mechanisms: how a model is trained and changed so that removal can be certified.
//!
//! Each takes an objective on the current records, a plan checked against the public constants, a
//! start, randomness and a watcher, and returns what may be published together with its event.
//! None knows how events are accounted, and none keeps anything between calls.

pub mod descent;
pub mod distributed_descent;
mod error;
mod forecast;
mod grid;
mod kept;
pub mod newton;
pub mod noisy_gd;
mod output_noise;
mod prepared;
mod release;
pub mod retrain;
pub mod ridge;
pub mod solve;

#[cfg(test)]
mod tests;

pub use descent::DescentPlan;
pub use distributed_descent::DistributedPlan;
pub use error::MechanismError;
pub use forecast::{Departure, USUAL_SHIFT};
pub use grid::{Grid, GridNoise};
pub use kept::{Kept, KeptError, Warm};
pub use noisy_gd::{BatchPlan, Batched, Change, NoisyGdPlan};
pub use output_noise::{CheckedOutputNoise, OutputNoisePlan};
pub use prepared::{Prepared, Steering};
pub use release::{Evidence, Released};
pub use ridge::RidgePlan;
