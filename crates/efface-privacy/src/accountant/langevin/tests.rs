use super::*;
use crate::accountant::gdp::{Stretch, interpolation};

const MNIST: Langevin = Langevin {
    records: 11_982.0,
    strong_convexity: 0.011_982,
    lipschitz: 1.0,
    step: 3.817_056_133_627_501,
    noise: 0.03,
    group: 100.0,
    learning_steps: None,
};

#[test]
fn least_values_are_least() {
    let delta = 1.0 / 11_982.0;
    let steps = MNIST.least_steps(1.0, delta).unwrap();
    assert_eq!(steps, 1997);
    assert!(MNIST.epsilon(steps, delta).unwrap() <= 1.0);
    assert!(MNIST.epsilon(steps - 1, delta).unwrap() > 1.0);
    let noise = MNIST.least_noise(1000, 1.0, delta).unwrap();
    let at = |noise| Langevin { noise, ..MNIST }.epsilon(1000, delta).unwrap();
    assert!(at(noise) <= 1.0 && at(noise * (1.0 - 1e-6)) > 1.0);
}

#[test]
fn short_learning_and_bad_numbers() {
    let short = Langevin { learning_steps: Some(5), ..MNIST };
    assert!(short.epsilon(10, 1e-4).unwrap() < MNIST.epsilon(10, 1e-4).unwrap());
    let bad = Langevin { noise: 0.0, ..MNIST };
    let refused = bad.epsilon(10, 1e-4).unwrap_err().to_string();
    assert_eq!(refused, "`sigma` must be finite and above 0, got 0");
    assert!(MNIST.epsilon(10, 1.0).is_err());
    assert!(MNIST.least_steps_of_sequence(501, 1.0, 1e-4, Search::ALL).is_err());
}

/// Numbers uniform in the logarithm, by a fixed congruential sequence.
struct Draws(u64);

impl Draws {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let unit = (self.0 >> 11) as f64 / 2_f64.powi(53);
        low * (high / low).powf(unit)
    }

    fn count(&mut self, low: f64, high: f64) -> u64 {
        self.between(low, high) as u64
    }

    fn langevin(&mut self) -> Langevin {
        let strong_convexity = self.between(1e-4, 1.0);
        Langevin {
            records: self.between(10.0, 1e6).floor(),
            strong_convexity,
            lipschitz: self.between(0.1, 10.0),
            step: self.between(1e-3, 1.0) / strong_convexity,
            noise: self.between(1e-3, 10.0),
            group: self.count(1.0, 10.0) as f64,
            learning_steps: None,
        }
    }
}

/// mu^2/2 of the tight bound: learning, then requests that each replace another `group` records.
fn tight(descent: &Langevin, ln_contraction: f64, learning: u64, steps: &[u64]) -> f64 {
    let noise = (2.0 * descent.step).sqrt() * descent.noise;
    let one = 2.0 * descent.step * descent.lipschitz * descent.group / descent.records;
    let stretches: Vec<Stretch> = std::iter::once(&learning)
        .chain(steps)
        .enumerate()
        .map(|(phase, &steps_here)| Stretch {
            steps: steps_here,
            ln_contraction,
            shift: one * (steps.len() - phase) as f64,
            noise,
        })
        .collect();
    (2.0 * interpolation::ln_mu(0.0, &stretches).unwrap()).exp() / 2.0
}

const ORDERS: [f64; 6] = [1.0001, 1.3, 2.0, 8.0, 100.0, 1e5];

#[test]
fn one_request_never_costs_less_than_the_tight_bound() {
    let mut draws = Draws(1);
    for _ in 0..500 {
        let (learning, steps) = (draws.count(1.0, 1e5), draws.count(1.0, 1e4) - 1);
        let descent = Langevin { learning_steps: Some(learning), ..draws.langevin() };
        let ln_c = (-descent.step * descent.strong_convexity).ln_1p();
        let rate = tight(&descent, ln_c, learning, &[steps]);
        for alpha in ORDERS {
            let published = descent.renyi(&[steps], alpha);
            assert!(alpha * rate <= published, "{descent:?} {steps} {alpha}");
        }
        let mu = (2.0 * rate).sqrt();
        let ours = crate::gaussian::unrounded::epsilon(mu, 1e-5);
        assert!(ours <= descent.epsilon(steps, 1e-5).unwrap());
    }
}

#[test]
fn a_sequence_never_costs_less_than_the_tight_bound() {
    let mut draws = Draws(2);
    for _ in 0..300 {
        let descent = draws.langevin();
        let ln_c = (-descent.step * descent.strong_convexity).ln_1p();
        let requests = draws.count(2.0, 6.0);
        let steps: Vec<u64> = (0..requests).map(|_| draws.count(1.0, 1e3)).collect();
        let rate = tight(&descent, ln_c, 1 << 40, &steps);
        for alpha in ORDERS {
            let published = descent.renyi(&steps, alpha);
            assert!(alpha * rate <= published, "{descent:?} {steps:?} {alpha}");
        }
    }
}

