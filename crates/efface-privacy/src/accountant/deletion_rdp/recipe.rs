//! Theorem 5.1: the settings for a convex loss, from the guarantees wanted.

use super::{PublishedError, Wanted, whole};

/// The settings of Theorem 5.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConvexPlan {
    /// eta = 1/(2 (lambda + beta)).
    pub step: f64,
    /// sigma: each step adds sqrt(2 eta) sigma Z.
    pub noise: f64,
    /// Standard deviation of the start, on every coordinate.
    pub start: f64,
    /// Steps of learning for the stated risk.
    pub learning_steps: u64,
    /// Steps per request for deletion privacy.
    pub deletion_steps: u64,
    /// Steps per request for the stated risk; a request makes the larger of the two.
    pub utility_steps: u64,
    /// 10 kap q d G^2/(lambda eps_dp n^2): the proof's bound on every release's excess risk.
    pub excess_risk: f64,
}

impl Wanted {
    /// Returns the settings of Theorem 5.1. Nothing is rounded outward; numbers of steps are rounded up.
    ///
    /// # Errors
    /// Fails if a number is not positive and finite, the order not above 1, eps_dd not below eps_dp, or a
    /// number of steps above 2^53.
    pub fn convex_plan(&self) -> Result<ConvexPlan, PublishedError> {
        self.check()?;
        let condition = (self.regularisation + self.smoothness) / self.regularisation;
        let step = 0.5 / (self.regularisation + self.smoothness);
        let reach = self.lipschitz / self.records;
        let variance = 4.0 * self.order * reach * reach / (self.regularisation * self.privacy);
        let start = variance / (self.regularisation * (1.0 - 0.5 * step * self.regularisation));
        let steps = |ratio: f64| whole(4.0 * condition * libm::log(ratio), self.deletion);
        let dimension = self.order * self.parameters;
        let replaced = 8.0 * self.privacy * self.replaced * self.replaced / dimension;
        let learning = self.privacy * self.records * self.records / (4.0 * dimension);
        Ok(ConvexPlan {
            step,
            noise: variance.sqrt(),
            start: start.sqrt(),
            learning_steps: steps(learning)?,
            deletion_steps: steps(self.privacy / self.deletion)?,
            utility_steps: steps((5.0 * condition).max(replaced))?,
            excess_risk: 2.5 * condition * self.parameters * variance,
        })
    }
}
