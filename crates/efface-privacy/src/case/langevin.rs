//! Cases of the published Rényi unlearning of Langevin descent.

use super::given::{DELTA, ETA, Given, SIGMA, above_one, count, nonnegative, positive};
use super::kind::{Answer, number, steps, table};
use crate::accountant::langevin::{BoundedLangevin, Convexity, Langevin, Search};

const N: Given<f64> = count(1, "records", "records of the data set").real();
const CONVEXITY: Given<f64> = positive("loss/weight^2", "m of the objective");
const LIPSCHITZ: Given<f64> = positive("loss/weight", "M, bound on one record's gradient");
const NOISE: Given<f64> = SIGMA.meaning("noise: each step adds sqrt(2 eta) sigma Z");
const GROUP: Given<f64> = count(1, "records", "S, records replaced by one request").real();
const TARGET: Given<f64> = positive("nats", "epsilon to be reached at `delta`");
const STEPS: Given<u64> = count(0, "steps", "K, after the request");
const SMOOTHNESS: Given<Option<f64>> =
    positive("loss/weight^2", "L of the objective, for eta <= 1/L")
        .unless_given("eta is trusted to be at most 1/L");
const START: Given<f64> =
    nonnegative("weight^2", "variance of the start on each coordinate, 0 for a point").or("0");
const STRIDE: Given<u64> = count(1, "steps", "K is tried from 1 on in strides of this").or("1");
const MOST_ORDER: Given<Option<f64>> =
    above_one("", "orders alpha above this are not tried").unless_given("every order is tried");
const LEARNING: Given<Option<u64>> =
    count(0, "steps", "T").unless_given("learning to stationarity");
const BALL_SMOOTHNESS: Given<f64> = positive("loss/weight^2", "L of the objective");
const RADIUS: Given<f64> = positive("weight", "R of the ball that every step projects on");
const AT_LEARNING: Answer = number("nats", "epsilon at `delta` before any further step");
const AT_STEPS: Answer = number("nats", "epsilon at `delta` after `steps`");
const NOTES: &str = "Counts replaced records. Learning to stationarity, strongly convex loss, \
                     eta at most 1/L and the start at most 2 sigma^2/m wide; Mironov's \
                     conversion, minimised over all orders. The kind `noisy-gd-gdp` gives far \
                     smaller numbers for the same steps.";
const BALL_NOTES: &str = "Counts replaced records, against a run of as many steps. Usually \
                          vacuous: the constants grow with exp(4 R^2/(eta sigma^2)), and infinity \
                          means overflow. The kind `bounded-domain-gd` bounds the same steps \
                          without such constants.";

