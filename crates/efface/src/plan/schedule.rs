//! The public constants of each mechanism.

use efface_learn::mechanism::{DescentPlan, DistributedPlan, NoisyGdPlan, OutputNoisePlan};
use efface_learn::{Constants, Refusal};
use efface_privacy::event::Setting;
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use super::{SampledPlan, ShardedPlan};

/// The public constants of the mechanism, in the learner's own form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// `solve` and `retrain`.
    Output(OutputNoisePlan),
    /// `noisy-gd`.
    Steps(NoisySteps),
    /// `ridge`: nothing beyond the objective's constants.
    Sums,
    /// `distributed-descent`.
    Parts(Averages),
    /// `descent-to-delete`.
    Descent(DescentPlan),
    /// `dp-sgd`.
    Sampled(SampledPlan),
    /// `shards`.
    Sharded(ShardedPlan),
}

/// The constants of `noisy-gd`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisySteps {
    /// Steps, noise and ball; K is that of every request, unless `fewest` is true.
    pub plan: NoisyGdPlan,
    /// Whether each request makes the fewest steps that meet the target.
    pub fewest: bool,
}

/// The constants of `distributed-descent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Averages {
    /// Sample, parts, distance and noise.
    pub plan: DistributedPlan,
    /// What the published theorem counts the steps from, if it counts them.
    pub published: Option<Published>,
}

/// What the published theorem's numbers of steps follow from, beside its I.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// xi: the sample has N^xi positions, xi in [1, 4/3].
    pub exponent: Decimal,
    /// n: records at the start.
    pub records: u64,
    /// T: steps of learning of each part.
    pub learning: u64,
}

impl Schedule {
    /// The setting of the events of a model with these constants.
    pub(crate) fn setting(&self, constants: &Constants, group: u64) -> Result<Setting, Refusal> {
        match self {
            Self::Steps(NoisySteps {
                plan: NoisyGdPlan { batches: Some(batches), .. }, ..
            }) => batches.setting(constants, group),
            _ => Ok(constants.setting(group)),
        }
    }

    /// sigma: the standard deviation of the noise on each weight, of the diffusion for `noisy-gd`, on
    /// each entry of a sum of gradients for `dp-sgd`; none if nothing random is released.
    #[must_use]
    pub fn noise(&self) -> Option<f64> {
        match self {
            Self::Output(plan) => Some(plan.noise),
            Self::Steps(NoisySteps { plan, .. }) => Some(plan.noise / (2.0 * plan.step).sqrt()),
            Self::Sums | Self::Sharded(_) => None,
            Self::Parts(Averages { plan, .. }) => Some(plan.noise),
            Self::Descent(plan) => Some(plan.noise),
            Self::Sampled(plan) => Some(plan.noise.0 * plan.clip.0),
        }
    }
}
