//! Cases of objective perturbation as published.

use serde_json::Map;

use super::inputs::{Inputs, decimal};
use super::kind::DELTA;
use super::{Answer, Form, Input, Kind, Result, Soundness};
use crate::accountant::objective::{self, Removal};

const RESIDUAL: Input = Input::new("residual", Form::Positive, "loss/weight", "bound on |u|");

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "objective-residual",
        summary: "Published bounds on the gradient that one Newton removal leaves",
        source: "Guo et al. (2020), Theorems 1 and 4 with the erratum, Corollaries 1 and 2",
        soundness: Soundness::Published,
        notes: "Bounds of the residual itself, which are correct; what the paper concludes from \
                them (`objective-budget`) is not. The worst cases are for an objective averaged \
                over the current records. `spectral` must be an upper bound.",
        inputs: &[
            Input::new("third_derivative", Form::Positive, "", "gamma: 1/4 in the paper"),
            Input::new("row_norm", Form::Positive, "", "r").or("1"),
            Input::new("lipschitz", Form::Positive, "loss/weight", "C, bound on a gradient"),
            Input::new("lambda", Form::Positive, "loss/weight^2", "L2 regularisation"),
            Input::new("n", Form::Count(2), "records", "records before the removal"),
            Input::new("removed", Form::Count(1), "records", "records removed at once").or("1"),
            Input::new("perturbation", Form::Nonnegative, "loss/weight", "|b| + |u|").or("0"),
            Input::new(
                "spectral",
                Form::Nonnegative,
                "",
                "upper bound on |X|_2 of the remaining \
                rows",
            ),
            Input::new("step", Form::Nonnegative, "weight", "|v|"),
            Input::new("moved_margins", Form::Nonnegative, "", "|X v|"),
        ],
        results: &[
            Answer::new("worst_case", "loss/weight", "from the unperturbed minimiser"),
            Answer::new("worst_case_perturbed", "loss/weight", "from the perturbed one"),
            Answer::new("from_step", "loss/weight", "gamma r^3 (n - k) |v|^2"),
            Answer::new("data_dependent", "loss/weight", "gamma r |X|_2 |v| |X v|"),
        ],
        compute: residual,
    },
    Kind {
        name: "objective-budget",
        summary: "Removal budget, noise and delta that the paper concludes from the residual",
        source: "Guo et al. (2020), Theorem 3 and Algorithm 2",
        soundness: Soundness::NotSound,
        notes: "NOT SOUND: the residual depends on the perturbation. For comparison only.",
        inputs: &[
            Input::new("sigma", Form::Positive, "loss/weight", "deviation of each entry of b"),
            RESIDUAL,
            Input::new("epsilon", Form::Positive, "nats", "epsilon, at most 1"),
            DELTA,
        ],
        results: &[
            Answer::new("budget", "loss/weight", "sum of residuals at which to retrain"),
            Answer::new("sigma_for_residual", "loss/weight", "sigma asked for `residual`"),
            Answer::new("claimed_delta", "probability", "delta claimed at epsilon"),
            Answer::new("pure_scale", "loss/weight", "scale of |b| ~ Gamma(d) for delta = 0"),
        ],
        compute: budget,
    },
];

fn residual(inputs: &Inputs<'_>) -> Result {
    let removal = Removal {
        third_derivative: inputs.number("third_derivative")?,
        row_norm: inputs.number("row_norm")?,
        lipschitz: inputs.number("lipschitz")?,
        regularisation: inputs.number("lambda")?,
        records: inputs.number("n")?,
        removed: inputs.number("removed")?,
    };
    let perturbed = removal.worst_case_perturbed(inputs.number("perturbation")?)?;
    let (gamma, r, step) = (removal.third_derivative, removal.row_norm, inputs.number("step")?);
    let by_step = objective::from_step(gamma, r, removal.records - removal.removed, step)?;
    let (spectral, moved) = (inputs.number("spectral")?, inputs.number("moved_margins")?);
    Ok(Map::from_iter([
        decimal("worst_case", removal.worst_case()?),
        decimal("worst_case_perturbed", perturbed),
        decimal("from_step", by_step),
        decimal("data_dependent", objective::data_dependent(gamma, r, spectral, step, moved)?),
    ]))
}

fn budget(inputs: &Inputs<'_>) -> Result {
    let (sigma, residual) = (inputs.number("sigma")?, inputs.number("residual")?);
    let (epsilon, delta) = (inputs.number("epsilon")?, inputs.number("delta")?);
    Ok(Map::from_iter([
        decimal("budget", objective::residual_budget(sigma, epsilon, delta)?),
        decimal("sigma_for_residual", objective::noise_for_residual(residual, epsilon, delta)?),
        decimal("claimed_delta", objective::claimed_delta(sigma, residual, epsilon)?),
        decimal("pure_scale", objective::pure_scale(residual, epsilon)?),
    ]))
}
