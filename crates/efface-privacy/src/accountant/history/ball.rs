//! `bounded-domain`: the last steps in a ball contract every divergence.

use super::Nearby;
use crate::accountant::bounded_domain::contracted;
use crate::accountant::gdp::{AccountantError, History, World, mu_noisy_gd};
use crate::event::NoisyGd;
use crate::gaussian::{self, unrounded};
use crate::quantity::{Delta, Epsilon, Mu};
use crate::{advantage, outward};

/// Steps that are contracted one by one; earlier ones are accounted as the start.
const MOST_STEPS: u64 = 512;

/// Closeness to retraining in a ball: the least of all bounds.
pub(crate) struct Ball {
    mu: Mu,
    steps: u64,
    reach: f64,
    before: f64,
    nearby: Nearby,
}

impl Ball {
    pub(crate) fn new(event: &NoisyGd) -> Result<Self, AccountantError> {
        let history = History::new(event)?;
        let found = history.contraction(MOST_STEPS)?.ok_or(AccountantError::Unsupported {
            notion: World::Retraining.notion(),
            reason: "the iterates are not confined to a ball of known radius; train with `radius`",
        })?;
        Ok(Self {
            mu: mu_noisy_gd(event, World::Retraining)?,
            nearby: Nearby { nu: history.arithmetic_mu(found.steps)? },
            steps: found.steps,
            reach: found.reach,
            before: found.before,
        })
    }

    /// Returns the least epsilon at `delta`.
    pub(crate) fn epsilon(&self, delta: Delta) -> Epsilon {
        let gaussian = gaussian::epsilon(self.mu, delta).map_or(f64::INFINITY, Epsilon::get);
        let contracted = self.nearby.epsilon(delta.get(), |delta| self.inverse(delta, gaussian));
        outward::epsilon(gaussian.min(outward::up(contracted)))
    }

    /// Returns the largest advantage of an attacker.
    pub(crate) fn advantage(&self) -> f64 {
        let apart = libm::exp(self.ln_delta(0.0, f64::NEG_INFINITY));
        let both = apart + advantage::unrounded_from_mu(self.nearby.nu);
        advantage::from_mu(self.mu).min(outward::up(both))
    }

    /// Returns ln of delta at `epsilon` after the steps, or any upper bound on it once it is below `enough`.
    fn ln_delta(&self, epsilon: f64, enough: f64) -> f64 {
        let ln_p = if self.before > 0.0 {
            unrounded::ln_delta(epsilon, self.before)
        } else {
            f64::NEG_INFINITY
        };
        contracted(ln_p, epsilon, self.reach, self.steps, enough)
    }

    /// Returns an epsilon with at most `delta`, the least below `most` to a relative 1e-12; infinity if
    /// `most` has more.
    fn inverse(&self, delta: f64, most: f64) -> f64 {
        let enough = libm::log(delta) - 1e-9;
        let holds = |epsilon: f64| self.ln_delta(epsilon, enough) <= enough;
        let mut high = if most.is_finite() { most } else { 1e4 };
        if !holds(high) {
            return f64::INFINITY;
        }
        if holds(0.0) {
            return 0.0;
        }
        let mut low = 0.0;
        while high - low > high * 1e-12 {
            let middle = 0.5 * (low + high);
            if holds(middle) { high = middle } else { low = middle }
        }
        high
    }
}
