//! The public constants of networks that are each trained on one shard.

use efface_net::{ARITHMETIC, CheckedSgd, MOST_NUMBERS, Network, Optimizer, SgdPlan};
use efface_privacy::event::Shards;
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use super::sampled::{layers, of_weights, out_of_range};
use crate::error::{Code, Error, Result};

/// Network, shards and schedule of `shards`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardedPlan {
    /// The layers, as canonical text.
    pub network: String,
    /// Channels, height and width of a row; the number of features, 1 and 1 if it is no image.
    pub input: [u32; 3],
    /// Numbers that each network gives for a row: one for each class.
    pub outputs: u32,
    /// Public seed of the first shard's start; those behind it count on, modulo 2^64.
    pub start: u64,
    /// Number of weights of one network.
    pub weights: u64,
    /// Number of shards.
    pub shards: u64,
    /// Passes of a training over the records of its shard.
    pub epochs: u64,
    /// Records of a step.
    pub batch: u64,
    /// Size of a step.
    pub eta: Decimal,
    /// Share of the last step that a step repeats, in [0, 1).
    pub momentum: Decimal,
    /// Version of the arithmetic that all of its networks were trained by.
    pub arithmetic: u64,
}

impl ShardedPlan {
    /// The network of one shard.
    ///
    /// # Errors
    /// Layers that are none, or that do not fit its rows; another number of weights, or more in all than
    /// memory should hold.
    pub fn network(&self) -> Result<Network> {
        let network = of_weights(layers(&self.network, self.input, self.outputs)?, self.weights)?;
        if !(1..=Shards::MOST).contains(&self.shards) || self.parameters() > MOST_NUMBERS as u64 {
            let message = format!(
                "{} networks of {} weights each are more than the {MOST_NUMBERS} that a model may have",
                self.shards, self.weights
            );
            return Err(Error::refused(Code::Network, message)
                .hint("take fewer `§shards`, or a smaller `§network`"));
        }
        Ok(network)
    }

    /// Weights of all networks together.
    pub(crate) fn parameters(&self) -> u64 {
        self.weights.saturating_mul(self.shards)
    }

    /// Numbers of a row.
    pub(crate) fn width(&self) -> usize {
        self.input.iter().map(|side| *side as usize).product()
    }

    /// Layers, the shape of a row and the number of networks in one text, as exports state them.
    pub(crate) fn description(&self) -> String {
        let [channels, height, width] = self.input;
        format!("{},image={channels}x{height}x{width},shards={}", self.network, self.shards)
    }

    /// The learner's plan of the shard of that number.
    ///
    /// # Errors
    /// Numbers out of range.
    pub(crate) fn checked(&self, network: &Network, shard: u64) -> Result<CheckedSgd> {
        let plan = SgdPlan {
            epochs: self.epochs,
            batch: usize::try_from(self.batch).unwrap_or(usize::MAX),
            learning_rate: self.eta.0,
            optimizer: Optimizer::Sgd { momentum: self.momentum.0 },
            average: None,
            seed: self.seed(shard),
        };
        plan.check(network).map_err(out_of_range)
    }

    /// The public seed of a shard: of its start, and of the order of its records.
    pub(crate) fn seed(&self, shard: u64) -> u64 {
        self.start.wrapping_add(shard)
    }

    /// Refuses to train by another arithmetic than the networks that stay.
    pub(crate) fn check_arithmetic(&self) -> Result<()> {
        if self.arithmetic == ARITHMETIC {
            return Ok(());
        }
        let message = format!(
            "the model's networks were trained by version {} of the arithmetic, and this efface has \
             version {ARITHMETIC}: networks trained by both are no function of the records",
            self.arithmetic
        );
        Err(Error::refused(Code::Network, message).hint(
            "serve the request with the version of efface that trained the model, or train a new model",
        ))
    }
}

/// The text of one network, and how many of it there are, from [`ShardedPlan::description`]; of another
/// text all of it, and none.
pub(crate) fn of_shards(text: &str) -> (&str, Option<usize>) {
    let found = text.rsplit_once(",shards=").and_then(|(network, count)| {
        let shards: u64 = count.parse().ok()?;
        let fits = (1..=Shards::MOST).contains(&shards) && shards.to_string() == count;
        fits.then_some((network, Some(shards as usize)))
    });
    found.unwrap_or((text, None))
}
