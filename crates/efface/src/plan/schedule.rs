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
    Steps {
        /// Steps, noise and ball; K is that of every request, unless the next field is true.
        plan: NoisyGdPlan,
        /// Whether each request makes the fewest steps that meet the target.
        fewest: bool,
    },
    /// `ridge`: nothing beyond the objective's constants.
    Sums,
    /// `distributed-descent`.
    Parts {
        /// Sample, parts, distance and noise.
        plan: DistributedPlan,
        /// The numbers of the published theorem, if it counts the steps.
        published: Option<Published>,
    },
    /// `descent-to-delete`.
    Descent(DescentPlan),
    /// `dp-sgd`.
    Sampled(SampledPlan),
    /// `shards`.
    Sharded(ShardedPlan),
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
            Self::Steps { plan: NoisyGdPlan { batches: Some(batches), .. }, .. } => {
                batches.setting(constants, group)
            }
            _ => Ok(constants.setting(group)),
        }
    }

    /// sigma: the standard deviation of the noise on each weight, of the diffusion for `noisy-gd`, on
    /// each entry of a sum of gradients for `dp-sgd`; none if nothing random is released.
    #[must_use]
    pub fn noise(&self) -> Option<f64> {
        match self {
            Self::Output(plan) => Some(plan.noise),
            Self::Steps { plan, .. } => Some(plan.noise / (2.0 * plan.step).sqrt()),
            Self::Sums | Self::Sharded(_) => None,
            Self::Parts { plan, .. } => Some(plan.noise),
            Self::Descent(plan) => Some(plan.noise),
            Self::Sampled(plan) => Some(plan.noise.0 * plan.clip.0),
        }
    }
}
