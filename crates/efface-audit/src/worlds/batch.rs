//! Descent of many chains at once: their weights side by side as one matrix, so that gradients are
//! matrix products.
//!
//! Noise, grid and projection are the engine's own ([`CheckedNoisyGd::perturb`],
//! [`CheckedDescent::publish`]), drawn for each chain from its own generator in the engine's order. What is
//! done otherwise is the sum of a gradient over the records, in float64 too but in another order, and
//! without columns that are 0 in every record; a step's noiseless half therefore differs from the
//! engine's by rounding. Both lie within the rounding error that the event states, so that what is
//! certified of the engine's chains is certified of these.
//!
//! Before anything is drawn all chains of `descent-to-delete` are one: it is run once for all.

use std::ops::Range;
use std::sync::OnceLock;

use efface::{Code, Error, Result};
use efface_learn::Constants;
use efface_learn::loss::slope;
use efface_learn::mechanism::GridNoise;
use efface_learn::mechanism::descent::CheckedDescent;
use efface_learn::mechanism::noisy_gd::CheckedNoisyGd;
use efface_privacy::event::State;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::{Design, Ended, Seeds, Side, Worlds};
use crate::failed;

/// Chains of one product.
const WIDTH: usize = 128;
/// Records of one product.
const BLOCK: usize = 512;

/// Steps on the design's records, with some left out.
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
    /// Drawn wherever the mechanism draws it.
    Fresh,
    /// Left out everywhere: the path of the means.
    Omitted,
    /// Left out of the last step alone.
    OmittedLast,
}

/// The mechanism whose steps a chain makes.
#[derive(Debug, Clone, Copy)]
pub enum Steps<'a> {
    /// `noisy-gd`: noise in every step.
    Noisy(&'a CheckedNoisyGd),
    /// `descent-to-delete`: noise at the end of every phase, when weights are published.
    Descent(&'a CheckedDescent),
}

impl Steps<'_> {
    fn size(self) -> f64 {
        match self {
            Self::Noisy(plan) => plan.plan().step,
            Self::Descent(plan) => plan.plan().step,
        }
    }

    /// Returns whether a step draws noise.
    fn draws(self, ends_phase: bool) -> bool {
        ends_phase || matches!(self, Self::Noisy(_))
    }

    /// Returns whether the next phase starts from what was published, rather than from what is kept.
    fn publishes_its_state(self) -> bool {
        match self {
            Self::Noisy(_) => true,
            Self::Descent(plan) => plan.plan().variant.state() == State::Perfect,
        }
    }

    /// Projects a chain, after a step or before the next phase, into the ball of its mechanism.
    fn project(self, chain: &mut [f64]) {
        // `noisy-gd` projects after its noise, which is part of `perturb`.
        if let Self::Descent(plan) = self {
            plan.project(chain);
        }
    }

    /// Returns the noise of a phase, which `noisy-gd` draws for many steps at once.
    fn noise_of(self, phase: &Phase) -> GridNoise {
        match self {
            Self::Noisy(plan) => plan.grid().noise_of(phase.steps),
            Self::Descent(plan) => plan.grid().noise_of(1),
        }
    }

    fn perturb(
        self,
        chain: &[f64],
        noise: &mut GridNoise,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<f64>> {
        match self {
            Self::Noisy(plan) => plan.perturb(chain, noise, rng).map_err(failed),
            Self::Descent(plan) => plan.publish(chain, rng).map_err(failed),
        }
    }
}

/// The chains of one world.
#[derive(Debug)]
pub struct Chains<'a> {
    /// The records as a matrix.
    design: &'a Design,
    constants: &'a Constants,
    steps: Steps<'a>,
    phases: Vec<Phase>,
    noise: Noise,
    /// State of all chains before anything is drawn, one step before the end of the first phase.
    common: OnceLock<Vec<f64>>,
}

impl<'a> Chains<'a> {
    /// Starts from weights 0 through these phases. The loss must have a scalar link; the mechanism's own
    /// numbers of steps are ignored.
    #[must_use]
    pub fn new(
        design: &'a Design,
        constants: &'a Constants,
        steps: Steps<'a>,
        phases: Vec<Phase>,
    ) -> Self {
        Self { design, constants, steps, phases, noise: Noise::Fresh, common: OnceLock::new() }
    }

    /// Returns the same chains with other noise.
    #[must_use]
    pub fn with(&self, noise: Noise) -> Self {
        let phases = self.phases.clone();
        Self { noise, ..Self::new(self.design, self.constants, self.steps, phases) }
    }

