#![doc = include_str!("langevin.md")]

use super::{PublishedError, least_count};
use crate::rdp::{Conversion, unrounded_epsilon};

/// Learning by noisy gradient descent and requests that each replace a group of records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Langevin {
    /// n: records.
    pub records: f64,
    /// m.
    pub strong_convexity: f64,
    /// M: bound on one record's gradient.
    pub lipschitz: f64,
    /// eta.
    pub step: f64,
    /// sigma; each step's noise has standard deviation sqrt(2 eta) sigma.
    pub noise: f64,
    /// S: records replaced by one request.
    pub group: f64,
    /// T, or none for learning to stationarity.
    pub learning_steps: Option<u64>,
}

impl Langevin {
    /// epsilon at `delta` after one request and `steps` further steps.
    ///
    /// # Errors
    /// When a number is not positive and finite, or `delta` not in (0, 1).
    pub fn epsilon(&self, steps: u64, delta: f64) -> Result<f64, PublishedError> {
        self.epsilon_of_sequence(&[steps], delta)
    }

    /// epsilon at `delta` after the last of several requests with these numbers of steps.
    ///
    /// # Errors
    /// As [`Langevin::epsilon`].
    pub fn epsilon_of_sequence(&self, steps: &[u64], delta: f64) -> Result<f64, PublishedError> {
        self.check(delta)?;
        Ok(self.converted(steps, delta))
    }

    /// The least number of steps, at least 1, after which epsilon at `delta` is at most `target`.
    ///
    /// # Errors
    /// As [`Langevin::epsilon`], and when no number of steps is enough.
    pub fn least_steps(&self, target: f64, delta: f64) -> Result<u64, PublishedError> {
        let steps = self.least_steps_of_sequence(1, target, delta)?;
        Ok(steps.first().copied().unwrap_or(1))
    }

    /// The least number of steps for each of `requests` requests, each after those before it
    /// (Algorithms 6 and 7).
    ///
    /// # Errors
    /// As [`Langevin::least_steps`]; also for more than 500 requests, where the order 2^500 alpha
    /// leaves the floats.
    pub fn least_steps_of_sequence(
        &self,
        requests: u64,
        target: f64,
        delta: f64,
    ) -> Result<Vec<u64>, PublishedError> {
        self.check(delta)?;
        PublishedError::unless_positive(&[("target_epsilon", target)])?;
        if requests > 500 {
            let got = requests as f64;
            return Err(PublishedError::Range { name: "requests", rule: "at most 500", got });
        }
        let mut found = Vec::new();
        for _ in 0..requests {
            let with = |steps: u64| {
                let mut all = found.clone();
                all.push(steps);
                self.converted(&all, delta) <= target
            };
            let least = least_count(target, "steps", with)?;
            found.push(least);
        }
        Ok(found)
    }

