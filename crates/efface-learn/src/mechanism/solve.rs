#![doc = include_str!("solve.md")]

use std::ops::ControlFlow;

use rand_core::CryptoRng;

use super::error::singular;
use super::output_noise::Origin;
use super::{CheckedOutputNoise, Kept, MechanismError, Prepared, Released, Steering};
use crate::objective::Objective;
use crate::solver::{Factor, Progress, Watch};

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
    plan.run(objective, Origin::Published(published, None), releases, rng, watch)
}

/// Solves as [`from_published`] does, by steps that a factor of the Hessian over the records before the
/// request preconditions, which was [prepared](prepare).
///
/// # Errors
/// See [`MechanismError`]; nothing was drawn or released then.
pub fn from_prepared(
    objective: &Objective<'_>,
    plan: &CheckedOutputNoise,
    published: &[f64],
    factor: &Factor,
    releases: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    let origin = Origin::Published(published, Some(factor));
    plan.run(objective, origin, releases, rng, watch)
}

/// Returns the Hessian at the published weights over the records at hand, factored, to be kept for the
/// request that follows `version`: a function of weights, records and public constants.
///
/// `watch` is called before and after it is formed.
///
/// # Errors
/// Fails if there are more than [`LARGEST_HESSIAN`](crate::objective::LARGEST_HESSIAN) weights, their number
/// is not that of the constants, the Hessian is not positive definite in float64 or its factor leaves the
/// range of float32, or the run is cancelled.
pub fn prepare(
    objective: &Objective<'_>,
    published: &[f64],
    version: u64,
    watch: &mut Watch<'_>,
) -> Result<Prepared, MechanismError> {
    MechanismError::check_hessian("a kept Hessian", objective.constants().parameters())?;
    let mut tell = || match watch(&Progress { passes: 0, gradient_norm: 0.0, target: 0.0 }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(MechanismError::Cancelled),
    };
    tell()?;
    let curvature = objective.curvature(published)?;
    let hessian = objective.hessian(&curvature)?;
    tell()?;
    let factor =
        Factor::new(hessian).ok_or_else(|| singular("the Hessian is not positive definite"))?;
    Prepared { version, kept: Steering::Factor(factor) }.rounded()
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
