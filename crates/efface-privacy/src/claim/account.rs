//! What every event must state about itself, so that claims follow from it alone.

use super::{ClaimError, Notion, Question, Requests};
use crate::accountant::Accountant;
use crate::accountant::gdp::{AccountantError, World};
use crate::accountant::pld::{self, Segment};
use crate::event::{Adjacency, Event, State, Stated};
use crate::quantity::{Delta, Epsilon, Mu, RenyiOrder};
use crate::{advantage, gaussian, rdp};

/// An event as accountants and certificates see it.
pub(crate) trait Account: Stated {
    /// Returns the event's own public constants, by the names certificates list them under.
    fn constants(&self) -> Vec<(&'static str, String)>;

    /// Returns the answer of one accountant to one question.
    ///
    /// # Errors
    /// Fails if the event is malformed, a parameter is out of range, or the notion or accountant does not
    /// fit.
    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError>;

    /// Returns whether the event states how many records there are or were touched.
    ///
    /// # Errors
    /// Fails if a public row count is part of what the event means.
    fn states_counts(&self) -> Result<bool, String>;

    /// Whether the work of every request follows from the constants listed, never from the
    /// request's size. `listed` looks a constant up.
    ///
    /// # Errors
    /// Fails with the constant that the event does not follow.
    fn steps_are_fixed(&self, listed: &Listed<'_>) -> Result<(), String>;
}

/// Looks a constant of the certificate up by its name.
pub(crate) type Listed<'a> = dyn Fn(&'static str) -> Result<String, String> + 'a;

impl Event {
    /// Returns the view of the event that accountants and certificates use.
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

/// What an accountant proves: everything about a claim that the question does not state.
pub(crate) struct Bound {
    pub(crate) epsilon: Epsilon,
    /// The bound of Rényi divergences of whole orders, if epsilon comes from distributions of losses.
    pub(crate) rdp_epsilon: Option<Epsilon>,
    /// The mu of Gaussian DP behind it, if there is one.
    pub(crate) mu: Option<Mu>,
    pub(crate) advantage: f64,
    /// Releases covered jointly.
    pub(crate) releases: u64,
    pub(crate) terms: Terms,
}

/// What a claim says beyond its numbers.
pub(crate) struct Terms {
    /// Which requests closeness to retraining holds for.
    pub(crate) requests: Requests,
    /// Records protected together: a number, with `subjects` if they are units, or `any`.
    pub(crate) group: String,
    pub(crate) reference: &'static str,
    pub(crate) theorem: &'static str,
}

impl Bound {
    /// Returns the bound of one release if no mu is behind epsilon.
    pub(crate) fn without_mu(epsilon: Epsilon, advantage: f64, terms: Terms) -> Self {
        Self { epsilon, rdp_epsilon: None, mu: None, advantage, releases: 1, terms }
    }

    /// Returns the bound of the losses of segments of steps, together with something `head`-GDP that was made
    /// from their outcome. Replaced units double the distance: the replacements are as far again from the
    /// data without them.
    pub(crate) fn of_losses(
        segments: &[Segment],
        head: Mu,
        delta: f64,
        adjacency: Adjacency,
        terms: Terms,
    ) -> Result<Self, ClaimError> {
        let delta = Delta::new(delta)?;
        let (found, hops) = match adjacency {
            Adjacency::Remove => (pld::event::agreed_epsilon(segments, head, delta)?, 1.0),
            Adjacency::Replace => (pld::event::replaced_epsilon(segments, head, delta)?, 2.0),
        };
        let advantage = pld::event::advantage(segments, head, hops, found.epsilon, delta);
        let bound = Self::without_mu(found.epsilon, advantage, terms);
        Ok(Self { rdp_epsilon: Some(found.divergences), ..bound })
    }
}

/// Returns the bound of an event that some mu of Gaussian DP describes in every world asked for.
pub(crate) fn gaussian_bound(
    event: &dyn Account,
    question: &Question,
    terms: Terms,
    mu: impl Fn(World) -> Result<Mu, AccountantError>,
) -> Result<Bound, ClaimError> {
    let facts = event.facts();
    let requests = match *question {
        Question::Deletion { requests, .. } => requests,
        Question::Differential { .. } => Requests::Any,
        _ => terms.requests,
    };
    let draft = |epsilon, mu, releases| {
        let terms = Terms { requests, ..terms };
        let bound = Bound::without_mu(epsilon, advantage::from_mu(mu), terms);
        Bound { mu: Some(mu), releases, ..bound }
    };
    Ok(match *question {
        Question::Indistinguishable { delta } => {
            let mu = mu(World::Retraining)?;
            draft(epsilon_at(mu, delta)?, mu, facts.joint_releases)
        }
        Question::Renyi { order } => {
            let order = RenyiOrder::new(order)?;
            let mu = mu(World::Retraining)?;
            draft(rdp::from_mu(mu, order), mu, facts.joint_releases)
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
            Bound { advantage, ..draft(epsilon, at_rest, 1) }
        }
        Question::Differential { delta, adjacency } => {
            let mu = mu(World::DifferentialPrivacyAllReleases(adjacency))?;
            draft(epsilon_at(mu, delta)?, mu, facts.releases)
        }
        Question::Exact => return Err(random()),
    })
}

/// Refuses deletion-privacy unless the state is `perfect`.
pub(crate) fn refuse_secret(event: &dyn Account) -> Result<(), ClaimError> {
    if event.facts().state == State::Perfect {
        return Ok(());
    }
    let reason = "it needs `perfect` state, but this model keeps `secret` state";
    Err(ClaimError::Unavailable { notion: Notion::DeletionPrivacy.name(), reason })
}

/// Returns the refusal of a question, whatever the accountant.
pub(crate) fn unavailable(question: &Question, reason: &'static str) -> ClaimError {
    ClaimError::Unavailable { notion: Notion::of(question).name(), reason }
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

/// Returns the bound of what is bit for bit a function of the records after the request, and has no noise.
pub(crate) fn exactly(
    question: &Question,
    reference: &'static str,
    theorem: &'static str,
) -> Result<Bound, ClaimError> {
    let reason = match question {
        Question::Exact => {
            let group = "any".to_owned();
            let terms = Terms { requests: Requests::Any, group, reference, theorem };
            return Ok(Bound::without_mu(Epsilon::new(0.0)?, 0.0, terms));
        }
        Question::Differential { .. } => "nothing hides the remaining records: no noise is drawn",
        _ => "removal is exact here: see `exact-removal`",
    };
    Err(unavailable(question, reason))
}

/// Returns the error that refuses an accountant that does not know the event.
pub(crate) fn unaccounted(accountant: Accountant, reason: &'static str) -> ClaimError {
    ClaimError::Accountant(AccountantError::Unsupported { notion: accountant.name(), reason })
}

/// Returns the error that refuses `exact-removal` if something random is released.
pub(crate) fn random() -> ClaimError {
    ClaimError::Unavailable {
        notion: Notion::ExactRemoval.name(),
        reason: "only `ridge` and `shards` keep a state that is bit for bit the one without the records",
    }
}

pub(crate) fn epsilon_at(mu: Mu, delta: f64) -> Result<Epsilon, ClaimError> {
    Ok(gaussian::epsilon(mu, Delta::new(delta)?)?)
}
