#![doc = include_str!("solve.md")]

use rand_core::CryptoRng;

use super::output_noise::Origin;
use super::{CheckedOutputNoise, Kept, MechanismError, Released};
use crate::objective::Objective;
use crate::solver::Watch;

/// Solves from the published weights on the records of `objective` and publishes with fresh noise:
/// what serves a request in `perfect` state, and a refresh in `secret` state.
///
/// `releases` counts the model's distinct releases so far, this one included.
///
/// # Errors
/// See [`MechanismError`]; nothing was drawn or released then.
pub fn from_published(
    objective: &Objective<'_>,
    plan: &CheckedOutputNoise,
    published: &[f64],
    releases: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    plan.run(objective, Origin::Published(published), releases, rng, watch)
}

/// Solves from the kept weights with the kept factor (`secret` state) and publishes with fresh
/// noise: fastest, covered for the plan's number of joint releases.
///
/// # Errors
/// See [`MechanismError`]: a `perfect` plan refuses a kept state, and a kept state whose releases
/// are spent must be refreshed.
pub fn from_kept(
    objective: &Objective<'_>,
    plan: &CheckedOutputNoise,
    kept: &Kept,
    releases: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    plan.run(objective, Origin::Kept(kept), releases, rng, watch)
}