    /// Returns the last iterates of these runs, P weights each, by batches in parallel.
    ///
    /// # Errors
    /// Fails if the loss has no scalar link, if weights are beyond the grid, or if `ended` interrupts at any
    /// step.
    pub fn run(
        &self,
        seeds: &Seeds,
        side: Side,
        runs: Range<u64>,
        ended: &Ended<'_>,
    ) -> Result<Vec<f64>> {
        let common = self.common(ended)?;
        // Batches of equal size for all threads.
        let count = runs.end.saturating_sub(runs.start) as usize;
        let threads = rayon::current_num_threads().max(1);
        let width = count.div_ceil(threads).clamp(1, WIDTH) as u64;
        let starts: Vec<u64> = runs.clone().step_by(width as usize).collect();
        let batches: Result<Vec<Vec<f64>>> = starts
            .into_par_iter()
            .map(|start| {
                let runs = start..(start + width).min(runs.end);
                self.batch(common, runs.map(|run| seeds.generator(side, run)).collect(), ended)
            })
            .collect();
        Ok(batches?.concat())
    }

    /// Returns how many steps of the first phase all chains make as one.
    fn steps_in_common(&self) -> u64 {
        match (self.steps, self.phases.first()) {
            (Steps::Descent(_), Some(first)) => first.steps.saturating_sub(1),
            _ => 0,
        }
    }

    /// Returns the state that all chains share before anything is drawn.
    fn common(&self, ended: &Ended<'_>) -> Result<&[f64]> {
        if let Some(common) = self.common.get() {
            return Ok(common);
        }
        let parameters = self.constants.parameters();
        let mut weights = vec![0.0; parameters];
        let mut work = Work::new(self.design, parameters, 1);
        for _ in 0..self.steps_in_common() {
            self.descend(&self.phases[0], &mut weights, &mut work, ended)?;
        }
        Ok(self.common.get_or_init(|| weights))
    }

    fn batch(
        &self,
        common: &[f64],
        mut rngs: Vec<ChaCha20Rng>,
        ended: &Ended<'_>,
    ) -> Result<Vec<f64>> {
        let parameters = self.constants.parameters();
        let mut weights = common.repeat(rngs.len());
        let mut work = Work::new(self.design, parameters, rngs.len());
        let last = self.phases.len().saturating_sub(1);
        for (index, phase) in self.phases.iter().enumerate() {
            let made = if index == 0 { self.steps_in_common() } else { 0 };
            let mut noise: Vec<_> = rngs.iter().map(|_| self.steps.noise_of(phase)).collect();
            for step in made + 1..=phase.steps {
                self.descend(phase, &mut weights, &mut work, ended)?;
                let ends_phase = step == phase.steps;
                let ends_all = ends_phase && index == last;
                let omitted = match self.noise {
                    Noise::Fresh => false,
                    Noise::Omitted => true,
                    Noise::OmittedLast => ends_all,
                };
                if omitted || !self.steps.draws(ends_phase) {
                    continue;
                }
                let draws = noise.iter_mut().zip(&mut rngs);
                for (chain, (noise, rng)) in weights.chunks_exact_mut(parameters).zip(draws) {
                    let published = self.steps.perturb(chain, noise, rng)?;
                    if ends_all {
                        chain.copy_from_slice(&published);
                    } else if self.steps.publishes_its_state() {
                        chain.copy_from_slice(&published);
                        self.steps.project(chain);
                    }
                }
            }
        }
        Ok(weights)
    }

    /// Computes w - eta grad F(w) for every chain, projected if the mechanism projects that.
    fn descend(
        &self,
        phase: &Phase,
        weights: &mut [f64],
        work: &mut Work,
        ended: &Ended<'_>,
    ) -> Result<()> {
        if ended() {
            return Err(Error::interrupted());
        }
        let records = self.design.targets.len().saturating_sub(phase.without.len());
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
                    *margin = weight * slope(loss, *margin, target).ok_or_else(no_link)?;
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
        let eta = self.steps.size();
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
            self.steps.project(chain);
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
    Error::refused(Code::Audit, "chains run side by side only for losses with a scalar link")
}

/// The two worlds of a deletion by descent.
pub struct BatchWorlds<'a> {
    /// Learning with the records, then the steps of their deletion.
    pub deleted: Chains<'a>,
    /// What the claim compares with: no step sees the records.
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

    fn releases(&self, side: Side, runs: Range<u64>, ended: &Ended<'_>) -> Result<Vec<f64>> {
        match side {
            Side::Deleted => self.deleted.run(&self.seeds, side, runs, ended),
            Side::Reference => self.reference.run(&self.seeds, side, runs, ended),
        }
    }
}
