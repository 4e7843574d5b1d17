//! Cases of published descent-to-delete.

use serde_json::{Map, Value};

use super::inputs::{Inputs, decimal, whole};
use super::kind::{DELTA, EPSILON};
use super::{Answer, Form, Input, Kind, Problem, Soundness};
use crate::accountant::descent::Descent;

type Result = std::result::Result<Map<String, Value>, Problem>;

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "descent-to-delete",
    summary: "Noise, iterations and steps of published descent-to-delete",
    source: "Neel, Roth and Sharifi-Malvajerdi (2020), Theorems 3.1 and 3.2",
    soundness: Soundness::Published,
    notes: "Strongly convex loss, eta = 2/(L + m), never fewer than n/2 records, one record per \
            update. Theorem 3.1 keeps unpublished weights (secret state), Theorem 3.2 does not. \
            Indistinguishability from retraining only: these outputs are not differentially \
            private with these numbers.",
    inputs: &[
        Input::new("lipschitz", Form::Positive, "loss/weight", "G of the objective"),
        Input::new("strong_convexity", Form::Positive, "loss/weight^2", "m of the objective"),
        Input::new("smoothness", Form::Positive, "loss/weight^2", "L of the objective, above m"),
        Input::new("n", Form::Count(1), "records", "records at the start"),
        Input::new("d", Form::Count(1), "", "number of parameters"),
        Input { form: Form::Positive, ..EPSILON },
        DELTA,
        Input::new("iterations", Form::Count(1), "steps", "I of Theorem 3.1, per update"),
        Input::new("diameter", Form::Positive, "weight", "D of the domain, for learning"),
    ],
    results: &[
        Answer::new("thm31_sigma", "weight", "noise on the published weights, Theorem 3.1"),
        Answer::new("thm31_learning_steps", "steps", "T of Theorem 3.1"),
        Answer::new("thm32_min_iterations", "steps", "the least I of Theorem 3.2, at least 1"),
        Answer::new("thm32_sigma_at_min", "weight", "noise of Theorem 3.2 at that I"),
        Answer::new("thm32_steps_update_1", "steps", "steps of the first update, Theorem 3.2"),
        Answer::new("thm32_steps_update_100", "steps", "steps of the hundredth"),
    ],
    compute: descent_to_delete,
}];

fn descent_to_delete(inputs: &Inputs<'_>) -> Result {
    let descent = Descent {
        lipschitz: inputs.number("lipschitz")?,
        strong_convexity: inputs.number("strong_convexity")?,
        smoothness: inputs.number("smoothness")?,
        records: inputs.number("n")?,
        parameters: inputs.number("d")?,
        epsilon: inputs.number("epsilon")?,
        delta: inputs.number("delta")?,
    };
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
