//! The data's part of the Hessian at a fixed point, with how far it may be off.

use faer::Mat;

use super::symmetric::{Outer, Symmetric};
use crate::Constants;
use crate::outward::{self, add, mul};
use crate::solver::Factor;

/// 2^-53.
pub(super) const U: f64 = f64::EPSILON / 2.0;

/// C = sum c_i x_i x_i^T over the current rows, c_i the second derivative of record i at `at` times
/// its weight.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hessian {
    /// h: the point at which the derivatives are taken.
    pub(super) at: Vec<f64>,
    /// C as computed.
    pub(super) data: Symmetric,
    /// Bound on the Frobenius norm of computed minus exact C.
    pub(super) error: f64,
}

impl Hessian {
    /// Takes it from the computed sum over `records` rows.
    pub(super) fn new(
        at: Vec<f64>,
        gram: &Mat<f64>,
        records: usize,
        constants: &Constants,
    ) -> Self {
        let data = Symmetric::from_lower(gram.as_ref());
        let relative = add(outward::gamma(records as f64 + 8.0), curvature_error(constants, &at));
        let trace = mul(data.trace().max(0.0), add(1.0, outward::gamma(data.order() as f64)));
        // The exact trace is at most the computed one times 1/(1 - relative).
        let error = if relative < 0.1 {
            mul(mul(relative, add(1.0, mul(2.0, relative))), trace)
        } else {
            f64::INFINITY
        };
        let error = add(error, lost(constants, records as f64));
        Self { at, data, error }
    }

    /// Returns an upper bound on the trace of the exact C, and so on its norm.
    pub(super) fn trace(&self) -> f64 {
        let order = self.data.order() as f64;
        let computed = mul(self.data.trace().max(0.0), add(1.0, outward::gamma(order)));
        add(computed, mul(outward::sqrt(order), self.error))
    }

    /// Adds rank-one changes to C, and returns its product with `v`.
    pub(super) fn change_and_multiply(
        &mut self,
        changes: &[Outer],
        v: &[f64],
        constants: &Constants,
    ) -> Vec<f64> {
        let curvature = curvature_error(constants, &self.at);
        // The norms of the earlier matrix and of all that is added bound every entry.
        let mut reach = self.trace();
        for change in changes {
            let size =
                mul(change.weight.abs(), mul(outward::norm(&change.x), outward::norm(&change.x)));
            let inexact = mul(size, add(curvature, outward::gamma(4.0)));
            reach = add(reach, size);
            let entries = mul(4.0 * U, add(reach, self.error));
            self.error = add(add(self.error, inexact), add(entries, lost(constants, 1.0)));
        }
        self.data.change_and_multiply(changes, v)
    }

    /// Factors C plus the ridge; `None` when there is no factor.
    pub(super) fn factor(&self, ridge: f64) -> Option<Factor> {
        Factor::new(self.data.with_ridge(ridge))
    }

    /// Factors in float32, or else in float64: for solutions that are corrected by their residual.
    pub(super) fn rough_factor(&self, ridge: f64) -> Option<Factor> {
        Factor::rough(self.data.with_ridge_rounded(ridge)).or_else(|| self.factor(ridge))
    }

    /// Rounds the entries to float32, and adds the error of that.
    pub(super) fn rounded(mut self) -> Self {
        // Each entry moves by at most 2^-24 of its size, or by half the least float32 above 0; the sizes
        // together are at most the trace, and what the computed matrix is off.
        let order = self.data.order() as f64;
        let sizes = mul(f64::from(f32::EPSILON / 2.0), add(self.trace(), self.error));
        let least = mul(order, f64::from(f32::from_bits(1)));
        self.error = add(self.error, add(sizes, least));
        self.data.round();
        self
    }
}

/// Returns the relative error of a computed c_i: the errors of the second derivative of the link, of the
/// product with the weight, and of the margin, which a self-concordant link turns into a factor exp(nu
/// |error|).
fn curvature_error(constants: &Constants, at: &[f64]) -> f64 {
    let nu = constants.loss().link_bounds().self_concordance.unwrap_or(f64::INFINITY);
    let margin = mul(
        outward::gamma(constants.cols() as f64 + 2.0),
        mul(constants.declared().row_bound, outward::norm(at)),
    );
    let shift = mul(nu, margin);
    // exp(t) - 1 <= 2 t below 1.
    if shift < 0.5 {
        add(mul(2.0, shift), (10.0 + constants.weighing()) * U)
    } else {
        f64::INFINITY
    }
}

/// Returns the most that products lose by underflow in `rows` outer products.
fn lost(constants: &Constants, rows: f64) -> f64 {
    let (order, r) = (constants.cols() as f64, constants.declared().row_bound);
    let heaviest = constants.max_weight().max(1.0);
    mul(mul(rows * heaviest, f64::MIN_POSITIVE), mul(8.0, add(mul(order, order), mul(r, r))))
}
