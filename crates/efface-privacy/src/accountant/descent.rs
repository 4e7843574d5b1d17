//! Gradient descent with output perturbation, as published.
//!
//! Claim: Neel, Roth and Sharifi-Malvajerdi, *Descent-to-delete* (2020), Theorems 3.1 and 3.2:
//! projected gradient descent with eta = 2/(L + m), gamma = (L - m)/(L + m), on an m-strongly
//! convex, L-smooth, G-Lipschitz objective over a domain of diameter D, at least n/2 records at any
//! time, one record per update, T learning steps and I (Theorem 3.2: T_i) steps per update:
//!
//! ```text
//! 3.1 (secret state)   T >= I + log(D m n/(2 G))/log(1/gamma)
//!                      sigma = 4 sqrt(2) G gamma^I/(m n (1 - gamma^I) (sqrt(log(1/delta) + eps) - sqrt(log(1/delta))))
//! 3.2 (perfect state)  T_i = I + log(log(4 d i/delta))/log(1/gamma)
//!                      I >= log(sqrt(2 d)/((1 - gamma) (sqrt(2 log(2/delta) + eps) - sqrt(2 log(2/delta)))))/log(1/gamma)
//!                      sigma = 8 G gamma^I/(m n (1 - gamma^I) (sqrt(2 log(2/delta) + 3 eps) - sqrt(2 log(2/delta) + 2 eps)))
//! ```
//!
//! Indistinguishability from retraining only: the outputs are not differentially private with these
//! numbers, whatever is said elsewhere. Results are not rounded outward.

use super::PublishedError;

/// The constants of the theorems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// G.
    pub lipschitz: f64,
    /// m.
    pub strong_convexity: f64,
    /// L.
    pub smoothness: f64,
    /// n: records at the start.
    pub records: f64,
    /// d.
    pub parameters: f64,
    /// epsilon.
    pub epsilon: f64,
    /// delta.
    pub delta: f64,
}

impl Descent {
    /// Theorem 3.1: the noise for `iterations` steps per update.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn secret_noise(&self, iterations: u64) -> Result<f64, PublishedError> {
        let decay = self.decay(iterations)?;
        let gap = root_gap(-libm::log(self.delta), self.epsilon);
        Ok(4.0 * std::f64::consts::SQRT_2 * self.reach() * decay / gap)
    }

    /// Theorem 3.1: the steps of learning over a domain of `diameter` D, for `iterations` steps
    /// per update.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn learning_steps(&self, iterations: u64, diameter: f64) -> Result<u64, PublishedError> {
        PublishedError::unless_positive(&[("diameter", diameter)])?;
        let rate = self.rate()?;
        let ln = libm::log(0.5 * diameter / self.reach());
        whole(iterations as f64 + ln / rate)
    }

    /// Theorem 3.2: the least I, at least 1.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn perfect_iterations(&self) -> Result<u64, PublishedError> {
        let rate = self.rate()?;
        let gap = root_gap(2.0 * libm::log(2.0 / self.delta), self.epsilon);
        let flat = 2.0 * self.strong_convexity / (self.smoothness + self.strong_convexity);
        let ln = 0.5 * libm::log(2.0 * self.parameters) - libm::log(flat) - libm::log(gap);
        Ok(whole(ln / rate)?.max(1))
    }

    /// Theorem 3.2: the noise for I = `iterations`.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn perfect_noise(&self, iterations: u64) -> Result<f64, PublishedError> {
        let decay = self.decay(iterations)?;
        let start = 2.0 * libm::log(2.0 / self.delta) + 2.0 * self.epsilon;
        Ok(8.0 * self.reach() * decay / root_gap(start, self.epsilon))
    }

    /// Theorem 3.2: the steps T_i of update number `update` (from 1) for I = `iterations`.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn perfect_steps(&self, iterations: u64, update: u64) -> Result<u64, PublishedError> {
        let rate = self.rate()?;
        PublishedError::unless_positive(&[("update", update as f64)])?;
        let count = 4.0 * self.parameters * update as f64 / self.delta;
        whole(iterations as f64 + libm::log(libm::log(count)) / rate)
    }

    /// G/(m n).
    fn reach(&self) -> f64 {
        self.lipschitz / (self.strong_convexity * self.records)
    }

    /// log(1/gamma), after the checks.
    fn rate(&self) -> Result<f64, PublishedError> {
        PublishedError::unless_positive(&[
            ("lipschitz", self.lipschitz),
            ("strong_convexity", self.strong_convexity),
            ("n", self.records),
            ("d", self.parameters),
            ("epsilon", self.epsilon),
        ])?;
        if !(self.smoothness > self.strong_convexity && self.smoothness.is_finite()) {
            let rule = "finite and above `strong_convexity`";
            return Err(PublishedError::Range { name: "smoothness", rule, got: self.smoothness });
        }
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(PublishedError::Range {
                name: "delta",
                rule: "in (0, 1)",
                got: self.delta,
            });
        }
        let flat = 2.0 * self.strong_convexity / (self.smoothness + self.strong_convexity);
        Ok(-libm::log1p(-flat))
    }

    /// gamma^I/(1 - gamma^I).
    fn decay(&self, iterations: u64) -> Result<f64, PublishedError> {
        let rate = self.rate()?;
        PublishedError::unless_positive(&[("iterations", iterations as f64)])?;
        Ok(1.0 / libm::expm1(rate * iterations as f64))
    }
}

