//! Cases of noisy steps inside a bounded domain.

use super::given::{DELTA, EPSILON, ETA, SIGMA, count, nonnegative, positive, word};
use super::kind::{number, table};
use crate::accountant::bounded_domain as domain;
use crate::accountant::bounded_domain::BoundedDomain;
use crate::accountant::gdp::Stretch;

table! {
    /// ln delta after noisy steps that are the same in both runs, inside a bounded domain
    ///
    /// Valid whatever the runs did before: the start is the worst possible (delta = 1). Any loss,
    /// convex or not.
    "bounded-domain": Tight, "Asoodeh, Diaz and Calmon (2020), Theorem 3";
    inputs {
        epsilon: EPSILON,
        diameter_over_noise: nonnegative(
            "",
            "D/s~: largest distance of the noiseless results over the noise's deviation",
        ),
        steps: count(0, "steps", "K"),
    }
    results {
        "ln_delta": number("nats", "natural logarithm of delta at epsilon")
            => domain::ln_delta(epsilon, diameter_over_noise, steps)?,
    }

    /// mu and epsilon of noisy gradient descent projected on a ball, of any convexity
    ///
    /// The least of the bound from the start, of restarts with the two runs a diameter apart, and
    /// of the contraction by the steps after the request. Against a run of as many steps on the
    /// changed data. Exact arithmetic.
    "bounded-domain-gd": Tight, "Bok, Su and Altschuler (2024), restarted; Asoodeh, Diaz and \
                                 Calmon (2020), Theorem 3";
    inputs {
        n: count(1, "records", "N, which divides the sum of losses").real(),
        convexity: word(&["convex", "nonconvex"], "of the averaged loss"),
        lambda: nonnegative("loss/weight^2", "L2 regularisation"),
        beta: nonnegative("loss/weight^2", "smoothness of the averaged loss"),
        lipschitz: positive("loss/weight", "G, bound on a record's gradient"),
        eta: ETA,
        sigma: SIGMA,
        radius: positive("weight", "R of the ball that steps project on"),
        learning_steps: count(0, "steps", "T, before the request"),
        unlearning_steps: count(0, "steps", "K, after it"),
        group: count(0, "records", "S, records of the request").real(),
        adjacency: word(
            &["replace", "remove-fixed"],
            "records are replaced, or removed with N fixed",
        ),
        gradient_bound: positive(
            "loss/weight",
            "bound on the gradient of the objective in the ball",
        )
        .unless_given("`lipschitz` + `lambda` `radius`"),
        delta: DELTA,
    }
    compute {
        let flat = if convexity == "convex" { eta * lambda } else { eta * (lambda - beta) };
        let contraction = (1.0 - flat).max(eta * (beta + lambda) - 1.0);
        let relative = group / n;
        let relative = if adjacency == "replace" { 2.0 * relative } else { relative };
        let noise = (2.0 * eta).sqrt() * sigma;
        let ln_contraction = libm::log(contraction.max(0.0));
        let stretch = |steps, shift| Stretch { steps, ln_contraction, shift, noise };
        let stretches = [
            stretch(learning_steps, eta * lipschitz * relative),
            stretch(unlearning_steps, 0.0),
        ];
        let step_length = eta * gradient_bound.unwrap_or(lipschitz + lambda * radius);
        let bounds =
            BoundedDomain { radius, step_length, arithmetic: 0.0, stretches: &stretches, same: 1 };
    }
    results {
        "mu": number("", "mu of the last iterates, by interpolation and restarts")
            => libm::exp(bounds.ln_mu()?),
        "epsilon": number("nats", "epsilon at `delta`, by the least of all bounds")
            => bounds.unrounded_epsilon(delta)?,
    }
}
