//! The plan of `noisy-gd`, its public bound on |w| and on a step's rounding error.

use efface_privacy::event::Setting;
use efface_privacy::quantity::as_decimal;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use super::BatchPlan;
use crate::constants::{Constants, range};
use crate::mechanism::error::start;
use crate::mechanism::{Grid, GridNoise, MechanismError};
use crate::outward;

/// The most steps in the whole life of a model.
pub(super) const MOST_STEPS: u64 = 1 << 40;

/// -ln p, where p = 2^-160 bounds the probability that one step's noise reaches the projection.
const RARELY: f64 = 160.0 * std::f64::consts::LN_2;

/// A step's rounding error may be this part of what drives |w|.
const ROOM: f64 = 1.0 / 1_048_576.0;

/// Noisy gradient descent as written; constant for the life of a model but for the step counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyGdPlan {
    /// eta: step size, in (0, 2/L).
    #[serde(with = "as_decimal")]
    pub step: f64,
    /// s: standard deviation of one step's noise on each weight; an integer multiple of `grid`.
    #[serde(with = "as_decimal")]
    pub noise: f64,
    /// g: spacing of the grid of all iterates; a power of two, at most 2^-20 `noise`.
    #[serde(with = "as_decimal")]
    pub grid: f64,
    /// T: steps of learning.
    pub learning_steps: u64,
    /// K: steps per request.
    pub removal_steps: u64,
    /// R: public radius of the ball that every iterate is projected to; needed if lambda is 0. `None` means a
    /// ball so large that practically no iterate leaves it.
    #[serde(with = "as_decimal::option")]
    pub radius: Option<f64>,
    /// Public maximal number of records that DP and deletion-privacy claims protect together.
    pub group: u64,
    /// The batches, if a step is along one of them and not along all records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<BatchPlan>,
}

/// A plan that fits its constants: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedNoisyGd {
    plan: NoisyGdPlan,
    grid: Grid,
    /// What may be added to |w| in a step, beyond contraction and rounding.
    drive: f64,
    weight_bound: f64,
    /// The public constants of a batch's objective, if steps are over batches.
    of_batch: Option<Constants>,
}

impl NoisyGdPlan {
    /// Checks the plan against the public constants and derives the bound on |w|.
    ///
    /// # Errors
    /// Fails if a number is out of range, noise and grid do not fit, the grid cannot hold the weights, or
    /// there are batches with a radius or under `mean`.
    pub fn check(self, constants: &Constants) -> Result<CheckedNoisyGd, MechanismError> {
        let of_batch = self.batches.map(|batches| batches.constants(constants)).transpose()?;
        if of_batch.is_some() {
            let mean = constants.declared().normalizer.capacity().is_none();
            range("batches", "left out under `mean`", f64::NAN, !mean)?;
            let radius = self.radius.unwrap_or(0.0);
            range("radius", "left out with `batches`", radius, self.radius.is_none())?;
        }
        let constants = of_batch.as_ref().unwrap_or(constants);
        let eta = self.step;
        let reach = outward::mul(eta, constants.total_smoothness());
        range("eta", "above 0 and below 2/L", eta, eta > 0.0 && reach < 2.0)?;
        for (name, steps) in [("steps", self.learning_steps), ("removal-steps", self.removal_steps)]
        {
            let ok = (1..=MOST_STEPS).contains(&steps);
            range(name, "between 1 and 2^40", steps as f64, ok)?;
        }
        range("max-group", "at least 1", self.group as f64, self.group > 0)?;
        let grid = Grid::new(self.noise, self.grid)?;
        let root = outward::sqrt(constants.parameters() as f64);
        // The radius sqrt(P) + sqrt(2 ln(1/p)) that one step's noise passes with probability p.
        let radius = outward::add(root, outward::sqrt(2.0 * RARELY));
        let pull = outward::mul(eta, outward::mul(constants.lipschitz(), constants.load()));
        let noise = outward::mul(self.noise, radius);
        let drive = outward::add(outward::add(pull, noise), outward::mul(self.grid, root));
        let weight_bound = if let Some(radius) = self.radius {
            let ordinary = (1e-100..=1e100).contains(&radius);
            range("radius", "between 1e-100 and 1e100", radius, ordinary)?;
            radius
        } else {
            let m = constants.strong_convexity();
            range("lambda", "above 0 unless `radius` is given", m, m > 0.0)?;
            // 1 - c = min(eta m, 2 - eta L), rounded down.
            let loss = (eta * m).next_down().min((2.0 - reach).next_down());
            outward::div(outward::mul(drive, 1.0 + ROOM), loss)
        };
        // The noiseless part of a step from |w| <= W is within c W + drive.
        grid.check_reach(outward::add(weight_bound, drive))?;
        Ok(CheckedNoisyGd { plan: self, grid, drive, weight_bound, of_batch })
    }
}

