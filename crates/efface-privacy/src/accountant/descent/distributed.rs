//! Theorem 4.5: averages of parts of a bootstrap sample.

use super::{Descent, PublishedError, noise_for, whole};

/// The constants of Theorem 4.5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distributed {
    /// G, m, L, n, d, epsilon and delta.
    pub problem: Descent,
    /// xi in [1, 4/3]: n^xi rows are drawn.
    pub sample_exponent: f64,
    /// I of Theorem 4.5, at least 1.
    pub iterations: u64,
    /// C: copies, all of them noised; 1 for the single one.
    pub copies: u64,
}

impl Distributed {
    /// Returns sigma on each copy's average, for all of them together.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn noise(&self) -> Result<f64, PublishedError> {
        let rate = self.check()?;
        let exponent = rate * self.local_iterations();
        let distance = 8.0 * self.problem.reach() / libm::expm1(exponent);
        let tail = libm::log(2.0 / self.problem.delta);
        let one = noise_for(distance, tail, self.problem.epsilon);
        Ok((self.copies as f64).sqrt() * one)
    }

    /// Returns T for every part, over a domain of `diameter` D.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn learning_steps(&self, diameter: f64) -> Result<u64, PublishedError> {
        PublishedError::unless_positive(&[("diameter", diameter)])?;
        let rate = self.check()?;
        let Descent { lipschitz, strong_convexity, records, .. } = self.problem;
        let ln = libm::log(diameter * strong_convexity / lipschitz)
            + self.sample_exponent * libm::log(records)
            + libm::log1p(10.0 * self.ln_changes(1.0));
        whole(self.local_iterations() + ln / rate)
    }

    /// Returns T_i of update number `update` (from 1), not rounded: a part with changed rows makes K n T_i/(B
    /// |ind|) steps when |ind| rows changed.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn update_budget(&self, update: u64) -> Result<f64, PublishedError> {
        let rate = self.check()?;
        PublishedError::unless_positive(&[("update", update as f64)])?;
        let update = update as f64;
        let changes = 10.0 * self.ln_changes(update);
        let per_part = libm::log1p(changes * update) / rate / self.speed();
        Ok(changes * (self.iterations as f64 + per_part))
    }

    /// Returns ln(2 i C/delta): ten times this and B/n bounds the rows changed by any of i updates.
    fn ln_changes(&self, update: f64) -> f64 {
        libm::log(2.0 * update * self.copies as f64 / self.problem.delta)
    }

    /// Returns J = I n^{(4 - 3 xi)/2}.
    fn local_iterations(&self) -> f64 {
        self.iterations as f64 * self.speed()
    }

    fn speed(&self) -> f64 {
        let exponent = 2.0 - 1.5 * self.sample_exponent;
        libm::exp(exponent.max(0.0) * libm::log(self.problem.records))
    }

    /// Returns ln(1/gamma), after the checks.
    fn check(&self) -> Result<f64, PublishedError> {
        PublishedError::unless_positive(&[
            ("iterations", self.iterations as f64),
            ("copies", self.copies as f64),
        ])?;
        // 4/3 as typed is below 4/3 or a unit in the last place above.
        let xi = self.sample_exponent;
        let holds = (1.0..=4.0 / 3.0 + 1e-12).contains(&xi);
        PublishedError::unless(holds, "xi", "in [1, 4/3]", xi)?;
        self.problem.rate()
    }
}
