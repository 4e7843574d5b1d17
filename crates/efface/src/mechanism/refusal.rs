//! Translates refusals of the learner into those of the engine.

use efface_learn::mechanism::MechanismError;
use efface_learn::solver::SolveError;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::State;

use crate::error::{Code, Error, Result};
use crate::plan::{MechanismName, ValidatedSettings};

/// Returns the engine's error for a mechanism error of the learner.
pub(crate) fn refused(name: MechanismName) -> impl Fn(MechanismError) -> Error {
    use MechanismError as E;
    move |error| {
        let text = error.to_string();
        match error {
            _ if error.is_cancelled() => Error::interrupted(),
            E::Releases { .. } => Error::refused(Code::ReleasesExhausted, text)
                .hint("run `§efface refresh` to start a new count"),
            E::Kept(_) => Error::storage(Code::Damaged, text)
                .hint("`§efface refresh` continues without what is kept"),
            E::Sums(_) => {
                Error::storage(Code::Damaged, text).hint("restore the vault from a backup")
            }
            E::Fraction(_) => Error::refused(Code::Weights, text)
                .hint("give counts as weights, or use `§mechanism solve`, which takes any weight"),
            E::Rows(text) => Error::storage(Code::Damaged, text),
            E::Keys(_) => Error::storage(Code::Damaged, text),
            E::Solve(SolveError::Unattainable { least, .. }) if least.is_infinite() => {
                Error::refused(
                    Code::By(name),
                    "no distance to the optimum can be certified in float64 for data sets this \
                     large",
                )
                .hint("lower `§capacity` or `§row-norm`, or raise `§lambda`")
            }
            E::Solve(SolveError::Unattainable { .. }) => Error::refused(Code::By(name), text)
                .hint("raise `§noise`, `§excess-risk` or `§lambda`"),
            _ => Error::refused(Code::By(name), text),
        }
    }
}

/// Refuses settings that are useless to a mechanism with exact removal and no randomness.
pub(super) fn exact_alone(choices: &ValidatedSettings) -> Result<()> {
    let (s, name) = (&choices.settings, choices.mechanism.name());
    // What a network learnt from a record is not removed exactly.
    let network = choices.learnt_features();
    let exact = choices.notion == Notion::ExactRemoval || network;
    if !exact || choices.accountant != Accountant::Exact {
        return clash(
            &format!("`{name}`"),
            "supports only `exact-removal`, by the accountant `exact`: it adds no noise",
            "leave out `§notion` and `§accountant`, or use `§mechanism solve`",
        );
    }
    if choices.state == State::Secret {
        return clash(
            &format!("`{name}` with `§state secret`"),
            "is not offered: what it keeps depends on the remaining records only",
            "leave out `§state`",
        );
    }
    let noise = "it draws no noise";
    let without_use = [
        ("epsilon", s.epsilon.is_some() && !network, "removal is exact, epsilon is 0"),
        ("delta", s.delta.is_some() && !network, "removal is exact"),
        ("order", s.order.is_some(), "removal is exact"),
        ("interactions", s.interactions.is_some(), "the promise holds for adaptive requests too"),
        ("releases", s.releases.is_some(), "every release is accounted for separately"),
        ("max-group", s.max_group.is_some(), "the promise holds for any number of records"),
        ("noise", s.noise.is_some(), noise),
        ("excess-risk", s.excess_risk.is_some(), noise),
        ("seed", s.seed.is_some(), "it draws no random numbers"),
        (
            "extractor-privacy",
            s.extractor_privacy.is_some(),
            "the effect of an extractor that saw the records is not removed exactly",
        ),
    ];
    let given = without_use.into_iter().find(|(_, given, _)| *given);
    given.map_or(Ok(()), |(setting, _, reason)| pointless(setting, choices.mechanism, reason))
}

/// Refuses a setting that a mechanism has no use for.
pub(super) fn pointless(setting: &str, mechanism: MechanismName, reason: &str) -> Result<()> {
    let rule = format!("has no meaning with `{}`: {reason}", mechanism.name());
    clash(&format!("`§{setting}`"), &rule, "leave it out")
}

/// Refuses settings that exclude each other: what, the rule, what to do.
pub(crate) fn clash(what: &str, rule: &str, hint: &str) -> Result<()> {
    Err(Error::refused(Code::Settings, format!("{what} {rule}")).hint(hint))
}
