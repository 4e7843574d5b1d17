//! `ridge`: the squared loss solved from integer sums; removal is exact and nothing is random.

use std::ops::ControlFlow;

use efface_learn::loss::LossName;
use efface_learn::mechanism::{Kept, Released, RidgePlan, ridge};
use efface_learn::{Constants, Declared};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::Origin;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Event, Variant};

use super::{
    Conduct, Defaults, Mechanism, NextRequest, Profile, Public, Request, Run, Scheduled, Start,
    clash, exact_alone, foreign, pointless, refused,
};
use crate::context::{Progress, Watch};
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, Plan, Schedule, ValidatedSettings, origin};
use crate::rows::bytes::weight_bytes;
use crate::settings::Settings;

pub(super) struct Ridge;

/// Its public constants: none beyond those of the objective.
pub(super) struct Sums;

const NAME: MechanismName = MechanismName::Ridge;

/// Returns the learner's plan, which the constants decide entirely.
pub(crate) fn plan(constants: &Constants) -> Result<RidgePlan> {
    RidgePlan::new(constants.clone()).map_err(refused(NAME))
}

/// Returns the learner's plan before any record is seen. If preprocessing is fitted, the columns depend on
/// the records: lambda must be enough for `most` columns, so that no deletion fails because of their number.
/// It can still fail if the deletion makes more columns, as when a numeric column becomes a categorical one.
fn public_plan(constants: &Constants, most: Option<u64>) -> Result<RidgePlan> {
    let Some(most) = most else { return plan(constants) };
    let cols = usize::try_from(most).unwrap_or(usize::MAX);
    let most = Declared { cols, ..constants.declared().clone() }.check();
    let most = most.map_err(|error| refused(NAME)(error.into()))?;
    let most = most.with_targets(constants.targets());
    plan(&match constants.mean_weight() {
        Some(mean) => most.with_mean_weight(mean),
        None => most,
    })
}

/// Returns the largest number of columns that are accepted, if preprocessing is fitted.
fn most_columns(plan: &Plan) -> Option<u64> {
    plan.fitting.as_ref().map(|fitting| fitting.defaults.ridge_columns)
}

impl Mechanism for Ridge {
    fn defaults(&self, settings: &Settings, _: Variant) -> Defaults {
        // A range of y makes the task a regression.
        let range = settings.target_range.is_some();
        // What a network learnt from deleted records is not removed exactly.
        let learnt = settings.network_features().is_some() || settings.extractor_training.is_some();
        let notion = match learnt {
            true => Notion::IndistinguishableFromRetraining,
            false => Notion::ExactRemoval,
        };
        Defaults {
            notion,
            accountant: Accountant::Exact,
            loss: if range { LossName::Squared } else { LossName::SquaredClasses },
            ..Defaults::default()
        }
    }

    fn profile(&self) -> Profile {
        Profile { takes_unclipped: true, ..Profile::default() }
    }

    fn check(&self, choices: &ValidatedSettings) -> Result<()> {
        check(choices)
    }

    fn needs_rows(&self, _: &ValidatedSettings) -> Option<&'static str> {
        Some("subtracts the deleted row itself from its sums")
    }

    /// Lists the grids that rows and targets are rounded to.
    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
        let choices = public.choices;
        let most = choices.fitted.then_some(choices.defaults.ridge_columns);
        let event = public_plan(public.constants, most)?.event(1);
        // A y that is scaled by the records can be as large as the square root of their number.
        let y = choices.loss == LossName::Squared;
        let scaled = if choices.fitted && y { Origin::Data } else { Origin::Default };
        for (name, value, from) in [
            ("row-bound", event.row_bound, Origin::Default),
            ("target-bound", event.target_bound, scaled),
            ("row-grid", event.row_grid, public.normalizer_origin),
            ("target-grid", event.target_grid, origin(false, &[public.normalizer_origin, scaled])),
        ] {
            list.add(name, value, origin(false, &[from]));
        }
        Ok(Schedule::Sums)
    }
}

