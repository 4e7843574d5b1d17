//! Cases of the published deletion privacy of noisy gradient descent: bounds, settings and
//! predicted risks.

use serde_json::Map;

use super::inputs::{Inputs, decimal, whole};
use super::{Answer, Form, Input, Kind, Result, Soundness};
use crate::accountant::deletion_rdp::{ConvexDeletion, Wanted, composed_privacy, risk};

const LAMBDA: Input = Input::new("lambda", Form::Positive, "loss/weight^2", "L2 regularisation");
const BETA: Input = Input::new("beta", Form::Positive, "loss/weight^2", "smoothness of the loss");
const LIPSCHITZ: Input =
    Input::new("lipschitz", Form::Positive, "loss/weight", "G, bound on a record's gradient");
const N: Input = Input::new("n", Form::Count(1), "records", "records of the data set");
const D: Input = Input::new("d", Form::Count(1), "", "number of parameters");
const ETA: Input = Input::new("eta", Form::Positive, "weight^2/loss", "step size");
const SIGMA: Input =
    Input::new("sigma", Form::Positive, "sqrt(loss)", "each step adds sqrt(2 eta) sigma Z");
const Q: Input = Input::new("q", Form::AboveOne, "", "order of the Rényi divergence");
const GROUP: Input =
    Input::new("group", Form::Count(1), "records", "most records of one person").or("1");
const REPLACED: Input =
    Input::new("replaced", Form::Count(1), "records", "records replaced by one request").or("1");
const EPSILON_DP: Input =
    Input::new("epsilon_dp", Form::Positive, "nats", "differential privacy of one release");
const EPSILON_DD: Input =
    Input::new("epsilon_dd", Form::Positive, "nats", "non-adaptive deletion privacy");

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "chourasia-convex",
        summary: "Least steps per request for published deletion privacy of convex losses",
        source: "Chourasia and Shah (2023), Theorem 5.1",
        soundness: Soundness::Published,
        notes: "Convex loss with L2 regularisation, eta below 1/(lambda + beta), start \
                N(0, sigma^2/(lambda (1 - eta lambda/2)) I), one record per person.",
        inputs: &[
            LAMBDA,
            ETA,
            Q,
            LIPSCHITZ,
            SIGMA,
            N,
            Input { meaning: "deletion privacy to be reached", ..EPSILON_DD },
        ],
        results: &[Answer::steps("least_steps", "the least K; 0 when none are needed")],
        compute: least_steps,
    },
    Kind {
        name: "deletion-rdp",
        summary: "Published deletion privacy and differential privacy of noisy gradient descent",
        source: "Chourasia and Shah (2023), Theorems G.7, G.9 and G.15",
        soundness: Soundness::Published,
        notes: "Convex loss with L2 regularisation, eta below 1/(lambda + beta), start \
                N(0, sigma^2/(lambda (1 - eta lambda/2)) I); G.7 needs no convexity. Only the \
                published model is kept. Persons with several records count through `group`.",
        inputs: &[
            LAMBDA,
            BETA,
            ETA,
            Q,
            LIPSCHITZ,
            SIGMA,
            N,
            GROUP,
            Input::new("steps", Form::Count(0), "steps", "steps of every run and request"),
            Input::new("releases", Form::Count(0), "", "p: releases that requesters have seen")
                .or("0"),
        ],
        results: &[
            Answer::new("epsilon_dd", "nats", "deletion privacy, non-adaptive requests"),
            Answer::new("epsilon_dd_adaptive", "nats", "the same after p releases were seen"),
            Answer::new("epsilon_dp", "nats", "differential privacy of one release (G.9)"),
            Answer::new("epsilon_dp_composed", "nats", "the same for any loss (G.7)"),
        ],
        compute: deletion,
    },
    Kind {
        name: "deletion-rdp-recipe",
        summary: "Settings of noisy gradient descent for deletion privacy of convex losses",
        source: "Chourasia and Shah (2023), Theorem 5.1",
        soundness: Soundness::Published,
        notes: "A request makes the larger of `deletion_steps` and `utility_steps`. The excess \
                risk is the constant of the proof.",
        inputs: &[LAMBDA, BETA, LIPSCHITZ, N, D, Q, EPSILON_DP, EPSILON_DD, GROUP, REPLACED],
        results: &[
            Answer::new("eta", "weight^2/loss", "step size"),
            Answer::new("sigma", "sqrt(loss)", "each step adds sqrt(2 eta) sigma Z"),
            Answer::new("start_std", "weight", "standard deviation of the start"),
            Answer::steps("learning_steps", "steps of the first training, for the risk"),
            Answer::steps("deletion_steps", "steps per request, for deletion privacy"),
            Answer::steps("utility_steps", "steps per request, for the risk"),
            Answer::new("excess_risk", "loss", "bound on every release's excess risk"),
        ],
        compute: recipe,
    },
    Kind {
        name: "deletion-rdp-bounded",
        summary: "Settings of noisy gradient descent for deletion privacy of bounded losses",
        source: "Chourasia and Shah (2023), Theorem 5.2",
        soundness: Soundness::Published,
        notes: "Any loss with |l| at most `loss_bound`, convex or not; requests chosen without \
                looking at releases. The least sigma for which B exists; refused beyond 2^53 \
                steps. eta also obeys G.22, which matters only for q epsilon_dd above d.",
        inputs: &[
            LAMBDA,
            BETA,
            LIPSCHITZ,
            Input::new("loss_bound", Form::Positive, "loss", "bound on |l| everywhere"),
            N,
            D,
            Q,
            EPSILON_DP,
            EPSILON_DD,
            GROUP,
            REPLACED,
        ],
        results: &[
            Answer::new("ln_b", "nats", "ln B"),
            Answer::new("eta", "weight^2/loss", "step size"),
            Answer::new("sigma", "sqrt(loss)", "each step adds sqrt(2 eta) sigma Z"),
            Answer::steps("learning_steps", "K_A"),
            Answer::steps("removal_steps", "K"),
        ],
        compute: bounded,
    },
    Kind {
        name: "deletion-rdp-risk",
        summary: "Predicted excess risk after a request and further noisy steps",
        source: "Chourasia and Shah (2023), Lemmas G.16 and G.17",
        soundness: Soundness::Published,
        notes: "Convex loss; G is that of one record. `after_steps` starts from `after_request`.",
        inputs: &[
            LAMBDA,
            BETA,
            LIPSCHITZ,
            N,
            D,
            ETA,
            SIGMA,
            Input::new("risk", Form::Nonnegative, "loss", "excess risk before the request"),
            Input { form: Form::Count(0), ..REPLACED },
            Input::new("steps", Form::Count(0), "steps", "steps on the new data"),
        ],
        results: &[
            Answer::new("after_request", "loss", "excess risk on the new data before any step"),
            Answer::new("after_steps", "loss", "excess risk after the steps"),
        ],
        compute: risks,
    },
];

