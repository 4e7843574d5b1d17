//! The two worlds an audit compares, as sources of independent releases.

mod batch;
mod design;
mod engine;

pub use batch::{BatchWorlds, Chains, Noise, Phase, Steps};
pub use design::Design;
pub use engine::EngineWorlds;

use std::ops::{ControlFlow, Range};

use efface::{Progress, Result};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

/// Which world a release comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Trained with the records, which then were deleted.
    Deleted,
    /// The reference that the claim names.
    Reference,
}

/// Independent releases of both worlds.
pub trait Worlds: Sync {
    /// Returns P: the number of weights of a release.
    fn parameters(&self) -> usize;

    /// Returns how many runs are best requested at once.
    fn round(&self) -> u64;

    /// Returns the releases of these runs, one after the other, P weights each. A run's number decides its
    /// randomness: the same run of the same world is the same release, different ones share nothing.
    ///
    /// # Errors
    /// Fails as the engine's operations do, or if `ended` interrupts at any step of a run.
    fn releases(&self, side: Side, runs: Range<u64>, ended: &Ended<'_>) -> Result<Vec<f64>>;
}

/// Whether work is to end now; called at every step of a run, by several threads.
pub type Ended<'a> = dyn Fn() -> bool + Sync + 'a;

/// Returns a watcher of the engine's work that ends it when asked to.
pub(crate) fn watch(ended: &Ended<'_>) -> impl FnMut(&Progress) -> ControlFlow<()> {
    move |_| if ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Seeds of all runs of an audit.
#[derive(Debug, Clone)]
pub struct Seeds([u8; 32]);

impl Seeds {
    /// Seeds from randomness of the operating system, or in tests from anything fixed.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self(seed)
    }

    /// Returns the generator of one run: a stream of its own.
    #[must_use]
    pub fn generator(&self, side: Side, run: u64) -> ChaCha20Rng {
        let mut rng = ChaCha20Rng::from_seed(self.0);
        rng.set_stream(2 * run + u64::from(side == Side::Reference));
        rng
    }
}