table! {
    /// epsilon after one request by the published Langevin bound, and the least steps
    "langevin": Published, "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, Algorithm 5",
        NOTES;
    inputs {
        n: N, strong_convexity: CONVEXITY, lipschitz: LIPSCHITZ, eta: ETA, sigma: NOISE,
        group: GROUP, steps: STEPS, delta: DELTA, target_epsilon: TARGET, smoothness: SMOOTHNESS,
        start_variance: START, step_stride: STRIDE, most_order: MOST_ORDER,
    }
    compute {
        let descent = Langevin {
            records: n, strong_convexity, lipschitz, step: eta, noise: sigma, group,
            learning_steps: None,
        };
        descent.check_hypotheses(smoothness.unwrap_or(strong_convexity), start_variance)?;
        let epsilon = descent.epsilon(steps, delta)?;
        let search =
            Search { stride: step_stride, most_order: most_order.unwrap_or(f64::INFINITY) };
        let least = descent.least_steps_of_sequence(1, target_epsilon, delta, search)?;
    }
    results {
        "epsilon_at_steps": AT_STEPS => epsilon,
        "least_steps_for_target": steps("the least K >= 1 for the target")
            => least.first().copied().unwrap_or(1),
    }

    /// Least steps for each of several requests by the published Langevin bound
    "langevin-sequence": Published, "Chien, Wang, Chen and Li (2024), Corollary 3.4, Algorithms 6 \
                                     and 7", NOTES;
    inputs {
        n: N, strong_convexity: CONVEXITY, lipschitz: LIPSCHITZ, eta: ETA, sigma: NOISE,
        group: GROUP, delta: DELTA, target_epsilon: TARGET,
        requests: count(0, "", "how many requests of S records"),
        smoothness: SMOOTHNESS, start_variance: START, step_stride: STRIDE, most_order: MOST_ORDER,
    }
    compute {
        let descent = Langevin {
            records: n, strong_convexity, lipschitz, step: eta, noise: sigma, group,
            learning_steps: None,
        };
        descent.check_hypotheses(smoothness.unwrap_or(strong_convexity), start_variance)?;
        let search =
            Search { stride: step_stride, most_order: most_order.unwrap_or(f64::INFINITY) };
    }
    results {
        "steps": steps("the least K >= 1 of each request, in order").of_each()
            => descent.least_steps_of_sequence(requests, target_epsilon, delta, search)?,
    }

    /// The least noise with which given steps are enough by the published Langevin bound
    "langevin-least-sigma": Published, "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, \
                                        Algorithm 4", NOTES;
    inputs {
        n: N, strong_convexity: CONVEXITY, lipschitz: LIPSCHITZ, eta: ETA, group: GROUP,
        steps: STEPS, delta: DELTA, target_epsilon: TARGET, smoothness: SMOOTHNESS,
    }
    compute {
        let descent = Langevin {
            records: n, strong_convexity, lipschitz, step: eta, noise: 1.0, group,
            learning_steps: None,
        };
        descent.check_hypotheses(smoothness.unwrap_or(strong_convexity), 0.0)?;
    }
    results {
        "sigma": number("sqrt(loss)", "the least sigma, to a relative 1e-9")
            => descent.least_noise(steps, target_epsilon, delta)?,
    }

    /// epsilon after one request where learning stopped early, published Langevin bound
    ///
    /// Counts replaced records. Strongly convex loss, eta at most 1/L and the start at most 2
    /// sigma^2/m wide. Two references: one of T + K steps, and one of T steps, which costs four
    /// times the order.
    "langevin-finite": Published, "Chien, Wang, Chen and Li (2024), Theorem 3.3 and section 3.3 \
                                   (insufficient training), with the convergence in a ball derived \
                                   here";
    inputs {
        n: N, strong_convexity: CONVEXITY, lipschitz: LIPSCHITZ, eta: ETA, sigma: NOISE,
        group: GROUP,
        learning_steps: count(1, "steps", "T"),
        steps: STEPS,
        radius: RADIUS.meaning("R of a ball that holds every iterate"),
        delta: DELTA, smoothness: SMOOTHNESS, start_variance: START,
    }
    compute {
        let descent = Langevin {
            records: n, strong_convexity, lipschitz, step: eta, noise: sigma, group,
            learning_steps: Some(learning_steps),
        };
        descent.check_hypotheses(smoothness.unwrap_or(strong_convexity), start_variance)?;
        let rho = descent.convergence(radius)?;
    }
    results {
        "epsilon_against_all_steps": number("nats", "against T + K steps")
            => descent.epsilon(steps, delta)?,
        "epsilon_against_learning_steps": number("nats", "against T steps")
            => descent.epsilon_against_learning(steps, rho, delta)?,
    }

    /// epsilon after one request by the published Langevin bound for convex losses
    "langevin-convex": Published, "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, convex \
                                   case", BALL_NOTES;
    inputs {
        n: N, smoothness: BALL_SMOOTHNESS, lipschitz: LIPSCHITZ, eta: ETA, sigma: NOISE,
        group: GROUP, radius: RADIUS, start_variance: START, learning_steps: LEARNING,
        steps: STEPS, delta: DELTA,
    }
    compute {
        let descent = BoundedLangevin {
            convexity: Convexity::Convex, records: n, smoothness, lipschitz, step: eta,
            noise: sigma, group, radius, start_constant: start_variance, learning_steps,
        };
    }
    results {
        "epsilon_at_learning": AT_LEARNING => descent.epsilon(0, delta)?,
        "epsilon_at_steps": AT_STEPS => descent.epsilon(steps, delta)?,
    }

    /// epsilon after one request by the published Langevin bound for any smooth loss
    "langevin-nonconvex": Published, "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, \
                                      general case", BALL_NOTES;
    inputs {
        n: N, smoothness: BALL_SMOOTHNESS, lipschitz: LIPSCHITZ, eta: ETA, sigma: NOISE,
        group: GROUP, radius: RADIUS, start_variance: START, learning_steps: LEARNING,
        steps: STEPS, delta: DELTA,
    }
    compute {
        let descent = BoundedLangevin {
            convexity: Convexity::NonConvex, records: n, smoothness, lipschitz, step: eta,
            noise: sigma, group, radius, start_constant: start_variance, learning_steps,
        };
    }
    results {
        "epsilon_at_learning": AT_LEARNING => descent.epsilon(0, delta)?,
        "epsilon_at_steps": AT_STEPS => descent.epsilon(steps, delta)?,
    }
}
