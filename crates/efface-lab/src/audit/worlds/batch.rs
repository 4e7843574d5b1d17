//! Noisy gradient descent of many chains at once: their weights side by side as one matrix, so that
//! gradients are matrix products.
//!
//! Noise, grid and projection are the engine's own ([`CheckedNoisyGd::perturb`]), drawn for each chain
//! from its own generator in the engine's order. What is done otherwise is the sum of a gradient
//! over the records, in float64 too but in another order, and without columns that are 0 in every
//! record; a step's noiseless half therefore differs from the engine's by rounding, which the grid
//! then absorbs or turns into one spacing. Both lie within the rounding error that the event states,
//! so that what is certified of the engine's chains is certified of these.

use std::ops::Range;

use efface::below::learn::mechanism::noisy_gd::CheckedNoisyGd;
use efface::below::learn::{Constants, Dataset};
use efface::{Error, Result};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::{Seeds, Side, Worlds};

/// Chains of one product.
const WIDTH: usize = 128;
/// Records of one product.
const BLOCK: usize = 512;
/// The most numbers a design may hold: 4 GiB.
const MOST_NUMBERS: usize = 1 << 29;

/// Records as a matrix of float64, columns that are 0 everywhere left out.
#[derive(Debug)]
pub struct Design {
    /// Row by row.
    numbers: Vec<f64>,
    targets: Vec<f64>,
    sample_weights: Vec<f64>,
    /// The columns that are kept.
    columns: Vec<usize>,
}

impl Design {
    /// Takes the records of a data set, sparse ones written out; none where they would be too many
    /// numbers.
    #[must_use]
    pub fn new(data: &Dataset) -> Option<Self> {
        let mut used = vec![false; data.cols()];
        for row in 0..data.rows() {
            for (column, value) in data.x().row(row).iter() {
                used[column] |= value != 0.0;
            }
        }
        let columns: Vec<usize> = (0..data.cols()).filter(|&column| used[column]).collect();
        let width = columns.len();
        let size = width.checked_mul(data.rows()).filter(|&size| size <= MOST_NUMBERS)?;
        let mut place = vec![usize::MAX; data.cols()];
        for (at, &column) in columns.iter().enumerate() {
            place[column] = at;
        }
        let mut numbers = vec![0.0; size];
        for row in 0..data.rows() {
            for (column, value) in data.x().row(row).iter() {
                if place[column] < width {
                    numbers[row * width + place[column]] = f64::from(value);
                }
            }
        }
        let (targets, sample_weights) = (data.y().to_vec(), data.sample_weights().to_vec());
        Some(Self { numbers, targets, sample_weights, columns })
    }
}

/// Steps on the design's records but for some.
#[derive(Debug, Clone)]
pub struct Phase {
    /// Positions of records that this phase lacks, ascending.
    pub without: Vec<usize>,
    /// Number of steps.
    pub steps: u64,
}

/// What becomes of the noise of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Drawn in every step.
    Fresh,
    /// Left out of every step: the path of the means.
    Omitted,
    /// Left out of the last step alone.
    OmittedLast,
}

/// One world's chains.
#[derive(Debug)]
pub struct Chains<'a> {
    /// The records.
    pub design: &'a Design,
    /// Public constants; the loss must have a scalar link.
    pub constants: &'a Constants,
    /// Step, noise and grid. Its numbers of steps are not looked at: `phases` has them.
    pub plan: &'a CheckedNoisyGd,
    /// What is run, from weights 0.
    pub phases: Vec<Phase>,
    /// What becomes of the noise.
    pub noise: Noise,
}

