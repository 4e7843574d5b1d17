//! `deletion-rdp`: the published deletion privacy and Rényi DP of convex noisy gradient descent.

use super::Nearby;
use crate::accountant::gdp::{AccountantError, History};
use crate::event::{Adjacency, NoisyGd};
use crate::outward;
use crate::rdp::{Conversion, unrounded_epsilon};

/// A history that obeys the hypotheses.
pub(crate) struct Deletion {
    /// 4 S^2 G^2/(lambda sigma^2 N^2).
    scale: f64,
    /// lambda eta/2.
    rate: f64,
    /// Steps of every release, with how many releases have so many.
    releases: Vec<(f64, f64)>,
    last: f64,
    longest: f64,
    requests: usize,
    whole: Nearby,
    joint: Nearby,
}

impl Deletion {
    pub(crate) fn new(event: &NoisyGd, adjacency: Adjacency) -> Result<Self, AccountantError> {
        const NOTION: &str = "privacy by `deletion-rdp`";
        let unsupported = |reason| AccountantError::Unsupported { notion: NOTION, reason };
        let history = History::new(event)?;
        let (m, eta) = (history.strong_convexity(), history.step());
        if m == 0.0 {
            return Err(unsupported("its theorem needs lambda above 0"));
        }
        if eta * history.total_smoothness() >= 1.0 {
            return Err(unsupported("its theorem needs a step size below 1/(lambda + beta)"));
        }
        let reach = history.lipschitz() * history.replaced_group(adjacency, NOTION)?;
        let longest = event.longest;
        let releases = event.phases.iter().map(|phase| {
            let steps = if phase.releases == 1 { phase.steps } else { longest };
            (steps as f64, phase.releases as f64)
        });
        let one = history.arithmetic_mu(longest)?;
        Ok(Self {
            scale: 4.0 * reach * reach / (m * history.variance()),
            rate: 0.5 * m * eta,
            releases: releases.collect(),
            last: event.phases.last().map_or(0.0, |phase| phase.steps as f64),
            longest: longest as f64,
            requests: event.phases.len() - 1,
            whole: Nearby { nu: history.arithmetic_mu(history.steps()?)? },
            joint: Nearby { nu: outward::up(one * (event.releases as f64).sqrt()) },
        })
    }

    /// Returns eps_dd of order q, rounded up.
    pub(crate) fn at_rest(&self, q: f64) -> Result<f64, AccountantError> {
        if self.requests == 0 {
            return Err(AccountantError::Unsupported {
                notion: "deletion privacy",
                reason: "nothing was deleted: the event has only the training phase",
            });
        }
        let exact = |q| q * self.scale * libm::exp(-self.rate * self.last);
        Ok(outward::up(self.whole.renyi(q, exact)))
    }

    /// Returns eps_dp of order q for the longest release, rounded up.
    pub(crate) fn one_release(&self, q: f64) -> f64 {
        outward::up(self.whole.renyi(q, |q| self.private(q, self.longest)))
    }

    /// Returns epsilon of all releases jointly at `delta`, rounded up.
    pub(crate) fn all_releases(&self, delta: f64) -> f64 {
        let curve = |q: f64| self.releases.iter().map(|(k, n)| n * self.private(q, *k)).sum();
        let exact = |delta| unrounded_epsilon(curve, delta, Conversion::Mironov);
        outward::up(self.joint.epsilon(delta, exact))
    }

    fn private(&self, q: f64, steps: f64) -> f64 {
        q * self.scale * -libm::expm1(-self.rate * steps)
    }
}