/// The run, for persons with one record each.
fn run(inputs: &Inputs<'_>) -> Result<ConvexDeletion> {
    Ok(ConvexDeletion {
        regularisation: inputs.number("lambda")?,
        step: inputs.number("eta")?,
        order: inputs.number("q")?,
        lipschitz: inputs.number("lipschitz")?,
        noise: inputs.number("sigma")?,
        records: inputs.number("n")?,
    })
}

/// What settings are looked for, for persons with up to `group` records.
fn wanted(inputs: &Inputs<'_>) -> Result<Wanted> {
    Ok(Wanted {
        regularisation: inputs.number("lambda")?,
        smoothness: inputs.number("beta")?,
        lipschitz: inputs.number("lipschitz")? * inputs.number("group")?,
        records: inputs.number("n")?,
        parameters: inputs.number("d")?,
        order: inputs.number("q")?,
        privacy: inputs.number("epsilon_dp")?,
        deletion: inputs.number("epsilon_dd")?,
        replaced: inputs.number("replaced")?,
    })
}

fn least_steps(inputs: &Inputs<'_>) -> Result {
    let least = run(inputs)?.least_steps(inputs.number("epsilon_dd")?)?;
    Ok(Map::from_iter([whole("least_steps", least)]))
}

fn deletion(inputs: &Inputs<'_>) -> Result {
    let one = run(inputs)?;
    let run = ConvexDeletion { lipschitz: one.lipschitz * inputs.number("group")?, ..one };
    run.check_step(inputs.number("beta")?)?;
    let (steps, releases) = (inputs.count("steps")?, inputs.count("releases")?);
    let composed =
        composed_privacy(run.order, run.lipschitz, run.step, run.noise, run.records, steps)?;
    Ok(Map::from_iter([
        decimal("epsilon_dd", run.deletion(steps)?),
        decimal("epsilon_dd_adaptive", run.adaptive_deletion(steps, steps, releases)?),
        decimal("epsilon_dp", run.differential_privacy(steps)?),
        decimal("epsilon_dp_composed", composed),
    ]))
}

fn recipe(inputs: &Inputs<'_>) -> Result {
    let plan = wanted(inputs)?.convex_plan()?;
    Ok(Map::from_iter([
        decimal("eta", plan.step),
        decimal("sigma", plan.noise),
        decimal("start_std", plan.start),
        whole("learning_steps", plan.learning_steps),
        whole("deletion_steps", plan.deletion_steps),
        whole("utility_steps", plan.utility_steps),
        decimal("excess_risk", plan.excess_risk),
    ]))
}

fn bounded(inputs: &Inputs<'_>) -> Result {
    let plan = wanted(inputs)?.bounded_plan(inputs.number("loss_bound")?)?;
    Ok(Map::from_iter([
        decimal("ln_b", plan.ln_b),
        decimal("eta", plan.step),
        decimal("sigma", plan.noise),
        whole("learning_steps", plan.learning_steps),
        whole("removal_steps", plan.removal_steps),
    ]))
}

fn risks(inputs: &Inputs<'_>) -> Result {
    let (lambda, beta) = (inputs.number("lambda")?, inputs.number("beta")?);
    let moved = risk::after_request(
        inputs.number("risk")?,
        lambda,
        beta,
        inputs.number("lipschitz")?,
        inputs.number("n")?,
        inputs.number("replaced")?,
    )?;
    let stepped = risk::after_steps(
        moved,
        lambda,
        beta,
        inputs.number("eta")?,
        inputs.number("sigma")?,
        inputs.number("d")?,
        inputs.count("steps")?,
    )?;
    Ok(Map::from_iter([decimal("after_request", moved), decimal("after_steps", stepped)]))
}
