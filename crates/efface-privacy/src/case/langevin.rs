//! Cases of the published Rényi unlearning of Langevin descent.

use serde_json::Map;

use super::inputs::{Inputs, decimal, whole};
use super::kind::DELTA;
use super::{Answer, Figure, Form, Input, Kind, Result, Soundness};
use crate::accountant::langevin::{BoundedLangevin, Convexity, Langevin, Search};

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
const STEPS: Input = Input::new("steps", Form::Count(0), "steps", "K, after the request");
const SMOOTHNESS: Input =
    Input::new("smoothness", Form::Positive, "loss/weight^2", "L of the objective, for eta <= 1/L")
        .unless_given("eta is trusted to be at most 1/L");
const START: Input = Input::new(
    "start_variance",
    Form::Nonnegative,
    "weight^2",
    "variance of the start on each coordinate, 0 for a point",
)
.or("0");
const STRIDE: Input =
    Input::new("step_stride", Form::Count(1), "steps", "K is tried from 1 on in strides of this")
        .or("1");
const MOST_ORDER: Input =
    Input::new("most_order", Form::AboveOne, "", "orders alpha above this are not tried")
        .unless_given("every order is tried");
const NOTES: &str = "Counts replaced records. Learning to stationarity, strongly convex loss, \
                     eta at most 1/L and the start at most 2 sigma^2/m wide; Mironov's \
                     conversion, minimised over all orders. The kind `noisy-gd-gdp` gives far \
                     smaller numbers for the same steps.";
const BOUNDED_NOTES: &str = "Counts replaced records, against a run of as many steps. Usually \
                             vacuous: the constants grow with exp(4 R^2/(eta sigma^2)), and infinity means overflow. The kind \
                             `bounded-domain-gd` bounds the same steps without such constants.";
const BOUNDED_INPUTS: &[Input] = &[
    RECORDS,
    Input::new("smoothness", Form::Positive, "loss/weight^2", "L of the objective"),
    LIPSCHITZ,
    ETA,
    SIGMA,
    GROUP,
    Input::new("radius", Form::Positive, "weight", "R of the ball that every step projects on"),
    START,
    Input::new("learning_steps", Form::Count(0), "steps", "T")
        .unless_given("learning to stationarity"),
    STEPS,
    DELTA,
];
const BOUNDED_RESULTS: &[Answer] = &[
    Answer::new("epsilon_at_learning", "nats", "epsilon at `delta` before any further step"),
    Answer::new("epsilon_at_steps", "nats", "epsilon at `delta` after `steps`"),
];

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "langevin",
        summary: "epsilon after one request by the published Langevin bound, and the least steps",
        source: "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, Algorithm 5",
        soundness: Soundness::Published,
        notes: NOTES,
        inputs: &[
            RECORDS, CONVEXITY, LIPSCHITZ, ETA, SIGMA, GROUP, STEPS, DELTA, TARGET, SMOOTHNESS,
            START, STRIDE, MOST_ORDER,
        ],
        results: &[
            Answer::new("epsilon_at_steps", "nats", "epsilon at `delta` after `steps`"),
            Answer::steps("least_steps_for_target", "the least K >= 1 for the target"),
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
            SMOOTHNESS,
            START,
            STRIDE,
            MOST_ORDER,
        ],
        results: &[Answer::steps("steps", "the least K >= 1 of each request, in order")
            .written(Figure::Counts)],
        compute: langevin_sequence,
    },
    Kind {
        name: "langevin-least-sigma",
        summary: "The least noise with which given steps are enough by the published Langevin bound",
        source: "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, Algorithm 4",
        soundness: Soundness::Published,
        notes: NOTES,
        inputs: &[RECORDS, CONVEXITY, LIPSCHITZ, ETA, GROUP, STEPS, DELTA, TARGET, SMOOTHNESS],
        results: &[Answer::new("sigma", "sqrt(loss)", "the least sigma, to a relative 1e-9")],
        compute: least_sigma,
    },
    Kind {
        name: "langevin-finite",
        summary: "epsilon after one request where learning stopped early, published Langevin bound",
        source: "Chien, Wang, Chen and Li (2024), Theorem 3.3 and section 3.3 (insufficient \
                 training), with the convergence in a ball derived here",
        soundness: Soundness::Published,
        notes: "Counts replaced records. Strongly convex loss, eta at most 1/L and the start at \
                most 2 sigma^2/m wide. Two references: one of T + K steps, and one of T steps, \
                which costs four times the order.",
        inputs: &[
            RECORDS,
            CONVEXITY,
            LIPSCHITZ,
            ETA,
            SIGMA,
            GROUP,
            Input::new("learning_steps", Form::Count(1), "steps", "T"),
            STEPS,
            Input::new("radius", Form::Positive, "weight", "R of a ball that holds every iterate"),
            DELTA,
            SMOOTHNESS,
            START,
        ],
        results: &[
            Answer::new("epsilon_against_all_steps", "nats", "against T + K steps"),
            Answer::new("epsilon_against_learning_steps", "nats", "against T steps"),
        ],
        compute: finite,
    },
    Kind {
        name: "langevin-convex",
        summary: "epsilon after one request by the published Langevin bound for convex losses",
        source: "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, convex case",
        soundness: Soundness::Published,
        notes: BOUNDED_NOTES,
        inputs: BOUNDED_INPUTS,
        results: BOUNDED_RESULTS,
        compute: |inputs| bounded(inputs, Convexity::Convex),
    },
    Kind {
        name: "langevin-nonconvex",
        summary: "epsilon after one request by the published Langevin bound for any smooth loss",
        source: "Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, general case",
        soundness: Soundness::Published,
        notes: BOUNDED_NOTES,
        inputs: BOUNDED_INPUTS,
        results: BOUNDED_RESULTS,
        compute: |inputs| bounded(inputs, Convexity::NonConvex),
    },
];

