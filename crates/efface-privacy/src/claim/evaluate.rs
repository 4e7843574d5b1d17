//! From an event, a question and an accountant to a claim.

use super::{Claim, Notion, Question, in_words};
use crate::accountant::Accountant;
use crate::accountant::gdp::AccountantError;
use crate::accountant::pld::PldError;
use crate::event::{Event, Normalizer};
use crate::quantity::{Decimal, QuantityError};

/// Why an event does not support a claim.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClaimError {
    /// The accountant refused the event.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// The distribution of losses was not computed.
    #[error(transparent)]
    Losses(#[from] PldError),
    /// A parameter is out of range.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// A claim lacks a field.
    #[error("a `{notion}` claim needs `{name}`, which is missing")]
    Missing {
        /// The notion claimed.
        notion: &'static str,
        /// The missing field.
        name: &'static str,
    },
    /// The notion cannot be had.
    #[error("`{notion}` cannot be claimed: {reason}")]
    Unavailable {
        /// The notion asked for.
        notion: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

/// Answers a question about an event with a claim whose numbers err upward.
///
/// Each event knows which accountants can bound it and for which notions (see
/// [`crate::accountant`]).
///
/// # Errors
/// Fails if the event is malformed, the parameters are out of range, the notion is not one the event can
/// earn, or the accountant does not know the event.
pub fn evaluate(
    event: &Event,
    question: &Question,
    accountant: Accountant,
) -> Result<Claim, ClaimError> {
    let account = event.account();
    let (facts, bound) = (account.facts(), account.bound(question, accountant)?);
    let terms = bound.terms;
    let (delta, order, adjacency) = question.parameters();
    let mut claim = Claim {
        notion: Notion::of(question),
        epsilon: Decimal(bound.epsilon.get()),
        rdp_epsilon: bound.rdp_epsilon.map(|epsilon| Decimal(epsilon.get())),
        delta: delta.map(Decimal),
        mu: bound.mu.map(|mu| Decimal(mu.get())),
        order: order.map(Decimal),
        group: terms.group,
        adjacency,
        // A network's sums are divided by a public constant, too.
        normalizer: match facts.setting.map(|setting| setting.normalizer) {
            Some(Normalizer::Mean { .. }) => "mean",
            Some(Normalizer::Fixed { .. }) | None => "fixed",
        }
        .to_owned(),
        reference: terms.reference.to_owned(),
        requests: terms.requests,
        state: facts.state,
        releases: bound.releases,
        accountant,
        theorem: terms.theorem.to_owned(),
        advantage: Decimal(bound.advantage),
        words: String::new(),
    };
    claim.words = in_words(&claim);
    Ok(claim)
}
