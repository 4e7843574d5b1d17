//! Events: what was released, as data, and nothing about how it was computed.
//!
//! A mechanism returns an event; an accountant turns it into bounds; a certificate stores it, so
//! that every number can be recomputed without the data or the model. Variants are never removed
//! and never change their meaning; an unknown one is refused when it is read.

mod composed;
mod declared;
mod descent;
mod distributed_descent;
mod dp_sgd;
mod exact_removal;
mod noisy_gd;
mod output_noise;
mod shards;

pub use composed::{Composed, Given, What};
pub use declared::{DeclaredSteps, DeclaredTraining};
pub use descent::{Descent, Variant};
pub use distributed_descent::DistributedDescent;
pub use dp_sgd::{DpSgd, Segment, Unit};
pub use exact_removal::ExactRemoval;
pub use noisy_gd::{Batches, NoisyGd, Phase};
pub use output_noise::{OutputNoise, Procedure, Refitted};
pub use shards::Shards;

use serde::{Deserialize, Serialize};

use crate::quantity::Decimal;

/// What one request (or the first training) released.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// An optimum found to a measured distance and published with fresh Gaussian noise.
    OutputNoise(OutputNoise),
    /// Steps of noisy full-batch gradient descent, the last iterate published.
    NoisyGd(NoisyGd),
    /// Averages over the parts of a uniform sample, published with fresh Gaussian noise.
    DistributedDescent(DistributedDescent),
    /// A release that builds on a private feature extractor or start.
    Composed(Composed),
    /// Steps of projected gradient descent, the last iterate published with fresh noise.
    Descent(Descent),
    /// A solution of whole-number sums over rounded records, published without noise.
    ExactRemoval(ExactRemoval),
    /// Steps of DP-SGD on a network, and who was deleted since.
    DpSgd(DpSgd),
    /// Networks that are each trained on the records of one shard, without noise.
    Shards(Shards),
}

impl Event {
    /// Returns the facts that hold whatever the question.
    pub(crate) fn facts(&self) -> Facts<'_> {
        match self {
            Self::OutputNoise(event) => event.facts(),
            Self::NoisyGd(event) => event.facts(),
            Self::DistributedDescent(event) => event.facts(),
            Self::Descent(event) => event.facts(),
            Self::Composed(event) => event.facts(),
            Self::ExactRemoval(event) => event.facts(),
            Self::DpSgd(event) => event.facts(),
            Self::Shards(event) => event.facts(),
        }
    }

    /// Returns the event of the mechanism itself, whatever it builds on.
    #[must_use]
    pub fn core(&self) -> &Self {
        match self {
            Self::Composed(event) => event.inner.core(),
            other => other,
        }
    }

    /// Returns the public constants of the convex objective; `None` for a network, whose loss has no bounds.
    #[must_use]
    pub fn setting(&self) -> Option<&Setting> {
        self.facts().setting
    }

    /// Returns the number of weights P, the intercept and all classes included.
    #[must_use]
    pub fn parameters(&self) -> u64 {
        self.facts().parameters
    }

    /// Returns the public maximal number of records, or of a network's units, that DP and deletion-privacy
    /// claims protect.
    #[must_use]
    pub fn group(&self) -> u64 {
        self.facts().group
    }

    /// Distinct releases of the model so far, this one included.
    #[must_use]
    pub fn releases(&self) -> u64 {
        self.facts().releases
    }

    /// Releases covered jointly by closeness to retraining.
    #[must_use]
    pub fn joint_releases(&self) -> u64 {
        self.facts().joint_releases
    }

    /// Returns what is kept after the request.
    #[must_use]
    pub fn state(&self) -> State {
        self.facts().state
    }

    /// Returns the spacing of the grid of released weights; `None` if nothing random is released.
    #[must_use]
    pub fn grid(&self) -> Option<Decimal> {
        self.facts().grid
    }

    /// Returns the training of the network that computes the features, if there is one.
    pub(crate) fn given_training(&self) -> Option<&DpSgd> {
        match self {
            Self::Composed(event) => event.given.training.as_deref(),
            _ => None,
        }
    }

    /// Returns whether features come from a training that was made elsewhere.
    pub(crate) fn is_declared(&self) -> bool {
        matches!(self, Self::Composed(event) if event.given.declared.is_some())
    }

    /// Returns the preprocessing that was fitted again for this release and published with it, if there is
    /// any.
    #[must_use]
    pub fn preprocessing(&self) -> Option<Refitted> {
        match self.core() {
            Self::OutputNoise(event) => event.preprocessing,
            Self::ExactRemoval(event) => event.preprocessing,
            _ => None,
        }
    }

    /// Returns the number of records that such preprocessing was fitted to, if it is stated.
    pub(crate) fn fitted_records(&self) -> Option<u64> {
        match self.core() {
            Self::OutputNoise(event) => event.preprocessing.and(event.records),
            Self::ExactRemoval(event) => event.preprocessing.and(event.records),
            _ => None,
        }
    }
}

