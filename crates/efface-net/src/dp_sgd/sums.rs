//! The sum of the clipped gradients of units, in integers.

use zeroize::Zeroize;

use super::{CheckedDpSgd, UnitSums};
use crate::data::{Checked, Units};
use crate::error::length;
use crate::pass::{Loaded, Pass};
use crate::workers::share;
use crate::{Data, NetError, Network, integer};

/// Returns the sum of the clipped integers of all units of some data at these weights: the answer of the
/// units' holder to a step that draws them. It is a function of the weights and these units alone, on any
/// machine.
///
/// # Errors
/// Fails if data, weights or a plan do not fit the network. Weights may be any numbers: those of a training
/// that diverges are.
pub fn clipped_sums(
    network: &Network,
    plan: &CheckedDpSgd,
    data: &Data<'_>,
    weights: &[f32],
) -> Result<Vec<i64>, NetError> {
    plan.check_network(network)?;
    length("weights", network.parameters(), weights.len())?;
    let mut of = OfRows::new(network, plan, data)?;
    let all: Vec<u32> = (0..of.units() as u32).collect();
    let mut sums = vec![0; network.parameters()];
    of.sum(0, weights, &all, &mut sums)?;
    Ok(sums)
}

pub(super) struct OfRows<'a> {
    summer: Summer<'a>,
    data: Checked<'a>,
    units: Units,
}

impl<'a> OfRows<'a> {
    pub(super) fn new(
        network: &'a Network,
        plan: &CheckedDpSgd,
        data: &Data<'a>,
    ) -> Result<Self, NetError> {
        let data = data.check(network)?;
        Ok(Self { summer: Summer::new(network, plan), data, units: data.units() })
    }
}

impl UnitSums for OfRows<'_> {
    fn units(&self) -> usize {
        self.units.count()
    }

    fn sum(
        &mut self,
        _: u64,
        weights: &[f32],
        drawn: &[u32],
        sums: &mut [i64],
    ) -> Result<(), NetError> {
        self.summer.sum(weights, &self.data, &self.units, drawn, sums);
        Ok(())
    }
}

/// What a step sums with: room for each thread.
pub(super) struct Summer<'n> {
    loaded: Loaded<'n>,
    workers: Vec<Worker<'n>>,
    /// The factor 1/g.
    per_unit: f64,
    limit: u32,
}

/// The buffers of one thread.
pub(super) struct Worker<'n> {
    pass: Pass<'n>,
    gradient: Vec<f32>,
    integers: Vec<i32>,
    sums: Vec<i64>,
}

impl<'n> Summer<'n> {
    /// Makes workers for all threads of the pool at hand.
    pub(super) fn new(network: &'n Network, plan: &CheckedDpSgd) -> Self {
        let workers = (0..rayon::current_num_threads()).map(|_| Worker::new(network)).collect();
        let loaded = Loaded::new(network);
        Self { loaded, workers, per_unit: 1.0 / plan.grid(), limit: plan.limit() }
    }

    /// Writes the sum of the integers of units at these weights. Integers add up to the same in any order.
    pub(super) fn sum(
        &mut self,
        weights: &[f32],
        data: &Checked<'_>,
        units: &Units,
        drawn: &[u32],
        sums: &mut [i64],
    ) {
        self.loaded.load(weights);
        for worker in &mut self.workers {
            worker.sums.fill(0);
        }
        let (loaded, per_unit, limit) = (&self.loaded, self.per_unit, self.limit);
        share(&mut self.workers, drawn, |worker, &unit| {
            worker.integers(loaded, data, units, unit, per_unit, limit);
            integer::add(&mut worker.sums, &worker.integers);
        });
        sums.fill(0);
        for worker in &self.workers {
            sums.iter_mut().zip(&worker.sums).for_each(|(sum, more)| *sum += more);
        }
    }
}

impl<'n> Worker<'n> {
    pub(super) fn new(network: &'n Network) -> Self {
        let count = network.parameters();
        Self {
            pass: Pass::new(network),
            gradient: vec![0.0; count],
            integers: vec![0; count],
            sums: vec![0; count],
        }
    }

    /// Returns the integers of a unit: those of the mean of its rows' gradients, which are summed in the
    /// order of the data. A function of the weights and the unit's rows alone.
    pub(super) fn integers(
        &mut self,
        loaded: &Loaded<'_>,
        data: &Checked<'_>,
        units: &Units,
        unit: u32,
        per_unit: f64,
        limit: u32,
    ) -> &[i32] {
        self.gradient.fill(0.0);
        let rows = units.rows(unit);
        let count = rows.len();
        for row in rows {
            let (values, label) = data.row(row);
            self.pass.add_gradient(loaded, values, label, &mut self.gradient);
        }
        if count > 1 {
            let count = count as f32;
            self.gradient.iter_mut().for_each(|sum| *sum /= count);
        }
        integer::clip(&self.gradient, per_unit, limit, &mut self.integers);
        &self.integers
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.gradient.zeroize();
        self.integers.zeroize();
        self.sums.zeroize();
    }
}