/// sqrt(start + rise) - sqrt(start), without cancellation.
fn root_gap(start: f64, rise: f64) -> f64 {
    rise / ((start + rise).sqrt() + start.sqrt())
}

/// The number of steps not below `exact`, at least 0.
fn whole(exact: f64) -> Result<u64, PublishedError> {
    if exact.is_nan() || exact > (1_u64 << 53) as f64 {
        let rule = "at most 2^53";
        return Err(PublishedError::Range { name: "steps", rule, got: exact });
    }
    Ok(exact.ceil().max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MNIST: Descent = Descent {
        lipschitz: 1.0,
        strong_convexity: 0.011_982,
        smoothness: 0.261_982,
        records: 11_982.0,
        parameters: 784.0,
        epsilon: 1.0,
        delta: 1.0 / 11_982.0,
    };

    #[test]
    fn more_iterations_need_less_noise_and_more_learning() {
        assert!(MNIST.secret_noise(5).unwrap() < MNIST.secret_noise(1).unwrap());
        assert_eq!(
            MNIST.learning_steps(5, 100.0).unwrap(),
            MNIST.learning_steps(1, 100.0).unwrap() + 4
        );
        let least = MNIST.perfect_iterations().unwrap();
        assert!(MNIST.perfect_noise(least + 1).unwrap() < MNIST.perfect_noise(least).unwrap());
        assert!(MNIST.perfect_steps(least, 100).unwrap() >= MNIST.perfect_steps(least, 1).unwrap());
    }

    #[test]
    fn measured_distance_needs_less_noise_than_theorem_3_1() {
        // After I steps from a distance of 4 G/(m n)/(1 - gamma^I) both runs lie within gamma^I of
        // that: mu = 2 tau/sigma, with the exact conversion.
        let iterations = 5;
        let decay = MNIST.decay(iterations).unwrap();
        let tau = 2.0 * decay * MNIST.reach();
        let mu = crate::gaussian::unrounded::mu(MNIST.epsilon, MNIST.delta);
        assert!(2.0 * tau / mu < MNIST.secret_noise(iterations).unwrap());
    }

    #[test]
    fn bad_numbers_are_refused() {
        let refused = Descent { smoothness: 0.01, ..MNIST }.secret_noise(1).unwrap_err();
        let want = "`smoothness` must be finite and above `strong_convexity`, got 0.01";
        assert_eq!(refused.to_string(), want);
        assert!(Descent { delta: 1.0, ..MNIST }.perfect_iterations().is_err());
        assert!(MNIST.secret_noise(0).is_err());
        assert!(MNIST.perfect_steps(1, 0).is_err());
        assert!(MNIST.learning_steps(1, f64::NAN).is_err());
    }
}
