//! How far weights are from the optimum at most, from what is kept alone.

use super::gradient::Gradient;
use super::hessian::{Hessian, U};
use crate::constants::Constants;
use crate::outward::{self, add, div, mul, sqrt};

/// Bounds for w = b + s, with the gradient taken at b and the Hessian at h; each is rounded up, infinite if
/// nothing is known, and never NaN. See the derivation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Bound on |w - w*|, in weight units.
    pub distance: f64,
    /// Bound on |grad Ls(w)|: the residual of the sum form, N |grad F(w)|.
    pub residual: f64,
    /// The part of the residual known up to rounding: |grad Ls(b) + H s|.
    pub known: f64,
}

/// The bound if nothing is known.
pub(super) const UNKNOWN: Bound =
    Bound { distance: f64::INFINITY, residual: f64::INFINITY, known: f64::INFINITY };

/// M = lambda N as computed, and a lower bound on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ridge {
    pub(super) computed: f64,
    pub(super) least: f64,
}

impl Ridge {
    pub(super) fn of(constants: &Constants, records: u64) -> Self {
        let n = constants.normalizer(usize::try_from(records).unwrap_or(usize::MAX));
        let computed = constants.strong_convexity() * n;
        Self { computed, least: computed.next_down() }
    }
}

/// Returns grad Ls(b) + H s, as computed: `product` is C s.
pub(super) fn known(gradient: &Gradient, step: &[f64], product: &[f64], ridge: Ridge) -> Vec<f64> {
    let data = gradient.data.iter().zip(product);
    let weights = gradient.at.iter().zip(step);
    data.zip(weights).map(|((g, y), (b, s))| (g + y) + ridge.computed * (b + s)).collect()
}

/// Returns the bounds for the computed `known` and C `step`.
pub(super) fn bound(
    hessian: &Hessian,
    gradient: &Gradient,
    step: &[f64],
    product: &[f64],
    known: &[f64],
    ridge: Ridge,
    constants: &Constants,
) -> Bound {
    let nu = constants.loss().link_bounds().self_concordance.unwrap_or(f64::INFINITY);
    let slope = mul(nu, constants.declared().row_bound);
    let dimension = step.len() as f64;
    let size = outward::norm(step);
    // |C computed| <= trace + error, both bounds on norms.
    let trace = hessian.trace();
    let matrix = add(trace, hessian.error);

    let terms = add(
        add(outward::norm(&gradient.data), outward::norm(product)),
        mul(ridge.computed, add(outward::norm(&gradient.at), size)),
    );
    let summing = mul(outward::gamma(6.0), terms);
    let multiplying = mul(mul(outward::gamma(dimension + 10.0), matrix), size);
    let inexact = add(gradient.error, mul(hessian.error, size));
    let lost = mul(8.0 * dimension * dimension, f64::MIN_POSITIVE);
    let known = add(add(outward::norm(known), add(summing, multiplying)), add(inexact, lost));

    // q = |C^(1/2) s|.
    let square: f64 = step.iter().zip(product).map(|(s, y)| s * y).sum();
    let rounding = mul(outward::gamma(2.0 * dimension + 24.0), matrix);
    let slack = mul(add(rounding, hessian.error), mul(size, size));
    let q = sqrt(add(square.max(0.0), add(slack, lost)));

    // |b - h| and |b + s - h|.
    let apart: Vec<f64> = gradient.at.iter().zip(&hessian.at).map(|(b, h)| b - h).collect();
    let moved: Vec<f64> = apart.iter().zip(step).map(|(p, s)| p + s).collect();
    let inflate = 1.0 + 8.0 * U;
    let first = mul(outward::norm(&apart), inflate);
    let last = add(mul(outward::norm(&moved), inflate), mul(4.0 * U, first));
    let epsilon = mul(0.5, add(expm1(mul(slope, first)), expm1(mul(slope, last))));
    // Without a step the gradient is the one at b, however stale the Hessian.
    let curved = if size == 0.0 { 0.0 } else { mul(epsilon, q) };

    let residual = add(known, mul(sqrt(trace), curved));
    let plain = div(residual, ridge.least);
    let root = sqrt(ridge.least).next_down().next_down();
    let scaled = div(add(div(known, root), curved), root);
    let local = if slope == 0.0 {
        scaled
    } else {
        let shrink = mul(mul(slope, add(1.0, expm1(mul(slope, last)))), scaled);
        // -log(1 - shrink)/slope, the logarithm within a few units.
        if shrink < 1.0 {
            div(-libm::log1p(-shrink) * (1.0 + 8.0 * U), slope)
        } else {
            f64::INFINITY
        }
    };
    let moving = add(outward::norm(&gradient.at), size);
    let distance = add(plain.min(local), mul(4.0 * U, moving));
    let sure = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
    Bound { distance: sure(distance), residual: sure(residual), known: sure(known) }
}

/// Returns exp(t) - 1 for t >= 0, rounded up; 0 for 0.
fn expm1(t: f64) -> f64 {
    mul(libm::expm1(t), 1.0 + 16.0 * U)
}
