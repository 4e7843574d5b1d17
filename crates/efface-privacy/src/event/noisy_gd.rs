//! The event of `noisy-gd`.

use serde::{Deserialize, Serialize};

use super::{Facts, Setting, State, Stated};
use crate::quantity::Decimal;

/// Noisy gradient descent: `w <- Proj(w - eta grad F(w) + s Z)`, on a grid in every step, with full
/// batches unless `batches` says otherwise.
///
/// The projection is to a ball of public radius, the same for every run that is compared.
///
/// The phases are the whole history of the model: learning first, then one per request. Each
/// phase ends in a release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyGd {
    /// Public constants of the objective.
    pub setting: Setting,
    /// eta: the step size.
    pub step: Decimal,
    /// s: standard deviation of the noise of one step on each weight, sqrt(2 eta) sigma.
    pub noise: Decimal,
    /// g: spacing of the grid every iterate lives on.
    pub grid: Decimal,
    /// Bound on |computed - exact| of one noiseless step and of the projection before it (float64
    /// arithmetic; the projected point is brought back onto the grid).
    pub rounding: Decimal,
    /// R: radius of the ball that every iterate is projected to, if bounds may rest on it; `None` if the ball
    /// is so large that no iterate is expected to leave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<Decimal>,
    /// Learning, then one phase per request, oldest first; the last one is this release.
    pub phases: Vec<Phase>,
    /// For every request, oldest first, the larger of the numbers of records it deleted and added; `None`
    /// once phases were merged or if counts are private. `langevin` needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Vec<u64>>,
    /// Steps of the longest phase so far (one release's DP is accounted over that many).
    pub longest: u64,
    /// Steps of learning, for the joint DP of all releases.
    pub learning: u64,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
    /// The batches, if a step is over one of them and not over all records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Batches>,
}

/// Fixed batches that the steps visit cyclically over all phases.
///
/// A record's batch is a public function of its id, for life. A step is along the gradient of
/// (1/b) (sum of the losses of one batch) + (m/2) |w|^2, whose data term is `smoothness`-smooth for
/// every batch that is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batches {
    /// l: how many there are, at least 2.
    pub count: u64,
    /// b: what the sum over a batch is divided by, whatever the batch holds.
    pub size: u64,
    /// b_max: the most records that a batch ever holds.
    pub most: u64,
    /// For every phase but the last, oldest first, at least the number of records that the request after it
    /// deleted or added: those that make the two runs differ until its end and no longer. `None` if counts
    /// are private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Vec<u64>>,
}

/// Consecutive steps on one data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Number of steps.
    pub steps: u64,
    /// Releases at the end of steps in this phase (more than one only after merging old phases).
    pub releases: u64,
    /// A: records of this phase's data set that the latest data set lacks.
    pub only_then: u64,
    /// B: records of the latest data set that this phase's lacks.
    pub only_now: u64,
    /// Records of this phase's data set, if public; needed under the `mean` normaliser.
    pub records: Option<u64>,
}

impl Phase {
    /// Returns the largest number of records in which an earlier phase's data and the latest differ.
    pub(crate) fn most_differing(phases: &[Self]) -> u64 {
        phases.iter().map(|p| p.only_then.saturating_add(p.only_now)).max().unwrap_or(0)
    }
}

impl Stated for NoisyGd {
    fn facts(&self) -> Facts<'_> {
        self.setting.facts(self.releases, State::Perfect, Some(self.grid))
    }
}
