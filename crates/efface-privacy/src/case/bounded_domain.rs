//! Cases of noisy steps inside a bounded domain.

use serde_json::Map;

use super::inputs::{Inputs, decimal};
use super::kind::{DELTA, EPSILON};
use super::{Answer, Form, Input, Kind, Problem, Result, Soundness};
use crate::accountant::bounded_domain as domain;
use crate::accountant::bounded_domain::{BoundedDomain, BoundedDomainError};
use crate::accountant::gdp::Stretch;

pub(super) const KINDS: &[Kind] = &[STEPS, DESCENT];

const STEPS: Kind = Kind {
    name: "bounded-domain",
    summary: "ln delta after noisy steps that are the same in both runs, inside a bounded domain",
    source: "Asoodeh, Diaz and Calmon (2020), Theorem 3",
    soundness: Soundness::Tight,
    notes: "Valid whatever the runs did before: the start is the worst possible (delta = 1). Any \
        loss, convex or not.",
    inputs: &[
        EPSILON,
        Input::new(
            "diameter_over_noise",
            Form::Nonnegative,
            "",
            "D/s~: largest distance of the noiseless results over the noise's deviation",
        ),
        Input::new("steps", Form::Count(0), "steps", "K"),
    ],
    results: &[Answer::new("ln_delta", "nats", "natural logarithm of delta at epsilon")],
    compute: bounded_domain,
};

const DESCENT: Kind = Kind {
    name: "bounded-domain-gd",
    summary: "mu and epsilon of noisy gradient descent projected on a ball, of any convexity",
    source: "Bok, Su and Altschuler (2024), restarted; Asoodeh, Diaz and Calmon (2020), Theorem 3",
    soundness: Soundness::Tight,
    notes: "The least of the bound from the start, of restarts with the two runs a diameter apart, \
            and of the contraction by the steps after the request. Against a run of as many steps \
            on the changed data. Exact arithmetic.",
    inputs: &[
        Input::new("n", Form::Count(1), "records", "N, which divides the sum of losses"),
        Input::new("convexity", Form::Word(&["convex", "nonconvex"]), "", "of the averaged loss"),
        Input::new("lambda", Form::Nonnegative, "loss/weight^2", "L2 regularisation"),
        Input::new("beta", Form::Nonnegative, "loss/weight^2", "smoothness of the averaged loss"),
        Input::new("lipschitz", Form::Positive, "loss/weight", "G, bound on a record's gradient"),
        Input::new("eta", Form::Positive, "weight^2/loss", "step size"),
        Input::new("sigma", Form::Positive, "sqrt(loss)", "each step adds sqrt(2 eta) sigma Z"),
        Input::new("radius", Form::Positive, "weight", "R of the ball that steps project on"),
        Input::new("learning_steps", Form::Count(0), "steps", "T, before the request"),
        Input::new("unlearning_steps", Form::Count(0), "steps", "K, after it"),
        Input::new("group", Form::Count(0), "records", "S, records of the request"),
        Input::new(
            "adjacency",
            Form::Word(&["replace", "remove-fixed"]),
            "",
            "records are replaced, or removed with N fixed",
        ),
        Input::new(
            "gradient_bound",
            Form::Positive,
            "loss/weight",
            "bound on the gradient of the objective in the ball",
        )
        .unless_given("`lipschitz` + `lambda` `radius`"),
        DELTA,
    ],
    results: &[
        Answer::new("mu", "", "mu of the last iterates, by interpolation and restarts"),
        Answer::new("epsilon", "nats", "epsilon at `delta`, by the least of all bounds"),
    ],
    compute: descent,
};

impl From<BoundedDomainError> for Problem {
    fn from(error: BoundedDomainError) -> Self {
        Self::Refused(error.to_string())
    }
}

fn descent(inputs: &Inputs<'_>) -> Result {
    let (lambda, beta, eta) =
        (inputs.number("lambda")?, inputs.number("beta")?, inputs.number("eta")?);
    let (lipschitz, radius) = (inputs.number("lipschitz")?, inputs.number("radius")?);
    let steep = eta * (beta + lambda) - 1.0;
    let contraction = match inputs.word("convexity")? {
        "convex" => (1.0 - eta * lambda).max(steep),
        _ => (1.0 + eta * (beta - lambda)).max(steep),
    };
    let relative = inputs.number("group")? / inputs.number("n")?;
    let relative = if inputs.word("adjacency")? == "replace" { 2.0 * relative } else { relative };
    let noise = (2.0 * eta).sqrt() * inputs.number("sigma")?;
    let ln_contraction = libm::log(contraction.max(0.0));
    let stretch = |steps, shift| Stretch { steps, ln_contraction, shift, noise };
    let stretches = [
        stretch(inputs.count("learning_steps")?, eta * lipschitz * relative),
        stretch(inputs.count("unlearning_steps")?, 0.0),
    ];
    let gradient = inputs.optional("gradient_bound")?.unwrap_or(lipschitz + lambda * radius);
    let bounds = BoundedDomain {
        radius,
        step_length: eta * gradient,
        arithmetic: 0.0,
        stretches: &stretches,
        same: 1,
    };
    let delta = inputs.number("delta")?;
    Ok(Map::from_iter([
        decimal("mu", libm::exp(bounds.ln_mu()?)),
        decimal("epsilon", bounds.unrounded_epsilon(delta)?),
    ]))
}

fn bounded_domain(inputs: &Inputs<'_>) -> Result {
    let ln_delta = domain::ln_delta(
        inputs.number("epsilon")?,
        inputs.number("diameter_over_noise")?,
        inputs.count("steps")?,
    )
    .map_err(|error| Problem::Refused(error.to_string()))?;
    Ok(Map::from_iter([decimal("ln_delta", ln_delta)]))
}
