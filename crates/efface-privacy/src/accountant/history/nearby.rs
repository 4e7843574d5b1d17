//! From exact arithmetic to what ran: triangle inequalities.

use crate::gaussian::unrounded;

/// nu-GDP closeness of what ran to the same steps in exact arithmetic.
pub(crate) struct Nearby {
    /// nu.
    pub(crate) nu: f64,
}

/// t: how much the orders of the Rényi triangle inequality differ from those they are asked at.
const PART: f64 = 1.0 / 1024.0;

/// The largest e1 that the shares of delta leave room for.
const MOST: f64 = 1.0 / 2048.0;

impl Nearby {
    /// Returns epsilon at `delta`, from that of exact arithmetic; infinite if grid and float64 are too
    /// coarse.
    pub(crate) fn epsilon(&self, delta: f64, exact: impl Fn(f64) -> f64) -> f64 {
        let epsilon = exact(delta * (1.0 - 1.0 / 256.0));
        let share = delta / 512.0 / (1.0 + libm::exp(epsilon + PART));
        if share.is_nan() || share < 1e-300 {
            return f64::INFINITY;
        }
        let moved = unrounded::epsilon(self.nu, share) * (1.0 + 1e-9);
        if moved <= MOST { epsilon + 2.0 * moved } else { f64::INFINITY }
    }

    /// Returns Rényi divergence of an order above 1, from the curve of exact arithmetic.
    pub(crate) fn renyi(&self, order: f64, exact: impl Fn(f64) -> f64) -> f64 {
        let half_square = 0.5 * self.nu * self.nu;
        let (near, far) = (1.0 + PART, (1.0 + PART) / PART);
        let rest = order - 1.0 / near;
        let raised = near * order;
        let inner = raised - 1.0 / far;
        let first = inner / (raised - 1.0) * far * raised * half_square + exact(near * inner);
        rest / (order - 1.0) * first + far * rest * half_square
    }
}
