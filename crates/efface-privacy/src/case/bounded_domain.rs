//! Cases of noisy steps inside a bounded domain.

use serde_json::{Map, Value};

use super::inputs::{Inputs, decimal};
use super::kind::EPSILON;
use super::{Answer, Form, Input, Kind, Problem, Soundness};
use crate::accountant::bounded_domain as domain;

type Result = std::result::Result<Map<String, Value>, Problem>;

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "bounded-domain",
    summary: "ln delta after noisy steps that are the same in both runs, inside a bounded domain",
    source: "Asoodeh, Diaz and Calmon (2020), Theorem 3",
    soundness: Soundness::Tight,
    notes: "Whatever the runs did before: the start is taken as bad as can be (delta = 1). Any \
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
}];

fn bounded_domain(inputs: &Inputs<'_>) -> Result {
    let ln_delta = domain::ln_delta(
        inputs.number("epsilon")?,
        inputs.number("diameter_over_noise")?,
        inputs.count("steps")?,
    )
    .map_err(|error| Problem::Refused(error.to_string()))?;
    Ok(Map::from_iter([decimal("ln_delta", ln_delta)]))
}
