//! The engine in memory: what it would release, without a vault.

use efface_learn::Dataset;
use efface_learn::mechanism::{Change, Released};
use efface_privacy::certificate::RequestKind;
use efface_privacy::claim::{Claim, Notion};
use efface_privacy::event::Event;
use rand_chacha::ChaCha20Rng;

use crate::checks::audit_sample::AuditSample;
use crate::checks::rehearsal::{Deletion, Model, Rehearsal, TakenOut, in_memory};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::mechanism::{NextRequest, claims};
use crate::plan::Plan;
use crate::rows::{InMemory, Keyed, Labels, Names, Rows};

/// One deletion under a plan, to be gone through many times: the same mechanism, constants and
/// number of steps that a vault would use, on records in memory. Nothing is stored, nothing signed.
#[derive(Debug)]
pub struct Simulation<'a> {
    before: Side<'a>,
    /// Its plan is the same, unless preprocessing is fitted to the records that remain.
    after: Side<'a>,
    removed: TakenOut,
}

/// A world: its records, and their plan.
#[derive(Debug)]
struct Side<'a> {
    plan: &'a Plan,
    rows: InMemory<'a>,
}

/// Which of the two worlds a model learns in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// With the records that will be deleted.
    Before,
    /// Without them.
    After,
}

impl<'a> Simulation<'a> {
    /// The deletion of the records at `positions` (ascending, without repetition) of `data`.
    ///
    /// # Errors
    /// Positions that are none, out of order or out of range; data that break the plan's constants.
    pub fn new(plan: &'a Plan, data: &Dataset, positions: &[usize]) -> Result<Self> {
        if plan.learnt_features() {
            let message = "a deletion is not simulated for features of a network: the other world has \
                           another network";
            return Err(Error::refused(Code::Simulation, message)
                .hint("audit the network in its own vault"));
        }
        let copy = || in_memory(plan, data, Names::by_position(data.rows()));
        let (before, mut after) = (Side { plan, rows: copy()? }, Side { plan, rows: copy()? });
        let removed = TakenOut::of(plan, &mut after.rows, positions)?;
        Ok(Self { before, after, removed })
    }