impl Scheduled for Sums {
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        public_plan(constants, most_columns(plan)).map(drop)
    }

    /// Integer sums add up window by window.
    fn conduct(&self, plan: &Plan) -> Conduct {
        let uses_changed_rows = plan.keeps_state();
        Conduct { reads_windows: true, uses_changed_rows, ..Conduct::default() }
    }

    /// Learns, or serves a request from the kept sums and the rows that it changes; if preprocessing is
    /// fitted again, from sums over all rows, and keeps nothing.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let (plan, releases) = (&plan(run.constants)?, run.releases);
        let watch = &mut |rows| -> ControlFlow<()> { tell(&Progress::Reading { rows }) };
        let kept = run.plan.keeps_state();
        let anew = |watch: &mut ridge::Watch<'_>| {
            let learnt = match run.rows.streamed()? {
                Some(records) => ridge::learn_streamed(plan, records),
                None => ridge::learn(plan, run.rows.data()?, watch),
            };
            let learnt = learnt.map_err(refused(NAME))?;
            let event = Event::ExactRemoval(plan.event(releases));
            Ok(Released { event, kept: learnt.kept.filter(|_| kept), ..learnt })
        };
        match run.start {
            Start::Nothing => return anew(watch),
            Start::Request(_) if !kept => return anew(watch),
            Start::Given(_) => {
                return Err(Error::refused(
                    Code::By(NAME),
                    "`ridge` does not accept starting weights",
                ));
            }
            Start::Request(request) => {
                let kept = kept_sums(plan, request)?;
                let (removed, added) = (&request.removed.data, &request.added.data);
                ridge::request(plan, kept, removed, added, releases, watch)
            }
        }
        .map_err(refused(NAME))
    }

    fn first_event(&self, plan: &Plan, constants: &Constants, _: usize) -> Result<Event> {
        Ok(Event::ExactRemoval(public_plan(constants, most_columns(plan))?.event(1)))
    }

    fn advance(&self, event: &mut Event, next: &NextRequest<'_>, _: u64) -> Result<()> {
        let NextRequest { plan, .. } = *next;
        let Event::ExactRemoval(event) = event else { return Err(foreign(plan)) };
        event.releases += 1;
        Ok(())
    }
}

/// Returns the kept sums after checking that they give the published weights: these are signed, sums are not.
fn kept_sums<'a>(plan: &RidgePlan, request: &Request<'a>) -> Result<&'a Kept> {
    let damaged = |what: &str| {
        Error::storage(Code::Damaged, format!("the vault's kept sums {what}"))
            .hint("restore the vault from a backup")
    };
    let kept = request.kept.ok_or_else(|| damaged("are missing"))?;
    let sums = plan.read(kept).map_err(|error| damaged(&format!("cannot be read: {error}")))?;
    let weights = plan.weights(&sums).map_err(refused(NAME))?;
    if weight_bytes(&weights) != weight_bytes(request.weights) {
        return Err(damaged("do not give the certified weights"));
    }
    Ok(kept)
}

/// Refuses settings that `ridge` has no use for.
fn check(choices: &ValidatedSettings) -> Result<()> {
    let s = &choices.settings;
    if !matches!(choices.loss, LossName::Squared | LossName::SquaredClasses) {
        return clash(
            &format!("`ridge` with the loss `{}`", choices.loss.name()),
            "is not offered: only the squared loss can be solved from sums",
            "give `§loss squared` for numbers or `§loss squared-classes` for classes",
        );
    }
    exact_alone(choices)?;
    let without_use = [
        ("solver", s.solver.is_some(), "it solves in one fixed order"),
        ("radius", s.radius.is_some(), "lambda alone bounds the weights"),
        (
            "clip",
            s.clip.is_some_and(f64::is_finite),
            "with a clip the loss cannot be solved from sums",
        ),
    ];
    let given = without_use.into_iter().find(|(_, given, _)| *given);
    given.map_or(Ok(()), |(name, _, reason)| pointless(name, NAME, reason))
}
