//! `objective-perturbation`: a perturbed objective and Newton removal, as published (NOT SOUND).

use efface_learn::Constants;
use efface_learn::loss::LossName;
use efface_learn::mechanism::objective_perturbation::{self as mechanism, Changed};
use efface_learn::mechanism::{Change, PerturbationPlan, Released};
use efface_privacy::accountant::Accountant;
use efface_privacy::accountant::objective::residual_budget;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Event, State, Variant};
use efface_privacy::quantity::Decimal;

use super::cost::{Cost, Inputs};
use super::search::{EXCESS_RISK, grid};
use super::{
    Defaults, Mechanism, Public, Request, Run, Start, agrees, foreign, passes, positive, refused,
};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{Choices, List, MechanismName, Plan, Schedule, origin};
use crate::settings::Settings;

/// `objective-perturbation`.
pub(super) struct ObjectivePerturbation;

const NAME: MechanismName = MechanismName::ObjectivePerturbation;

fn perturbed(plan: &Plan) -> Result<&PerturbationPlan> {
    match &plan.schedule {
        Schedule::Perturbed(perturbed) => Ok(perturbed),
        _ => Err(foreign(plan)),
    }
}

impl Mechanism for ObjectivePerturbation {
    fn defaults(&self, _: &Settings, _: Variant) -> Defaults {
        Defaults { state: State::Secret, accountant: Accountant::Objective, ..Defaults::default() }
    }

    fn takes_weights(&self) -> bool {
        false
    }

    fn check(&self, choices: &Choices) -> Result<()> {
        check(choices)
    }

    fn needs_rows(&self, _: &Choices) -> Option<&'static str> {
        Some("bounds its Newton step by individual rows")
    }

    fn schedule(
        &self,
        choices: &Choices,
        public: &Public<'_>,
        list: &mut List,
    ) -> Result<Schedule> {
        schedule(choices, public, list)
    }

    /// How far a solver can get depends on the number of records, and is checked with them.
    fn examine(&self, plan: &Plan, _: &Constants) -> Result<()> {
        let perturbed = perturbed(plan)?;
        agrees(plan, perturbed.group, None)?;
        positive([perturbed.distance, perturbed.noise, perturbed.grid])?;
        positive([perturbed.budget])
    }

    fn uses_changed_rows(&self, _: &Plan) -> bool {
        true
    }

    /// The residual is what it counts.
    fn limits_releases(&self) -> bool {
        false
    }

    /// Training from zeros, at first and at a refresh, else a Newton step.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let watch = &mut passes(None, tell);
        let objective = &run.objective()?;
        let plan = perturbed(run.plan)?.clone();
        let plan =
            &plan.check(objective.constants(), objective.records()).map_err(refused(NAME))?;
        match run.start {
            Start::Request(Request { weights, kept: Some(kept), removed, added, .. }) => {
                let (removed, added) = (&removed.data, &added.data);
                let changed = Changed { published: weights, kept, removed, added };
                mechanism::request(objective, plan, changed, run.releases, run.rng, watch)
            }
            _ => mechanism::train(objective, plan, run.releases, run.rng, watch),
        }
        .map_err(refused(NAME))
    }

    fn first_event(&self, plan: &Plan, _: &Constants, _: usize) -> Result<Event> {
        Err(uncertified(plan))
    }

    fn advance(
        &self,
        plan: &Plan,
        event: &mut Event,
        _: &Change<'_>,
        _: u64,
        _: usize,
    ) -> Result<()> {
        let Event::ObjectivePerturbation(event) = event else { return Err(foreign(plan)) };
        event.releases += 1;
        Ok(())
    }

    fn cost(&self, plan: &Plan, _: &Constants, _: &Inputs<'_>) -> Result<Cost> {
        Err(uncertified(plan))
    }
}

fn uncertified(plan: &Plan) -> Error {
    Error::refused(Code::Plan, format!("`{}` is never certified", plan.mechanism.name()))
}

/// What `objective-perturbation` is published for, and nothing else.
fn check(choices: &Choices) -> Result<()> {
    let s = &choices.settings;
    let rules = [
        (
            choices.state == State::Secret,
            "`§state perfect`",
            "leave it out: its perturbation is kept in secret state",
        ),
        (
            choices.loss == LossName::Logistic,
            "another loss than `logistic`",
            "use `§loss logistic`",
        ),
        (
            choices.notion == Notion::IndistinguishableFromRetraining,
            "another notion than `indistinguishable-from-retraining`",
            "leave out `§notion`; its claims are never valid anyway",
        ),
        (
            choices.accountant == Accountant::Objective,
            "another accountant than `objective`",
            "leave out `§accountant`",
        ),
        (choices.epsilon <= 1.0, "an epsilon above 1", "its theorem is stated for epsilon up to 1"),
        (s.releases.is_none(), "`§releases`", "leave it out: the residual is what it counts"),
        (choices.given.is_none(), "an extractor", "use `§mechanism solve`"),
    ];
    match rules.into_iter().find(|(holds, ..)| !holds) {
        None => Ok(()),
        Some((_, what, hint)) => Err(Error::refused(
            Code::Settings,
            format!("`objective-perturbation` is not offered with {what}"),
        )
        .hint(hint)),
    }
}

/// The trainer of `objective-perturbation` may leave this share of the budget.
const TRAINING_SHARE: f64 = 0.01;

/// Noise, budget and distance of `objective-perturbation`, by its published theorem.
fn schedule(choices: &Choices, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
    let s = &choices.settings;
    let m = public.setting.strong_convexity.0;
    let n = public.setting.normalizer.divisor(public.records) as f64;
    let parameters = public.setting.parameters as f64;
    // (b/N).w moves the optimum by at most |b|/(N lambda), at an expected risk of d sigma^2 /
    // (2 N^2 lambda).
    let sigma = s.noise.unwrap_or_else(|| {
        let risk = s.excess_risk.unwrap_or(EXCESS_RISK);
        n * (2.0 * m * risk / parameters).sqrt()
    });
    let spacing = grid(sigma, 0.0)?;
    let (epsilon, delta) = (public.target.epsilon.0, public.target.delta.0);
    let budget = residual_budget(spacing.noise, epsilon, delta)
        .map_err(|error| Error::refused(Code::Accounting, error.to_string()))?
        * (1.0 - 1e-8);
    let distance = TRAINING_SHARE * budget / (n * m);
    let noise_origin = origin(s.noise.is_some(), &[public.size_origin]);
    list.add("noise", Decimal(spacing.noise), noise_origin);
    list.add(
        "residual-budget",
        Decimal(budget),
        origin(false, &[noise_origin, public.size_origin]),
    );
    list.add("distance", Decimal(distance), origin(false, &[noise_origin, public.size_origin]));
    Ok(Schedule::Perturbed(PerturbationPlan {
        noise: spacing.noise,
        grid: spacing.spacing,
        budget,
        distance,
        group: public.setting.group,
        solver: choices.solver(),
    }))
}
