//! The event of `distributed-descent`.

use serde::{Deserialize, Serialize};

use super::{Facts, Setting, State, Stated};
use crate::quantity::Decimal;

/// A uniform sample of the records with replacement, cut into parts; the average of the parts'
/// optima found to within `distance` and published with N(0, noise^2 I) on a grid.
///
/// The sample follows the data by reservoir sampling, so that after every request it is uniform on
/// the records then. Of several independent copies, all are noised before one of them is chosen by
/// its noisy weights and the current records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributedDescent {
    /// Public constants of a part's objective; its N is the number of its positions.
    pub setting: Setting,
    /// B: positions of the sample.
    pub sample: u64,
    /// K: parts, whose sizes differ by at most one.
    pub parts: u64,
    /// C: independent copies of sample and parts.
    pub copies: u64,
    /// tau: bound on the distance of the average to the average of the parts' optima.
    pub distance: Decimal,
    /// I of the published theorem, if steps were counted; `None` if the distance was measured.
    pub iterations: Option<u64>,
    /// sigma: standard deviation of the noise on each weight.
    pub noise: Decimal,
    /// g: spacing of the grid of released values.
    pub grid: Decimal,
    /// What is kept: always `secret`, the sample and the unperturbed parts.
    pub state: State,
    /// R: releases covered jointly since learning or the last refresh.
    pub joint_releases: u64,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
    /// Records the sample is uniform on.
    pub records: u64,
}

impl Stated for DistributedDescent {
    fn facts(&self) -> Facts<'_> {
        let facts = self.setting.facts(self.releases, self.state, Some(self.grid));
        Facts { joint_releases: self.joint_releases, ..facts }
    }
}
