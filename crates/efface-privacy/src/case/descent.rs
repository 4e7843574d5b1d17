//! Cases of published descent-to-delete, in all its forms.

use serde_json::Map;

use super::inputs::{Inputs, decimal, whole};
use super::kind::{DELTA, EPSILON};
use super::{Answer, Form, Input, Kind, Result, Soundness};
use crate::accountant::descent::{Descent, Distributed, Exponent, Regularised};

const LIPSCHITZ: Input =
    Input::new("lipschitz", Form::Positive, "loss/weight", "G of the objective");
const CONVEXITY: Input =
    Input::new("strong_convexity", Form::Positive, "loss/weight^2", "m of the objective");
const SMOOTHNESS: Input =
    Input::new("smoothness", Form::Positive, "loss/weight^2", "L of the objective, above m");
const N: Input = Input::new("n", Form::Count(1), "records", "records at the start");
const D: Input = Input::new("d", Form::Count(1), "", "number of parameters");
const TARGET: Input = Input { form: Form::Positive, ..EPSILON };
const DIAMETER: Input = Input::new("diameter", Form::Positive, "weight", "D of the domain");
const UPDATE: Input = Input::new("update", Form::Count(1), "", "number of the update").or("1");

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "descent-to-delete",
        summary: "Noise, iterations and steps of published descent-to-delete",
        source: "Neel, Roth and Sharifi-Malvajerdi (2020), Theorems 3.1 and 3.2",
        soundness: Soundness::Published,
        notes: "Strongly convex loss, eta = 2/(L + m), never fewer than n/2 records, one record per \
                update. Theorem 3.1 keeps unpublished weights (secret state), Theorem 3.2 does not. \
                Indistinguishability from retraining only: these outputs are not differentially \
                private with these numbers.",
        inputs: &[
            LIPSCHITZ,
            CONVEXITY,
            SMOOTHNESS,
            N,
            D,
            TARGET,
            DELTA,
            Input::new("iterations", Form::Count(1), "steps", "I of Theorem 3.1, per update"),
            Input { meaning: "D of the domain, for learning", ..DIAMETER },
        ],
        results: &[
            Answer::new("thm31_sigma", "weight", "noise on the published weights, Theorem 3.1"),
            Answer::steps("thm31_learning_steps", "T of Theorem 3.1"),
            Answer::steps("thm32_min_iterations", "the least I of Theorem 3.2, at least 1"),
            Answer::new("thm32_sigma_at_min", "weight", "noise of Theorem 3.2 at that I"),
            Answer::steps("thm32_steps_update_1", "steps of the first update, Theorem 3.2"),
            Answer::steps("thm32_steps_update_100", "steps of the hundredth"),
        ],
        compute: descent_to_delete,
    },
    Kind {
        name: "descent-regularised",
        summary: "Noise, regularisation and steps of published descent-to-delete for convex losses",
        source: "Neel, Roth and Sharifi-Malvajerdi (2020), Theorems 3.4, 3.5 and Remark 3.6",
        soundness: Soundness::Published,
        notes: "The guarantee holds for any m; `m_printed` has the exponent 4/5 of the paper, \
                `m_balanced` the 2/5 of its proof. Beyond xi = 2 the printed sigma may be too \
                small and the corrected one is given. Secret state, never fewer than n/2 records, \
                one record per update.",
        inputs: &[
            Input { meaning: "G of the loss alone", ..LIPSCHITZ },
            Input { meaning: "beta of the loss alone", ..SMOOTHNESS },
            DIAMETER,
            N,
            D,
            TARGET,
            DELTA,
            Input::new("iterations", Form::Count(1), "steps", "I: steps of the first update"),
            Input::new("m", Form::Positive, "loss/weight^2", "regularisation in use"),
            Input::new("xi", Form::Positive, "", "growth of the steps, at least 1").or("1"),
            UPDATE,
        ],
        results: &[
            Answer::new("m_printed", "loss/weight^2", "regularisation of Theorem 3.4 as printed"),
            Answer::new("m_balanced", "loss/weight^2", "the same with its proof's exponent"),
            Answer::new("m_weak", "loss/weight^2", "regularisation of Remark 3.6 for xi"),
            Answer::new("thm34_sigma", "weight", "noise of Theorem 3.4 for m"),
            Answer::steps("learning_steps", "T, for m"),
            Answer::new("weak_sigma", "weight", "noise of Remark 3.6 for m and xi"),
            Answer::steps("weak_steps", "steps of the update, i^{2 xi} I"),
        ],
        compute: regularised,
    },
    Kind {
        name: "descent-distributed",
        summary: "Noise and steps of published distributed descent",
        source: "Neel, Roth and Sharifi-Malvajerdi (2020), Theorem 4.5",
        soundness: Soundness::Published,
        notes: "All copies are noised and count together; the paper's choice of the best copy \
                before noise is not covered by its proof. Requests chosen without looking at \
                releases, one record per update, secret state.",
        inputs: &[
            LIPSCHITZ,
            CONVEXITY,
            SMOOTHNESS,
            DIAMETER,
            N,
            D,
            TARGET,
            DELTA,
            Input::new("iterations", Form::Count(1), "steps", "I"),
            Input::new("xi", Form::Positive, "", "n^xi rows are drawn, in [1, 4/3]"),
            Input::new("copies", Form::Count(1), "", "C").or("1"),
            UPDATE,
        ],
        results: &[
            Answer::new("sigma", "weight", "noise on each copy's average"),
            Answer::steps("learning_steps", "T of every part"),
            Answer::new("update_budget", "steps", "T_i, not rounded"),
        ],
        compute: distributed,
    },
];

