#![doc = include_str!("bounded_domain.md")]

mod contraction;
mod restart;

pub(super) use contraction::contracted;
pub use contraction::ln_delta;

use crate::accountant::PublishedError;
use crate::accountant::gdp::Stretch;
use crate::gaussian::unrounded;
use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu};

/// Two runs of noisy steps that never leave a ball.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedDomain<'a> {
    /// R: after every step, both runs lie in one ball of this radius.
    pub radius: f64,
    /// Bound on the length of one step without its noise, eta sup|grad F| over the ball; infinity if none is
    /// known.
    pub step_length: f64,
    /// What grid and floats add to the distance of two noiseless results.
    pub arithmetic: f64,
    /// The steps of both runs, which start at one point, in order; their shifts include what grid
    /// and floats add.
    pub stretches: &'a [Stretch],
    /// How many of the last stretches make the same steps in both runs (on the same data).
    pub same: usize,
}

impl BoundedDomain<'_> {
    /// Returns mu of the last iterates, the least over all restarts that were tried, rounded up by a relative
    /// 1e-9; never above the bound without a ball.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn mu(&self) -> Result<Mu, PublishedError> {
        let ln_mu = self.ln_mu()?;
        let mu = libm::exp(ln_mu);
        let vanished = mu == 0.0 && ln_mu > f64::NEG_INFINITY;
        Ok(outward::mu(if vanished { f64::MIN_POSITIVE } else { outward::up(mu) }))
    }

    /// Returns the least epsilon at `delta` that any bound here gives, rounded up by a relative 1e-9.
    ///
    /// Smaller than what [`BoundedDomain::mu`] gives if many of the last steps are the same in both runs.
    /// Time: linear in those steps, some sixty times.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn epsilon(&self, delta: Delta) -> Result<Epsilon, PublishedError> {
        Ok(outward::epsilon(outward::up(self.unrounded_epsilon(delta.get())?)))
    }

    /// Returns ln mu, not rounded outward.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn ln_mu(&self) -> Result<f64, PublishedError> {
        self.check()?;
        Ok(restart::ln_mu(2.0 * self.radius, self.stretches)?)
    }

    /// Returns [`BoundedDomain::epsilon`] without the outward margin, to a relative 1e-10.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn unrounded_epsilon(&self, delta: f64) -> Result<f64, PublishedError> {
        let by_mu = unrounded::epsilon(libm::exp(self.ln_mu()?), delta);
        let (before, _) = self.stretches.split_at(self.stretches.len() - self.same);
        let ln_start = restart::ln_mu(2.0 * self.radius, before)?;
        let ln_delta = libm::log(delta);
        // The error of ln p stays below 1e-12 of its size.
        let enough = |epsilon: f64| {
            let ln_p = self.contracted(ln_start, epsilon);
            ln_p * (1.0 - 1e-11) <= ln_delta
        };
        if by_mu == 0.0 || enough(0.0) {
            return Ok(0.0);
        }
        let mut high = if by_mu.is_finite() { by_mu } else { 1e6 };
        if !enough(high) {
            return Ok(by_mu);
        }
        let mut low = 0.0;
        while high - low > 1e-10 * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if enough(middle) { high = middle } else { low = middle }
        }
        Ok(high)
    }

    /// Returns ln delta(`epsilon`) after the stretches that are the same in both runs; before them the two
    /// runs are exp(`ln_start`)-GDP.
    fn contracted(&self, ln_start: f64, epsilon: f64) -> f64 {
        let first = unrounded::ln_delta(epsilon, libm::exp(ln_start)).min(0.0);
        let same = &self.stretches[self.stretches.len() - self.same..];
        same.iter().fold(first, |ln_p, stretch| {
            let apart = 2.0 * self.radius * libm::exp(stretch.ln_contraction);
            let apart = apart.min(2.0 * self.radius + 2.0 * self.step_length) + self.arithmetic;
            let diameter = apart / stretch.noise;
            contracted(ln_p, epsilon, diameter, stretch.steps, f64::NEG_INFINITY)
        })
    }

    fn check(&self) -> Result<(), PublishedError> {
        PublishedError::unless_positive(&[("radius", self.radius)])?;
        let length = self.step_length;
        PublishedError::unless(length >= 0.0, "step_length", "at least 0", length)?;
        PublishedError::unless_nonnegative("arithmetic", self.arithmetic)?;
        let (all, same) = (self.stretches.len(), self.same);
        let rule = "at most the number of stretches";
        PublishedError::unless(same <= all, "same", rule, same as f64)?;
        let steps = self.stretches[all - same..].iter();
        let steps = steps.fold(0_u64, |sum, stretch| sum.saturating_add(stretch.steps));
        if steps > contraction::MOST_STEPS {
            return Err(contraction::too_many(steps));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
