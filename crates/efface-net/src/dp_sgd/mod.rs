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

/// What the sums of a training's steps are computed by: [`dp_sgd()`] by the rows at hand, others by
/// asking whoever holds some of the rows and adding up in [`StepSums`].
pub trait UnitSums {
    /// Units that a step draws from, the same in every step.
    fn units(&self) -> usize;

    /// Writes into `sums` the sum of the integers of the drawn units at these weights, which may be out of
    /// range. Steps count from 0; the numbers drawn ascend, are secret, and are forgotten afterwards.
    ///
    /// # Errors
    /// Sums that cannot be had. The training ends then, and nothing is released.
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
/// In each step every unit is drawn by itself with the plan's rate, afresh; the gradient of a unit is
/// the mean of the softmax cross-entropy's over its rows, in the order of the data, clipped and rounded
/// toward zero to integers by itself; their sum, with exact noise, is released to the optimizer. What
/// was drawn is told nobody and overwritten. All weights on the way may be published.
///
/// `watch` is called before each step and at the end; nothing that it is told depends on the data.
///
/// # Errors
/// Data, a start or a plan that do not fit the network, refused before anything is drawn;
/// [`NetError::Diverged`], which is a function of what was released; [`NetError::Cancelled`] when
/// `watch` breaks.
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

/// As [`dp_sgd()`], on sums that are computed elsewhere: the same draws, noise and steps, and so the same
/// weights to the last bit wherever the sums are those of the same units.
///
/// # Errors
/// As [`dp_sgd()`]; sums that cannot be had; more units than are counted in 32 bits.
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
