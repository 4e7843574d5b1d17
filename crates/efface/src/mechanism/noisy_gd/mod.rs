//! `noisy-gd`: noisy gradient steps, of which the last iterate is published.

mod batches;
mod schedule;

use efface_learn::Constants;
use efface_learn::mechanism::noisy_gd::{self, CheckedNoisyGd, Steps};
use efface_learn::mechanism::{NoisyGdPlan, Released};
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Event, State, Variant};

use self::batches::Visited;
pub(crate) use self::batches::plan as batch_plan;
use super::{
    Conduct, Defaults, Mechanism, NextRequest, Profile, Public, Request, Run, Scheduled, Start,
    agrees, bounded, clash, least_steps, passes, planned_event, refused,
};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, NoisySteps, Plan, Schedule, ValidatedSettings};
use crate::settings::Settings;

pub(super) struct NoisyGd;

const NAME: MechanismName = MechanismName::NoisyGd;

/// Returns the learner's plan with `removal` steps per request.
fn checked(steps: &NoisySteps, constants: &Constants, removal: u64) -> Result<CheckedNoisyGd> {
    let steps = NoisyGdPlan { removal_steps: removal, ..steps.plan.clone() };
    steps.check(constants).map_err(refused(NAME))
}

pub(crate) fn event(event: &Event) -> Result<&efface_privacy::event::NoisyGd> {
    match event.core() {
        Event::NoisyGd(event) => Ok(event),
        _ => Err(Error::storage(Code::Damaged, "the vault's event is not one of `noisy-gd`")),
    }
}

/// Learns or serves a request by steps along the given objectives.
fn run_steps(
    schedule: &NoisySteps,
    objective: &impl Steps,
    run: Run<'_>,
    tell: &mut Watch<'_>,
) -> Result<Released> {
    let constants = run.constants;
    if let Start::Request(Request { weights, event: last, change, steps, .. }) = run.start {
        let plan = &checked(schedule, constants, *steps)?;
        let (last, watch) = (event(last)?, &mut passes(Some(*steps), tell));
        return noisy_gd::request(objective, plan, last, change, weights, run.rng, watch)
            .map_err(refused(NAME));
    }
    let plan = checked(schedule, constants, 1)?;
    let watch = &mut passes(Some(plan.plan().learning_steps), tell);
    noisy_gd::learn(objective, &plan, run.start.weights(), run.rng, watch).map_err(refused(NAME))
}

impl Mechanism for NoisyGd {
    /// In a ball, takes the least of all bounds that a ball allows.
    fn defaults(&self, settings: &Settings, _: Variant) -> Defaults {
        let close = Notion::IndistinguishableFromRetraining;
        let asked = settings.notion.as_deref().is_none_or(|notion| notion == close.name());
        let accountant = if settings.radius.is_some() && asked {
            Accountant::BoundedDomain
        } else {
            Accountant::Gdp
        };
        Defaults { accountant, ..Defaults::default() }
    }

    fn profile(&self) -> Profile {
        Profile { takes_radius: true, states_counts: true, ..Profile::default() }
    }

    fn check(&self, choices: &ValidatedSettings) -> Result<()> {
        let s = &choices.settings;
        if choices.state == State::Secret {
            return clash(
                "`noisy-gd` with `§state secret`",
                "is not offered: it publishes its last iterate, so it has no secret state",
                "leave out `§state`",
            );
        }
        if s.batches.is_some() && choices.mean {
            return clash(
                "`§batches` with `§normalizer mean`",
                "is not offered: the sum over a batch is divided by a constant",
                "leave out `§normalizer`",
            );
        }
        if s.batches.is_some() && s.radius.is_some() {
            return clash(
                "`§batches` with `§radius`",
                "is not offered: no bound over batches uses a ball",
                "leave out one of them",
            );
        }
        if s.excess_risk.is_some() {
            return clash(
                "`§excess-risk`",
                "is not a setting of `noisy-gd`",
                "give `§noise`, or leave it to the engine",
            );
        }
        Ok(())
    }

