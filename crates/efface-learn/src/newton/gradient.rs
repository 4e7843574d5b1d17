//! The data's part of the gradient at a fixed point, with how far it may be off.

use efface_matrix::Totals;
use zeroize::Zeroize;

use super::hessian::U;
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::loss::{Loss, with};
use crate::objective::Objective;
use crate::outward::{self, add, mul};

/// g = sum s_i l'_i x_i over the current rows, at `at`, s_i their weights.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gradient {
    /// b: the point at which the derivatives are taken.
    pub(super) at: Vec<f64>,
    /// g as computed.
    pub(super) data: Vec<f64>,
    /// Bound on the norm of computed minus exact g.
    pub(super) error: f64,
}

impl Drop for Gradient {
    fn drop(&mut self) {
        self.at.zeroize();
        self.data.zeroize();
    }
}

impl Gradient {
    /// Takes it from the sums over all rows at `at`.
    pub(super) fn of(objective: &Objective<'_>, totals: Totals, at: Vec<f64>) -> Self {
        let error = objective.error_of(&totals, &at);
        Self { at, data: totals.gradient, error }
    }

    /// Adds the rows of `rows` times `sign` (1 or -1).
    pub(super) fn change(&mut self, rows: &Dataset, sign: f64, constants: &Constants) {
        let size = outward::norm(&self.at);
        let dimension = constants.cols() as f64;
        for (i, &target) in rows.y().iter().enumerate() {
            let x = rows.x().row(i);
            let margin: f64 = x.iter().map(|(j, x)| f64::from(x) * self.at[j]).sum();
            let weight = rows.sample_weights()[i];
            let slope = weight * slope(constants.loss(), margin, target);
            for (j, x) in x.iter() {
                self.data[j] += sign * slope * f64::from(x);
            }
            let norm = rows.norms()[i];
            // The margin's rounding, met by the largest second derivative, and the link's own.
            let reach = add(mul(norm, size), target.abs());
            let steepest = constants.loss().link_bounds().curvature.max(1.0);
            let margin_error = mul(steepest, mul(outward::gamma(dimension + 2.0), reach));
            let link_error =
                mul(with(constants.loss(), |link| link.rounding()) * U, add(1.0, reach));
            let product = mul(outward::gamma(2.0 + constants.weighing()), slope.abs());
            let inexact = mul(norm, add(mul(weight, add(margin_error, link_error)), product));
            let rounding = mul(2.0 * U, outward::norm(&self.data));
            let lost = mul(16.0 * (dimension + norm) * weight.max(1.0), f64::MIN_POSITIVE);
            self.error = add(add(self.error, inexact), add(rounding, lost));
        }
    }
}

/// Returns the derivative of the link in the margin; NaN for a loss of several margins, refused when the
/// memory is made.
pub(super) fn slope(loss: Loss, margin: f64, target: f64) -> f64 {
    with(loss, |link| link.slope(margin, target)).unwrap_or(f64::NAN)
}

/// Returns the second derivative of the link in the margin; NaN as for [`slope`].
pub(super) fn curvature(loss: Loss, margin: f64, target: f64) -> f64 {
    with(loss, |link| link.second_derivative(margin, target)).unwrap_or(f64::NAN)
}
