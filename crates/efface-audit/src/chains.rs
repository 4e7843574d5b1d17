//! Runs the chains of a vault's mechanism side by side, if it is a descent over a loss with a scalar link.

use efface::{NoisySteps, Result, Schedule, Simulation};
use efface_learn::loss::slope;
use efface_learn::mechanism::descent::CheckedDescent;
use efface_learn::mechanism::noisy_gd::CheckedNoisyGd;
use efface_learn::mechanism::{NoisyGdPlan, Released};
use efface_learn::{Constants, Dataset};
use efface_privacy::event;
use efface_privacy::event::Event;
use rand_chacha::ChaCha20Rng;

use super::examine::Direction;
use super::worlds::{BatchWorlds, Chains, Design, Ended, Noise, Phase, Seeds, Side, Steps, watch};
use crate::failed;

enum Mechanism {
    Noisy(CheckedNoisyGd),
    Descent(CheckedDescent),
}

/// What both worlds are run by.
pub(super) struct Batch {
    design: Design,
    mechanism: Mechanism,
    /// Numbers of steps of learning, and of the deletion.
    pub(super) steps: (u64, u64),
    /// Numbers of steps of the reference's phases.
    reference: Vec<u64>,
}

/// Sets up chains, if they can run side by side.
pub(super) fn batch(
    simulation: &Simulation<'_>,
    constants: &Constants,
    data: &Dataset,
    deleted: &Released,
    rng: &mut ChaCha20Rng,
    ended: &Ended<'_>,
) -> Result<Option<Batch>> {
    let plan = simulation.plan();
    if slope(constants.loss(), 0.0, 0.0).is_none() {
        return Ok(None);
    }
    let steps = |phases: &[event::Phase]| phases.iter().map(|phase| phase.steps).collect();
    let (mechanism, steps, reference) = match (&plan.schedule, deleted.event.core()) {
        // Chains side by side take every record in every step.
        (Schedule::Steps(NoisySteps { plan, .. }), Event::NoisyGd(event))
            if plan.batches.is_none() =>
        {
            let removal = event.phases.last().map_or(1, |phase| phase.steps);
            let learning = plan.learning_steps;
            let plan = NoisyGdPlan { removal_steps: removal, ..plan.clone() };
            let checked = plan.check(constants).map_err(failed)?;
            (Mechanism::Noisy(checked), vec![learning, removal], vec![learning, removal])
        }
        (Schedule::Descent(plan), Event::Descent(event)) => {
            // One run of the engine says how often the reference publishes.
            let repeated = simulation.reference(&deleted.event, rng, &mut watch(ended))?;
            let Event::Descent(repeated) = repeated.event.core() else { return Ok(None) };
            let checked = plan.clone().check(constants).map_err(failed)?;
            (Mechanism::Descent(checked), steps(&event.phases), steps(&repeated.phases))
        }
        _ => return Ok(None),
    };
    let &[learning, removal] = steps.as_slice() else { return Ok(None) };
    let Some(design) = Design::new(data) else { return Ok(None) };
    Ok(Some(Batch { design, mechanism, steps: (learning, removal), reference }))
}

impl Batch {
    pub(super) fn worlds<'a>(
        &'a self,
        constants: &'a Constants,
        positions: &[usize],
        seeds: Seeds,
    ) -> BatchWorlds<'a> {
        let (learning, removal) = self.steps;
        let steps = match &self.mechanism {
            Mechanism::Noisy(plan) => Steps::Noisy(plan),
            Mechanism::Descent(plan) => Steps::Descent(plan),
        };
        let chains = |phases| Chains::new(&self.design, constants, steps, phases);
        let without = |steps| Phase { without: positions.to_vec(), steps };
        BatchWorlds {
            deleted: chains(vec![Phase { without: Vec::new(), steps: learning }, without(removal)]),
            reference: chains(self.reference.iter().copied().map(without).collect()),
            seeds,
        }
    }
}

/// Returns the path from the noiseless end of the reference to that of a deletion.
pub(super) fn path_of_means(worlds: &BatchWorlds<'_>, ended: &Ended<'_>) -> Result<Direction> {
    let end = |chains: &Chains<'_>, side| {
        chains.with(Noise::Omitted).run(&worlds.seeds, side, 0..1, ended)
    };
    let deleted = end(&worlds.deleted, Side::Deleted)?;
    let reference = end(&worlds.reference, Side::Reference)?;
    let vector = deleted.iter().zip(&reference).map(|(a, b)| a - b).collect();
    Ok(Direction { name: "difference of the two paths without noise".into(), vector })
}