impl CheckedNoisyGd {
    /// Returns the plan as it was written.
    #[must_use]
    pub fn plan(&self) -> &NoisyGdPlan {
        &self.plan
    }

    /// Returns the setting of this plan's events.
    pub(super) fn setting(&self, constants: &Constants) -> Result<Setting, MechanismError> {
        let group = self.plan.group;
        Ok(match self.plan.batches {
            None => constants.setting(group),
            Some(batches) => batches.setting(constants, group)?,
        })
    }

    /// Returns W, the radius of the ball that every iterate is projected to: the plan's radius, or else one
    /// that no step leaves unless its noise is rarer than 2^-160.
    #[must_use]
    pub fn weight_bound(&self) -> f64 {
        self.weight_bound
    }

    /// Makes the random half of a step: `moved`, which is w - eta grad F(w) as computed, brought onto the
    /// grid, with the next of the exact [noise](Grid::noise_of) of some steps, projected to the ball of
    /// radius W.
    ///
    /// # Errors
    /// Fails if `moved` is beyond what the grid holds, which no step from within the ball is.
    pub fn perturb(
        &self,
        moved: &[f64],
        noise: &mut GridNoise,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<f64>, MechanismError> {
        let mut weights = self.grid.publish_with(moved, noise, rng)?;
        self.project(&mut weights);
        Ok(weights)
    }

    /// Brings an iterate beyond W back onto the grid points within it: the Euclidean projection, but
    /// for g sqrt(P) and the rounding that [`rounding`](Self::rounding) counts.
    pub(super) fn project(&self, weights: &mut [f64]) {
        let norm = outward::norm(weights);
        if norm > self.weight_bound {
            // The margin keeps the computed norm within W afterwards.
            let spare = 3.0 * outward::gamma(weights.len() as f64 + 32.0);
            let factor = (self.weight_bound / norm * (1.0 - spare)).next_down();
            let spacing = self.grid.spacing();
            for w in weights {
                *w = (*w * factor / spacing).trunc() * spacing;
            }
        }
    }

    /// Returns the grid that its noise is drawn on.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns rho, a bound on the rounding error of one noiseless step from any |w| <= W, and of the
    /// projection before it. `records` matters under `mean` only.
    ///
    /// # Errors
    /// Fails if it is more than the bound on |w| has room for.
    pub fn rounding(&self, constants: &Constants, records: usize) -> Result<f64, MechanismError> {
        use outward::{add, mul};
        let constants = self.of_batch.as_ref().unwrap_or(constants);
        let (eta, reach) = (self.plan.step, self.weight_bound);
        let slack = constants.slack(reach, records);
        let pull = mul(constants.lipschitz(), constants.load());
        let gradient = add(add(pull, mul(constants.strong_convexity(), reach)), slack);
        let unit = f64::EPSILON / 2.0;
        let update = mul(mul(unit, add(reach, mul(2.0 * eta, gradient))), 1.0 + ROOM);
        let lost = mul(constants.parameters() as f64, f64::MIN_POSITIVE);
        let parameters = constants.parameters() as f64;
        let projection = add(
            mul(self.grid.spacing(), outward::sqrt(parameters)),
            mul(reach, 6.0 * outward::gamma(parameters + 32.0)),
        );
        let rounding = add(add(add(mul(eta, slack), update), lost), projection);
        let limit = ROOM * self.drive * (1.0 - ROOM);
        if rounding <= limit {
            Ok(rounding)
        } else {
            Err(refusal!(
                "one step's rounding error {rounding:e} must be at most {limit:e}; raise \
                 `eta`, lambda or the noise"
            )
            .into())
        }
    }

    /// Returns a given start, brought onto the grid.
    pub(super) fn place(
        &self,
        constants: &Constants,
        given: &[f64],
    ) -> Result<Vec<f64>, MechanismError> {
        if given.iter().any(|w| !w.is_finite()) {
            return Err(start("it has a number that is not finite"));
        }
        let spacing = self.grid.spacing();
        let placed: Vec<f64> = given.iter().map(|w| (w / spacing).trunc() * spacing).collect();
        self.check_start(constants, &placed)?;
        Ok(placed)
    }

    /// Refuses weights that no earlier step of this plan can have published.
    pub(super) fn check_start(
        &self,
        constants: &Constants,
        weights: &[f64],
    ) -> Result<(), MechanismError> {
        if weights.len() != constants.parameters() {
            return Err(start("it has another number of weights"));
        }
        if outward::norm(weights) > self.weight_bound {
            return Err(start("it is beyond the public bound on |w|"));
        }
        if weights.iter().any(|w| (w / self.grid.spacing()).fract() != 0.0) {
            return Err(start("it is not on the grid"));
        }
        Ok(())
    }
}

#[cfg(test)]
impl CheckedNoisyGd {
    /// Scales the bound on |w|, to see it at work.
    pub(super) fn shrink_bound(&mut self, factor: f64) {
        self.weight_bound *= factor;
    }
}
