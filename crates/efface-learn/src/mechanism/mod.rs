//! Mechanisms: how a model is trained and changed so that removal can be certified.
//!
//! Each takes an objective on the current records, a plan checked against the public constants, a
//! start, randomness and a watcher, and returns what may be published together with its event.
//! None knows how events are accounted, and none keeps anything between calls.

mod foresight;
mod grid;
mod kept;
pub mod noisy_gd;
mod output_noise;
mod release;
pub mod retrain;
pub mod solve;

#[cfg(test)]
mod tests;

pub use foresight::{Departure, USUAL_SHIFT};
pub use grid::{Grid, GridError};
pub use kept::{Kept, KeptError, Warm};
pub use noisy_gd::{Change, NoisyGdError, NoisyGdPlan};
pub use output_noise::{CheckedOutputNoise, OutputNoiseError, OutputNoisePlan};
pub use release::{Evidence, Released};
