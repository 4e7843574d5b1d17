//! The engine's own steps over batches in turn, on data sets small enough to be held for each batch.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use efface::{Code, Error, Result};
use efface_learn::mechanism::noisy_gd::{self, BatchPlan, Batched, CheckedNoisyGd};
use efface_learn::mechanism::{Change, MechanismError};
use efface_learn::solver::Progress;
use efface_learn::{Constants, Dataset, Objective};
use efface_privacy::event::NoisyGd;
use rayon::prelude::*;

use efface_audit::{Ended, Seeds, Side, Worlds};

/// Runs of one round, and those of one thread at once.
const ROUND: u64 = 1024;
const PART: u64 = 64;

/// The two worlds of a deletion by `noisy-gd` over batches.
pub(super) struct CycleWorlds<'a> {
    cycle: Cycle<'a>,
    deleted: CheckedNoisyGd,
    reference: CheckedNoisyGd,
    learnt: NoisyGd,
    seeds: Seeds,
}

/// The records of both worlds, for each batch, and the public constants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cycle<'a> {
    /// Of the objective over all records.
    pub(super) constants: &'a Constants,
    /// Of the objective over a batch.
    pub(super) of_batch: &'a Constants,
    /// The batches.
    pub(super) plan: BatchPlan,
    /// The records of each batch before the deletion.
    pub(super) before: &'a [Dataset],
    /// Those after it.
    pub(super) after: &'a [Dataset],
}

impl<'a> CycleWorlds<'a> {
    /// `deleted` learns and serves the request, `reference` learns for as many steps as both together.
    ///
    /// # Errors
    /// Records that do not fit the constants.
    pub(super) fn new(
        cycle: Cycle<'a>,
        deleted: CheckedNoisyGd,
        reference: CheckedNoisyGd,
        seeds: Seeds,
    ) -> Result<Self> {
        let records = records(cycle.before);
        let learnt =
            noisy_gd::learning_event(cycle.constants, &deleted, records).map_err(failed)?;
        Ok(Self { cycle, deleted, reference, learnt, seeds })
    }

    /// The releases of runs, one after the other.
    fn some(&self, side: Side, runs: Range<u64>, ended: &Ended<'_>) -> Result<Vec<f64>> {
        let [before, after] = [self.cycle.before, self.cycle.after].map(|s| self.cycle.batched(s));
        let (before, after) = (before?, after?);
        let since = vec![0; before.records.saturating_sub(after.records)];
        let change = Change { deleted_since: &since, added: 0 };
        let mut found = Vec::new();
        for run in runs {
            let rng = &mut self.seeds.generator(side, run);
            let watch = &mut |_: &Progress| {
                if ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let released = match side {
                Side::Deleted => {
                    let plan = &self.deleted;
                    let learnt =
                        noisy_gd::learn(&before, plan, None, rng, watch).map_err(stopped)?;
                    let (event, from) = (&self.learnt, &learnt.weights);
                    noisy_gd::request(&after, plan, event, &change, from, rng, watch)
                }
                Side::Reference => noisy_gd::learn(&after, &self.reference, None, rng, watch),
            };
            found.extend(released.map_err(stopped)?.weights);
        }
        Ok(found)
    }
}

fn records(sets: &[Dataset]) -> usize {
    sets.iter().map(Dataset::rows).sum()
}

impl<'a> Cycle<'a> {
    fn batched(&self, sets: &'a [Dataset]) -> Result<Batched<'a>> {
        let mut batches = BTreeMap::new();
        for (number, data) in (0_u64..).zip(sets) {
            batches.insert(number, Objective::new(self.of_batch, data).map_err(failed)?);
        }
        Ok(Batched { constants: self.constants, records: records(sets), plan: self.plan, batches })
    }
}

impl Worlds for CycleWorlds<'_> {
    fn parameters(&self) -> usize {
        self.cycle.constants.parameters()
    }

    fn round(&self) -> u64 {
        ROUND
    }

    fn releases(&self, side: Side, runs: Range<u64>, ended: &Ended<'_>) -> Result<Vec<f64>> {
        let starts: Vec<u64> = runs.clone().step_by(PART as usize).collect();
        let list: Result<Vec<Vec<f64>>> = starts
            .into_par_iter()
            .map(|start| self.some(side, start..(start + PART).min(runs.end), ended))
            .collect();
        Ok(list?.concat())
    }
}

fn stopped(error: MechanismError) -> Error {
    match error {
        MechanismError::Cancelled => Error::interrupted(),
        other => failed(other),
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused(Code::Instance, error.to_string())
}
