//! Cases of the published Rényi unlearning of Langevin descent.

use serde_json::{Map, Value};

use super::inputs::{Inputs, decimal, whole};
use super::kind::DELTA;
use super::{Answer, Form, Input, Kind, Problem, Soundness};
use crate::accountant::langevin::Langevin;

type Result<T = Map<String, Value>> = std::result::Result<T, Problem>;

const RECORDS: Input = Input::new("n", Form::Count(1), "records", "records of the data set");
const CONVEXITY: Input =
    Input::new("strong_convexity", Form::Positive, "loss/weight^2", "m of the objective");
const LIPSCHITZ: Input =
    Input::new("lipschitz", Form::Positive, "loss/weight", "M, bound on one record's gradient");
const ETA: Input = Input::new("eta", Form::Positive, "weight^2/loss", "step size");
const SIGMA: Input =
    Input::new("sigma", Form::Positive, "sqrt(loss)", "noise: each step adds sqrt(2 eta) sigma Z");
const GROUP: Input =
    Input::new("group", Form::Count(1), "records", "S, records replaced by one request");
const TARGET: Input =
    Input::new("target_epsilon", Form::Positive, "nats", "epsilon to be reached at `delta`");
const NOTES: &str = "Counts replaced records. Learning to stationarity, strongly convex loss, \
                     eta at most 1/L and the start at most 2 sigma^2/m wide; Mironov's \
                     conversion, minimised over all orders. The kind `noisy-gd-gdp` gives far \
                     smaller numbers for the same steps.";

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "langevin",
        summary: "epsilon after one request by the published Langevin bound, and the least steps",
        source: "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, Algorithm 5",
        soundness: Soundness::Published,
        notes: NOTES,
        inputs: &[
            RECORDS,
            CONVEXITY,
            LIPSCHITZ,
            ETA,
            SIGMA,
            GROUP,
            Input::new("steps", Form::Count(0), "steps", "K, after the request"),
            DELTA,
            TARGET,
        ],
        results: &[
            Answer::new("epsilon_at_steps", "nats", "epsilon at `delta` after `steps`"),
            Answer::new("least_steps_for_target", "steps", "the least K >= 1 for the target"),
        ],
        compute: langevin,
    },
    Kind {
        name: "langevin-sequence",
        summary: "Least steps for each of several requests by the published Langevin bound",
        source: "Chien, Wang, Chen and Li (2024), Corollary 3.4, Algorithms 6 and 7",
        soundness: Soundness::Published,
        notes: NOTES,
        inputs: &[
            RECORDS,
            CONVEXITY,
            LIPSCHITZ,
            ETA,
            SIGMA,
            GROUP,
            DELTA,
            TARGET,
            Input::new("requests", Form::Count(0), "", "how many requests of S records"),
        ],
        results: &[Answer::new("steps", "steps", "the least K >= 1 of each request, in order")],
        compute: langevin_sequence,
    },
];

fn read(inputs: &Inputs<'_>) -> Result<Langevin> {
    Ok(Langevin {
        records: inputs.number("n")?,
        strong_convexity: inputs.number("strong_convexity")?,
        lipschitz: inputs.number("lipschitz")?,
        step: inputs.number("eta")?,
        noise: inputs.number("sigma")?,
        group: inputs.number("group")?,
        learning_steps: None,
    })
}

fn langevin(inputs: &Inputs<'_>) -> Result {
    let descent = read(inputs)?;
    let (delta, target) = (inputs.number("delta")?, inputs.number("target_epsilon")?);
    let epsilon = descent.epsilon(inputs.count("steps")?, delta)?;
    let least = descent.least_steps(target, delta)?;
    Ok(Map::from_iter([
        decimal("epsilon_at_steps", epsilon),
        whole("least_steps_for_target", least),
    ]))
}

fn langevin_sequence(inputs: &Inputs<'_>) -> Result {
    let descent = read(inputs)?;
    let (delta, target) = (inputs.number("delta")?, inputs.number("target_epsilon")?);
    let steps = descent.least_steps_of_sequence(inputs.count("requests")?, target, delta)?;
    Ok(Map::from_iter([("steps".to_owned(), steps.into())]))
}
