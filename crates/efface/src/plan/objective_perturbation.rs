//! The plan of `objective-perturbation`: what it is published for, and its numbers.

use efface_learn::loss::LossName;
use efface_privacy::accountant::Accountant;
use efface_privacy::accountant::objective::residual_budget;
use efface_privacy::claim::Notion;
use efface_privacy::event::State;
use efface_privacy::quantity::Decimal;

use super::constants::{Constants as List, origin};
use super::schedule::{EXCESS_RISK, Public, grid};
use super::{Choices, MechanismName, Schedule};
use crate::error::{Error, Result};

/// What `objective-perturbation` is published for, and nothing else.
pub(super) fn check(choices: &Choices) -> Result<()> {
    let s = &choices.settings;
    if choices.mechanism != MechanismName::ObjectivePerturbation {
        return Ok(());
    }
    let rules = [
        (
            choices.state == State::Secret,
            "`--state perfect`",
            "leave it out: its perturbation is kept in secret state",
        ),
        (
            choices.loss == LossName::Logistic,
            "another loss than `logistic`",
            "use `--loss logistic`",
        ),
        (
            choices.notion == Notion::IndistinguishableFromRetraining,
            "another notion than `indistinguishable-from-retraining`",
            "leave out `--notion`; its claims are never valid anyway",
        ),
        (
            choices.accountant == Accountant::Objective,
            "another accountant than `objective`",
            "leave out `--accountant`",
        ),
        (choices.epsilon <= 1.0, "an epsilon above 1", "its theorem is stated for epsilon up to 1"),
        (s.releases.is_none(), "`--releases`", "leave it out: the residual is what it counts"),
        (choices.given.is_none(), "an extractor", "use `--mechanism solve`"),
    ];
    match rules.into_iter().find(|(holds, ..)| !holds) {
        None => Ok(()),
        Some((_, what, hint)) => Err(Error::refused(
            "settings",
            format!("`objective-perturbation` is not offered with {what}"),
        )
        .hint(hint)),
    }
}

/// The trainer of `objective-perturbation` may leave this share of the budget.
const TRAINING_SHARE: f64 = 0.01;

/// Noise, budget and distance of `objective-perturbation`, by its published theorem.
pub(super) fn schedule(
    choices: &Choices,
    public: &Public<'_>,
    list: &mut List,
) -> Result<Schedule> {
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
        .map_err(|error| Error::refused("accounting", error.to_string()))?
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
    Ok(Schedule::Perturbed {
        noise: Decimal(spacing.noise),
        grid: Decimal(spacing.spacing),
        budget: Decimal(budget),
        distance: Decimal(distance),
    })
}
