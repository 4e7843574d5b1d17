//! `noisy-gd`: noisy gradient steps, the last iterate published.

mod batches;
mod cost;
mod schedule;

use efface_learn::Constants;
use efface_learn::mechanism::noisy_gd::{self, CheckedNoisyGd, Steps};
use efface_learn::mechanism::{BatchPlan, Change, NoisyGdPlan, Released};
use efface_learn::risk;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Event, Normalizer, State, Variant};

use self::batches::Visited;
use super::cost::{Cost, Inputs};
use super::{
    Defaults, Mechanism, Public, Request, Run, Start, agrees, bounded, clash, foreign, least_steps,
    passes, planned_event, refused,
};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, Plan, Schedule, ValidatedSettings};
use crate::settings::Settings;

/// `noisy-gd`.
pub(super) struct NoisyGd;

const NAME: MechanismName = MechanismName::NoisyGd;

/// The plan's steps, and whether each request makes the fewest.
fn steps(plan: &Plan) -> Result<(&NoisyGdPlan, bool)> {
    match &plan.schedule {
        Schedule::Steps { plan, fewest } => Ok((plan, *fewest)),
        _ => Err(foreign(plan)),
    }
}

/// The learner's plan with `removal` steps per request.
fn checked(plan: &Plan, constants: &Constants, removal: u64) -> Result<CheckedNoisyGd> {
    let (steps, _) = steps(plan)?;
    let steps = NoisyGdPlan { removal_steps: removal, ..steps.clone() };
    steps.check(constants).map_err(refused(NAME))
}

fn event(event: &Event) -> Result<&efface_privacy::event::NoisyGd> {
    match event.core() {
        Event::NoisyGd(event) => Ok(event),
        _ => Err(Error::storage(Code::Damaged, "the vault's event is not one of `noisy-gd`")),
    }
}

/// Learns or serves a request along what is given.
fn go(objective: &impl Steps, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
    let constants = run.constants;
    if let Start::Request(Request { weights, event: last, change, steps, .. }) = run.start {
        let plan = &checked(run.plan, constants, *steps)?;
        let (last, watch) = (event(last)?, &mut passes(Some(*steps), tell));
        return noisy_gd::request(objective, plan, last, change, weights, run.rng, watch)
            .map_err(refused(NAME));
    }
    let plan = checked(run.plan, constants, 1)?;
    let watch = &mut passes(Some(plan.plan().learning_steps), tell);
    noisy_gd::learn(objective, &plan, run.start.weights(), run.rng, watch).map_err(refused(NAME))
}

impl Mechanism for NoisyGd {
    /// In a ball the least of all bounds that a ball allows.
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

    fn bounds_weights(&self, settings: &Settings) -> bool {
        settings.radius.is_some()
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

    fn batches(
        &self,
        choices: &ValidatedSettings,
        normalizer: &Normalizer,
        records: u64,
    ) -> Option<BatchPlan> {
        batches::plan(choices, normalizer, records)
    }

    fn schedule(
        &self,
        choices: &ValidatedSettings,
        public: &Public<'_>,
        list: &mut List,
    ) -> Result<Schedule> {
        schedule::schedule(choices, public, list)
    }

    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        let (steps, _) = steps(plan)?;
        agrees(plan, steps.group, None)?;
        bounded("steps", steps.learning_steps)?;
        bounded("removal-steps", steps.removal_steps)?;
        checked(plan, constants, steps.removal_steps).map(drop)
    }

    fn can_start_anew(&self, _: &Plan) -> bool {
        false
    }

    fn repeats_steps(&self, _: &Plan) -> bool {
        true
    }

    /// Learns, or serves a request by noisy steps from the published weights.
    fn reads_windows(&self, plan: &Plan) -> bool {
        matches!(&plan.schedule, Schedule::Steps { plan, .. } if plan.batches.is_none())
    }

    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let (schedule, _) = steps(run.plan)?;
        let Some(batches) = schedule.batches else {
            let objective = &run.objective()?;
            return go(objective, run, tell);
        };
        let (done, made) = match run.start {
            Start::Request(Request { event: last, steps, .. }) => {
                (noisy_gd::steps_of(event(last)?), *steps)
            }
            _ => (0, schedule.learning_steps),
        };
        let visited = Visited::read(run.rows, &batches, done, made)?;
        let each = batches.constants(run.constants).map_err(|error| refused(NAME)(error.into()))?;
        let objective = &visited.objectives(run.constants, batches, &each)?;
        go(objective, run, tell)
    }

    /// The plan's, or the fewest steps that meet the target.
    fn removal_steps(
        &self,
        plan: &Plan,
        event: &Event,
        change: &Change<'_>,
        records: usize,
    ) -> Result<u64> {
        let (fixed, fewest) = steps(plan)?;
        if !fewest {
            return Ok(fixed.removal_steps);
        }
        let fewest = least_steps(|steps| {
            plan.target.is_met(&planned_event(plan, event, change, steps, records)?)
        })?;
        fewest.ok_or_else(|| {
            let epsilon = plan.target.epsilon;
            Error::refused(
                Code::BudgetExhausted,
                format!("no number of steps reaches epsilon {epsilon} for this request"),
            )
            .hint("delete fewer records per request, or train a new model with more noise")
        })
    }

    fn first_event(&self, plan: &Plan, constants: &Constants, records: usize) -> Result<Event> {
        let checked = checked(plan, constants, 1)?;
        let event = noisy_gd::learning_event(constants, &checked, records);
        event.map(Event::NoisyGd).map_err(refused(NAME))
    }

    fn advance(
        &self,
        plan: &Plan,
        last: &mut Event,
        change: &Change<'_>,
        steps: u64,
        records: usize,
    ) -> Result<()> {
        let constants = &plan.constants()?;
        let checked = checked(plan, constants, steps)?;
        let next = noisy_gd::next_event(constants, &checked, event(last)?, change, records);
        *last = Event::NoisyGd(next.map_err(refused(NAME))?);
        Ok(())
    }

    /// Phases state the public capacity instead of real counts.
    fn hide_counts(&self, plan: &Plan, event: &mut Event) {
        let Event::NoisyGd(event) = event else { return };
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

    fn states_counts(&self) -> bool {
        true
    }

    /// The number of steps follows the size of the request unless it is fixed, and the claim is for
    /// the public maximal group.
    fn hides_group(&self, plan: &Plan, _: &Event, records: u64) -> bool {
        let fixed = steps(plan).is_ok_and(|(_, fewest)| !fewest);
        fixed && records <= plan.setting.group
    }

    fn cost(&self, plan: &Plan, constants: &Constants, inputs: &Inputs<'_>) -> Result<Cost> {
        cost::cost(plan, constants, inputs)
    }

    fn risk(
        &self,
        plan: &Plan,
        constants: &Constants,
        inputs: &Inputs<'_>,
        steps: &[u64],
    ) -> Result<f64> {
        cost::risk(plan, constants, inputs, steps)
    }

    fn noise_risk(&self, schedule: &Schedule, constants: &Constants) -> Option<f64> {
        let Schedule::Steps { plan, .. } = schedule else { return None };
        Some(risk::noise_at_rest(constants, plan.step, plan.noise))
    }
}