/// The constants, with `noise` for kinds that look for it.
fn constants(inputs: &Inputs<'_>, noise: f64) -> Result<Langevin> {
    Ok(Langevin {
        records: inputs.number("n")?,
        strong_convexity: inputs.number("strong_convexity")?,
        lipschitz: inputs.number("lipschitz")?,
        step: inputs.number("eta")?,
        noise,
        group: inputs.number("group")?,
        learning_steps: None,
    })
}

/// The constants, held against the theorem's hypotheses as far as they are given.
fn read(inputs: &Inputs<'_>) -> Result<Langevin> {
    let descent = constants(inputs, inputs.number("sigma")?)?;
    let smoothness = inputs.optional("smoothness")?.unwrap_or(descent.strong_convexity);
    descent.check_hypotheses(smoothness, inputs.number("start_variance")?)?;
    Ok(descent)
}

fn search(inputs: &Inputs<'_>) -> Result<Search> {
    Ok(Search {
        stride: inputs.count("step_stride")?,
        most_order: inputs.optional("most_order")?.unwrap_or(f64::INFINITY),
    })
}

fn langevin(inputs: &Inputs<'_>) -> Result {
    let (descent, search) = (read(inputs)?, search(inputs)?);
    let (delta, target) = (inputs.number("delta")?, inputs.number("target_epsilon")?);
    let epsilon = descent.epsilon(inputs.count("steps")?, delta)?;
    let least = descent.least_steps_of_sequence(1, target, delta, search)?;
    Ok(Map::from_iter([
        decimal("epsilon_at_steps", epsilon),
        whole("least_steps_for_target", least.first().copied().unwrap_or(1)),
    ]))
}

fn langevin_sequence(inputs: &Inputs<'_>) -> Result {
    let (descent, search) = (read(inputs)?, search(inputs)?);
    let (delta, target) = (inputs.number("delta")?, inputs.number("target_epsilon")?);
    let requests = inputs.count("requests")?;
    let steps = descent.least_steps_of_sequence(requests, target, delta, search)?;
    Ok(Map::from_iter([("steps".to_owned(), steps.into())]))
}

fn least_sigma(inputs: &Inputs<'_>) -> Result {
    let descent = constants(inputs, 1.0)?;
    let smoothness = inputs.optional("smoothness")?.unwrap_or(descent.strong_convexity);
    descent.check_hypotheses(smoothness, 0.0)?;
    let (delta, target) = (inputs.number("delta")?, inputs.number("target_epsilon")?);
    let sigma = descent.least_noise(inputs.count("steps")?, target, delta)?;
    Ok(Map::from_iter([decimal("sigma", sigma)]))
}

fn finite(inputs: &Inputs<'_>) -> Result {
    let learning = inputs.count("learning_steps")?;
    let descent = Langevin { learning_steps: Some(learning), ..read(inputs)? };
    let (steps, delta) = (inputs.count("steps")?, inputs.number("delta")?);
    let rho = descent.convergence(inputs.number("radius")?)?;
    Ok(Map::from_iter([
        decimal("epsilon_against_all_steps", descent.epsilon(steps, delta)?),
        decimal(
            "epsilon_against_learning_steps",
            descent.epsilon_against_learning(steps, rho, delta)?,
        ),
    ]))
}

fn bounded(inputs: &Inputs<'_>, convexity: Convexity) -> Result {
    let descent = BoundedLangevin {
        convexity,
        records: inputs.number("n")?,
        smoothness: inputs.number("smoothness")?,
        lipschitz: inputs.number("lipschitz")?,
        step: inputs.number("eta")?,
        noise: inputs.number("sigma")?,
        group: inputs.number("group")?,
        radius: inputs.number("radius")?,
        start_constant: inputs.number("start_variance")?,
        learning_steps: inputs.optional("learning_steps")?.map(|steps| steps as u64),
    };
    let (steps, delta) = (inputs.count("steps")?, inputs.number("delta")?);
    Ok(Map::from_iter([
        decimal("epsilon_at_learning", descent.epsilon(0, delta)?),
        decimal("epsilon_at_steps", descent.epsilon(steps, delta)?),
    ]))
}
