//! The event of `descent-to-delete`.

use serde::{Deserialize, Serialize};

use super::{Facts, Phase, Setting, State, Stated};
use crate::quantity::Decimal;

crate::named! {
    /// Which theorem of Neel, Roth and Sharifi-Malvajerdi (2020) a model follows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Variant {
        /// Theorem 3.1: the next request starts from the unperturbed iterate, I steps per update.
        Secret = "secret",
        /// Theorem 3.2: the next request starts from the published weights.
        Perfect = "perfect",
        /// Theorem 3.4: as `secret`, with the regulariser the theorem chooses.
        Regularised = "regularised",
        /// Theorem 3.5 and Remark 3.6: as `regularised`, with `i^(2 xi) I` steps for update i.
        Weak = "weak",
    }
}

impl Variant {
    /// Returns what is kept between requests.
    #[must_use]
    pub fn state(self) -> State {
        match self {
            Self::Perfect => State::Perfect,
            Self::Secret | Self::Regularised | Self::Weak => State::Secret,
        }
    }

    /// Returns whether the theorem chooses the regulariser.
    #[must_use]
    pub fn chooses_lambda(self) -> bool {
        matches!(self, Self::Regularised | Self::Weak)
    }
}

/// Projected full-batch gradient descent, the last iterate published with fresh Gaussian noise on
/// a grid.
///
/// A step is `w <- Proj(w - eta grad F(w))` with the projection to the ball of diameter D around 0.
/// Learning makes T steps from 0, or, at a refresh, from the published weights. A request that
/// deletes and adds k records in all counts as u = k/S updates, rounded up (at least one), and makes
/// the steps of its u updates on the data as they are after it. `perfect` starts them at the published
/// weights, projected; the other variants at the unperturbed iterate, which is kept in secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descent {
    /// Public constants of the objective; its `group` is S, the records one update stands for.
    pub setting: Setting,
    /// Which theorem's procedure.
    pub variant: Variant,
    /// xi of `weak`, at least 1; `None` for the other variants.
    pub xi: Option<Decimal>,
    /// The delta that sets how the steps of `perfect` grow with the number of updates (Theorem 3.2); `None`
    /// if every update has `iterations` steps.
    pub tail: Option<Decimal>,
    /// I: steps of the first update; the least of any.
    pub iterations: u64,
    /// eta: the step size.
    pub step: Decimal,
    /// D: diameter of the ball, in weight units.
    pub diameter: Decimal,
    /// sigma: standard deviation of the noise on each published weight.
    pub noise: Decimal,
    /// g: spacing of the grid of released values.
    pub grid: Decimal,
    /// Bound on |computed - exact| of one projected step (float64), the start's projection included.
    pub rounding: Decimal,
    /// Learning (or the last refresh), then one phase per request, oldest first; the last one is this
    /// release. Each ends in a release.
    pub phases: Vec<Phase>,
    /// Updates served since learning or the last refresh.
    pub updates: u64,
    /// Steps of the longest phase in the life of the model.
    pub longest: u64,
    /// R: releases covered jointly since learning or the last refresh (1 in `perfect` state).
    pub joint_releases: u64,
    /// Distinct releases of this model so far, this one included.
    pub releases: u64,
}

impl Descent {
    /// Returns the least number of steps of update number `update` (from 1), not yet rounded up; `None` if it
    /// is beyond 2^53 or not a number.
    ///
    /// `secret`, `regularised`: I. `weak`: i^(2 xi) I. `perfect` with a `tail`:
    /// I + log(log(4 P i/tail))/log(1/gamma), gamma = beta/(beta + 2 m).
    #[must_use]
    pub fn least_steps(&self, update: u64) -> Option<f64> {
        let first = self.iterations as f64;
        let i = update as f64;
        let least = match (self.variant, self.xi, self.tail) {
            (Variant::Weak, Some(xi), _) => libm::pow(i, 2.0 * xi.0) * first,
            (Variant::Perfect, _, Some(tail)) => {
                let count = 4.0 * self.setting.parameters as f64 * i / tail.0;
                let (m, beta) = (self.setting.strong_convexity.0, self.setting.smoothness.0);
                let rate = -libm::log1p(-2.0 * m / (beta + 2.0 * m));
                first + (libm::log(libm::log(count)) / rate).max(0.0)
            }
            _ => first,
        };
        (least >= first && least <= (1_u64 << 53) as f64).then_some(least)
    }

    /// Returns the steps that updates `from + 1` to `to` make together; `None` beyond 2^53, and if more than
    /// 2^24 updates of growing length would have to be summed.
    #[must_use]
    pub fn steps_between(&self, from: u64, to: u64) -> Option<u64> {
        let count = to.checked_sub(from)?;
        let sum = if self.grows() {
            if count > 1 << 24 {
                return None;
            }
            let mut sum = 0_u64;
            for update in from + 1..=to {
                // Whole results stay exact even if the power is off by a rounding.
                let steps = (self.least_steps(update)? * (1.0 - 4.0 * f64::EPSILON)).ceil();
                sum = sum.checked_add(steps as u64)?;
            }
            sum
        } else {
            self.iterations.checked_mul(count)?
        };
        (sum <= 1 << 53).then_some(sum)
    }

    /// Returns whether later updates have more steps than earlier ones.
    fn grows(&self) -> bool {
        self.variant == Variant::Weak || self.tail.is_some()
    }
}

impl Stated for Descent {
    fn facts(&self) -> Facts<'_> {
        let facts = self.setting.facts(self.releases, self.variant.state(), Some(self.grid));
        Facts { joint_releases: self.joint_releases, ..facts }
    }
}