    /// The least sigma, to a relative 1e-9, with which `steps` steps give `target` (Algorithm 4).
    ///
    /// # Errors
    /// As [`Langevin::epsilon`], and when no sigma in [1e-60, 1e60] is enough.
    pub fn least_noise(&self, steps: u64, target: f64, delta: f64) -> Result<f64, PublishedError> {
        self.check(delta)?;
        PublishedError::unless_positive(&[("target_epsilon", target)])?;
        let at = |ln: f64| Self { noise: libm::exp(ln), ..*self };
        let limit = 60.0 * std::f64::consts::LN_10;
        let (mut low, mut high) = (-limit, limit);
        if at(high).converted(&[steps], delta) > target {
            return Err(PublishedError::OutOfReach { target, name: "sigma", limit: 1e60 });
        }
        while high - low > 1e-10 {
            let middle = 0.5 * (low + high);
            if at(middle).converted(&[steps], delta) <= target {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(libm::exp(high))
    }

    fn check(&self, delta: f64) -> Result<(), PublishedError> {
        PublishedError::unless_positive(&[
            ("n", self.records),
            ("strong_convexity", self.strong_convexity),
            ("lipschitz", self.lipschitz),
            ("eta", self.step),
            ("sigma", self.noise),
            ("group", self.group),
        ])?;
        if delta > 0.0 && delta < 1.0 {
            return Ok(());
        }
        Err(PublishedError::Range { name: "delta", rule: "in (0, 1)", got: delta })
    }

    fn converted(&self, steps: &[u64], delta: f64) -> f64 {
        unrounded_epsilon(|alpha| self.renyi(steps, alpha), delta, Conversion::Mironov)
    }

    /// eps_0(alpha).
    fn initial(&self, alpha: f64) -> f64 {
        let reach = self.group * self.lipschitz / (self.noise * self.records);
        let stationary = 4.0 * alpha * reach * reach / self.strong_convexity;
        match self.learning_steps {
            None => stationary,
            Some(steps) => {
                stationary * -libm::expm1(-self.strong_convexity * self.step * steps as f64)
            }
        }
    }

    /// The Rényi divergence of order alpha after the last of the requests.
    fn renyi(&self, steps: &[u64], alpha: f64) -> f64 {
        let Some((&last, before)) = steps.split_last() else { return self.initial(alpha) };
        let decay = libm::exp(-(last as f64) * self.strong_convexity * self.step / alpha);
        if before.is_empty() {
            return decay * self.initial(alpha);
        }
        let earlier = self.initial(2.0 * alpha) + self.renyi(before, 2.0 * alpha);
        decay * (alpha - 0.5) / (alpha - 1.0) * earlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MNIST: Langevin = Langevin {
        records: 11_982.0,
        strong_convexity: 0.011_982,
        lipschitz: 1.0,
        step: 3.817_056_133_627_501,
        noise: 0.03,
        group: 100.0,
        learning_steps: None,
    };

    #[test]
    fn least_values_are_least() {
        let delta = 1.0 / 11_982.0;
        let steps = MNIST.least_steps(1.0, delta).unwrap();
        assert_eq!(steps, 1997);
        assert!(MNIST.epsilon(steps, delta).unwrap() <= 1.0);
        assert!(MNIST.epsilon(steps - 1, delta).unwrap() > 1.0);
        let noise = MNIST.least_noise(1000, 1.0, delta).unwrap();
        let at = |noise| Langevin { noise, ..MNIST }.epsilon(1000, delta).unwrap();
        assert!(at(noise) <= 1.0 && at(noise * (1.0 - 1e-6)) > 1.0);
    }

    #[test]
    fn the_gaussian_accountant_is_never_worse() {
        use crate::accountant::gdp::{Stretch, interpolation};
        let delta = 1.0 / 11_982.0;
        let noise = (2.0 * MNIST.step).sqrt() * MNIST.noise;
        let ln_contraction = (-MNIST.step * MNIST.strong_convexity).ln_1p();
        let shift = 2.0 * MNIST.step * MNIST.group / MNIST.records;
        for steps in [1, 10, 100, 1000] {
            let learn = Stretch { steps: 100_000, ln_contraction, shift, noise };
            let unlearn = Stretch { steps, shift: 0.0, ..learn };
            let mu = interpolation::ln_mu(0.0, &[learn, unlearn]).unwrap().exp();
            let ours = crate::gaussian::unrounded::epsilon(mu, delta);
            assert!(ours < MNIST.epsilon(steps, delta).unwrap(), "{steps}");
        }
    }

    #[test]
    fn short_learning_and_bad_numbers() {
        let short = Langevin { learning_steps: Some(5), ..MNIST };
        assert!(short.epsilon(10, 1e-4).unwrap() < MNIST.epsilon(10, 1e-4).unwrap());
        let bad = Langevin { noise: 0.0, ..MNIST };
        let refused = bad.epsilon(10, 1e-4).unwrap_err().to_string();
        assert_eq!(refused, "`sigma` must be finite and above 0, got 0");
        assert!(MNIST.epsilon(10, 1.0).is_err());
        assert!(MNIST.least_steps_of_sequence(501, 1.0, 1e-4).is_err());
    }
}
