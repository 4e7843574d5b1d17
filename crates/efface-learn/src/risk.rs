#![doc = include_str!("risk.md")]

mod ball;
mod descent;
mod parts;
mod sums;
mod tolerance;

pub use ball::{Ball, noisy_gd_in_ball};
pub use descent::{Descents, descent};
pub use parts::averages;
pub use sums::rounded_sums;
pub use tolerance::Tolerance;

use crate::constants::Constants;

/// Returns a bound on the expected excess risk of an optimum found to within `distance` and published with
/// noise of standard deviation `noise` on a grid of spacing `grid`.
#[must_use]
pub fn output_noise(constants: &Constants, distance: f64, noise: f64, grid: f64) -> f64 {
    let off = distance + grid * (constants.parameters() as f64).sqrt() / 2.0;
    let spread = constants.curvature_trace() * (noise + grid / 2.0).powi(2);
    (constants.total_smoothness() * off * off + spread) / 2.0
}

/// Returns what the noise of endless noisy gradient descent costs in expectation if F is quadratic, for noise
/// of standard deviation `noise` on each weight in each step; an estimate for other losses. Far below
/// [`noisy_gd`], which bounds the risk as if every direction curved like the steepest.
#[must_use]
pub fn noise_at_rest(constants: &Constants, step: f64, noise: f64) -> f64 {
    let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
    let parameters = constants.parameters() as f64;
    let steep = ((constants.curvature_trace() - m * parameters) / (l - m)).min(parameters);
    let (flattest, steepest) = (1.0 / (2.0 - step * m), 1.0 / (2.0 - step * l));
    let weighted = (parameters - steep) * flattest + steep * steepest;
    noise * noise / (2.0 * step) * weighted
}

/// The settings of noisy gradient descent that its excess risk depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steps {
    /// eta: step size.
    pub step: f64,
    /// s: standard deviation of one step's noise on each weight.
    pub noise: f64,
    /// g: spacing of the grid.
    pub grid: f64,
    /// rho: bound on the rounding error of a noiseless step.
    pub rounding: f64,
    /// T: steps of learning.
    pub learning: u64,
    /// K: the fewest steps of any request.
    pub removal: u64,
    /// Delta: how far a request can move the optimum.
    pub shift: f64,
}

/// Returns a bound on the expected excess risk of noisy gradient descent after learning and after any number
/// of requests; infinite when the steps do not contract.
#[must_use]
pub fn noisy_gd(constants: &Constants, steps: &Steps) -> f64 {
    let most = steps.farthest(constants, constants.optimum_bound());
    of_square(constants, most * most)
}

/// Returns an estimate of the expected excess risk of noisy gradient descent over batches whose public
/// constants are `each`: what is left of the start after learning, (L/2) (c^T B)^2, what the noise costs
/// ([`noise_at_rest`]), and what it costs that a step sees one batch. For a quadratic with curvature h in a
/// direction of gradients with variance v, the last is eta v/(2 b (2 - eta h)) at rest for batches drawn
/// afresh, and so at most eta G^2/(2 b (2 - eta L)); for fixed ones that are visited in turn it is an
/// estimate. Requests are taken to add nothing, since their steps go on learning.
#[must_use]
pub fn over_batches(constants: &Constants, each: &Constants, steps: &Steps) -> f64 {
    let c = each.contraction(steps.step);
    if c >= 1.0 {
        return f64::INFINITY;
    }
    let left = (steps.learning as f64 * c.ln()).exp() * constants.optimum_bound();
    let most = 2.0 - steps.step * each.total_smoothness();
    let seen = steps.step * each.lipschitz().powi(2) / (2.0 * each.normalizer(0) * most);
    of_square(constants, left * left) + noise_at_rest(each, steps.step, steps.noise) + seen
}

impl Steps {
    /// Returns a bound on sqrt(E |w - w*|^2) after learning from `start` away and after any number of
    /// requests.
    fn farthest(&self, constants: &Constants, start: f64) -> f64 {
        let parameters = constants.parameters() as f64;
        let c = constants.contraction(self.step);
        if c >= 1.0 {
            return f64::INFINITY;
        }
        let variance =
            parameters * (self.noise + self.grid / 2.0).powi(2) / ((1.0 - c) * (1.0 + c));
        // c^{2k}, and 1 minus it without cancellation.
        let left = |count: u64| (2.0 * count as f64 * c.ln()).exp();
        let gone = |count: u64| -(2.0 * count as f64 * c.ln()).exp_m1();
        let learned = (left(self.learning) * start * start + gone(self.learning) * variance).sqrt();
        let (q, p, delta) = (left(self.removal), gone(self.removal), self.shift);
        let inside = (q * delta).powi(2) + p * (q * delta * delta + p * variance);
        let settled = if p > 0.0 { (q * delta + inside.sqrt()) / p } else { f64::INFINITY };
        learned.max(settled) + self.error(constants) / (1.0 - c)
    }

