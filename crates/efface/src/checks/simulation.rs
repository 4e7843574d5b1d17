//! The engine in memory: what it would release, without a vault.

use std::collections::BTreeSet;

use efface_learn::Dataset;
use efface_learn::mechanism::{Change, Released};
use efface_privacy::certificate::RequestKind;
use efface_privacy::claim::{Claim, Notion};
use efface_privacy::event::Event;
use rand_chacha::ChaCha20Rng;

use crate::checks::audit_sample::AuditSample;
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::mechanism::{Request, Start, claims, run, stated, touched};
use crate::plan::Plan;
use crate::rows::naming::row_id;
use crate::rows::{Batch, InMemory, Keyed, Labels, Names, Rows};

/// One deletion under a plan, to be gone through many times: the same mechanism, constants and
/// number of steps that a vault would use, on records in memory. Nothing is stored, nothing signed.
#[derive(Debug)]
pub struct Simulation<'a> {
    plan: &'a Plan,
    /// The plan of the records that remain: the same, but where preprocessing is fitted to these.
    then: &'a Plan,
    before: InMemory<'a>,
    after: InMemory<'a>,
    removed: Keyed,
    /// The shards that these are in, for models that have some.
    touched: BTreeSet<u64>,
    none: Keyed,
}

/// Which of the two worlds a model learns in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// With the records that will be deleted.
    Before,
    /// Without them.
    After,
}

/// The run that a claim of closeness to retraining compares with, in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// Learning alone, on the remaining records.
    Retrained,
    /// Learning and then the steps of the request, all on the remaining records.
    Repeated,
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
        let ordered = positions.windows(2).all(|pair| pair[0] < pair[1]);
        let within = positions.last().is_some_and(|&last| last < data.rows());
        if !(ordered && within) {
            let (count, rows) = (positions.len(), data.rows());
            let message = format!(
                "a simulated deletion must name at least one record, in ascending order and below \
                 {rows}, got {count}"
            );
            return Err(Error::input(Code::Positions, message));
        }
        let names = Names::by_position(data.rows());
        let all = || -> Result<InMemory<'a>> {
            let mut rows = InMemory::none(plan)?;
            rows.insert(&Batch { data, names: &names, raw: None }, 1)?;
            Ok(rows)
        };
        let (before, mut after) = (all()?, all()?);
        before.check()?;
        let ids: Vec<String> = positions.iter().map(|&row| row_id(row as u64)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let touched = touched(plan, ids.iter().map(|id| (id, None)))?;
        let leaving = before.find_ids(&ids)?.found;
        let removed = before.read(&leaving)?;
        after.erase(&leaving, &mut |_| Ok(()))?;
        Ok(Self { plan, then: plan, before, after, removed, touched, none: Keyed::none(plan)? })
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
        let after = InMemory::of(then, data, names);
        after.check()?;
        Ok(Self { then, after, none: Keyed::none(then)?, ..simulation })
    }

    /// The plan under which runs are simulated.
    #[must_use]
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The plan of a world.
    #[must_use]
    pub fn plan_of(&self, world: World) -> &'a Plan {
        match world {
            World::Before => self.plan,
            World::After => self.then,
        }
    }

    /// Weights of the world before as a deletion starts from them.
    ///
    /// # Errors
    /// As [`of_sample`](Self::of_sample).
    pub fn carried(&self, weights: &[f64]) -> Result<Vec<f64>> {
        self.then.carried(self.plan, weights)
    }

    /// The records of a world.
    #[must_use]
    pub fn records(&self, world: World) -> &Dataset {
        self.rows(world).records()
    }

    /// The records that are deleted.
    #[must_use]
    pub fn removed(&self) -> &Dataset {
        &self.removed.data
    }

    fn rows(&self, world: World) -> &InMemory<'a> {
        match world {
            World::Before => &self.before,
            World::After => &self.after,
        }
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
        let (rows, plan) = (self.rows(world), self.plan_of(world));
        let released = run(plan, rows, &Start::Nothing, 1, rng, watch)?;
        let event = stated(plan, released.event, None, 0)?;
        Ok(Released { event, ..released })
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
        let since = vec![0; self.removed.data.rows()];
        let change = Change { deleted_since: &since, added: 0 };
        let weights = self.carried(&learnt.weights)?;
        let steps = self.steps(learnt)?;
        self.serve((learnt, &weights), change, (&self.removed, steps), rng, watch)
    }

    /// K of the deletion, for `noisy-gd`; 0 for others.
    ///
    /// # Errors
    /// When no number of steps meets the plan's target.
    pub fn steps(&self, learnt: &Released) -> Result<u64> {
        let since = vec![0; self.removed.data.rows()];
        let change = Change { deleted_since: &since, added: 0 };
        let left = self.after.records().rows();
        self.then.schedule.scheduled().removal_steps(self.then, &learnt.event, &change, left)
    }

    fn serve(
        &self,
        (learnt, weights): (&Released, &[f64]),
        change: Change<'_>,
        (removed, steps): (&Keyed, u64),
        rng: &mut ChaCha20Rng,
        watch: &mut Watch<'_>,
    ) -> Result<Released> {
        let start = Start::Request(Request {
            weights,
            event: &learnt.event,
            kept: learnt.kept.as_ref(),
            prepared: None,
            change,
            removed,
            added: &self.none,
            touched: &self.touched,
            steps,
        });
        let released = run(self.then, &self.after, &start, 2, rng, watch)?;
        let deleted = change.deleted_since.len() as u64;
        let event = stated(self.then, released.event, Some(&learnt.event), deleted)?;
        Ok(Released { event, ..released })
    }

    /// What the plan's claim of closeness to retraining compares with.
    #[must_use]
    pub fn compares_with(&self) -> Reference {
        if self.plan.repeats_steps() { Reference::Repeated } else { Reference::Retrained }
    }

    /// The reference run of the claim. `deletion` is the event of a simulated deletion: its steps are
    /// repeated.
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
        if self.compares_with() == Reference::Retrained {
            return Ok(learnt);
        }
        let count = self.removed.data.rows();
        let mean = self.plan.capacity().is_none();
        let steps = match deletion.core() {
            Event::NoisyGd(event) => event.phases.last().map_or(0, |phase| phase.steps),
            _ if mean && count as u64 > self.plan.setting.group => {
                let message = format!(
                    "under `mean` a deletion of {count} records cannot be compared with its \
                     reference: at most `§max-group` = {} can",
                    self.plan.setting.group
                );
                return Err(Error::refused(Code::Simulation, message));
            }
            _ => 0,
        };
        // Nothing changes; the change only makes `descent-to-delete` count as many updates.
        let since = vec![0; if mean { 0 } else { count }];
        let change = Change { deleted_since: &since, added: 0 };
        self.serve((&learnt, &learnt.weights), change, (&self.none, steps), rng, watch)
    }

    /// The claims that a certificate of the simulated deletion would make, those first that the plan
    /// promises.
    ///
    /// # Errors
    /// When the claim that the plan promises cannot be made.
    pub fn claims(&self, deleted: &Released) -> Result<Vec<Claim>> {
        let count = self.removed.data.rows() as u64;
        claims(self.then, &deleted.event, RequestKind::Delete, count)
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
