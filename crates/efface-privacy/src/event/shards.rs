//! The event of `shards`.

use serde::{Deserialize, Serialize};

use super::{Facts, State, Stated, Unit};

/// Networks of one architecture, each trained without noise on the records of one shard alone.
///
/// A unit's shard follows from its public name by a hash. The network of a shard is a function of its records
/// with their names and of public constants, bit for bit, and zeros if it has no record; a request retrains,
/// from the same start, each shard in which a record was added, deleted or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shards {
    /// Number of weights of all networks together: as many for each.
    pub parameters: u64,
    /// Whose name decides about a record's shard.
    pub unit: Unit,
    /// Number of shards, empty ones included.
    pub shards: u64,
    /// Shards that this release retrained.
    pub retrained: u64,
    /// Version of the arithmetic, which determines the bits that records give.
    pub arithmetic: u64,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
}

impl Shards {
    /// The most shards that a model may have.
    pub const MOST: u64 = 4096;
}

impl Stated for Shards {
    fn facts(&self) -> Facts<'_> {
        Facts {
            parameters: self.parameters,
            group: 1,
            setting: None,
            releases: self.releases,
            joint_releases: 1,
            state: State::Perfect,
            grid: None,
        }
    }
}