    /// Returns r, which rounding may add to the distance in one step.
    fn error(&self, constants: &Constants) -> f64 {
        self.rounding + self.grid * (constants.parameters() as f64).sqrt() / 2.0
    }
}

/// Returns (L/2) E |w - w*|^2.
fn of_square(constants: &Constants, square: f64) -> f64 {
    constants.total_smoothness() / 2.0 * square
}

/// Returns a bound on |grad F| at the best weights of a ball around 0, at which it need not vanish.
fn slope_at_best(constants: &Constants, radius: f64) -> f64 {
    if radius >= constants.optimum_bound() {
        return 0.0;
    }
    let (l, f) = (constants.total_smoothness(), constants.zero_value());
    steepest(constants, radius).min((2.0 * l * f).sqrt())
}

/// Returns a bound on |grad F| in a ball around 0.
fn steepest(constants: &Constants, radius: f64) -> f64 {
    constants.lipschitz() * constants.load() + constants.strong_convexity() * radius
}

/// Returns how much zero-mean noise that is independent of the weights adds to the risk.
fn of_noise(constants: &Constants, noise: f64, grid: f64) -> f64 {
    constants.curvature_trace() / 2.0 * (noise + grid / 2.0).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;
    use crate::example::constants;

    #[test]
    fn output_noise_is_the_second_moment() {
        let c = constants(Loss::Logistic, 100, 9, 0.5);
        let got = output_noise(&c, 0.5, 0.25, 0.0);
        let want = (c.total_smoothness() * 0.25 + c.curvature_trace() * 0.0625) / 2.0;
        assert!((got / want - 1.0).abs() < 1e-12);
        assert!(output_noise(&c, 0.5, 0.25, 1e-3) > got);
    }

    /// Against the variances of each direction, for spectra that the constants allow.
    #[test]
    fn noise_at_rest_bounds_every_quadratic() {
        let c = constants(Loss::Logistic, 100, 9, 0.05);
        let (l, m) = (c.total_smoothness(), c.strong_convexity());
        let left = c.curvature_trace() - 9.0 * m;
        for step in [0.1 / l, 1.0 / l, 2.0 / (l + m)] {
            let bound = noise_at_rest(&c, step, 0.02);
            let direction = |a: f64| a / 2.0 * 0.02_f64.powi(2) / (1.0 - (1.0 - step * a).powi(2));
            let steep = (left / (l - m)).floor().min(8.0) as usize;
            let one = m + left - steep as f64 * (l - m);
            let steepest = steep as f64 * direction(l) + direction(one.min(l));
            let rest = (8 - steep) as f64 * direction(m);
            let even = 9.0 * direction(m + left / 9.0);
            assert!(even <= bound * (1.0 + 1e-12), "{step}: {even} above {bound}");
            assert!(steepest + rest <= bound * (1.0 + 1e-12), "{step}: {steepest} above {bound}");
            assert!(steepest + rest >= bound / 2.0, "{step}: {steepest} far below {bound}");
            assert!(bound <= noisy_gd(&c, &resting(step)), "{step}");
        }
    }

    fn resting(step: f64) -> Steps {
        let (learning, removal) = (u64::MAX, u64::MAX);
        Steps { step, noise: 0.02, grid: 0.0, rounding: 0.0, learning, removal, shift: 0.0 }
    }

    /// The closed form against the recursion it solves.
    #[test]
    fn noisy_gd_bounds_the_recursion() {
        let c = constants(Loss::Logistic, 100, 9, 0.05);
        for (removal, shift, rounding) in [(1, 0.0, 0.0), (3, 0.4, 0.0), (40, 2.0, 1e-4)] {
            let steps = Steps {
                step: 1.0,
                noise: 0.02,
                grid: 1e-9,
                rounding,
                learning: 30,
                removal,
                shift,
            };
            let bound = noisy_gd(&c, &steps);
            let rate = c.contraction(1.0);
            let off = rounding + 1e-9 * 3.0 / 2.0;
            let mut a = c.optimum_bound();
            let step = |a: &mut f64| {
                *a = ((rate * *a).powi(2) + 9.0 * (0.02_f64 + 5e-10).powi(2)).sqrt() + off;
            };
            (0..30).for_each(|_| step(&mut a));
            let mut worst = a;
            for _ in 0..500 {
                a += shift;
                (0..removal).for_each(|_| step(&mut a));
                worst = worst.max(a);
            }
            let reached = c.total_smoothness() / 2.0 * worst * worst;
            assert!(reached <= bound * (1.0 + 1e-9), "{removal}: {reached} above {bound}");
            assert!(bound <= 1.01 * reached, "{removal}: {bound} far above {reached}");
        }
    }

    #[test]
    fn steps_that_do_not_contract_promise_nothing() {
        let c = constants(Loss::Logistic, 100, 9, 0.05);
        let steps = Steps {
            step: 2.0 / c.total_smoothness(),
            noise: 0.02,
            grid: 1e-9,
            rounding: 0.0,
            learning: 30,
            removal: 1,
            shift: 0.0,
        };
        assert_eq!(noisy_gd(&c, &steps), f64::INFINITY);
    }
}
