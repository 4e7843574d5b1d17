//! The plan of training without noise.

use crate::error::range;
use crate::optimizer::check_rates;
use crate::{NetError, Network, Optimizer};

/// Mini-batch training as written: public constants, none of them computed from the data.
#[derive(Debug, Clone, PartialEq)]
pub struct SgdPlan {
    /// Passes over the rows, 1 to 2^20.
    pub epochs: u64,
    /// Rows of a mini-batch, 1 to 2^20; the last of an epoch may have fewer, and counts as much.
    pub batch: usize,
    /// What a step is multiplied by, above 0 and at most 1e6.
    pub learning_rate: f64,
    /// How weights follow the means of gradients.
    pub optimizer: Optimizer,
    /// The decay of a mean of the weights over steps, which is returned instead of the last ones.
    pub average: Option<f64>,
    /// Seed of the order of rows in each epoch, together with their keys.
    pub seed: u64,
}

/// A plan within its ranges: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedSgd {
    plan: SgdPlan,
}

impl SgdPlan {
    /// Checks that every number is in its range.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn check(self, _network: &Network) -> Result<CheckedSgd, NetError> {
        let most = 1 << 20;
        let whole = (1..=most as u64).contains(&self.epochs);
        range("epochs", "between 1 and 2^20", self.epochs as f64, whole)?;
        let whole = (1..=most).contains(&self.batch);
        range("batch", "between 1 and 2^20", self.batch as f64, whole)?;
        self.optimizer.check()?;
        check_rates(self.learning_rate, self.average)?;
        Ok(CheckedSgd { plan: self })
    }
}

impl CheckedSgd {
    /// Returns the plan as it was written.
    #[must_use]
    pub fn plan(&self) -> &SgdPlan {
        &self.plan
    }
}
