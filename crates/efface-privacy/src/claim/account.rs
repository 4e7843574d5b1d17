//! What every event must be able to say about itself, so that claims follow from it alone.

use super::{ClaimError, Notion, Question, Requests};
use crate::accountant::Accountant;
use crate::accountant::gdp::{AccountantError, World};
use crate::event::{Event, State, Stated};
use crate::quantity::{Delta, Epsilon, Mu, RenyiOrder};
use crate::{advantage, gaussian, rdp};

/// An event as accountants and certificates see it.
pub(crate) trait Account: Stated {
    /// The event's own public constants, by the names certificates list them under.
    fn constants(&self) -> Vec<(&'static str, String)>;

    /// The answer of one accountant to one question.
    ///
    /// # Errors
    /// A malformed event, a parameter out of range, a notion or accountant that does not fit.
    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError>;

    /// Whether the event states how many records there are or were touched.
    ///
    /// # Errors
    /// When a public row count is part of what the event means.
    fn states_counts(&self) -> Result<bool, String>;

    /// Whether the work of every request follows from the constants listed, never from the
    /// request's size. `listed` looks a constant up.
    ///
    /// # Errors
    /// Which constant the event does not follow.
    fn steps_are_fixed(
        &self,
        listed: &dyn Fn(&'static str) -> Result<String, String>,
    ) -> Result<(), String>;
}

impl Event {
    /// What accountants and certificates ask of any event.
    pub(crate) fn account(&self) -> &dyn Account {
        match self {
            Self::OutputNoise(event) => event,
            Self::NoisyGd(event) => event,
            Self::DistributedDescent(event) => event,
            Self::Descent(event) => event,
            Self::Composed(event) => event,
            Self::ExactRemoval(event) => event,
            Self::DpSgd(event) => event,
            Self::Shards(event) => event,
        }
    }
}

/// What an accountant proves: everything about a claim that the question does not say.
pub(crate) struct Bound {
    pub(crate) epsilon: Epsilon,
    /// What Rényi divergences of whole orders say, where epsilon is of distributions of losses.
    pub(crate) rdp_epsilon: Option<Epsilon>,
    /// The mu of Gaussian DP behind it, where there is one.
    pub(crate) mu: Option<Mu>,
    pub(crate) advantage: f64,
    pub(crate) requests: Requests,
    /// Releases covered jointly.
    pub(crate) releases: u64,
    /// Records protected together: a number, with `subjects` where they are units, or `any`.
    pub(crate) group: String,
    pub(crate) reference: &'static str,
    pub(crate) theorem: &'static str,
}

/// What a claim says beyond its numbers.
pub(crate) struct Terms {
    /// Which requests closeness to retraining holds for.
    pub(crate) requests: Requests,
    pub(crate) group: String,
    pub(crate) reference: &'static str,
    pub(crate) theorem: &'static str,
}

/// The bound of an event that some mu of Gaussian DP describes in every world asked for.
pub(crate) fn gaussian_bound(
    event: &dyn Account,
    question: &Question,
    terms: Terms,
    mu: impl Fn(World) -> Result<Mu, AccountantError>,
) -> Result<Bound, ClaimError> {
    let Terms { requests: unlearning, group, reference, theorem } = terms;
    let facts = event.facts();
    let draft = |epsilon, mu, requests, releases| Bound {
        epsilon,
        rdp_epsilon: None,
        mu: Some(mu),
        advantage: advantage::from_mu(mu),
        requests,
        releases,
        group: group.clone(),
        reference,
        theorem,
    };
    Ok(match *question {
        Question::Indistinguishable { delta } => {
            let mu = mu(World::Retraining)?;
            draft(epsilon_at(mu, delta)?, mu, unlearning, facts.joint_releases)
        }
        Question::Renyi { order } => {
            let order = RenyiOrder::new(order)?;
            let mu = mu(World::Retraining)?;
            draft(rdp::from_mu(mu, order), mu, unlearning, facts.joint_releases)
        }
        Question::Deletion { order, adjacency, requests } => {
            let order = RenyiOrder::new(order)?;
            refuse_secret(event)?;
            let at_rest = mu(World::DeletionPrivacy(adjacency))?;
            let one = || {
                let dp = mu(World::DifferentialPrivacyOneRelease(adjacency))?;
                Ok(rdp::from_mu(dp, order).get())
            };
            let epsilon = adaptive(event, requests, rdp::from_mu(at_rest, order).get(), one)?;
            let advantage = advantage::from_deletion_privacy(order, epsilon);
            Bound { advantage, ..draft(epsilon, at_rest, requests, 1) }
        }
        Question::Differential { delta, adjacency } => {
            let mu = mu(World::DifferentialPrivacyAllReleases(adjacency))?;
            draft(epsilon_at(mu, delta)?, mu, Requests::Any, facts.releases)
        }
        Question::Exact => return Err(random()),
    })
}

/// Deletion-privacy needs `perfect` state.
pub(crate) fn refuse_secret(event: &dyn Account) -> Result<(), ClaimError> {
    if event.facts().state == State::Perfect {
        return Ok(());
    }
    Err(ClaimError::Unavailable {
        notion: Notion::DeletionPrivacy.name(),
        reason: "it needs `perfect` state, but this model keeps `secret` state",
    })
}

/// Deletion-privacy for the requests asked about: `at_rest` plus, for each release a requester may
/// have seen, the Rényi DP of one release.
pub(crate) fn adaptive(
    event: &dyn Account,
    requests: Requests,
    at_rest: f64,
    one_release: impl Fn() -> Result<f64, ClaimError>,
) -> Result<Epsilon, ClaimError> {
    let unavailable =
        |reason| ClaimError::Unavailable { notion: Notion::DeletionPrivacy.name(), reason };
    let epsilon = match requests {
        Requests::NonAdaptive => at_rest,
        Requests::PAdaptive(p) if p.saturating_add(1) < event.facts().releases => {
            return Err(unavailable("more releases were made before it than `p-adaptive` allows"));
        }
        Requests::PAdaptive(p) => (at_rest + p as f64 * one_release()?) * (1.0 + 1e-15),
        Requests::Any => {
            return Err(unavailable("`requests` must be `non-adaptive` or `p-adaptive`"));
        }
    };
    Ok(Epsilon::new(epsilon)?)
}

/// The bound of what is bit for bit a function of the records after the request, and has no noise.
pub(crate) fn exactly(
    question: &Question,
    reference: &'static str,
    theorem: &'static str,
) -> Result<Bound, ClaimError> {
    let reason = match question {
        Question::Exact => {
            return Ok(Bound {
                epsilon: Epsilon::new(0.0)?,
                rdp_epsilon: None,
                mu: None,
                advantage: 0.0,
                requests: Requests::Any,
                releases: 1,
                group: "any".to_owned(),
                reference,
                theorem,
            });
        }
        Question::Differential { .. } => "nothing hides the remaining records: no noise is drawn",
        _ => "removal is exact here: see `exact-removal`",
    };
    Err(ClaimError::Unavailable { notion: Notion::of(question).name(), reason })
}

/// The refusal of an accountant that does not know the event.
pub(crate) fn unaccounted(accountant: Accountant, reason: &'static str) -> ClaimError {
    ClaimError::Accountant(AccountantError::Unsupported { notion: accountant.name(), reason })
}

/// The refusal of `exact-removal` where something random is released.
pub(crate) fn random() -> ClaimError {
    ClaimError::Unavailable {
        notion: Notion::ExactRemoval.name(),
        reason: "only `ridge` and `shards` keep a state that is bit for bit the one without the records",
    }
}

pub(crate) fn epsilon_at(mu: Mu, delta: f64) -> Result<Epsilon, ClaimError> {
    Ok(gaussian::epsilon(mu, Delta::new(delta)?)?)
}