    fn check_start(&self, choices: &ValidatedSettings) -> Result<()> {
        let s = &choices.settings;
        match (s.start_public, s.start_privacy.is_some()) {
            (true, true) => clash(
                "`§start-public` and `§start-privacy`",
                "exclude each other",
                "keep the one that applies",
            ),
            (false, false) => clash(
                "`§start` with `noisy-gd`",
                "is part of the release, so claims depend on how it was made",
                "give `§start-public` if it was made without the private data, or \
                 `§start-privacy EPSILON,DELTA,GROUP` if it was made privately",
            ),
            _ => Ok(()),
        }
    }

    fn needs_rows(&self, choices: &ValidatedSettings) -> Option<&'static str> {
        choices.settings.batches.map(|_| "with `§batches` takes the rows of a batch")
    }

    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
        schedule::schedule(public, list)
    }
}

impl Scheduled for NoisySteps {
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        agrees(plan, self.plan.group, None)?;
        bounded("steps", self.plan.learning_steps)?;
        bounded("removal-steps", self.plan.removal_steps)?;
        checked(self, constants, self.plan.removal_steps).map(drop)
    }

    fn conduct(&self, _: &Plan) -> Conduct {
        Conduct {
            reads_windows: self.plan.batches.is_none(),
            repeats_steps: true,
            never_restarts: true,
            ..Conduct::default()
        }
    }

    /// Learns, or serves a request by noisy steps from the published weights.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let Some(batches) = self.plan.batches else {
            let objective = &run.objective()?;
            return run_steps(self, objective, run, tell);
        };
        let (done, made) = match run.start {
            Start::Request(Request { event: last, steps, .. }) => {
                (noisy_gd::steps_of(event(last)?), *steps)
            }
            _ => (0, self.plan.learning_steps),
        };
        let visited = Visited::read(run.rows, &batches, done, made)?;
        let each = batches.constants(run.constants).map_err(|error| refused(NAME)(error.into()))?;
        let objective = &visited.objectives(run.constants, batches, &each)?;
        run_steps(self, objective, run, tell)
    }

    /// Returns the plan's steps, or the fewest that meet the target.
    fn removal_steps(&self, event: &Event, next: &NextRequest<'_>) -> Result<u64> {
        if !self.fewest {
            return Ok(self.plan.removal_steps);
        }
        let fewest =
            least_steps(|steps| next.plan.target.is_met(&planned_event(event, next, steps)?))?;
        fewest.ok_or_else(|| {
            let epsilon = next.plan.target.epsilon;
            Error::refused(
                Code::BudgetExhausted,
                format!("no number of steps reaches epsilon {epsilon} for this request"),
            )
            .hint("delete fewer records per request, or train a new model with more noise")
        })
    }

    fn first_event(&self, _: &Plan, constants: &Constants, records: usize) -> Result<Event> {
        let checked = checked(self, constants, 1)?;
        let event = noisy_gd::learning_event(constants, &checked, records);
        event.map(Event::NoisyGd).map_err(refused(NAME))
    }

    fn advance(&self, last: &mut Event, next: &NextRequest<'_>, steps: u64) -> Result<()> {
        let NextRequest { plan, change, records } = *next;
        let constants = &plan.constants()?;
        let checked = checked(self, constants, steps)?;
        let next = noisy_gd::next_event(constants, &checked, event(last)?, &change, records);
        *last = Event::NoisyGd(next.map_err(refused(NAME))?);
        Ok(())
    }

    /// Unless it is fixed, the number of steps depends on the size of the request; the claim is for the
    /// public maximal group.
    fn hides_group(&self, plan: &Plan, _: &Event, records: u64) -> bool {
        !self.fewest && records <= plan.setting.group
    }
}

/// Replaces the counts that phases state by the public capacity.
pub(super) fn hide_counts(plan: &Plan, event: &mut efface_privacy::event::NoisyGd) {
    let most = plan.capacity().unwrap_or(1 << 53);
    event.replaced = None;
    if let Some(batches) = &mut event.batches {
        batches.changed = None;
    }
    if let Some((_, earlier)) = event.phases.split_last_mut() {
        for phase in earlier {
            phase.only_then = most;
            phase.only_now = most;
        }
    }
}
