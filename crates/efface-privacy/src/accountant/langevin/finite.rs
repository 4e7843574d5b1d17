//! Learning that stops after T steps, against a reference that makes T steps too.

use super::Langevin;
use crate::accountant::PublishedError;
use crate::rdp::{Conversion, unrounded_epsilon};

impl Langevin {
    /// Returns rho with d_alpha(law after T steps, stationary law) <= rho alpha on every data set, for
    /// descent projected on a ball of `radius` R: mu^2/2 of two runs that start 2 R apart.
    ///
    /// # Errors
    /// Fails if a number is out of range, or learning is to stationarity (rho is 0 then, and nothing is to be
    /// bounded).
    pub fn convergence(&self, radius: f64) -> Result<f64, PublishedError> {
        self.check(0.5)?;
        PublishedError::unless_positive(&[("radius", radius)])?;
        let Some(steps) = self.learning_steps else { return Ok(0.0) };
        PublishedError::unless_positive(&[("learning_steps", steps as f64)])?;
        // c^(2T) and 1 + c^2 + ... + c^(2(T-1)).
        let ln_c = libm::log1p(-(self.step * self.strong_convexity).min(1.0));
        let decay = libm::exp(2.0 * steps as f64 * ln_c);
        let sum = libm::expm1(2.0 * steps as f64 * ln_c) / libm::expm1(2.0 * ln_c);
        let variance = 2.0 * self.step * self.noise * self.noise;
        Ok(2.0 * radius * radius * decay / (variance * sum))
    }

    /// Returns epsilon at `delta` after one request and `steps` further steps, against a run of T steps on
    /// the changed data, by two weak triangle inequalities through its stationary law. `rho` as from
    /// [`Langevin::convergence`].
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn epsilon_against_learning(
        &self,
        steps: u64,
        rho: f64,
        delta: f64,
    ) -> Result<f64, PublishedError> {
        self.check(delta)?;
        PublishedError::unless_nonnegative("rho", rho)?;
        Ok(unrounded_epsilon(
            |alpha| self.renyi_against_learning(steps, rho, alpha),
            delta,
            Conversion::Mironov,
        ))
    }

    pub(super) fn renyi_against_learning(&self, steps: u64, rho: f64, alpha: f64) -> f64 {
        let stationary = Self { learning_steps: None, ..*self };
        let moved = stationary.renyi(&[steps], 4.0 * alpha) + rho * 4.0 * alpha;
        let inner = (2.0 * alpha - 0.5) / (2.0 * alpha - 1.0) * moved;
        (alpha - 0.5) / (alpha - 1.0) * (inner + rho * 2.0 * alpha)
    }
}
