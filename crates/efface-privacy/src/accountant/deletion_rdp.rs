//! Deletion privacy of convex noisy gradient descent, as published.
//!
//! Claim: Chourasia and Shah, *Forget unlearning* (2023), Theorem 5.1: a convex, beta-smooth loss
//! with gradients at most G and L2 regularisation lambda, eta < 1/(lambda + beta), start
//! N(0, sigma^2/(lambda (1 - eta lambda/2)) I), n records, one record per person. After K steps per
//! request, of Rényi order q,
//!
//! ```text
//! eps_dp  = 4 q G^2/(lambda sigma^2 n^2) (1 - e^{-lambda eta K/2})    differential privacy
//! eps_dd <= 4 q G^2/(lambda sigma^2 n^2) e^{-lambda eta K/2}          deletion privacy
//! ```
//!
//! and eps_dd + p eps_dp against requesters who saw p releases. A person with S records takes S G
//! for G. Results are not rounded outward; the Gaussian accountant has half the constant and four
//! times the exponent.

use super::PublishedError;

/// The constants of Theorem 5.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConvexDeletion {
    /// lambda.
    pub regularisation: f64,
    /// eta.
    pub step: f64,
    /// q.
    pub order: f64,
    /// G (S G for a person with S records).
    pub lipschitz: f64,
    /// sigma; each step's noise has standard deviation sqrt(2 eta) sigma.
    pub noise: f64,
    /// n.
    pub records: f64,
}

impl ConvexDeletion {
    /// eps_dd after `steps` steps on the data without the record.
    ///
    /// # Errors
    /// When a number is not positive and finite or the order not above 1.
    pub fn deletion(&self, steps: u64) -> Result<f64, PublishedError> {
        Ok(libm::exp(self.ln_scale()? - 0.5 * self.rate() * steps as f64))
    }

    /// eps_dp of one release after `steps` steps.
    ///
    /// # Errors
    /// As [`ConvexDeletion::deletion`].
    pub fn differential_privacy(&self, steps: u64) -> Result<f64, PublishedError> {
        Ok(libm::exp(self.ln_scale()?) * -libm::expm1(-0.5 * self.rate() * steps as f64))
    }

    /// The least number of steps with eps_dd at most `target`; 0 when none are needed.
    ///
    /// # Errors
    /// As [`ConvexDeletion::deletion`], and when the number exceeds 2^53.
    pub fn least_steps(&self, target: f64) -> Result<u64, PublishedError> {
        PublishedError::unless_positive(&[("epsilon_dd", target)])?;
        let exact = 2.0 * (self.ln_scale()? - libm::log(target)) / self.rate();
        let limit = (1_u64 << 53) as f64;
        if exact > limit {
            return Err(PublishedError::OutOfReach { target, name: "steps", limit });
        }
        Ok(exact.ceil().max(0.0) as u64)
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
        if !(self.order > 1.0 && self.order.is_finite()) {
            let rule = "finite and above 1";
            return Err(PublishedError::Range { name: "q", rule, got: self.order });
        }
        let reach = libm::log(self.lipschitz) - libm::log(self.noise) - libm::log(self.records);
        Ok(libm::log(4.0 * self.order / self.regularisation) + 2.0 * reach)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: ConvexDeletion = ConvexDeletion {
        regularisation: 0.01,
        step: 1.9,
        order: 20.0,
        lipschitz: 1.0,
        noise: 0.03,
        records: 10_000.0,
    };

    #[test]
    fn the_least_steps_are_least() {
        let steps = CASE.least_steps(1e-3).unwrap();
        assert_eq!(steps, 473);
        assert!(CASE.deletion(steps).unwrap() <= 1e-3);
        assert!(CASE.deletion(steps - 1).unwrap() > 1e-3);
        assert_eq!(CASE.least_steps(1.0).unwrap(), 0);
    }

    #[test]
    fn deletion_and_privacy_share_one_scale() {
        let sum = CASE.deletion(100).unwrap() + CASE.differential_privacy(100).unwrap();
        assert!((sum / CASE.deletion(0).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn bad_numbers_are_refused() {
        let refused = ConvexDeletion { order: 1.0, ..CASE }.deletion(1).unwrap_err();
        assert_eq!(refused.to_string(), "`q` must be finite and above 1, got 1");
        assert!(ConvexDeletion { step: -1.0, ..CASE }.least_steps(0.1).is_err());
        assert!(CASE.least_steps(f64::NAN).is_err());
        let slow = ConvexDeletion { step: 1e-200, ..CASE };
        assert!(matches!(slow.least_steps(1e-3), Err(PublishedError::OutOfReach { .. })));
    }
}
