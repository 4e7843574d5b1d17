//! The event of `dp-sgd`.

use serde::{Deserialize, Serialize};

use super::{Facts, State, Stated};
use crate::quantity::Decimal;

/// Steps of DP-SGD on a network: in each, the clipped gradients of a random batch of units are
/// summed, N(0, (noise clip)^2 I) is added, and the weights become any function of all such sums.
///
/// Gradients, their sums and the noise are whole multiples of `grid`. A unit is in the batch of a step with
/// probability `rate`, independently of other units and steps. After a deletion the model stays: the segments
/// state how many units that it may have learnt from are gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DpSgd {
    /// Number of weights of the network.
    pub parameters: u64,
    /// What is clipped as one.
    pub unit: Unit,
    /// The most rows that one unit may have; 1 if every record is a unit.
    pub rows_per_unit: u64,
    /// C: the most that a unit's gradient can move the sum of a step, as a Euclidean norm.
    pub clip: Decimal,
    /// sigma: standard deviation of the noise on each weight of the sum, in multiples of C.
    pub noise: Decimal,
    /// g: spacing of the grid of gradients, sums and noise, at most 2^-20 sigma C.
    pub grid: Decimal,
    /// q: probability with which a unit is in the batch of a step.
    pub rate: Decimal,
    /// The public maximal number of units that claims of differential privacy protect.
    pub group: u64,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
    /// The training that the model comes from: oldest first.
    pub segments: Vec<Segment>,
    /// Steps of all trainings before it, with the same clip, noise and rate.
    pub earlier_steps: u64,
}

crate::named! {
    /// What is clipped as one, and counted as one if units are deleted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Unit {
        /// Every single record.
        Record = "record",
        /// All records of a subject together.
        Subject = "subject",
    }
}

/// Consecutive steps on one data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Number of steps.
    pub steps: u64,
    /// Units deleted so far, all requests together, that were or may have been in its data set.
    pub deleted: u64,
}

impl DpSgd {
    /// The most segments an event may have.
    pub const MOST_SEGMENTS: usize = 4096;

    /// Returns the largest number of deleted units that any segment may have seen: together they are one
    /// group.
    #[must_use]
    pub fn deleted(&self) -> u64 {
        self.segments.iter().map(|segment| segment.deleted).max().unwrap_or(0)
    }

    /// Steps of the training that the model comes from, all segments together.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.steps))
    }
}

impl Stated for DpSgd {
    fn facts(&self) -> Facts<'_> {
        Facts {
            parameters: self.parameters,
            group: self.group,
            setting: None,
            releases: self.releases,
            joint_releases: 1,
            state: State::Perfect,
            grid: Some(self.grid),
        }
    }
}
