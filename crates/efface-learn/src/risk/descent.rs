//! Projected gradient descent, published with fresh noise.

use super::{of_noise, of_square, slope_at_best};
use crate::constants::Constants;

/// The settings of `descent-to-delete` that its excess risk depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descents {
    /// D: diameter of the ball.
    pub diameter: f64,
    /// eta: step size.
    pub step: f64,
    /// sigma: standard deviation of the published noise on each weight.
    pub noise: f64,
    /// g: spacing of the grid.
    pub grid: f64,
    /// rho: bound on the rounding error of a step.
    pub rounding: f64,
    /// T: steps of learning and of a refresh.
    pub learning: u64,
    /// K: the fewest steps of any request.
    pub removal: u64,
    /// Delta: how far a request can move the optimum.
    pub shift: f64,
    /// Whether requests start from the published weights.
    pub from_published: bool,
}

/// Returns a bound on the expected excess risk over the best weights of the ball, after learning from 0,
/// refreshes, and any number of requests; infinite when the steps do not contract.
#[must_use]
pub fn descent(constants: &Constants, run: &Descents) -> f64 {
    let c = constants.contraction(run.step);
    if c >= 1.0 {
        return f64::INFINITY;
    }
    let left = |count: u64| (count as f64 * c.ln()).exp();
    let gone = |count: u64| -(2.0 * count as f64 * c.ln()).exp_m1();
    let root = (constants.parameters() as f64).sqrt();
    let noise = root * (run.noise + run.grid / 2.0);
    let radius = run.diameter / 2.0;
    let learned = left(run.learning) * constants.optimum_bound().min(radius);
    let (q, p, delta) = (left(run.removal), gone(run.removal), run.shift);
    // h -> q (sqrt(h^2 + V) + Delta) from published weights, h -> q (h + Delta) from kept ones.
    let settled = if run.from_published {
        q * (delta + ((q * delta).powi(2) + p * noise * noise).sqrt()) / p
    } else {
        q * (1.0 + q) * delta / p
    };
    // A refresh starts from published weights, and the optimum has not moved.
    let refreshed = left(run.learning) * noise / gone(run.learning).sqrt();
    let half = run.grid * root / 2.0;
    let drift = (run.rounding + half) / (1.0 - c) + half;
    let most = learned.max(settled).max(refreshed) + drift;
    slope_at_best(constants, radius) * most
        + of_square(constants, most * most)
        + of_noise(constants, run.noise, run.grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;
    use crate::example::constants;

    fn run(removal: u64, shift: f64, from_published: bool) -> Descents {
        Descents {
            diameter: 1e3,
            step: 1.0,
            noise: 0.02,
            grid: 1e-9,
            rounding: 1e-7,
            learning: 200,
            removal,
            shift,
            from_published,
        }
    }

    /// The closed form against the recursion it solves, refreshes in between.
    #[test]
    fn the_recursion_keeps_to_the_bound() {
        let c = constants(Loss::Logistic, 100, 9, 0.05);
        for (removal, shift) in [(1, 0.0), (3, 0.4), (40, 2.0)] {
            for from_published in [true, false] {
                let run = run(removal, shift, from_published);
                let bound = descent(&c, &run);
                let rate = c.contraction(1.0);
                let (off, noise) = (1e-7 + 1.5e-9, 3.0 * (0.02 + 5e-10));
                let steps = |h: &mut f64, count| {
                    (0..count).for_each(|_| *h = rate * *h + off);
                };
                let mut h = c.optimum_bound();
                steps(&mut h, run.learning);
                let mut worst = h;
                for request in 0..500 {
                    let refresh = !from_published && request % 100 == 99;
                    if from_published || refresh {
                        h = h.hypot(noise);
                    }
                    if refresh {
                        steps(&mut h, run.learning);
                    } else {
                        h += shift;
                        steps(&mut h, removal);
                    }
                    worst = worst.max(h);
                }
                let mean = c.curvature_trace() / 2.0 * (0.02 + 5e-10_f64).powi(2);
                let reached = c.total_smoothness() / 2.0 * worst * worst + mean;
                assert!(reached <= bound * (1.0 + 1e-9), "{run:?}: {reached} above {bound}");
                assert!(bound <= 1.02 * reached, "{run:?}: {bound} far above {reached}");
            }
        }
    }

    #[test]
    fn a_ball_that_may_not_hold_the_optimum_costs_a_slope() {
        let c = constants(Loss::Logistic, 100, 9, 0.05);
        let small = Descents { diameter: 1.0, ..run(3, 0.01, false) };
        assert!(descent(&c, &small) > descent(&c, &run(3, 0.01, false)));
        let step = 2.0 / c.total_smoothness();
        let steep = Descents { step, ..run(3, 0.01, false) };
        assert_eq!(descent(&c, &steep), f64::INFINITY);
    }
}