impl Chains<'_> {
    /// The last iterates of these runs, P weights each, by batches in parallel.
    ///
    /// # Errors
    /// A loss without a scalar link; weights beyond the grid.
    pub fn run(&self, seeds: &Seeds, side: Side, runs: Range<u64>) -> Result<Vec<f64>> {
        // Batches of equal size for all threads.
        let count = runs.end.saturating_sub(runs.start) as usize;
        let threads = rayon::current_num_threads().max(1);
        let width = count.div_ceil(threads).clamp(1, WIDTH) as u64;
        let starts: Vec<u64> = runs.clone().step_by(width as usize).collect();
        let batches: Result<Vec<Vec<f64>>> = starts
            .into_par_iter()
            .map(|start| self.batch(seeds, side, start..(start + width).min(runs.end)))
            .collect();
        Ok(batches?.concat())
    }

    fn batch(&self, seeds: &Seeds, side: Side, runs: Range<u64>) -> Result<Vec<f64>> {
        let mut rngs: Vec<_> = runs.map(|run| seeds.generator(side, run)).collect();
        let parameters = self.constants.parameters();
        let mut weights = vec![0.0; parameters * rngs.len()];
        let mut work = Work::new(self.design, parameters, rngs.len());
        let last = self.phases.len().saturating_sub(1);
        for (index, phase) in self.phases.iter().enumerate() {
            let records = self.design.targets.len().saturating_sub(phase.without.len());
            for step in 1..=phase.steps {
                self.descend(phase, records, &mut weights, &mut work)?;
                let end = index == last && step == phase.steps;
                if self.noise == Noise::Omitted || self.noise == Noise::OmittedLast && end {
                    continue;
                }
                for (chain, rng) in weights.chunks_exact_mut(parameters).zip(&mut rngs) {
                    let next = self.plan.perturb(chain, rng).map_err(failed)?;
                    chain.copy_from_slice(&next);
                }
            }
        }
        Ok(weights)
    }

    /// w - eta grad F(w) for every chain.
    fn descend(
        &self,
        phase: &Phase,
        records: usize,
        weights: &mut [f64],
        work: &mut Work,
    ) -> Result<()> {
        let (design, loss) = (self.design, self.constants.loss());
        let parameters = self.constants.parameters();
        let (width, chains) = (design.columns.len(), work.chains);
        for (packed, chain) in
            work.packed.chunks_exact_mut(width.max(1)).zip(weights.chunks_exact(parameters))
        {
            for (number, &column) in packed.iter_mut().zip(&design.columns) {
                *number = chain[column];
            }
        }
        work.gradient.fill(0.0);
        let blocks = design.numbers.chunks(BLOCK * width.max(1)).zip(design.targets.chunks(BLOCK));
        for (index, (numbers, targets)) in blocks.enumerate() {
            let (first, rows) = (index * BLOCK, targets.len());
            let heavy = &design.sample_weights[first..first + rows];
            let x = MatRef::from_row_major_slice(numbers, rows, width);
            let packed = MatRef::from_column_major_slice(&work.packed, width, chains);
            let slopes = &mut work.slopes[..rows * chains];
            let margins = MatMut::from_column_major_slice_mut(slopes, rows, chains);
            matmul(margins, Accum::Replace, x, packed, 1.0, Par::Seq);
            for column in slopes.chunks_exact_mut(rows) {
                for ((margin, &target), weight) in column.iter_mut().zip(targets).zip(heavy) {
                    *margin = weight * loss.slope(*margin, target).ok_or_else(no_link)?;
                }
            }
            let from = phase.without.partition_point(|&row| row < first);
            for &row in phase.without[from..].iter().take_while(|&&row| row < first + rows) {
                for column in slopes.chunks_exact_mut(rows) {
                    column[row - first] = 0.0;
                }
            }
            let slopes = MatRef::from_column_major_slice(slopes, rows, chains);
            let gradient = MatMut::from_column_major_slice_mut(&mut work.gradient, width, chains);
            matmul(gradient, Accum::Add, x.transpose(), slopes, 1.0, Par::Seq);
        }
        let eta = self.plan.plan().step;
        let lambda = self.constants.strong_convexity();
        let normalizer = self.constants.normalizer(records);
        let gradients = work.gradient.chunks_exact(width.max(1));
        for (chain, gradient) in weights.chunks_exact_mut(parameters).zip(gradients) {
            // Columns that no record uses feel the regulariser alone: 0/N + lambda w.
            work.moved.fill(0.0);
            for (&column, g) in design.columns.iter().zip(gradient) {
                work.moved[column] = g / normalizer;
            }
            for (w, g) in chain.iter_mut().zip(&work.moved) {
                *w -= eta * (g + lambda * *w);
            }
        }
        Ok(())
    }
}

/// Room for one batch.
struct Work {
    chains: usize,
    /// Weights of the kept columns.
    packed: Vec<f64>,
    /// Margins of a block, then slopes.
    slopes: Vec<f64>,
    /// Gradients in the kept columns.
    gradient: Vec<f64>,
    /// One chain's gradient in all columns.
    moved: Vec<f64>,
}

impl Work {
    fn new(design: &Design, parameters: usize, chains: usize) -> Self {
        // One column at least, so that rooms can be cut into chains.
        let width = design.columns.len().max(1);
        Self {
            chains,
            packed: vec![0.0; width * chains],
            slopes: vec![0.0; BLOCK * chains],
            gradient: vec![0.0; width * chains],
            moved: vec![0.0; parameters],
        }
    }
}

fn no_link() -> Error {
    Error::refused("audit", "chains run side by side only for losses with a scalar link")
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused("noisy-gd", error.to_string())
}

/// The two worlds of a deletion from `noisy-gd`.
pub struct BatchWorlds<'a> {
    /// Learning with the records, then the steps of their deletion.
    pub deleted: Chains<'a>,
    /// All steps without the records.
    pub reference: Chains<'a>,
    /// Randomness of all runs.
    pub seeds: Seeds,
}

impl Worlds for BatchWorlds<'_> {
    fn parameters(&self) -> usize {
        self.deleted.constants.parameters()
    }

    fn round(&self) -> u64 {
        (WIDTH * rayon::current_num_threads().max(1)) as u64
    }

    fn releases(&self, side: Side, runs: Range<u64>) -> Result<Vec<f64>> {
        match side {
            Side::Deleted => self.deleted.run(&self.seeds, side, runs),
            Side::Reference => self.reference.run(&self.seeds, side, runs),
        }
    }
}