/// The strongly convex problem.
fn problem(inputs: &Inputs<'_>) -> Result<Descent> {
    Ok(Descent {
        lipschitz: inputs.number("lipschitz")?,
        strong_convexity: inputs.number("strong_convexity")?,
        smoothness: inputs.number("smoothness")?,
        records: inputs.number("n")?,
        parameters: inputs.number("d")?,
        epsilon: inputs.number("epsilon")?,
        delta: inputs.number("delta")?,
    })
}

fn descent_to_delete(inputs: &Inputs<'_>) -> Result {
    let descent = problem(inputs)?;
    let iterations = inputs.count("iterations")?;
    let least = descent.perfect_iterations()?;
    let learning = descent.learning_steps(iterations, inputs.number("diameter")?)?;
    Ok(Map::from_iter([
        decimal("thm31_sigma", descent.secret_noise(iterations)?),
        whole("thm31_learning_steps", learning),
        whole("thm32_min_iterations", least),
        decimal("thm32_sigma_at_min", descent.perfect_noise(least)?),
        whole("thm32_steps_update_1", descent.perfect_steps(least, 1)?),
        whole("thm32_steps_update_100", descent.perfect_steps(least, 100)?),
    ]))
}

fn regularised(inputs: &Inputs<'_>) -> Result {
    let convex = Regularised {
        lipschitz: inputs.number("lipschitz")?,
        smoothness: inputs.number("smoothness")?,
        diameter: inputs.number("diameter")?,
        records: inputs.number("n")?,
        parameters: inputs.number("d")?,
        epsilon: inputs.number("epsilon")?,
        delta: inputs.number("delta")?,
        iterations: inputs.count("iterations")?,
    };
    let (strength, growth) = (inputs.number("m")?, inputs.number("xi")?);
    let problem = convex.problem(strength)?;
    let learning = problem.learning_steps(convex.iterations, convex.diameter)?;
    Ok(Map::from_iter([
        decimal("m_printed", convex.strength(Exponent::Printed)?),
        decimal("m_balanced", convex.strength(Exponent::Balanced)?),
        decimal("m_weak", convex.weak_strength(growth)?),
        decimal("thm34_sigma", problem.secret_noise(convex.iterations)?),
        whole("learning_steps", learning),
        decimal("weak_sigma", convex.weak_noise(strength, growth)?),
        whole("weak_steps", convex.weak_steps(growth, inputs.count("update")?)?),
    ]))
}

fn distributed(inputs: &Inputs<'_>) -> Result {
    let parts = Distributed {
        problem: problem(inputs)?,
        sample_exponent: inputs.number("xi")?,
        iterations: inputs.count("iterations")?,
        copies: inputs.count("copies")?,
    };
    Ok(Map::from_iter([
        decimal("sigma", parts.noise()?),
        whole("learning_steps", parts.learning_steps(inputs.number("diameter")?)?),
        decimal("update_budget", parts.update_budget(inputs.count("update")?)?),
    ]))
}
