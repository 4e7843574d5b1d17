//! Any mechanism: the engine's own runs, one by one.

use std::ops::Range;

use efface::below::learn::mechanism::Released;
use efface::below::privacy::event::Event;
use efface::{Rehearsal, Result, World};
use rayon::prelude::*;

use super::{Seeds, Side, Worlds};

/// Runs of the engine in memory, many at a time.
pub struct EngineWorlds<'a> {
    rehearsal: &'a Rehearsal<'a>,
    seeds: Seeds,
    parameters: usize,
    deletion: Event,
}

impl<'a> EngineWorlds<'a> {
    /// `deletion` is one rehearsed deletion: its event says how many steps the reference repeats.
    #[must_use]
    pub fn new(rehearsal: &'a Rehearsal<'a>, deletion: &Released, seeds: Seeds) -> Self {
        let (parameters, deletion) = (deletion.weights.len(), deletion.event.clone());
        Self { rehearsal, seeds, parameters, deletion }
    }

    fn release(&self, side: Side, run: u64) -> Result<Vec<f64>> {
        let rng = &mut self.seeds.generator(side, run);
        let released = match side {
            Side::Deleted => {
                let learnt = self.rehearsal.learn(World::Before, rng)?;
                self.rehearsal.delete(&learnt, rng)?
            }
            Side::Reference => self.rehearsal.reference(&self.deletion, rng)?,
        };
        Ok(released.weights)
    }
}

impl Worlds for EngineWorlds<'_> {
    fn parameters(&self) -> usize {
        self.parameters
    }

    fn round(&self) -> u64 {
        2 * rayon::current_num_threads().max(1) as u64
    }

    fn releases(&self, side: Side, runs: Range<u64>) -> Result<Vec<f64>> {
        let list: Result<Vec<Vec<f64>>> =
            runs.into_par_iter().map(|run| self.release(side, run)).collect();
        Ok(list?.concat())
    }
}
