//! The plan of `descent-to-delete`, its projection and its bound on a step's rounding error.

use efface_privacy::event::{State, Variant};
use efface_privacy::quantity::as_decimal;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::constants::{Constants, out_of_range, range};
use crate::mechanism::{Grid, MechanismError};
use crate::outward;

/// The most steps of learning, and of one update's share.
const MOST_STEPS: u64 = 1 << 40;

/// Descent-to-delete as written; constant for the life of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescentPlan {
    /// The theorem whose procedure is followed.
    pub variant: Variant,
    /// xi of `weak`, in [1, 16]; `None` for the other variants.
    #[serde(with = "as_decimal::option")]
    pub xi: Option<f64>,
    /// For `perfect`: the delta by which its updates grow (Theorem 3.2); `None` if they do not.
    #[serde(with = "as_decimal::option")]
    pub tail: Option<f64>,
    /// I: steps of the first update.
    pub iterations: u64,
    /// T: steps of learning, and of a refresh.
    pub learning_steps: u64,
    /// D: diameter of the ball around 0 that every step is projected to, in weight units.
    #[serde(with = "as_decimal")]
    pub diameter: f64,
    /// eta: step size, in (0, 2/L).
    #[serde(with = "as_decimal")]
    pub step: f64,
    /// sigma: standard deviation of the noise on each weight; an integer multiple of `grid`.
    #[serde(with = "as_decimal")]
    pub noise: f64,
    /// g: spacing of the grid of released weights; a power of two, at most 2^-20 `noise`.
    #[serde(with = "as_decimal")]
    pub grid: f64,
    /// R: releases covered jointly since learning or the last refresh; 1 for `perfect`.
    pub joint_releases: u64,
    /// S: records that one update stands for, and that DP and deletion-privacy claims protect.
    pub group: u64,
}

/// A plan that fits its constants: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedDescent {
    plan: DescentPlan,
    grid: Grid,
}

impl DescentPlan {
    /// Checks the plan against the public constants.
    ///
    /// # Errors
    /// Fails if a number is out of range, noise and grid do not fit, or the grid cannot hold the weights.
    pub fn check(self, constants: &Constants) -> Result<CheckedDescent, MechanismError> {
        let eta = self.step;
        let reach = outward::mul(eta, constants.total_smoothness());
        range("eta", "above 0 and below 2/L", eta, eta > 0.0 && reach < 2.0)?;
        let ordinary = 1e-100..=1e100;
        let diameter = self.diameter;
        range("diameter", "between 1e-100 and 1e100", diameter, ordinary.contains(&diameter))?;
        for (name, steps) in [("iterations", self.iterations), ("steps", self.learning_steps)] {
            let ok = (1..=MOST_STEPS).contains(&steps);
            range(name, "between 1 and 2^40", steps as f64, ok)?;
        }
        range("max-group", "at least 1", self.group as f64, self.group > 0)?;
        let weak = self.variant == Variant::Weak;
        match self.xi {
            Some(xi) => range("xi", "in [1, 16], for `weak` only", xi, {
                weak && (1.0..=16.0).contains(&xi)
            })?,
            None => range("xi", "given for `weak`", f64::NAN, !weak)?,
        }
        if let Some(tail) = self.tail {
            let ok = self.variant == Variant::Perfect && (1e-100..1.0).contains(&tail);
            range("tail", "in [1e-100, 1), for `perfect` only", tail, ok)?;
        }
        let joint = self.joint_releases;
        match self.variant.state() {
            State::Perfect => {
                range("releases", "1 in `perfect` state", joint as f64, joint == 1)?;
            }
            State::Secret => range("releases", "at least 1", joint as f64, joint > 0)?,
        }
        let grid = Grid::new(self.noise, self.grid)?;
        grid.check_reach(diameter)?;
        Ok(CheckedDescent { plan: self, grid })
    }
}

impl CheckedDescent {
    /// Returns the plan as it was written.
    #[must_use]
    pub fn plan(&self) -> &DescentPlan {
        &self.plan
    }

    /// Returns the release of an iterate: the iterate on the grid, with fresh exact noise.
    ///
    /// # Errors
    /// Fails if the iterate is beyond what the grid holds, which none in the ball is.
    pub fn publish(
        &self,
        weights: &[f64],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<f64>, MechanismError> {
        self.grid.publish(weights, rng)
    }

    /// Returns the grid that its noise is drawn on.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns D/2.
    fn radius(&self) -> f64 {
        0.5 * self.plan.diameter
    }

    /// Projects to the ball, as computed: never beyond D/2, and off the exact one by at most (D/2)
    /// `gamma_(2P+32)`.
    pub fn project(&self, weights: &mut [f64]) {
        let (norm, radius) = (outward::norm(weights), self.radius());
        if norm > radius {
            // The factor is a few units lower, so that rounding the products does not lead out of the ball.
            let factor = radius / norm * (1.0 - 4.0 * f64::EPSILON);
            for w in weights {
                *w *= factor;
            }
        }
    }

    /// Returns rho, a bound on the rounding error of one step from a point of the ball, its own projection
    /// and one before it included. `records` matters under `mean` only.
    ///
    /// # Errors
    /// Fails if float64 cannot bound it.
    pub fn rounding(&self, constants: &Constants, records: usize) -> Result<f64, MechanismError> {
        use outward::{add, mul};
        let (eta, radius) = (self.plan.step, self.radius());
        let slack = constants.slack(radius, records);
        let pull = mul(constants.lipschitz(), constants.load());
        let gradient = add(add(pull, mul(constants.strong_convexity(), radius)), slack);
        let parameters = constants.parameters() as f64;
        let unit = f64::EPSILON / 2.0;
        let update = mul(unit, add(radius, mul(2.0 * eta, gradient)));
        // The factor covers the second-order terms of the update.
        let update = mul(update, 1.0 + 1e-6);
        let lost = mul(parameters, f64::MIN_POSITIVE);
        // The projected point may lie outside the ball by eta |gradient|.
        let size = add(radius, mul(eta, gradient));
        let projection = mul(mul(2.0, size), outward::gamma(2.0 * parameters + 32.0));
        let rounding = add(add(add(mul(eta, slack), update), lost), projection);
        if rounding <= radius {
            Ok(rounding)
        } else {
            let (name, rule) = ("rounding", "at most D/2; lower `§capacity` or `§row-norm`");
            Err(out_of_range(name, rule, rounding).into())
        }
    }
}
