#![doc = include_str!("langevin.md")]

mod bounded;
mod finite;

pub use bounded::{BoundedLangevin, Convexity};

use super::{PublishedError, least_count};
use crate::rdp::{Conversion, unrounded_epsilon};

/// Learning by noisy gradient descent and requests that each replace a group of records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Langevin {
    /// n: number of records, at least 1.
    pub records: f64,
    /// m: strong convexity of the objective, above 0.
    pub strong_convexity: f64,
    /// M: bound on one record's gradient.
    pub lipschitz: f64,
    /// eta: step size, at most 1/L.
    pub step: f64,
    /// sigma; each step's noise has standard deviation sqrt(2 eta) sigma.
    pub noise: f64,
    /// S: records replaced by one request.
    pub group: f64,
    /// T, or none for learning to stationarity.
    pub learning_steps: Option<u64>,
}

/// Which numbers of steps and orders a search tries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Steps are tried from 1 on in strides of this; 1 tries every whole number.
    pub stride: u64,
    /// Orders above this are not tried; infinity tries all.
    pub most_order: f64,
}

impl Search {
    /// Every number of steps, every order.
    pub const ALL: Self = Self { stride: 1, most_order: f64::INFINITY };
}

impl Langevin {
    /// Checks that the theorem's hypotheses hold: eta at most 1/L, and a start that is a point
    /// (`start_variance` 0) or N(mu_0, `start_variance` I) of at most 2 sigma^2/m.
    ///
    /// # Errors
    /// Fails at the first that does not.
    pub fn check_hypotheses(
        &self,
        smoothness: f64,
        start_variance: f64,
    ) -> Result<(), PublishedError> {
        let smooth = smoothness >= self.strong_convexity;
        PublishedError::unless(smooth, "smoothness", "at least `strong_convexity`", smoothness)?;
        let short = self.step * smoothness <= 1.0 + 1e-12;
        PublishedError::unless(short, "eta", "at most 1/`smoothness`", self.step)?;
        let widest = 2.0 * self.noise * self.noise / self.strong_convexity;
        let narrow = (0.0..=widest * (1.0 + 1e-12)).contains(&start_variance);
        PublishedError::unless(narrow, "start_variance", "in 0..=2 sigma^2/m", start_variance)
    }

    /// Returns epsilon at `delta` after one request and `steps` further steps.
    ///
    /// # Errors
    /// Fails if a number is not positive and finite, or `delta` not in (0, 1).
    pub fn epsilon(&self, steps: u64, delta: f64) -> Result<f64, PublishedError> {
        self.epsilon_of_sequence(&[steps], delta)
    }

    /// Returns epsilon at `delta` after the last of several requests with these numbers of steps.
    ///
    /// # Errors
    /// Fails as [`Langevin::epsilon`] does.
    pub fn epsilon_of_sequence(&self, steps: &[u64], delta: f64) -> Result<f64, PublishedError> {
        self.check(delta)?;
        Ok(self.converted(steps, delta, f64::INFINITY))
    }

    /// Returns the least number of steps, at least 1, after which epsilon at `delta` is at most `target`
    /// (Algorithm 5).
    ///
    /// # Errors
    /// Fails as [`Langevin::epsilon`] does, and if no number of steps is enough.
    pub fn least_steps(&self, target: f64, delta: f64) -> Result<u64, PublishedError> {
        let steps = self.least_steps_of_sequence(1, target, delta, Search::ALL)?;
        Ok(steps.first().copied().unwrap_or(1))
    }

    /// Returns the least number of steps for each of `requests` requests, each after those before it
    /// (Algorithms 6 and 7).
    ///
    /// # Errors
    /// Fails as [`Langevin::least_steps`] does, if the stride is 0 or no order to try is above 1, and if
    /// there are more than 500 requests, since the order 2^500 alpha leaves the range of floats.
    pub fn least_steps_of_sequence(
        &self,
        requests: u64,
        target: f64,
        delta: f64,
        search: Search,
    ) -> Result<Vec<u64>, PublishedError> {
        self.check(delta)?;
        PublishedError::unless_positive(&[
            ("target_epsilon", target),
            ("stride", search.stride as f64),
        ])?;
        let most = search.most_order;
        PublishedError::unless(most > 1.0, "most_order", "above 1", most)?;
        PublishedError::unless(requests <= 500, "requests", "at most 500", requests as f64)?;
        let mut all = Vec::new();
        for _ in 0..requests {
            let with = |count: u64| 1 + (count - 1).saturating_mul(search.stride);
            let reaches = |count: u64| {
                let mut all = all.clone();
                all.push(with(count));
                self.converted(&all, delta, search.most_order) <= target
            };
            let least = with(least_count(target, "steps", reaches)?);
            all.push(least);
        }
        Ok(all)
    }

    /// Returns the least sigma, to a relative 1e-9, with which `steps` steps give `target` (Algorithm 4).
    ///
    /// # Errors
    /// Fails as [`Langevin::epsilon`] does, and if no sigma in [1e-60, 1e60] is enough.
    pub fn least_noise(&self, steps: u64, target: f64, delta: f64) -> Result<f64, PublishedError> {
        self.check(delta)?;
        PublishedError::unless_positive(&[("target_epsilon", target)])?;
        let at = |ln: f64| Self { noise: libm::exp(ln), ..*self };
        let limit = 60.0 * std::f64::consts::LN_10;
        let (mut low, mut high) = (-limit, limit);
        if at(high).converted(&[steps], delta, f64::INFINITY) > target {
            return Err(PublishedError::out_of_reach(target, "sigma", 1e60));
        }
        while high - low > 1e-10 {
            let middle = 0.5 * (low + high);
            if at(middle).converted(&[steps], delta, f64::INFINITY) <= target {
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
        // L is at least m, and eta at most 1/L.
        let short = self.step * self.strong_convexity <= 1.0 + 1e-12;
        PublishedError::unless(short, "eta", "at most 1/`strong_convexity`", self.step)?;
        PublishedError::unless_delta(delta)
    }

    fn converted(&self, steps: &[u64], delta: f64, most_order: f64) -> f64 {
        let curve = |alpha: f64| {
            if alpha <= most_order { self.renyi(steps, alpha) } else { f64::INFINITY }
        };
        unrounded_epsilon(curve, delta, Conversion::Mironov)
    }

    /// Returns eps_0(alpha).
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

    /// Returns the Rényi divergence of order alpha after the last of the requests.
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
mod tests;
