//! Theorems 3.4, 3.5 and Remark 3.6: a convex loss, made strongly convex by regularisation.

use super::{Descent, PublishedError, noise_for};

/// A convex, beta-smooth, G-Lipschitz loss over a domain of diameter D that contains the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regularised {
    /// G of the loss alone.
    pub lipschitz: f64,
    /// beta: smoothness of the loss.
    pub smoothness: f64,
    /// D: diameter of the domain of the weights.
    pub diameter: f64,
    /// n: number of records at the start.
    pub records: f64,
    /// d: number of parameters, at least 1.
    pub parameters: f64,
    /// epsilon of (epsilon, delta), above 0.
    pub epsilon: f64,
    /// delta of (epsilon, delta), in (0, 1).
    pub delta: f64,
    /// I: steps of the first update.
    pub iterations: u64,
}

/// Updates followed one by one; a regularisation so weak that more matter has a simpler bound.
const MOST_UPDATES: u64 = 1_000_000;

/// The exponent of m in Theorem 3.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exponent {
    /// 4/5.
    Printed,
    /// 2/5, which balances the risk.
    Balanced,
}

impl Regularised {
    /// Returns m of Theorem 3.4.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn strength(&self, exponent: Exponent) -> Result<f64, PublishedError> {
        self.check()?;
        let power = match exponent {
            Exponent::Printed => 0.8,
            Exponent::Balanced => 0.4,
        };
        let ln = libm::log(self.lipschitz)
            + 1.5 * libm::log(self.smoothness)
            + 0.5 * self.ln_dimension()
            - libm::log(self.diameter * self.epsilon * self.records * self.iterations as f64);
        Ok(libm::exp(power * ln))
    }

    /// Returns m of Theorem 3.5 (`growth` = xi = 1) and Remark 3.6.
    ///
    /// # Errors
    /// Fails if a number is out of range or xi below 1.
    pub fn weak_strength(&self, growth: f64) -> Result<f64, PublishedError> {
        self.check_growth(growth)?;
        let ln = 2.0 * libm::log(self.lipschitz / (self.diameter * self.epsilon * self.records))
            + (1.0 + growth) / growth * libm::log(self.smoothness)
            + self.ln_dimension()
            - libm::log(self.iterations as f64) / growth;
        Ok(libm::exp(growth / (3.0 * growth + 1.0) * ln))
    }

    /// Returns the problem regularised by `strength` = m: Theorem 3.4 is Theorem 3.1 for it.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn problem(&self, strength: f64) -> Result<Descent, PublishedError> {
        self.check()?;
        PublishedError::unless_positive(&[("m", strength)])?;
        Ok(Descent {
            lipschitz: self.lipschitz + strength * self.diameter,
            strong_convexity: strength,
            smoothness: self.smoothness + strength,
            records: self.records,
            parameters: self.parameters,
            epsilon: self.epsilon,
            delta: self.delta,
        })
    }

    /// Returns sigma of Theorem 3.5 and Remark 3.6 for `growth` = xi >= 1; beyond 2 the corrected one.
    ///
    /// # Errors
    /// Fails if a number is out of range or xi below 1.
    pub fn weak_noise(&self, strength: f64, growth: f64) -> Result<f64, PublishedError> {
        self.check_growth(growth)?;
        let problem = self.problem(strength)?;
        let relative = if growth <= 2.0 {
            self.slow_distance(strength, growth)
        } else {
            let (retrained, updated) = self.relative_distances(&problem, growth)?;
            retrained + updated.max(retrained)
        };
        let distance = 4.0 * problem.reach() * relative;
        Ok(noise_for(distance, -libm::log(self.delta), self.epsilon))
    }

    /// Steps of update number `update` (from 1): i^{2 xi} I, rounded up.
    ///
    /// # Errors
    /// Fails if a number is out of range, xi below 1, or the steps are more than 2^53.
    pub fn weak_steps(&self, growth: f64, update: u64) -> Result<u64, PublishedError> {
        self.check_growth(growth)?;
        PublishedError::unless_positive(&[("update", update as f64)])?;
        let power = libm::exp(2.0 * growth * libm::log(update as f64));
        // The power function misses whole results by a few units in the last place.
        let nearest = power.round();
        let power = if (power - nearest).abs() <= 1e-12 * power { nearest } else { power };
        super::whole(power * self.iterations as f64)
    }

    /// Distances to the optimum in units of 4 G/(m n), G of the regularised loss: of retraining,
    /// gamma^I, and the largest of any update.
    pub(super) fn relative_distances(
        &self,
        problem: &Descent,
        growth: f64,
    ) -> Result<(f64, f64), PublishedError> {
        let ln_first = -problem.rate()? * self.iterations as f64;
        let first = libm::exp(ln_first);
        let mut current = 0.5 * first * (1.0 + first);
        let mut largest = current;
        for update in 2_u64.. {
            if update > MOST_UPDATES {
                return Ok((first, self.slow_distance(problem.strong_convexity, growth)));
            }
            let power = libm::exp(2.0 * growth * libm::log(update as f64));
            current = libm::exp(ln_first * power) * (1.0 + current);
            // Falling from here on: the factor falls, and so does what it multiplies.
            if current <= largest {
                break;
            }
            largest = current;
        }
        Ok((first, largest))
    }

    /// Returns (beta/(m I))^{1/(2 xi)}, which no update's distance exceeds (Fact E.2).
    fn slow_distance(&self, strength: f64, growth: f64) -> f64 {
        let slow = self.smoothness / (strength * self.iterations as f64);
        libm::exp(0.5 / growth * libm::log(slow))
    }

    /// Returns ln(d ln(1/delta)).
    fn ln_dimension(&self) -> f64 {
        libm::log(self.parameters) + libm::log(-libm::log(self.delta))
    }

    fn check_growth(&self, growth: f64) -> Result<(), PublishedError> {
        self.check()?;
        let holds = growth >= 1.0 && growth.is_finite();
        PublishedError::unless(holds, "xi", "finite and at least 1", growth)
    }

    fn check(&self) -> Result<(), PublishedError> {
        PublishedError::unless_positive(&[
            ("lipschitz", self.lipschitz),
            ("smoothness", self.smoothness),
            ("diameter", self.diameter),
            ("n", self.records),
            ("d", self.parameters),
            ("epsilon", self.epsilon),
            ("iterations", self.iterations as f64),
        ])?;
        PublishedError::unless_delta(self.delta)
    }
}
