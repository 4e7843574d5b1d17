//! Claims of a model on the features of a network trained by DP-SGD, here or as is declared: both
//! together.

use super::account::{Bound, Terms, unaccounted, unavailable};
use super::words::{NEIGHBOURS_ELSEWHERE, RETRAINED_ELSEWHERE};
use super::{ClaimError, Question, Requests};
use crate::accountant::gdp::AccountantError;
use crate::accountant::{Accountant, pld};
use crate::event::{
    Adjacency, Composed, DeclaredTraining, DpSgd, Event, Given, Stated, Unit, What,
};
use crate::outward;
use crate::quantity::Mu;

const RETRAINED: &str = "the network's segments of steps from the same start, with the records \
    deleted so far in none of them and all others as they were, and the model retrained on its \
    features of the data after the request";
const NEIGHBOURS: &str = "the same releases, with the trainings of the network, from data that \
    differ in the protected records";
const THEOREM: &str = "distributions of privacy losses of the network's steps, for groups by \
    Kahane's inequality, composed on a grid (Doroshenko et al., 2022) with the Gaussian of what the \
    accountant says from every network, held against Rényi divergences of whole orders";

const THEOREM_ELSEWHERE: &str = "distributions of privacy losses of the steps that are declared, for \
    groups by Kahane's inequality, composed on a grid (Doroshenko et al., 2022) with the Gaussian of \
    what the accountant says from every extractor, held against Rényi divergences of whole orders";

/// Maps the names of a network's own figures to those of a given training.
const NAMES: [(&str, &str); 6] = [
    ("unit", "given-unit"),
    ("rows-per-unit", "given-rows-per-unit"),
    ("clip", "given-clip"),
    ("noise", "given-noise"),
    ("gradient-grid", "given-gradient-grid"),
    ("rate", "given-rate"),
];

/// Returns the numbers of a training that was given, by the names certificates list them under.
#[must_use]
pub fn constants(training: &DpSgd) -> Vec<(&'static str, String)> {
    let numbers = pld::event::constants(training).into_iter();
    let mut list: Vec<_> = numbers
        .filter_map(|(name, number)| {
            NAMES.iter().find(|(own, _)| *own == name).map(|(_, given)| (*given, number))
        })
        .collect();
    list.push(("given-parameters", training.parameters.to_string()));
    list.push(("given-steps", training.steps().to_string()));
    list.push(("given-deleted", training.deleted().to_string()));
    list.push(("given-earlier-steps", training.earlier_steps.to_string()));
    list
}

/// Returns the numbers of a training that is declared, by the names certificates list them under.
#[must_use]
pub fn declared_constants(training: &DeclaredTraining) -> Vec<(&'static str, String)> {
    let mut list = vec![
        ("given-training", training.listed()),
        ("given-steps", training.steps().to_string()),
        ("given-deleted", training.deleted.to_string()),
    ];
    list.extend(training.clip.map(|clip| ("given-clip", clip.to_string())));
    list
}

/// A training is no figure, makes features, and counts records.
pub(super) fn check(given: &Given) -> Result<(), AccountantError> {
    let malformed = |name, rule, got: String| Err(AccountantError::Malformed { name, rule, got });
    let figures = [given.epsilon, given.delta, given.mu];
    if let Some(figure) = figures.into_iter().flatten().next() {
        let rule = "without epsilon, delta and mu beside a training, from which they follow";
        return malformed("given", rule, figure.to_string());
    }
    if given.group != 1 {
        return malformed("given.group", "1 beside a training", given.group.to_string());
    }
    if given.what != What::Extractor {
        let rule = "`extractor` beside a training";
        return malformed("given.what", rule, given.what.name().to_owned());
    }
    match (&given.training, &given.declared) {
        (Some(training), None) => {
            if training.unit != Unit::Record {
                // A record less of a subject changes what the subject contributes: no removal of a
                // unit.
                let rule = "`record`: what is deleted here are records";
                return malformed("given.training.unit", rule, training.unit.name().to_owned());
            }
            pld::event::check(training)
        }
        (None, Some(declared)) => pld::declared::check(declared),
        _ => malformed("given", "one training", "two".to_owned()),
    }
}

/// Returns the joint bound: the network's losses with the Gaussian of what was built on it.
pub(super) fn bound(
    event: &Composed,
    question: &Question,
    accountant: Accountant,
) -> Result<Bound, ClaimError> {
    let inner = event.inner.account();
    let elsewhere = event.given.declared.is_some();
    let theorem = if elsewhere { THEOREM_ELSEWHERE } else { THEOREM };
    let untrained = || unaccounted(accountant, "nothing was trained that is given");
    match *question {
        Question::Indistinguishable { delta } => {
            let removed = event.removed.ok_or_else(|| {
                unaccounted(accountant, "the number of deleted records is private here")
            })?;
            let found = pld::declared::deleted_since(&event.given, removed)?;
            let (segments, deleted) = found.ok_or_else(untrained)?;
            let (mu, releases) = if let Event::ExactRemoval(_) = *event.inner {
                // A function of the network and the records after the request.
                (outward::mu(0.0), inner.bound(&Question::Exact, accountant)?.releases)
            } else {
                let whole = inner.bound(question, accountant)?;
                (gaussian(question, whole.mu)?, whole.releases)
            };
            let terms = Terms {
                requests: Requests::NonAdaptive,
                group: deleted.to_string(),
                reference: if elsewhere { RETRAINED_ELSEWHERE } else { RETRAINED },
                theorem,
            };
            let bound = Bound::of_losses(&segments, mu, delta, Adjacency::Remove, terms)?;
            Ok(Bound { releases, ..bound })
        }
        Question::Differential { delta, adjacency } => {
            let group = event.facts().group;
            let whole = inner.bound(question, accountant)?;
            let mu = gaussian(question, whole.mu)?;
            let segments = pld::declared::group_of(&event.given, group)?.ok_or_else(untrained)?;
            let terms = Terms {
                requests: whole.terms.requests,
                group: group.to_string(),
                reference: if elsewhere { NEIGHBOURS_ELSEWHERE } else { NEIGHBOURS },
                theorem,
            };
            let bound = Bound::of_losses(&segments, mu, delta, adjacency, terms)?;
            Ok(Bound { releases: whole.releases, ..bound })
        }
        Question::Renyi { .. } | Question::Deletion { .. } => Err(unavailable(
            question,
            "divergences of a network's steps are known in one direction only, with the records \
             against without: see `indistinguishable-from-retraining`",
        )),
        Question::Exact => Err(unavailable(
            question,
            "the network that makes the features keeps what it learnt from deleted records, \
             hidden by noise",
        )),
    }
}

fn gaussian(question: &Question, mu: Option<Mu>) -> Result<Mu, ClaimError> {
    mu.ok_or_else(|| {
        unavailable(question, "a network's losses compose with an accountant that has a mu")
    })
}

#[cfg(test)]
mod tests;
