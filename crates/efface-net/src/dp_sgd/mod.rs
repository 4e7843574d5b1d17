#![doc = include_str!("dp_sgd.md")]

mod noise;
mod plan;
mod released;
mod sample;
mod sums;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use rand_core::CryptoRng;
use zeroize::Zeroize;

use crate::optimiser::Descent;
use crate::{Data, NetError, Network, Progress};

pub(crate) use plan::check_start;
pub use plan::{CheckedDpSgd, DpSgdPlan};
pub use released::ReleasedSums;

use sums::Summer;

/// Trains by DP-SGD from a start that does not depend on the data, and returns the weights of the last
/// step, or their mean over steps.
///
/// In each step every unit is drawn by itself with the plan's rate, afresh; the gradient of a unit is
/// the mean of the softmax cross-entropy's over its rows, in the order of the data, clipped and rounded
/// toward zero to integers by itself; their sum, with exact noise, is released to the optimiser. What
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
    let data = data.check(network)?;
    plan.check_start(network, &start)?;
    let units = data.units();
    let written = plan.plan();
    let (steps, learning_rate) = (written.steps, written.learning_rate);
    let per_step = plan.grid() / written.expected;
    let mut descent = Descent::new(written.optimiser, learning_rate, written.average, start);
    let mut summer = Summer::new(network, plan);
    let mut drawn = Vec::new();
    for done in 0..steps {
        if watch(Progress { done, steps }).is_break() {
            return Err(NetError::Cancelled);
        }
        sample::draw(plan.sampling(), units.count(), rng, &mut drawn);
        let sums = summer.sum(descent.weights(), &data, &units, &drawn);
        drawn.zeroize();
        noise::add(plan.sampler(), sums, rng);
        descent.step(sums.iter().map(|&sum| sum as f64 * per_step));
    }
    if watch(Progress { done: steps, steps }).is_break() {
        return Err(NetError::Cancelled);
    }
    descent.finish()
}