    /// The deletion of the records at `positions` of a sample, whose plan without them is `then` (see
    /// [`AuditSample::without`]).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_sample(sample: &'a AuditSample, then: &'a Plan, positions: &[usize]) -> Result<Self> {
        let simulation = Self::new(&sample.plan, &sample.records, positions)?;
        let Some(raw) = &sample.raw else { return Ok(simulation) };
        let data = raw.without(positions).encode(then, Labels::Needed)?.data;
        let names = Names::by_position(data.rows());
        let rows = InMemory::of(then, data, names);
        rows.check()?;
        Ok(Self { after: Side { plan: then, rows }, ..simulation })
    }

    /// The plan under which runs are simulated.
    #[must_use]
    pub fn plan(&self) -> &'a Plan {
        self.before.plan
    }

    /// The plan of a world.
    #[must_use]
    pub fn plan_of(&self, world: World) -> &'a Plan {
        self.side(world).plan
    }

    /// Weights of the world before as a deletion starts from them.
    ///
    /// # Errors
    /// As [`of_sample`](Self::of_sample).
    pub fn carried(&self, weights: &[f64]) -> Result<Vec<f64>> {
        self.after.plan.carried(self.before.plan, weights)
    }

    /// The records of a world.
    #[must_use]
    pub fn records(&self, world: World) -> &Dataset {
        self.side(world).rows.records()
    }

    fn side(&self, world: World) -> &Side<'a> {
        match world {
            World::Before => &self.before,
            World::After => &self.after,
        }
    }

    fn rehearsal(&self, world: World) -> Rehearsal<'_> {
        let Side { plan, rows } = self.side(world);
        Rehearsal { plan, rows }
    }

    /// Learns on the records of a world, until `watch` breaks.
    ///
    /// # Errors
    /// As training.
    pub fn learn(
        &self,
        world: World,
        rng: &mut ChaCha20Rng,
        watch: &mut Watch<'_>,
    ) -> Result<Released> {
        self.rehearsal(world).learn(rng, watch)
    }

    /// Deletes the records from what [`learn`](Self::learn) made of [`World::Before`].
    ///
    /// # Errors
    /// As a deletion.
    pub fn delete(
        &self,
        learnt: &Released,
        rng: &mut ChaCha20Rng,
        watch: &mut Watch<'_>,
    ) -> Result<Released> {
        let weights = self.carried(&learnt.weights)?;
        let model = Model { weights, ..Model::first(learnt) };
        let TakenOut { records, shards } = &self.removed;
        let (count, steps) = (records.keys.len(), self.steps(learnt)?);
        let deletion = Deletion { records, shards, count, steps };
        self.rehearsal(World::After).delete(&model, &deletion, rng, watch)
    }

    /// K of the deletion, for `noisy-gd`; 0 for others.
    ///
    /// # Errors
    /// When no number of steps meets the plan's target.
    pub fn steps(&self, learnt: &Released) -> Result<u64> {
        let since = vec![0; self.removed.records.keys.len()];
        let change = Change { deleted_since: &since, added: 0 };
        let Side { plan, rows } = &self.after;
        let records = rows.records().rows();
        NextRequest { plan, change, records }.removal_steps(&learnt.event)
    }

    /// The run that the plan's claim of closeness to retraining compares with: a training on the records
    /// that remain, after which the steps of `deletion`, the event of a simulated one, are repeated if the
    /// claim is about these.
    ///
    /// # Errors
    /// As training; under `mean` a `descent-to-delete` request larger than `max-group`, whose steps
    /// cannot be repeated without it.
    pub fn reference(
        &self,
        deletion: &Event,
        rng: &mut ChaCha20Rng,
        watch: &mut Watch<'_>,
    ) -> Result<Released> {
        let learnt = self.learn(World::After, rng, watch)?;
        if !self.plan().repeats_steps() {
            return Ok(learnt);
        }
        let count = self.removed.records.keys.len();
        let mean = self.plan().capacity().is_none();
        let steps = match deletion.core() {
            Event::NoisyGd(event) => event.phases.last().map_or(0, |phase| phase.steps),
            _ if mean && count as u64 > self.plan().setting.group => {
                let message = format!(
                    "under `mean` a deletion of {count} records cannot be compared with its \
                     reference: at most `§max-group` = {} can",
                    self.plan().setting.group
                );
                return Err(Error::refused(Code::Simulation, message));
            }
            _ => 0,
        };
        // Nothing changes; the count only makes `descent-to-delete` take as many updates.
        let count = if mean { 0 } else { count };
        let (records, shards) = (&Keyed::none(self.after.plan)?, &self.removed.shards);
        let deletion = Deletion { records, shards, count, steps };
        self.rehearsal(World::After).delete(&Model::first(&learnt), &deletion, rng, watch)
    }

    /// The claims that a certificate of the simulated deletion would make, those first that the plan
    /// promises.
    ///
    /// # Errors
    /// When the claim that the plan promises cannot be made.
    pub fn claims(&self, deleted: &Released) -> Result<Vec<Claim>> {
        let count = self.removed.records.keys.len() as u64;
        claims(self.after.plan, &deleted.event, RequestKind::Delete, count)
    }

    /// The claims of closeness to retraining among [`claims`](Self::claims) that the reference run is
    /// the reference of.
    ///
    /// # Errors
    /// As [`claims`](Self::claims).
    pub fn closeness(&self, deleted: &Released) -> Result<Vec<Claim>> {
        let mut claims = self.claims(deleted)?;
        claims.retain(|claim| claim.notion == Notion::IndistinguishableFromRetraining);
        let first = claims.first().map(|claim| claim.reference.clone());
        claims.retain(|claim| Some(&claim.reference) == first.as_ref());
        Ok(claims)
    }
}
