//! The engine's refusals for what the learner refuses.

use efface_learn::mechanism::MechanismError;
use efface_learn::solver::SolveError;

use crate::error::{Code, Error, Result};
use crate::plan::MechanismName;

/// The engine's refusal for what a mechanism of the learner refuses.
pub(crate) fn refused(name: MechanismName) -> impl Fn(MechanismError) -> Error {
    use MechanismError as E;
    move |error| {
        let text = error.to_string();
        match error {
            _ if error.is_cancelled() => Error::interrupted(),
            E::Releases { .. } => Error::refused(Code::ReleasesExhausted, text)
                .hint("run `§efface refresh` to start a new count"),
            E::Kept(_) | E::Memory(_) => Error::storage(Code::Damaged, text)
                .hint("`§efface refresh` continues without what is kept"),
            E::Sums(_) | E::Foreign(_) | E::Records { .. } => {
                Error::storage(Code::Damaged, text).hint("restore the vault from a backup")
            }
            E::Fraction(_) => Error::refused(Code::Weights, text)
                .hint("give counts as weights, or use `§mechanism solve`, which takes any weight"),
            E::Rows(text) => Error::storage(Code::Damaged, text),
            E::Keys { .. } => Error::storage(Code::Damaged, text),
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

/// A refusal of settings that exclude each other: what, the rule, what to do.
pub(crate) fn clash(what: &str, rule: &str, hint: &str) -> Result<()> {
    Err(Error::refused(Code::Settings, format!("{what} {rule}")).hint(hint))
}
