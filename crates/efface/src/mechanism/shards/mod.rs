//! `shards`: networks that are each trained without noise on the records of one shard. A request retrains the
//! shards that it touches, so that removal is exact.

mod learn;
mod place;
mod schedule;

use std::collections::BTreeSet;

use efface_learn::Constants;
use efface_learn::loss::LossName;
use efface_learn::mechanism::{Evidence, Released};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{self, Assumption};
use efface_privacy::claim::Notion;
use efface_privacy::event::{Event, Shards as Sharded, State, Unit, Variant};

use super::{
    Conduct, Defaults, Mechanism, NextRequest, Profile, Public, Request, Run, Scheduled, Start,
    clash, exact_alone, foreign, pointless,
};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, Plan, Schedule, ShardedPlan, ValidatedSettings};
use crate::rows::Rows;
use crate::settings::Settings;

pub(crate) use place::{touched, touched_by};

pub(super) struct Shards;

const NAME: MechanismName = MechanismName::Shards;

/// Returns the event of a release for which `retrained` shards were trained.
fn event(plan: &Plan, sharded: &ShardedPlan, retrained: u64, releases: u64) -> Sharded {
    Sharded {
        parameters: sharded.parameters(),
        unit: if plan.subjects { Unit::Subject } else { Unit::Record },
        shards: sharded.shards,
        retrained,
        arithmetic: sharded.arithmetic,
        releases,
    }
}

fn damaged(message: &str) -> Error {
    Error::storage(Code::Damaged, message)
}

/// Trains all shards on the given records; returns the weights with the number of steps and of passes.
fn all(
    plan: &Plan,
    sharded: &ShardedPlan,
    rows: &dyn Rows,
    tell: &mut Watch<'_>,
) -> Result<(Vec<f64>, u64, u64)> {
    let every: BTreeSet<u64> = (0..sharded.shards).collect();
    let trained = learn::train(plan, sharded, &every, rows, tell)?;
    let weights = trained.weights.into_iter().flat_map(|(_, weights)| weights).map(f64::from);
    Ok((weights.collect(), trained.steps, trained.passes))
}

/// Returns the weights that the given records yield.
///
/// # Errors
/// Those of a training.
pub(crate) fn weights_of(plan: &Plan, rows: &dyn Rows, tell: &mut Watch<'_>) -> Result<Vec<f64>> {
    let sharded = plan.sharded().ok_or_else(|| foreign(plan))?;
    all(plan, sharded, rows, tell).map(|(weights, ..)| weights)
}

/// Returns the published weights, with those of the touched shards trained again.
fn some(
    plan: &Plan,
    sharded: &ShardedPlan,
    request: &Request<'_>,
    rows: &dyn Rows,
    tell: &mut Watch<'_>,
) -> Result<(Vec<f64>, u64, u64)> {
    if request.weights.len() as u64 != sharded.parameters() {
        return Err(damaged("the vault's networks have another number of weights"));
    }
    if request.touched.is_empty() || request.touched.iter().any(|&shard| shard >= sharded.shards) {
        return Err(damaged("the request touches no shard of the model"));
    }
    let trained = learn::train(plan, sharded, request.touched, rows, tell)?;
    let mut weights = request.weights.to_vec();
    let size = sharded.weights as usize;
    for (shard, new) in trained.weights {
        let places = &mut weights[shard as usize * size..][..size];
        places.iter_mut().zip(new).for_each(|(place, new)| *place = f64::from(new));
    }
    Ok((weights, trained.steps, trained.passes))
}

impl Mechanism for Shards {
    fn defaults(&self, _: &Settings, _: Variant) -> Defaults {
        Defaults {
            notion: Notion::ExactRemoval,
            accountant: Accountant::Exact,
            ..Defaults::of_networks()
        }
    }

    fn profile(&self) -> Profile {
        Profile {
            takes_weights: false,
            minimises: false,
            assumptions: certificate::SHARDS.map(Assumption::from).into(),
            ..Profile::default()
        }
    }

    fn check(&self, choices: &ValidatedSettings) -> Result<()> {
        check(choices)
    }

    fn needs_rows(&self, _: &ValidatedSettings) -> Option<&'static str> {
        Some("trains each network on the records of its shard")
    }

    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
        schedule::schedule(public, list).map(Schedule::Sharded)
    }
}

impl Scheduled for ShardedPlan {
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        let shaped = self.input.iter().try_fold(1_u64, |all, side| all.checked_mul((*side).into()));
        let fits = shaped == Some(plan.rows.features)
            && plan.rows.intercept.0 == 0.0
            && u64::from(self.outputs) == constants.loss().outputs() as u64
            && plan.setting.group == 1
            && plan.state == State::Perfect
            && plan.target.notion == Notion::ExactRemoval;
        if !fits {
            return Err(damaged("its networks do not fit its rows, its classes or its target"));
        }
        self.checked(&self.network()?, 0).map(drop)
    }

    fn conduct(&self, _: &Plan) -> Conduct {
        Conduct::default()
    }

    fn is_of(&self, plan: &Plan, event: &Event) -> bool {
        let Event::Shards(stated) = event else { return false };
        self::event(plan, self, stated.retrained, stated.releases) == *stated
    }

    /// Trains every shard, or those that the request touches.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let (plan, releases) = (run.plan, run.releases);
        let ((weights, steps, passes), retrained) = match run.start {
            Start::Nothing => (all(plan, self, run.rows, tell)?, self.shards),
            Start::Given(_) => {
                return Err(Error::refused(
                    Code::By(NAME),
                    "`shards` does not accept starting weights",
                ));
            }
            Start::Request(request) => {
                let retrained = request.touched.len() as u64;
                (some(plan, self, request, run.rows, tell)?, retrained)
            }
        };
        Ok(Released {
            weights,
            event: Event::Shards(event(plan, self, retrained, releases)),
            evidence: Evidence::Sampled { steps, passes },
            kept: None,
        })
    }

    fn first_event(&self, plan: &Plan, _: &Constants, _: usize) -> Result<Event> {
        Ok(Event::Shards(event(plan, self, self.shards, 1)))
    }

    /// Which shards it touches is known only after the records are read: at most one per record.
    fn advance(&self, last: &mut Event, next: &NextRequest<'_>, _: u64) -> Result<()> {
        let NextRequest { plan, change, .. } = *next;
        let Event::Shards(last) = last else { return Err(foreign(plan)) };
        let records = (change.deleted_since.len() as u64).saturating_add(change.added);
        last.retrained = records.clamp(1, last.shards);
        last.releases += 1;
        Ok(())
    }
}

/// Refuses settings that `shards` has no use for.
fn check(choices: &ValidatedSettings) -> Result<()> {
    let s = &choices.settings;
    if choices.loss != LossName::Softmax {
        return clash(
            &format!("`shards` with the loss `{}`", choices.loss.name()),
            "is not offered: its networks are classifiers of two or more classes",
            "leave out `§loss`",
        );
    }
    if choices.fitted {
        return clash(
            "`§preprocess fitted` with `shards`",
            "is not offered: means and scales of all records would make the network of every shard \
             depend on each of them",
            "leave it out, or use `§preprocess declared`",
        );
    }
    exact_alone(choices)?;
    let without_use = [
        ("lambda", s.lambda.is_some(), "no penalty is added"),
        ("intercept", s.intercept.is_some(), "layers have biases of their own"),
        ("normalizer", choices.mean, "gradients are divided by the records of a step"),
    ];
    let given = without_use.into_iter().find(|(_, given, _)| *given);
    given.map_or(Ok(()), |(name, _, reason)| pointless(name, NAME, reason))
}
