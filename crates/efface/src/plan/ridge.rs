//! The plan of `ridge`: what it takes, and its public constants.

use efface_learn::loss::LossName;
use efface_learn::mechanism::RidgePlan;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::State;

use super::check::clash;
use super::constants::{Constants as List, origin};
use super::schedule::Public;
use super::{Choices, MechanismName, Schedule};
use crate::error::{Error, Result};

/// Refuses settings that `ridge` has no use for, and `exact-removal` of other mechanisms.
pub(super) fn check(choices: &Choices) -> Result<()> {
    let s = &choices.settings;
    let exact = choices.notion == Notion::ExactRemoval;
    if choices.mechanism != MechanismName::Ridge {
        if exact {
            return clash(
                "`--notion exact-removal`",
                "is possible with `ridge` only: other mechanisms release something random",
                "use `--mechanism ridge --loss squared`, or leave out `--notion`",
            );
        }
        return Ok(());
    }
    if choices.loss != LossName::Squared {
        return clash(
            &format!("`ridge` with the loss `{}`", choices.loss.name()),
            "is not offered: only the squared loss can be solved from sums",
            "give `--loss squared` and `--target-range`",
        );
    }
    if !exact || choices.accountant != Accountant::Exact {
        return clash(
            "`ridge`",
            "supports only `exact-removal`, by the accountant `exact`: it adds no noise",
            "leave out `--notion` and `--accountant`, or use `--mechanism solve`",
        );
    }
    if choices.state == State::Secret {
        return clash(
            "`ridge` with `--state secret`",
            "is not offered: what it keeps depends on the remaining records only",
            "leave out `--state`",
        );
    }
    let pointless = [
        ("epsilon", s.epsilon.is_some(), "removal is exact, epsilon is 0"),
        ("delta", s.delta.is_some(), "removal is exact"),
        ("order", s.order.is_some(), "removal is exact"),
        ("interactions", s.interactions.is_some(), "the promise holds for adaptive requests too"),
        ("releases", s.releases.is_some(), "every release is accounted for by itself"),
        ("max-group", s.max_group.is_some(), "the promise holds for any number of records"),
        ("noise", s.noise.is_some(), "`ridge` draws no noise"),
        ("excess-risk", s.excess_risk.is_some(), "`ridge` draws no noise"),
        ("seed", s.seed.is_some(), "`ridge` draws no random numbers"),
        ("solver", s.solver.is_some(), "`ridge` solves in one fixed order"),
        ("radius", s.radius.is_some(), "lambda alone bounds the weights"),
        ("start", s.start.is_some(), "it solves from the sums alone"),
        (
            "extractor-privacy",
            s.extractor_privacy.is_some(),
            "the effect of an extractor that saw the records is not removed exactly",
        ),
        (
            "clip",
            s.clip.is_some_and(f64::is_finite),
            "with a clip the loss cannot be solved from sums",
        ),
    ];
    for (name, given, reason) in pointless {
        if given {
            let rule = format!("has no meaning with `ridge`: {reason}");
            return clash(&format!("`--{name}`"), &rule, "leave it out");
        }
    }
    Ok(())
}

/// Lists the grids that rows and targets are rounded to.
pub(super) fn schedule(public: &Public<'_>, list: &mut List) -> Result<Schedule> {
    let plan = RidgePlan::new(public.constants.clone())
        .map_err(|error| Error::refused("ridge", error.to_string()))?;
    let event = plan.event(1);
    for (name, value) in [("row-bound", event.row_bound), ("target-bound", event.target_bound)] {
        list.add(name, value, origin(false, &[]));
    }
    for (name, value) in [("row-grid", event.row_grid), ("target-grid", event.target_grid)] {
        list.add(name, value, origin(false, &[public.normalizer_origin]));
    }
    Ok(Schedule::Sums)
}
