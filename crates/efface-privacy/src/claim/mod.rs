//! Claims: what a release earned, in the field's words, each recomputable from its event.

pub(crate) mod account;
mod composed;
mod descent;
mod distributed_descent;
mod dp_sgd;
mod evaluate;
mod exact_removal;
mod noisy_gd;
mod output_noise;
mod shards;
mod trunk;
mod words;

pub use evaluate::{ClaimError, evaluate};
pub use trunk::{constants as of_training, declared_constants as of_declared_training};
pub use words::{PUBLIC_MODEL, WEIGHTS, in_words, scope};

use serde::{Deserialize, Serialize};

use crate::accountant::Accountant;
use crate::event::{Adjacency, State};
use crate::quantity::Decimal;

crate::named! {
    /// The notions of guarantee a claim can name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Notion {
        /// Two-sided (epsilon, delta) closeness of one release to a run on the remaining data.
        IndistinguishableFromRetraining = "indistinguishable-from-retraining",
        /// The same in Rényi divergence of a stated order, both directions.
        RenyiUnlearning = "renyi-unlearning",
        /// One-sided Rényi closeness of the kept state to a mechanism that never saw the records.
        DeletionPrivacy = "deletion-privacy",
        /// Differential privacy of the records that remain, for a stated number of releases.
        DifferentialPrivacy = "differential-privacy",
        /// What is kept and published is bit for bit what it were had the records never been seen.
        ExactRemoval = "exact-removal",
    }
}

impl Notion {
    /// Returns the notion a question is about.
    #[must_use]
    pub fn of(question: &Question) -> Self {
        match question {
            Question::Indistinguishable { .. } => Self::IndistinguishableFromRetraining,
            Question::Renyi { .. } => Self::RenyiUnlearning,
            Question::Deletion { .. } => Self::DeletionPrivacy,
            Question::Differential { .. } => Self::DifferentialPrivacy,
            Question::Exact => Self::ExactRemoval,
        }
    }
}

/// How requests may depend on earlier releases for the claim to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// Holds for each resulting data set, whatever led to it.
    Any,
    /// The requests were chosen without looking at releases.
    NonAdaptive,
    /// The requester may have seen that many distinct releases.
    PAdaptive(u64),
}

/// A question about an event: everything about a claim that is not computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Question {
    /// (epsilon, delta) of one release against retraining.
    Indistinguishable {
        /// The delta at which epsilon is wanted.
        delta: f64,
    },
    /// Rényi divergence of the order given, both directions.
    Renyi {
        /// alpha, above 1.
        order: f64,
    },
    /// One-sided Rényi divergence of the kept state to the world without the records.
    Deletion {
        /// q, above 1.
        order: f64,
        /// What the two worlds differ in.
        adjacency: Adjacency,
        /// `NonAdaptive` or `PAdaptive`.
        requests: Requests,
    },
    /// (epsilon, delta)-DP of all releases so far, jointly.
    Differential {
        /// The delta at which epsilon is wanted.
        delta: f64,
        /// What the two worlds differ in.
        adjacency: Adjacency,
    },
    /// Bit-for-bit equality with a world that never had the records.
    Exact,
}

impl Question {
    /// Those of delta, order and adjacency that the notion has.
    #[must_use]
    pub fn parameters(&self) -> (Option<f64>, Option<f64>, Option<Adjacency>) {
        match *self {
            Self::Indistinguishable { delta } => (Some(delta), None, None),
            Self::Renyi { order } => (None, Some(order), None),
            Self::Deletion { order, adjacency, .. } => (None, Some(order), Some(adjacency)),
            Self::Differential { delta, adjacency } => (Some(delta), None, Some(adjacency)),
            Self::Exact => (None, None, None),
        }
    }
}

/// One claim of a certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The privacy notion of the claim.
    pub notion: Notion,
    /// The bound, in nats; `inf` means that nothing is promised.
    pub epsilon: Decimal,
    /// A second bound on the same epsilon, if that is computed from distributions of privacy losses on a
    /// grid: the bound of Rényi divergences of whole orders at the same delta, in closed form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rdp_epsilon: Option<Decimal>,
    /// The delta it holds at, for (epsilon, delta) notions.
    pub delta: Option<Decimal>,
    /// The mu of Gaussian DP behind it, if there is one.
    pub mu: Option<Decimal>,
    /// The Rényi order, for Rényi notions.
    pub order: Option<Decimal>,
    /// Records protected together: a number, with `subjects` if they are a network's units, or `any`.
    pub group: String,
    /// What the two worlds differ in, if the claim depends on it.
    pub adjacency: Option<Adjacency>,
    /// `fixed` or `mean`.
    pub normalizer: String,
    /// The world the release is compared with, in words.
    pub reference: String,
    /// How requests may depend on releases.
    pub requests: Requests,
    /// Whether the kept state is `perfect` or `secret`.
    pub state: State,
    /// Releases covered jointly.
    pub releases: u64,
    /// The accountant that computed the bound.
    pub accountant: Accountant,
    /// The result it rests on.
    pub theorem: String,
    /// The largest advantage of any attacker who must tell the two worlds apart, in [0, 1].
    pub advantage: Decimal,
    /// The claim in one sentence.
    pub words: String,
}

impl Claim {
    /// Returns the question this claim answers, read back from its fields.
    ///
    /// # Errors
    /// Fails if a field the notion needs is missing, or one it cannot have is there.
    pub fn question(&self) -> Result<Question, ClaimError> {
        let need = |field: Option<Decimal>, name: &'static str| {
            field.map(|d| d.0).ok_or(ClaimError::Missing { notion: self.notion.name(), name })
        };
        let adjacency = self
            .adjacency
            .ok_or(ClaimError::Missing { notion: self.notion.name(), name: "adjacency" });
        Ok(match self.notion {
            Notion::IndistinguishableFromRetraining => {
                Question::Indistinguishable { delta: need(self.delta, "delta")? }
            }
            Notion::RenyiUnlearning => Question::Renyi { order: need(self.order, "order")? },
            Notion::DeletionPrivacy => Question::Deletion {
                order: need(self.order, "order")?,
                adjacency: adjacency?,
                requests: self.requests,
            },
            Notion::DifferentialPrivacy => {
                Question::Differential { delta: need(self.delta, "delta")?, adjacency: adjacency? }
            }
            Notion::ExactRemoval => Question::Exact,
        })
    }
}
