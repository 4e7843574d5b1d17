//! Theorems G.9 and G.15: convex losses.

use super::{PublishedError, check_order, whole};

/// The constants of Theorems G.9 and G.15.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConvexDeletion {
    /// lambda: L2 regularisation, above 0.
    pub regularisation: f64,
    /// eta: step size, below 1/(lambda + beta).
    pub step: f64,
    /// q: order of the Rényi divergence, above 1.
    pub order: f64,
    /// G (S G for a person with S records).
    pub lipschitz: f64,
    /// sigma; each step's noise has standard deviation sqrt(2 eta) sigma.
    pub noise: f64,
    /// n: number of records, at least 1.
    pub records: f64,
}

impl ConvexDeletion {
    /// Returns eps_dd after `steps` steps on the data without the record.
    ///
    /// # Errors
    /// Fails if a number is not positive and finite or the order not above 1.
    pub fn deletion(&self, steps: u64) -> Result<f64, PublishedError> {
        Ok(libm::exp(self.ln_scale()? - 0.5 * self.rate() * steps as f64))
    }

    /// Returns eps_dp of one release after `steps` steps.
    ///
    /// # Errors
    /// Fails as [`ConvexDeletion::deletion`] does.
    pub fn differential_privacy(&self, steps: u64) -> Result<f64, PublishedError> {
        Ok(libm::exp(self.ln_scale()?) * -libm::expm1(-0.5 * self.rate() * steps as f64))
    }

    /// Returns the least number of steps with eps_dd at most `target`; 0 when none are needed.
    ///
    /// # Errors
    /// Fails as [`ConvexDeletion::deletion`] does, and if the number exceeds 2^53.
    pub fn least_steps(&self, target: f64) -> Result<u64, PublishedError> {
        PublishedError::unless_positive(&[("epsilon_dd", target)])?;
        whole(2.0 * (self.ln_scale()? - libm::log(target)) / self.rate(), target)
    }

    /// Returns eps_dd + p eps_dp: deletion privacy after `steps` steps against requesters who have seen
    /// `releases` = p distinct releases, none of them after more than `longest` steps of one run.
    ///
    /// Both parts count for the same group and replaced records. State must be `perfect`.
    ///
    /// # Errors
    /// Fails as [`ConvexDeletion::deletion`] does.
    pub fn adaptive_deletion(
        &self,
        steps: u64,
        longest: u64,
        releases: u64,
    ) -> Result<f64, PublishedError> {
        let seen = self.differential_privacy(longest.max(steps))?;
        Ok(self.deletion(steps)? + releases as f64 * seen)
    }

    /// Checks that eta is small enough for the theorems: below 1/(lambda + `smoothness`).
    ///
    /// # Errors
    /// Fails if it is not, or a number is not positive and finite.
    pub fn check_step(&self, smoothness: f64) -> Result<(), PublishedError> {
        PublishedError::unless_positive(&[("beta", smoothness)])?;
        self.ln_scale()?;
        let short = self.step * (self.regularisation + smoothness) < 1.0;
        PublishedError::unless(short, "eta", "below 1/(lambda + beta)", self.step)
    }

    fn rate(&self) -> f64 {
        self.regularisation * self.step
    }

    fn ln_scale(&self) -> Result<f64, PublishedError> {
        PublishedError::unless_positive(&[
            ("lambda", self.regularisation),
            ("eta", self.step),
            ("lipschitz", self.lipschitz),
            ("sigma", self.noise),
            ("n", self.records),
        ])?;
        check_order(self.order)?;
        let reach = libm::log(self.lipschitz) - libm::log(self.noise) - libm::log(self.records);
        Ok(libm::log(4.0 * self.order / self.regularisation) + 2.0 * reach)
    }
}
