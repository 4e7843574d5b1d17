//! From an event and a question to a claim.

use super::{Claim, Notion, Question, Requests, in_words};
use crate::accountant::gdp::{self, AccountantError, World};
use crate::event::{Adjacency, Event, Normalizer, State};
use crate::quantity::{Decimal, Delta, Epsilon, Mu, QuantityError, RenyiOrder};
use crate::{advantage, gaussian, rdp};

/// Why an event does not support a claim.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClaimError {
    /// The accountant refused the event.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
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
/// Source: theory of the noisy-gd and output-noise accountants (see [`crate::accountant::gdp`]);
/// (epsilon, delta) from mu exactly.
///
/// # Errors
/// When the event is malformed, the parameters are out of range, or the notion is not one the
/// event can earn.
pub fn evaluate(event: &Event, question: &Question) -> Result<Claim, ClaimError> {
    let state = event.state();
    let draft = match *question {
        Question::Indistinguishable { delta } => {
            let mu = mu(event, World::Retraining)?;
            Draft {
                notion: Notion::IndistinguishableFromRetraining,
                epsilon: epsilon_at(mu, delta)?,
                delta: Some(delta),
                order: None,
                mu,
                adjacency: None,
                requests: unlearning_requests(event),
                releases: joint(event),
                advantage: advantage::from_mu(mu),
            }
        }
        Question::Renyi { order } => {
            let order = RenyiOrder::new(order)?;
            let mu = mu(event, World::Retraining)?;
            Draft {
                notion: Notion::RenyiUnlearning,
                epsilon: rdp::from_mu(mu, order),
                delta: None,
                order: Some(order.get()),
                mu,
                adjacency: None,
                requests: unlearning_requests(event),
                releases: joint(event),
                advantage: advantage::from_mu(mu),
            }
        }
        Question::Deletion { order, adjacency, requests } => {
            deletion(event, RenyiOrder::new(order)?, adjacency, requests)?
        }
        Question::Differential { delta, adjacency } => {
            let mu = mu(event, World::DifferentialPrivacyAllReleases(adjacency))?;
            let releases = event.releases();
            Draft {
                notion: Notion::DifferentialPrivacy,
                epsilon: epsilon_at(mu, delta)?,
                delta: Some(delta),
                order: None,
                mu,
                adjacency: Some(adjacency),
                requests: Requests::Any,
                releases,
                advantage: advantage::from_mu(mu),
            }
        }
    };
    Ok(draft.finish(event, state))
}

/// A claim before its words.
struct Draft {
    notion: Notion,
    epsilon: Epsilon,
    delta: Option<f64>,
    order: Option<f64>,
    mu: Mu,
    adjacency: Option<Adjacency>,
    requests: Requests,
    releases: u64,
    advantage: f64,
}

impl Draft {
    fn finish(self, event: &Event, state: State) -> Claim {
        let mut claim = Claim {
            notion: self.notion,
            epsilon: Decimal(self.epsilon.get()),
            delta: self.delta.map(Decimal),
            mu: Decimal(self.mu.get()),
            order: self.order.map(Decimal),
            group: group(event, self.notion, self.requests),
            adjacency: self.adjacency,
            normalizer: match event.setting().normalizer {
                Normalizer::Fixed { .. } => "fixed",
                Normalizer::Mean { .. } => "mean",
            }
            .to_owned(),
            reference: reference(event, self.notion).to_owned(),
            requests: self.requests,
            state,
            releases: self.releases,
            accountant: "gdp".to_owned(),
            theorem: theorem(event).to_owned(),
            advantage: Decimal(self.advantage),
            words: String::new(),
        };
        claim.words = in_words(&claim);
        claim
    }
}

