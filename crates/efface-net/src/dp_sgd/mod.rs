#![doc = include_str!("dp_sgd.md")]

mod noise;
mod parts;
mod plan;
mod released;
mod sample;
mod sums;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::error::range;
use crate::optimizer::Descent;
use crate::{Data, MOST_ROWS, NetError, Network, Progress};

pub use parts::{PartSum, StepSums};
pub(crate) use plan::check_start;
pub use plan::{CheckedDpSgd, DpSgdPlan};
pub use released::ReleasedSums;
pub use sums::clipped_sums;

use sums::OfRows;

/// Computes the sums of a training's steps: [`dp_sgd()`] from the rows at hand, other implementations by
/// asking the holders of the rows and adding up in [`StepSums`].
pub trait UnitSums {
    /// Returns how many units a step draws from, the same in every step.
    fn units(&self) -> usize;

    /// Writes into `sums` the sum of the integers of the drawn units at these weights, which may be out of
    /// range. Steps count from 0; the numbers drawn ascend, are secret, and are forgotten afterwards.
    ///
    /// # Errors
    /// Fails if the sums are not available. The training ends then, and nothing is released.
    fn sum(
        &mut self,
        step: u64,
        weights: &[f32],
        drawn: &[u32],
        sums: &mut [i64],
    ) -> Result<(), NetError>;
}

/// Trains by DP-SGD from a start that does not depend on the data, and returns the weights of the last
/// step, or their mean over steps.
///
/// In each step every unit is drawn independently with the plan's rate, afresh; the gradient of a unit is the
/// mean of the softmax cross-entropy's over its rows, in the order of the data, clipped and rounded toward
/// zero to integers on its own; their sum, with exact noise, is released to the optimizer. The drawn units
/// are revealed to nobody and overwritten. All intermediate weights may be published.
///
/// `watch` is called before each step and at the end; none of its arguments depends on the data.
///
/// # Errors
/// Fails if data, a start or a plan do not fit the network, before anything is drawn; with
/// [`NetError::Diverged`], which is a function of what was released; with [`NetError::Cancelled`] if `watch`
/// breaks.
pub fn dp_sgd(
    network: &Network,
    plan: &CheckedDpSgd,
    data: &Data<'_>,
    start: Vec<f32>,
    rng: &mut impl CryptoRng,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Vec<f32>, NetError> {
    let mut here = OfRows::new(network, plan, data)?;
    dp_sgd_on(network, plan, &mut here, start, rng, watch)
}

/// Works as [`dp_sgd()`], on sums that are computed elsewhere: the same draws, noise and steps, and so the
/// same weights to the last bit wherever the sums are those of the same units.
///
/// # Errors
/// Fails as [`dp_sgd()`] does; sums that cannot be had; more units than are counted in 32 bits.
pub fn dp_sgd_on(
    network: &Network,
    plan: &CheckedDpSgd,
    sums: &mut dyn UnitSums,
    start: Vec<f32>,
    rng: &mut impl CryptoRng,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Vec<f32>, NetError> {
    plan.check_start(network, &start)?;
    let units = sums.units();
    range("units", "at most 2^32 - 1", units as f64, units <= MOST_ROWS)?;
    let written = plan.plan();
    let (steps, learning_rate) = (written.steps, written.learning_rate);
    let per_step = plan.grid() / written.expected;
    let mut descent = Descent::new(written.optimizer, learning_rate, written.average, start);
    let mut summed = Zeroizing::new(vec![0_i64; network.parameters()]);
    let mut drawn = Vec::new();
    for done in 0..steps {
        if watch(Progress { done, steps }).is_break() {
            return Err(NetError::Cancelled);
        }
        sample::draw(plan.sampling(), units, rng, &mut drawn);
        let told = sums.sum(done, descent.weights(), &drawn, &mut summed);
        drawn.zeroize();
        told?;
        noise::add(plan.sampler(), &mut summed, rng);
        descent.step(summed.iter().map(|&sum| sum as f64 * per_step));
    }
    if watch(Progress { done: steps, steps }).is_break() {
        return Err(NetError::Cancelled);
    }
    descent.finish()
}
