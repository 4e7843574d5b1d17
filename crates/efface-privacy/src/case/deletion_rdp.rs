//! Cases of the published deletion privacy of noisy gradient descent.

use serde_json::{Map, Value};

use super::inputs::{Inputs, whole};
use super::{Answer, Form, Input, Kind, Problem, Soundness};
use crate::accountant::deletion_rdp::ConvexDeletion;

type Result = std::result::Result<Map<String, Value>, Problem>;

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "chourasia-convex",
    summary: "Least steps per request for published deletion privacy of convex losses",
    source: "Chourasia and Shah (2023), Theorem 5.1",
    soundness: Soundness::Published,
    notes: "Convex loss with L2 regularisation, eta below 1/(lambda + beta), start \
            N(0, sigma^2/(lambda (1 - eta lambda/2)) I), one record per person.",
    inputs: &[
        Input::new("lambda", Form::Positive, "loss/weight^2", "L2 regularisation"),
        Input::new("eta", Form::Positive, "weight^2/loss", "step size"),
        Input::new("q", Form::AboveOne, "", "order of the Rényi divergence"),
        Input::new("lipschitz", Form::Positive, "loss/weight", "G, bound on a record's gradient"),
        Input::new("sigma", Form::Positive, "sqrt(loss)", "each step adds sqrt(2 eta) sigma Z"),
        Input::new("n", Form::Count(1), "records", "records of the data set"),
        Input::new("epsilon_dd", Form::Positive, "nats", "deletion privacy to be reached"),
    ],
    results: &[Answer::new("least_steps", "steps", "the least K; 0 when none are needed")],
    compute: convex,
}];

fn convex(inputs: &Inputs<'_>) -> Result {
    let deletion = ConvexDeletion {
        regularisation: inputs.number("lambda")?,
        step: inputs.number("eta")?,
        order: inputs.number("q")?,
        lipschitz: inputs.number("lipschitz")?,
        noise: inputs.number("sigma")?,
        records: inputs.number("n")?,
    };
    let least = deletion.least_steps(inputs.number("epsilon_dd")?)?;
    Ok(Map::from_iter([whole("least_steps", least)]))
}