fn deletion(
    event: &Event,
    order: RenyiOrder,
    adjacency: Adjacency,
    requests: Requests,
) -> Result<Draft, ClaimError> {
    let unavailable =
        |reason| ClaimError::Unavailable { notion: Notion::DeletionPrivacy.name(), reason };
    if event.state() == State::Secret {
        return Err(unavailable("it needs `perfect` state, and this model keeps `secret` state"));
    }
    let mu_dd = mu(event, World::DeletionPrivacy(adjacency))?;
    let at_rest = rdp::from_mu(mu_dd, order).get();
    let epsilon = match requests {
        Requests::NonAdaptive => at_rest,
        Requests::PAdaptive(p) if p.saturating_add(1) < event.releases() => {
            return Err(unavailable("more releases than `p-adaptive` counts were out before it"));
        }
        Requests::PAdaptive(p) => {
            let dp = mu(event, World::DifferentialPrivacyOneRelease(adjacency))?;
            let total = at_rest + p as f64 * rdp::from_mu(dp, order).get();
            total * (1.0 + 1e-15)
        }
        Requests::Any => {
            return Err(unavailable("`requests` must be `non-adaptive` or `p-adaptive`"));
        }
    };
    let epsilon = Epsilon::new(epsilon)?;
    Ok(Draft {
        notion: Notion::DeletionPrivacy,
        epsilon,
        delta: None,
        order: Some(order.get()),
        mu: mu_dd,
        adjacency: Some(adjacency),
        requests,
        releases: 1,
        advantage: advantage::from_deletion_privacy(order, epsilon),
    })
}

fn mu(event: &Event, world: World) -> Result<Mu, AccountantError> {
    match event {
        Event::OutputNoise(e) => gdp::mu_output_noise(e, world),
        Event::NoisyGd(e) => gdp::mu_noisy_gd(e, world),
    }
}

fn epsilon_at(mu: Mu, delta: f64) -> Result<Epsilon, ClaimError> {
    Ok(gaussian::epsilon(mu, Delta::new(delta)?)?)
}

fn joint(event: &Event) -> u64 {
    match event {
        Event::OutputNoise(e) => e.joint_releases,
        Event::NoisyGd(_) => 1,
    }
}

/// Which requests closeness to retraining holds for.
fn unlearning_requests(event: &Event) -> Requests {
    match event {
        Event::OutputNoise(_) => Requests::Any,
        Event::NoisyGd(_) => Requests::NonAdaptive,
    }
}

fn group(event: &Event, notion: Notion, requests: Requests) -> String {
    match (notion, event) {
        (Notion::DeletionPrivacy, Event::OutputNoise(_)) if requests == Requests::NonAdaptive => {
            "any".to_owned()
        }
        (Notion::DeletionPrivacy | Notion::DifferentialPrivacy, _) => {
            event.setting().group.to_string()
        }
        (_, Event::OutputNoise(_)) => "any".to_owned(),
        (_, Event::NoisyGd(e)) => {
            let differing = e.phases.iter().map(|p| p.only_then.saturating_add(p.only_now));
            differing.max().unwrap_or(0).to_string()
        }
    }
}

fn reference(event: &Event, notion: Notion) -> &'static str {
    match (notion, event) {
        (Notion::DifferentialPrivacy, _) => {
            "the same releases from data that differ in the protected records"
        }
        (Notion::DeletionPrivacy, Event::OutputNoise(_)) => {
            "the exact optimum on the remaining data, published with the same noise and grid"
        }
        (Notion::DeletionPrivacy, Event::NoisyGd(_)) => {
            "the same schedule of steps with records of one person among the request's, at most the \
             stated group, absent from the start"
        }
        (_, Event::OutputNoise(_)) => {
            "`retrain` on the data as they are after the request, with the same distance, noise \
             and grid"
        }
        (_, Event::NoisyGd(_)) => {
            "all steps of learning and of every request from the same start, on the data as they \
             are after the request"
        }
    }
}

fn theorem(event: &Event) -> &'static str {
    match event {
        Event::OutputNoise(_) => {
            "Gaussian mechanism around an optimum found to a measured distance (strong convexity)"
        }
        Event::NoisyGd(_) => "shifted interpolation (Bok, Su, Altschuler, ICML 2024)",
    }
}
