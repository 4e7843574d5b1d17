//! Noisy gradient descent in a ball of public radius, with or without strong convexity.

use super::{Steps, of_square, slope_at_best, steepest};
use crate::constants::Constants;

/// The ball, and what requests do in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// R: radius of the ball around 0.
    pub radius: f64,
    /// How much a request can change the gradient of F.
    pub gradient_shift: f64,
    /// The most steps of any request.
    pub longest: u64,
}

/// The most requests, as a power of two, over which steps are taken together.
const WINDOWS: u32 = 40;

/// Returns a bound on the expected excess risk over the best weights of the ball, after learning from 0 and
/// after any number of requests; infinite for steps beyond 1/L that do not contract.
#[must_use]
pub fn noisy_gd_in_ball(constants: &Constants, steps: &Steps, ball: &Ball) -> f64 {
    let start = constants.optimum_bound().min(ball.radius);
    let most = steps.farthest(constants, start);
    let contracting =
        slope_at_best(constants, ball.radius) * most + of_square(constants, most * most);
    contracting.min(flat(constants, steps, ball))
}

/// Returns the bound that needs convexity alone.
fn flat(constants: &Constants, steps: &Steps, ball: &Ball) -> f64 {
    let (eta, radius) = (steps.step, ball.radius);
    if eta * constants.total_smoothness() > 1.0 {
        return f64::INFINITY;
    }
    let parameters = constants.parameters() as f64;
    let variance = parameters * (steps.noise + steps.grid / 2.0).powi(2);
    let rounding = steps.error(constants) * (2.0 * radius / eta + steepest(constants, radius));
    let each = variance / eta + rounding;
    // 1 + 1/2 + ... + 1/M, bounded.
    let harmonic = |count: f64| 1.0 + count.ln();
    let drift = 2.0 * radius * ball.gradient_shift;
    let (learning, fewest) = (steps.learning as f64, steps.removal as f64);
    let after = |requests: f64| {
        let window = requests * fewest;
        let anywhere = 2.0 * radius * radius / (eta * window);
        let settled = anywhere + each * harmonic(window) + requests * drift;
        let all = learning + requests * ball.longest as f64;
        let earlier = 2.0 + (all / (2.0 * window)).ln().max(0.0);
        let from_zeros = radius * radius / (2.0 * eta * learning);
        let young = from_zeros + each * harmonic(all) + requests * drift * earlier;
        settled.max(young)
    };
    (0..WINDOWS).map(|k| after((1_u64 << k) as f64)).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{dataset, generator, normal};
    use crate::objective::Objective;
    use crate::{Declared, Loss};
    use efface_privacy::event::Normalizer;

    fn project(weights: &mut [f64], radius: f64) {
        let norm = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        if norm > radius {
            weights.iter_mut().for_each(|w| *w *= radius / norm);
        }
    }

    const RUNS: usize = 40;

    /// The mean risk of forty runs, after learning and after each of five requests that take ten
    /// rows, against the bound.
    #[test]
    fn runs_in_a_ball_keep_to_the_bound() {
        for (lambda, radius, noise) in [(0.0, 2.0, 0.02), (0.0, 2.0, 0.0), (0.01, 1.0, 0.02)] {
            let normalizer = Normalizer::Fixed { n: 200, capacity: 200 };
            let row_bound = 1.0 + 1e-6;
            let (loss, cols) = (Loss::Logistic, 4);
            let declared = Declared {
                loss,
                cols,
                lambda,
                normalizer,
                row_bound,
                target_bound: 0.0,
                max_weight: None,
            };
            let constants = declared.check_convex().unwrap();
            let eta = 0.999 / constants.total_smoothness();
            let (learning, removal) = (60, 7);
            let gradient_shift = constants.gradient_shift(10, 200);
            let ball = Ball { radius, gradient_shift, longest: removal };
            let shift = constants.optimum_shift(10, 200);
            let (grid, rounding) = (0.0, 0.0);
            let steps = Steps { step: eta, noise, grid, rounding, learning, removal, shift };
            let bound = noisy_gd_in_ball(&constants, &steps, &ball);
            let mut rng = generator(8);
            let mut at = vec![vec![0.0; 4]; RUNS];
            for stage in 0..6 {
                let mut rows = dataset(loss, 200, 4, 5);
                rows.remove_rows(&(0..10 * stage).collect::<Vec<_>>()).unwrap();
                let objective = Objective::new(&constants, &rows).unwrap();
                let mut step = |weights: &mut Vec<f64>, noise: f64| {
                    let gradient = objective.evaluate(weights).unwrap().gradient;
                    for (w, g) in weights.iter_mut().zip(gradient) {
                        *w += noise * normal(&mut rng) - eta * g;
                    }
                    project(weights, radius);
                };
                let mut best = vec![0.0; 4];
                (0..2000).for_each(|_| step(&mut best, 0.0));
                let least = objective.evaluate(&best).unwrap().value;
                let mut mean = 0.0;
                for weights in &mut at {
                    let count = if stage == 0 { learning } else { removal };
                    (0..count).for_each(|_| step(weights, noise));
                    let value = objective.evaluate(weights).unwrap().value;
                    mean += (value - least) / RUNS as f64;
                }
                assert!(mean <= bound, "{lambda} {radius} {noise} {stage}: {mean} above {bound}");
            }
            assert!(bound.is_finite());
        }
    }

    #[test]
    fn steps_too_long_for_a_flat_objective_promise_nothing() {
        let normalizer = Normalizer::Fixed { n: 200, capacity: 200 };
        let (loss, cols, row_bound) = (Loss::Logistic, 4, 1.0);
        let declared = Declared {
            loss,
            cols,
            lambda: 0.0,
            normalizer,
            row_bound,
            target_bound: 0.0,
            max_weight: None,
        };
        let constants = declared.check_convex().unwrap();
        let steps = |eta: f64| Steps {
            step: eta / constants.total_smoothness(),
            noise: 0.01,
            grid: 0.0,
            rounding: 0.0,
            learning: 10,
            removal: 1,
            shift: f64::INFINITY,
        };
        let ball = Ball { radius: 1.0, gradient_shift: 0.01, longest: 1 };
        assert_eq!(noisy_gd_in_ball(&constants, &steps(1.1), &ball), f64::INFINITY);
        assert!(noisy_gd_in_ball(&constants, &steps(1.0), &ball).is_finite());
    }
}
