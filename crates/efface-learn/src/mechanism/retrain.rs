#![doc = include_str!("retrain.md")]

use rand_core::CryptoRng;

use super::output_noise::Origin;
use super::{CheckedOutputNoise, MechanismError, Released};
use crate::objective::Objective;
use crate::solver::Watch;

/// Solves from zeros on the records of `objective` and publishes with fresh noise.
///
/// `releases` counts the model's distinct releases so far, this one included. In `secret` state
/// this also starts a new count of jointly covered releases.
///
/// # Errors
/// See [`MechanismError`]; nothing was drawn or released then.
pub fn retrain(
    objective: &Objective<'_>,
    plan: &CheckedOutputNoise,
    releases: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    plan.run(objective, Origin::Zeros, releases, rng, watch)
}