/// An event that states its facts.
pub(crate) trait Stated {
    /// Returns the facts that hold whatever the question.
    fn facts(&self) -> Facts<'_>;
}

/// The facts about an event that hold whatever the question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) parameters: u64,
    /// Records, or units, that claims about private ones protect.
    pub(crate) group: u64,
    /// The public constants of the convex objective, if there is one.
    pub(crate) setting: Option<&'a Setting>,
    /// Distinct releases of the model so far, this one included.
    pub(crate) releases: u64,
    /// Releases covered jointly by closeness to retraining.
    pub(crate) joint_releases: u64,
    /// What is kept after the request.
    pub(crate) state: State,
    /// Spacing of the grid of what is drawn; `None` if nothing random is released.
    pub(crate) grid: Option<Decimal>,
}

/// Public constants of the objective F(w) = (1/N) sum l(w; z) + (lambda/2) |w|^2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Number of parameters P, the intercept and all classes included.
    pub parameters: u64,
    /// Whether N is public or the current number of records.
    pub normalizer: Normalizer,
    /// G: bound on the norm of one record's loss gradient.
    pub lipschitz: Decimal,
    /// beta: smoothness of the data term, valid for every data set the normaliser allows.
    pub smoothness: Decimal,
    /// m = lambda: strong convexity.
    pub strong_convexity: Decimal,
    /// S: the public maximal number of records that DP and deletion-privacy claims protect.
    pub group: u64,
}

impl Setting {
    /// Returns the facts of an event about this objective whose releases are each covered alone.
    fn facts(&self, releases: u64, state: State, grid: Option<Decimal>) -> Facts<'_> {
        let (parameters, group) = (self.parameters, self.group);
        let setting = Some(self);
        Facts { parameters, group, setting, releases, joint_releases: 1, state, grid }
    }
}

/// The normaliser N of the objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Normalizer {
    /// N is a public constant; every data set ever used has at most `capacity` records.
    Fixed {
        /// N.
        n: u64,
        /// The most records any data set of this model may have.
        capacity: u64,
    },
    /// N is the current number of records.
    Mean {
        /// Public lower bound on the number of records, below which requests are refused; 0: none.
        minimum: u64,
    },
}

impl Normalizer {
    /// Returns N for a data set of `records` records.
    #[must_use]
    pub fn divisor(self, records: u64) -> u64 {
        match self {
            Self::Fixed { n, .. } => n,
            Self::Mean { .. } => records,
        }
    }

    /// Returns the most records that any data set may have, if there is a limit.
    #[must_use]
    pub fn capacity(self) -> Option<u64> {
        match self {
            Self::Fixed { capacity, .. } => Some(capacity),
            Self::Mean { .. } => None,
        }
    }

    /// Returns `records` if N makes their number public: what events state.
    #[must_use]
    pub fn public_count(self, records: usize) -> Option<u64> {
        match self {
            Self::Fixed { .. } => None,
            Self::Mean { .. } => Some(records as u64),
        }
    }
}

/// What is kept after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Only the published model, the remaining rows, public constants, and what follows from them.
    Perfect,
    /// Also what saw deleted rows: only a public number of releases is covered.
    Secret,
}

/// What distinguishes two neighbouring data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// One has the records, the other lacks them.
    Remove,
    /// The records have other contents; the row count is public.
    Replace,
}
