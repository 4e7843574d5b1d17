//! The plan of DP-SGD, and the grid that follows from it.

use efface_privacy::sampler::RoundedNormal;

use super::sample::Sampling;
use crate::error::{length, range};
use crate::integer::MOST_LIMIT;
use crate::optimizer::check_rates;
use crate::{NetError, Network, Optimizer};

const MOST_STEPS: u64 = 1 << 32;

/// DP-SGD as written: public constants, none of them computed from the data.
#[derive(Debug, Clone, PartialEq)]
pub struct DpSgdPlan {
    /// T: steps, 1 to 2^32.
    pub steps: u64,
    /// q: the probability with which a step draws each unit, 2^-40 to 1. It is drawn as the multiple of
    /// 2^-64 that is not above it, so that accounting for q errs upward.
    pub rate: f64,
    /// sigma: standard deviation of the noise on each weight's sum, in multiples of `clip`; 2^-5 to 2^20.
    pub noise: f64,
    /// C: bound on the Euclidean norm of a unit's gradient; 1e-30 to 1e30.
    pub clip: f64,
    /// What a step is multiplied by, above 0 and at most 1e6.
    pub learning_rate: f64,
    /// b: the divisor of sums, a public number such as q times a public number of units, never that of the
    /// drawn ones; 1e-3 to 2^32.
    pub expected: f64,
    /// How weights follow the sums.
    pub optimizer: Optimizer,
    /// The decay of a mean of the weights over steps, which is returned instead of the last ones.
    pub average: Option<f64>,
}

/// A plan within its ranges and the grid of its sums: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedDpSgd {
    plan: DpSgdPlan,
    grid: f64,
    limit: u32,
    sampler: RoundedNormal,
    sampling: Sampling,
    parameters: usize,
}

impl DpSgdPlan {
    /// Checks the ranges, and derives the grid g: the largest power of two that is at most
    /// 2^-20 min(sigma, 1) C.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn check(self, network: &Network) -> Result<CheckedDpSgd, NetError> {
        self.check_for(network.parameters())
    }

    /// Does the same for gradients of so many numbers, at least 1, that the caller computes.
    ///
    /// # Errors
    /// Fails as [`check`](Self::check) does.
    pub fn check_for(self, parameters: usize) -> Result<CheckedDpSgd, NetError> {
        range("parameters", "at least 1", parameters as f64, parameters > 0)?;
        let whole = (1..=MOST_STEPS).contains(&self.steps);
        range("steps", "between 1 and 2^32", self.steps as f64, whole)?;
        let least = 1.0 / (1_u64 << 40) as f64;
        range("rate", "between 2^-40 and 1", self.rate, (least..=1.0).contains(&self.rate))?;
        let ordinary = (1.0 / 32.0..=1_048_576.0).contains(&self.noise);
        range("noise", "between 2^-5 and 2^20", self.noise, ordinary)?;
        let ordinary = (1e-30..=1e30).contains(&self.clip);
        range("clip", "between 1e-30 and 1e30", self.clip, ordinary)?;
        let ordinary = (1e-3..=4_294_967_296.0).contains(&self.expected);
        range("expected", "between 1e-3 and 2^32", self.expected, ordinary)?;
        self.optimizer.check()?;
        check_rates(self.learning_rate, self.average)?;
        // The float with all fraction bits cleared is the power of two below.
        let smaller = self.noise.min(1.0) * self.clip;
        let grid = f64::from_bits(smaller.to_bits() & !((1 << 52) - 1)) / 1_048_576.0;
        // Division by a power of two is exact.
        let limit = (self.clip / grid).floor();
        let scale = ((self.noise * self.clip).next_up() / grid).ceil();
        range("clip", "at most 2^26 g", self.clip, limit <= f64::from(MOST_LIMIT))?;
        let sampler = RoundedNormal::new(scale as u64);
        let Ok(sampler) = sampler else {
            return Err(NetError::Range { name: "noise", rule: "at most 2^45 g", got: self.noise });
        };
        let sampling = Sampling::new(self.rate);
        let limit = limit as u32;
        Ok(CheckedDpSgd { plan: self, grid, limit, sampler, sampling, parameters })
    }
}

impl CheckedDpSgd {
    /// Returns the plan as it was written.
    #[must_use]
    pub fn plan(&self) -> &DpSgdPlan {
        &self.plan
    }

    /// Returns g: the power of two that the integers are multiples of.
    #[must_use]
    pub fn grid(&self) -> f64 {
        self.grid
    }

    /// Returns K: the bound on the norm of a unit's integers; K g is at most `clip`.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the standard deviation of the noise in multiples of g: that times g is at least `noise` times
    /// `clip`, and above it by less than a relative 2^-19.
    #[must_use]
    pub fn noise_scale(&self) -> u64 {
        self.sampler.scale()
    }

    pub(super) fn parameters(&self) -> usize {
        self.parameters
    }

    pub(super) fn sampler(&self) -> RoundedNormal {
        self.sampler
    }

    pub(super) fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Refuses a network other than the one that the plan was checked for, and an invalid start.
    pub(super) fn check_start(&self, network: &Network, start: &[f32]) -> Result<(), NetError> {
        self.check_network(network)?;
        check_start(network, start)
    }

    /// Refuses another network than the plan was checked for.
    pub(super) fn check_network(&self, network: &Network) -> Result<(), NetError> {
        let (expected, got) = (self.parameters, network.parameters());
        if expected == got {
            Ok(())
        } else {
            Err(NetError::Refused(format!(
                "the plan was checked for a network of {expected} weights, got one of {got}"
            )))
        }
    }
}

/// Refuses weights that are not the network's, or not finite.
pub(crate) fn check_start(network: &Network, start: &[f32]) -> Result<(), NetError> {
    length("start", network.parameters(), start.len())?;
    match start.iter().position(|weight| !weight.is_finite()) {
        Some(at) => Err(NetError::Refused(format!("weight {at} of the start is not finite"))),
        None => Ok(()),
    }
}
