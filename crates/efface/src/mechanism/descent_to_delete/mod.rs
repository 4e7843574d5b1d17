//! `descent-to-delete`: gradient steps in a ball, published with noise once at the end.

mod schedule;

use efface_learn::Constants;
use efface_learn::mechanism::descent::{self, CheckedDescent};
use efface_learn::mechanism::{DescentPlan, Released};
use efface_privacy::accountant::Accountant;
use efface_privacy::event::{Descent, Event, State, Variant};

use super::{
    Conduct, Defaults, Mechanism, NextRequest, Profile, Public, Request, Run, Scheduled, Start,
    agrees, bounded, passes, refused,
};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, Plan, Schedule, ValidatedSettings};
use crate::settings::Settings;

pub(super) struct DescentToDelete;

const NAME: MechanismName = MechanismName::DescentToDelete;

fn checked(steps: &DescentPlan, constants: &Constants) -> Result<CheckedDescent> {
    steps.clone().check(constants).map_err(refused(NAME))
}

pub(crate) fn event(event: &Event) -> Result<&Descent> {
    match event.core() {
        Event::Descent(event) => Ok(event),
        _ => Err(Error::storage(
            Code::Damaged,
            "the vault's event is not one of `descent-to-delete`",
        )),
    }
}

impl Mechanism for DescentToDelete {
    /// The number of steps reveals the size of a request; after a withdrawal a model that starts from weights
    /// 0 continues the history.
    fn profile(&self) -> Profile {
        Profile { tells_sizes: true, continues_history: true, ..Profile::default() }
    }

    /// The state follows from the variant.
    fn defaults(&self, _: &Settings, variant: Variant) -> Defaults {
        Defaults { state: variant.state(), ..Defaults::default() }
    }

    fn check(&self, choices: &ValidatedSettings) -> Result<()> {
        check(choices)
    }

    fn lambda(
        &self,
        choices: &ValidatedSettings,
        constants: &Constants,
        n: u64,
        delta: f64,
    ) -> Result<Option<f64>> {
        schedule::lambda(choices, constants, n, delta)
    }

    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
        schedule::schedule(public, list)
    }
}

impl Scheduled for DescentPlan {
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        agrees(plan, self.group, Some(self.joint_releases))?;
        bounded("steps", self.learning_steps)?;
        bounded("iterations", self.iterations)?;
        if self.variant.state() != plan.state {
            return Err(Error::storage(
                Code::Damaged,
                "its variant keeps another state than the plan",
            ));
        }
        checked(self, constants).map(drop)
    }

    fn conduct(&self, plan: &Plan) -> Conduct {
        let perfect = plan.state == State::Perfect;
        Conduct {
            reads_windows: true,
            repeats_steps: perfect && plan.target.accountant != Accountant::Descent,
            never_restarts: perfect,
            ..Conduct::default()
        }
    }

    /// Learns, serves a request, or (a refresh) learns again from the published weights.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let total = matches!(run.start, Start::Nothing).then_some(self.learning_steps);
        let watch = &mut passes(total, tell);
        let objective = &run.objective()?;
        let checked = &checked(self, objective.constants())?;
        match run.start {
            Start::Nothing => descent::learn(objective, checked, run.rng, watch),
            Start::Request(Request { weights, event: last, kept, change, .. }) => {
                let last = event(last)?;
                if run.plan.state == State::Secret && kept.is_none() {
                    descent::refresh(objective, checked, last, weights, run.rng, watch)
                } else {
                    let (rng, kept) = (run.rng, *kept);
                    descent::request(objective, checked, last, change, weights, kept, rng, watch)
                }
            }
            Start::Given(_) => {
                let text = "`descent-to-delete` starts from zeros";
                return Err(Error::refused(Code::Start, text).hint("leave out `§start`"));
            }
        }
        .map_err(refused(NAME))
    }

    fn first_event(&self, _: &Plan, constants: &Constants, records: usize) -> Result<Event> {
        let checked = checked(self, constants)?;
        descent::first_event(constants, &checked, records, 1)
            .map(Event::Descent)
            .map_err(refused(NAME))
    }

    fn advance(&self, last: &mut Event, next: &NextRequest<'_>, _: u64) -> Result<()> {
        let NextRequest { plan, change, records } = *next;
        let constants = &plan.constants()?;
        let checked = checked(self, constants)?;
        let next = descent::next_event(constants, &checked, event(last)?, &change, records);
        *last = Event::Descent(next.map_err(refused(NAME))?);
        Ok(())
    }

    fn hides_group(&self, plan: &Plan, event: &Event, records: u64) -> bool {
        let one = self::event(event).is_ok_and(Descent::one_update_each);
        one && records <= plan.setting.group
    }
}

/// Checks what the variants of `descent-to-delete` need and exclude.
fn check(choices: &ValidatedSettings) -> Result<()> {
    let s = &choices.settings;
    let name = choices.variant.name();
    let refuse = |what: String, hint: &str| Err(Error::refused(Code::Settings, what).hint(hint));
    if choices.state != choices.variant.state() {
        let kept = if choices.variant.state() == State::Secret { "secret" } else { "perfect" };
        return refuse(
            format!("`§variant {name}` keeps `{kept}` state, and `§state` says otherwise"),
            "leave out `§state`",
        );
    }
    if choices.variant == Variant::Weak {
        let xi = s.xi.unwrap_or(1.0);
        if !(1.0..=16.0).contains(&xi) {
            return Err(Error::input(
                Code::Range,
                format!(
                    "`xi` of `descent-to-delete` (update i has i^(2 xi) times the steps of the first) must be in [1, 16], got {xi}"
                ),
            ));
        }
    } else if s.xi.is_some() {
        return refuse(
            format!(
                "`§xi` makes the steps of `§variant weak` grow, and `{name}` \
                 has no growing steps"
            ),
            "leave it out",
        );
    }
    if choices.variant.chooses_lambda() && s.diameter.is_none() {
        return refuse(
            format!("`§variant {name}` chooses lambda from the diameter of the ball"),
            "give `§diameter`, twice the largest norm that useful weights may have",
        );
    }
    if !matches!(choices.accountant, Accountant::Gdp | Accountant::Descent) {
        return refuse(
            format!(
                "the accountant `{}` does not apply to `descent-to-delete`",
                choices.accountant.name()
            ),
            "use `gdp` (tight) or `descent` (as published)",
        );
    }
    Ok(())
}
