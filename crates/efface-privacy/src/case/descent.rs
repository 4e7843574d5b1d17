//! Cases of published descent-to-delete, in all its forms.

use super::given::{D, DELTA, Given, count, positive};
use super::kind::{number, steps, table};
use crate::accountant::descent::{Descent, Distributed, Exponent, Regularised};

const LIPSCHITZ: Given<f64> = positive("loss/weight", "G of the objective");
const CONVEXITY: Given<f64> = positive("loss/weight^2", "m of the objective");
const SMOOTHNESS: Given<f64> = positive("loss/weight^2", "L of the objective, above m");
const N: Given<f64> = count(1, "records", "records at the start").real();
const TARGET: Given<f64> = positive("nats", "epsilon of (epsilon, delta)");
const DIAMETER: Given<f64> = positive("weight", "D of the domain");
const ITERATIONS: Given<u64> = count(1, "steps", "I");
const GROWTH: Given<f64> = positive("", "growth of the steps, at least 1");
const UPDATE: Given<u64> = count(1, "", "number of the update").or("1");

table! {
    /// Noise, iterations and steps of published descent-to-delete
    ///
    /// Strongly convex loss, eta = 2/(L + m), never fewer than n/2 records, one record per update.
    /// Theorem 3.1 keeps unpublished weights (secret state), Theorem 3.2 does not.
    /// Indistinguishability from retraining only: these outputs are not differentially private with
    /// these numbers.
    "descent-to-delete": Published, "Neel, Roth and Sharifi-Malvajerdi (2020), Theorems 3.1 and \
                                     3.2";
    inputs {
        lipschitz: LIPSCHITZ, strong_convexity: CONVEXITY, smoothness: SMOOTHNESS, n: N, d: D,
        epsilon: TARGET, delta: DELTA,
        iterations: ITERATIONS.meaning("I of Theorem 3.1, per update"),
        diameter: DIAMETER.meaning("D of the domain, for learning"),
    }
    compute {
        let problem = Descent {
            lipschitz, strong_convexity, smoothness, records: n, parameters: d, epsilon, delta,
        };
        let least = problem.perfect_iterations()?;
        let learning = problem.learning_steps(iterations, diameter)?;
    }
    results {
        "thm31_sigma": number("weight", "noise on the published weights, Theorem 3.1")
            => problem.secret_noise(iterations)?,
        "thm31_learning_steps": steps("T of Theorem 3.1") => learning,
        "thm32_min_iterations": steps("the least I of Theorem 3.2, at least 1") => least,
        "thm32_sigma_at_min": number("weight", "noise of Theorem 3.2 at that I")
            => problem.perfect_noise(least)?,
        "thm32_steps_update_1": steps("steps of the first update, Theorem 3.2")
            => problem.perfect_steps(least, 1)?,
        "thm32_steps_update_100": steps("steps of the hundredth")
            => problem.perfect_steps(least, 100)?,
    }

    /// Noise, regularisation and steps of published descent-to-delete for convex losses
    ///
    /// The guarantee holds for any m; `m_printed` has the exponent 4/5 of the paper, `m_balanced`
    /// the 2/5 of its proof. Beyond xi = 2 the printed sigma may be too small and the corrected one
    /// is given. Secret state, never fewer than n/2 records, one record per update.
    "descent-regularised": Published, "Neel, Roth and Sharifi-Malvajerdi (2020), Theorems 3.4, 3.5 \
                                       and Remark 3.6";
    inputs {
        lipschitz: LIPSCHITZ.meaning("G of the loss alone"),
        smoothness: SMOOTHNESS.meaning("beta of the loss alone"),
        diameter: DIAMETER, n: N, d: D, epsilon: TARGET, delta: DELTA,
        iterations: ITERATIONS.meaning("I: steps of the first update"),
        m: CONVEXITY.meaning("regularisation in use"),
        xi: GROWTH.or("1"),
        update: UPDATE,
    }
    compute {
        let convex = Regularised {
            lipschitz, smoothness, diameter, records: n, parameters: d, epsilon, delta, iterations,
        };
        let problem = convex.problem(m)?;
        let learning = problem.learning_steps(iterations, diameter)?;
    }
    results {
        "m_printed": number("loss/weight^2", "regularisation of Theorem 3.4 as printed")
            => convex.strength(Exponent::Printed)?,
        "m_balanced": number("loss/weight^2", "the same with its proof's exponent")
            => convex.strength(Exponent::Balanced)?,
        "m_weak": number("loss/weight^2", "regularisation of Remark 3.6 for xi")
            => convex.weak_strength(xi)?,
        "thm34_sigma": number("weight", "noise of Theorem 3.4 for m")
            => problem.secret_noise(iterations)?,
        "learning_steps": steps("T, for m") => learning,
        "weak_sigma": number("weight", "noise of Remark 3.6 for m and xi")
            => convex.weak_noise(m, xi)?,
        "weak_steps": steps("steps of the update, i^{2 xi} I") => convex.weak_steps(xi, update)?,
    }

    /// Noise and steps of published distributed descent
    ///
    /// All copies are noised and count together; the paper's choice of the best copy before noise
    /// is not covered by its proof. Requests chosen without looking at releases, one record per
    /// update, secret state.
    "descent-distributed": Published, "Neel, Roth and Sharifi-Malvajerdi (2020), Theorem 4.5";
    inputs {
        lipschitz: LIPSCHITZ, strong_convexity: CONVEXITY, smoothness: SMOOTHNESS,
        diameter: DIAMETER, n: N, d: D, epsilon: TARGET, delta: DELTA, iterations: ITERATIONS,
        xi: GROWTH.meaning("n^xi rows are drawn, in [1, 4/3]"),
        copies: count(1, "", "C").or("1"),
        update: UPDATE,
    }
    compute {
        let problem = Descent {
            lipschitz, strong_convexity, smoothness, records: n, parameters: d, epsilon, delta,
        };
        let parts = Distributed { problem, sample_exponent: xi, iterations, copies };
    }
    results {
        "sigma": number("weight", "noise on each copy's average") => parts.noise()?,
        "learning_steps": steps("T of every part") => parts.learning_steps(diameter)?,
        "update_budget": number("steps", "T_i, not rounded") => parts.update_budget(update)?,
    }
}
