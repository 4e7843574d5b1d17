//! Any mechanism: the engine's own runs, one by one.

use std::ops::Range;

use efface::{Result, Simulation, World};
use efface_learn::mechanism::Released;
use efface_privacy::event::Event;
use rayon::prelude::*;

use super::{Ended, Seeds, Side, Worlds, watch};

/// Runs of the engine in memory, many at a time.
pub struct EngineWorlds<'a> {
    simulation: &'a Simulation<'a>,
    seeds: Seeds,
    parameters: usize,
    deletion: Event,
}

impl<'a> EngineWorlds<'a> {
    /// Builds the worlds; `deletion` is one simulated deletion: its event says how many steps the reference
    /// repeats.
    #[must_use]
    pub fn new(simulation: &'a Simulation<'a>, deletion: &Released, seeds: Seeds) -> Self {
        let (parameters, deletion) = (deletion.weights.len(), deletion.event.clone());
        Self { simulation, seeds, parameters, deletion }
    }

    fn release(&self, side: Side, run: u64, ended: &Ended<'_>) -> Result<Vec<f64>> {
        let rng = &mut self.seeds.generator(side, run);
        let watch = &mut watch(ended);
        let released = match side {
            Side::Deleted => {
                let learnt = self.simulation.learn(World::Before, rng, watch)?;
                self.simulation.delete(&learnt, rng, watch)?
            }
            Side::Reference => self.simulation.reference(&self.deletion, rng, watch)?,
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

    fn releases(&self, side: Side, runs: Range<u64>, ended: &Ended<'_>) -> Result<Vec<f64>> {
        let list: Result<Vec<Vec<f64>>> =
            runs.into_par_iter().map(|run| self.release(side, run, ended)).collect();
        Ok(list?.concat())
    }
}
