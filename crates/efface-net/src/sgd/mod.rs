#![doc = include_str!("sgd.md")]

mod order;
mod plan;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use rayon::prelude::*;
use zeroize::Zeroize;

use crate::data::Checked;
use crate::dp_sgd::check_start;
use crate::optimizer::Descent;
use crate::pass::{Loaded, Pass};
use crate::{Data, NetError, Network, Progress};

pub use plan::{CheckedSgd, SgdPlan};

use order::Order;

/// Version of the arithmetic: of the starts that seeds give, of the order of rows, and of every operation
/// on them. It changes with the bits of trained weights.
pub const ARITHMETIC: u64 = 1;

/// Rows whose gradients are summed one after another; counted from a batch's first.
const PART: usize = 8;

/// Most parts that are computed side by side, and most numbers of them together.
const SIDE_BY_SIDE: usize = 32;
const MOST_NUMBERS: usize = 1 << 26;

/// Trains by mini-batches without noise, to the same bits on every machine and for any number of
/// threads: a function of the architecture, the plan, the start, and the set of rows with their keys.
///
/// `keys` has one number for each row, all different, which follows from the row's public name (a hash of its
/// id); the order of rows in `data` does not count. Units do not count either: each row is learnt from on its
/// own.
///
/// # Errors
/// Fails if data, keys or a start do not fit the network; with [`NetError::Diverged`]; with
/// [`NetError::Cancelled`] if `watch` breaks, which is called before each batch and at the end.
pub fn sgd(
    network: &Network,
    plan: &CheckedSgd,
    data: &Data<'_>,
    keys: &[u64],
    start: Vec<f32>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Vec<f32>, NetError> {
    let data = data.check(network)?;
    check_start(network, &start)?;
    let mut order = Order::new(keys, data.rows())?;
    let plan = plan.plan();
    let batches = data.rows().div_ceil(plan.batch) as u64;
    // Both factors are at most 2^32.
    let steps = plan.epochs.saturating_mul(batches);
    let mut done = 0;
    let mut descent = Descent::new(plan.optimizer, plan.learning_rate, plan.average, start);
    let mut loaded = Loaded::new(network);
    let mut parts = Parts::new(network, plan.batch);
    for epoch in 0..plan.epochs {
        for batch in order.of_epoch(plan.seed, epoch).chunks(plan.batch) {
            if watch(Progress { done, steps }).is_break() {
                return Err(NetError::Cancelled);
            }
            loaded.load(descent.weights());
            let sums = parts.sum(network, &loaded, &data, batch);
            let count = batch.len() as f64;
            descent.step(sums.iter().map(|&sum| f64::from(sum) / count));
            done += 1;
        }
    }
    if watch(Progress { done, steps }).is_break() {
        return Err(NetError::Cancelled);
    }
    descent.finish()
}

/// Room for the gradients of parts, and for their sum.
struct Parts {
    parts: Vec<Vec<f32>>,
    sum: Vec<f32>,
}

impl Parts {
    fn new(network: &Network, batch: usize) -> Self {
        let room = (MOST_NUMBERS / network.parameters()).clamp(1, SIDE_BY_SIDE);
        let count = batch.div_ceil(PART).min(room);
        let gradient = vec![0.0; network.parameters()];
        Self { parts: vec![gradient.clone(); count], sum: gradient }
    }

    /// Returns the sum over rows: in each part in order, then part after part.
    fn sum(
        &mut self,
        network: &Network,
        loaded: &Loaded<'_>,
        data: &Checked<'_>,
        rows: &[u32],
    ) -> &[f32] {
        self.sum.fill(0.0);
        for rows in rows.chunks(PART * self.parts.len()) {
            let parts = self.parts.par_iter_mut().zip(rows.par_chunks(PART));
            parts.for_each_init(
                || Pass::new(network),
                |pass, (part, rows)| {
                    part.fill(0.0);
                    for &row in rows {
                        let (values, label) = data.row(row as usize);
                        pass.add_gradient(loaded, values, label, part);
                    }
                },
            );
            for part in &self.parts[..rows.len().div_ceil(PART)] {
                self.sum.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
            }
        }
        &self.sum
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.parts.zeroize();
        self.sum.zeroize();
    }
}
