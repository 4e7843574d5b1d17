#![doc = include_str!("descent.md")]

mod distributed;
mod regularised;

pub use distributed::Distributed;
pub use regularised::{Exponent, Regularised};

use super::PublishedError;

/// The constants of Theorems 3.1 and 3.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// G, of the regularised loss (S G for requests of S records served as one update).
    pub lipschitz: f64,
    /// m: strong convexity of the objective, above 0.
    pub strong_convexity: f64,
    /// L: smoothness of the objective, above m.
    pub smoothness: f64,
    /// n: records at the start.
    pub records: f64,
    /// d: number of parameters, at least 1.
    pub parameters: f64,
    /// epsilon of (epsilon, delta), above 0.
    pub epsilon: f64,
    /// delta of (epsilon, delta), in (0, 1).
    pub delta: f64,
}

impl Descent {
    /// Returns the noise (Theorem 3.1) for `iterations` steps per update.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn secret_noise(&self, iterations: u64) -> Result<f64, PublishedError> {
        let distance = 8.0 * self.reach() * self.decay(iterations)?;
        Ok(noise_for(distance, -libm::log(self.delta), self.epsilon))
    }

    /// Returns the steps of learning (Theorem 3.1) over a domain of `diameter` D, for `iterations` steps per
    /// update.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn learning_steps(&self, iterations: u64, diameter: f64) -> Result<u64, PublishedError> {
        PublishedError::unless_positive(&[("diameter", diameter)])?;
        let rate = self.rate()?;
        let ln = libm::log(0.5 * diameter / self.reach());
        whole(iterations as f64 + ln / rate)
    }

    /// Returns the least I (Theorem 3.2), at least 1.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn perfect_iterations(&self) -> Result<u64, PublishedError> {
        let rate = self.rate()?;
        let gap = root_gap(2.0 * libm::log(2.0 / self.delta), self.epsilon);
        let flat = 2.0 * self.strong_convexity / (self.smoothness + self.strong_convexity);
        let ln = 0.5 * libm::log(2.0 * self.parameters) - libm::log(flat) - libm::log(gap);
        Ok(whole(ln / rate)?.max(1))
    }

    /// Returns the noise (Theorem 3.2) for I = `iterations`.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn perfect_noise(&self, iterations: u64) -> Result<f64, PublishedError> {
        let decay = self.decay(iterations)?;
        let start = 2.0 * libm::log(2.0 / self.delta) + 2.0 * self.epsilon;
        Ok(8.0 * self.reach() * decay / root_gap(start, self.epsilon))
    }

    /// Returns the steps T_i (Theorem 3.2) of update number `update` (from 1) for I = `iterations`.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn perfect_steps(&self, iterations: u64, update: u64) -> Result<u64, PublishedError> {
        let rate = self.rate()?;
        PublishedError::unless_positive(&[("update", update as f64)])?;
        let count = 4.0 * self.parameters * update as f64 / self.delta;
        whole(iterations as f64 + libm::log(libm::log(count)) / rate)
    }

    /// Returns G/(m n).
    fn reach(&self) -> f64 {
        self.lipschitz / (self.strong_convexity * self.records)
    }

    /// Returns log(1/gamma), after the checks.
    fn rate(&self) -> Result<f64, PublishedError> {
        PublishedError::unless_positive(&[
            ("lipschitz", self.lipschitz),
            ("strong_convexity", self.strong_convexity),
            ("n", self.records),
            ("d", self.parameters),
            ("epsilon", self.epsilon),
        ])?;
        let above = self.smoothness > self.strong_convexity && self.smoothness.is_finite();
        let rule = "finite and above `strong_convexity`";
        PublishedError::unless(above, "smoothness", rule, self.smoothness)?;
        PublishedError::unless_delta(self.delta)?;
        let flat = 2.0 * self.strong_convexity / (self.smoothness + self.strong_convexity);
        Ok(-libm::log1p(-flat))
    }

    /// Returns gamma^I/(1 - gamma^I).
    fn decay(&self, iterations: u64) -> Result<f64, PublishedError> {
        let rate = self.rate()?;
        PublishedError::unless_positive(&[("iterations", iterations as f64)])?;
        Ok(1.0 / libm::expm1(rate * iterations as f64))
    }
}

/// Returns the sigma with which outputs `distance` apart are indistinguishable by Lemma A.3; `tail` is
/// ln(1/delta).
fn noise_for(distance: f64, tail: f64, epsilon: f64) -> f64 {
    distance / (std::f64::consts::SQRT_2 * root_gap(tail, epsilon))
}

/// Returns sqrt(start + rise) - sqrt(start), without cancellation.
fn root_gap(start: f64, rise: f64) -> f64 {
    rise / ((start + rise).sqrt() + start.sqrt())
}

/// Returns the number of steps not below `exact`, at least 0.
fn whole(exact: f64) -> Result<u64, PublishedError> {
    PublishedError::unless(exact <= (1_u64 << 53) as f64, "steps", "at most 2^53", exact)?;
    Ok(exact.ceil().max(0.0) as u64)
}

#[cfg(test)]
mod tests;