/// Where the ball is wider than the noise of a step.
#[test]
fn losses_without_strong_convexity_never_cost_less_than_the_tight_bound() {
    let mut draws = Draws(3);
    for round in 0..300 {
        let descent = draws.langevin();
        let smoothness = draws.between(0.01, 1.0) / descent.step;
        let convexity = [Convexity::Convex, Convexity::NonConvex][round % 2];
        let (learning, steps) = (draws.count(1.0, 200.0), draws.count(1.0, 100.0));
        let bounded = BoundedLangevin {
            convexity,
            records: descent.records,
            smoothness,
            lipschitz: descent.lipschitz,
            step: descent.step,
            noise: descent.noise,
            group: descent.group,
            // In balls below the noise of a step the published bound may win: see the derivation.
            radius: draws.between(3.0, 1e2) * (2.0 * descent.step).sqrt() * descent.noise,
            start_constant: 0.0,
            learning_steps: Some(learning),
        };
        let ln_c = match convexity {
            Convexity::Convex => 0.0,
            Convexity::NonConvex => (descent.step * smoothness).ln_1p(),
        };
        let rate = tight(&descent, ln_c, learning, &[steps]);
        let curve = bounded.curve(steps).unwrap();
        for alpha in ORDERS {
            let published = curve(alpha) * (1.0 + 1e-9);
            assert!(alpha * rate <= published, "{bounded:?} {steps} {alpha}");
        }
    }
}

#[test]
fn stationary_learning_is_the_limit_of_long_learning() {
    let short = BoundedLangevin {
        convexity: Convexity::Convex,
        records: 1e4,
        smoothness: 0.25,
        lipschitz: 1.0,
        step: 1.0,
        noise: 1.0,
        group: 1.0,
        radius: 0.1,
        start_constant: 0.0,
        learning_steps: Some(5_000_000),
    };
    let stationary = BoundedLangevin { learning_steps: None, ..short };
    let (long, limit) = (short.epsilon(5, 1e-5).unwrap(), stationary.epsilon(5, 1e-5).unwrap());
    assert!(long <= limit * (1.0 + 1e-9) && (long / limit - 1.0).abs() < 1e-6, "{long} {limit}");
    assert!(stationary.epsilon(50, 1e-5).unwrap() < limit);
    // A ball of ordinary size makes the constant astronomical: nothing is promised.
    let wide = BoundedLangevin { radius: 10.0, ..stationary };
    assert!(wide.epsilon(1000, 1e-5).unwrap() > 1e10);
    let steep = BoundedLangevin { step: 9.0, ..short }.epsilon(5, 1e-5).unwrap_err().to_string();
    assert_eq!(steep, "`eta` must be at most 2/`smoothness`, got 9");
    let any = BoundedLangevin { convexity: Convexity::NonConvex, step: 9.0, ..short };
    assert!(BoundedLangevin { learning_steps: Some(10), ..any }.epsilon(5, 1e-5).is_ok());
}

#[test]
fn a_reference_of_as_many_steps_as_learning_costs_more() {
    let short = Langevin { learning_steps: Some(10_000), ..MNIST };
    let rho = short.convergence(100.0).unwrap();
    let against = short.epsilon_against_learning(1000, rho, 1e-4).unwrap();
    assert!(against > short.epsilon(1000, 1e-4).unwrap());
    // Long learning leaves only the triangles.
    let ideal = MNIST.epsilon_against_learning(1000, 0.0, 1e-4).unwrap();
    assert!((against / ideal - 1.0).abs() < 1e-9 && ideal > MNIST.epsilon(1000, 1e-4).unwrap());
    let brief = Langevin { learning_steps: Some(20), ..MNIST };
    let rho = brief.convergence(100.0).unwrap();
    assert!(brief.epsilon_against_learning(1000, rho, 1e-4).unwrap() > 10.0 * against);
    assert!(short.epsilon_against_learning(1, f64::NAN, 1e-4).is_err());
    assert!(short.convergence(0.0).is_err());
}

#[test]
fn strides_and_caps_never_find_fewer_steps() {
    let delta = 1.0 / 11_982.0;
    let all = MNIST.least_steps(1.0, delta).unwrap();
    let tens = Search { stride: 10, ..Search::ALL };
    let list = MNIST.least_steps_of_sequence(2, 1.0, delta, tens).unwrap();
    assert_eq!(list[0], all.div_ceil(10) * 10 + 1);
    assert!(list[1] % 10 == 1);
    let capped = Search { most_order: 11.0, ..Search::ALL };
    assert!(MNIST.least_steps_of_sequence(1, 1.0, delta, capped).unwrap()[0] > all);
    let none = Search { most_order: 1.0, ..Search::ALL };
    assert!(MNIST.least_steps_of_sequence(1, 1.0, delta, none).is_err());
    assert!(MNIST.least_steps_of_sequence(1, 1.0, delta, Search { stride: 0, ..none }).is_err());
}

#[test]
fn hypotheses_are_checked() {
    let (smoothness, widest) = (0.261_982, 2.0 * 0.03 * 0.03 / 0.011_982);
    assert!(MNIST.check_hypotheses(smoothness, widest).is_ok());
    assert!(MNIST.check_hypotheses(smoothness, 1.01 * widest).is_err());
    assert!(MNIST.check_hypotheses(1.01 * smoothness, 0.0).is_err());
    assert!(MNIST.check_hypotheses(0.001, 0.0).is_err());
    let far = Langevin { step: 84.0, ..MNIST }.epsilon(1, 1e-4).unwrap_err().to_string();
    assert_eq!(far, "`eta` must be at most 1/`strong_convexity`, got 84");
}
