//! Cases of group privacy as noted, and of unlearning on top of a private learner.

use serde_json::Map;

use super::inputs::{Inputs, decimal, decimal_of_ln};
use super::kind::{DELTA, EPSILON};
use super::{Answer, Form, Input, Kind, Result, Soundness};
use crate::accountant::{compose, group};

const K: Input = Input::new("k", Form::Count(1), "records", "records of the group");

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "group-privacy-noted",
        summary: "What khi2024 asks of one record for a group target",
        source: "Khi (2024), 2.2.2",
        soundness: Soundness::Published,
        notes: "Sound but stricter than needed; `group-privacy` gives what is enough.",
        inputs: &[EPSILON, DELTA, K],
        results: &[
            Answer::new("epsilon", "nats", "epsilon of one record"),
            Answer::new("delta", "probability", "delta of one record, as noted"),
        ],
        compute: noted,
    },
    Kind {
        name: "compose",
        summary: "Unlearning on top of a differentially private learner or feature extractor",
        source: "Khi (2024), 2.3.2; Guo et al. (2020), Theorem 5; Dong, Roth and Su (2022)",
        soundness: Soundness::Tight,
        notes: "The learner's guarantee is for one record in the remove sense and is taken for \
                the group; the second must hold for every output of the learner. `epsilon`, \
                `delta` and `mu` are tight; the note's deltas are given beside them.",
        inputs: &[
            EPSILON,
            DELTA,
            K,
            Input { name: "epsilon_second", meaning: "epsilon of unlearning", ..EPSILON },
            Input { name: "delta_second", meaning: "delta of unlearning", ..DELTA },
            Input::new("mu", Form::Nonnegative, "", "mu of the learner for one record"),
            Input::new("mu_second", Form::Nonnegative, "", "mu of unlearning"),
        ],
        results: &[
            Answer::new("epsilon", "nats", "of both together"),
            Answer::new("delta", "probability", "of both together"),
            Answer::new("delta_as_noted", "probability", "as khi2024 states it"),
            Answer::new("delta_as_proven", "probability", "as its proof supports it"),
            Answer::new("mu", "", "of both together, Gaussian"),
        ],
        compute: compose,
    },
];

fn noted(inputs: &Inputs<'_>) -> Result {
    let (epsilon, delta) = (inputs.number("epsilon")?, inputs.number("delta")?);
    let k = inputs.number("k")?;
    Ok(Map::from_iter([
        decimal("epsilon", epsilon / k),
        decimal_of_ln("delta", group::unrounded_ln_noted_delta(epsilon, delta, k)),
    ]))
}

fn compose(inputs: &Inputs<'_>) -> Result {
    let k = inputs.number("k")?;
    let (epsilon, second) = (inputs.number("epsilon")?, inputs.number("epsilon_second")?);
    let ln_delta = group::unrounded_ln_group_delta(epsilon, inputs.number("delta")?, k);
    let both = compose::unrounded_deltas(
        (k * epsilon, libm::exp(ln_delta)),
        (second, inputs.number("delta_second")?),
    );
    let mu = f64::hypot(k * inputs.number("mu")?, inputs.number("mu_second")?);
    Ok(Map::from_iter([
        decimal("epsilon", k * epsilon + second),
        decimal("delta", both.tight.min(1.0)),
        decimal("delta_as_noted", both.noted.min(1.0)),
        decimal("delta_as_proven", both.proven.min(1.0)),
        decimal("mu", mu),
    ]))
}
