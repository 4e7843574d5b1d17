//! Cases of noisy gradient descent over fixed batches in turn, by the Gaussian accountant.

use serde_json::Map;

use super::form::malformed;
use super::inputs::{Inputs, decimal, decimal_of_ln};
use super::kind::DELTA;
use super::{Answer, Form, Input, Kind, Problem, Result, Soundness};
use crate::accountant::gdp::cyclic::{self, Differing};
use crate::accountant::gdp::{Stretch, interpolation};
use crate::gaussian::unrounded;

const SOURCE: &str = "Bok, Su and Altschuler (2024), shifted interpolation over batches in cyclic \
                      order; the derivation for requests is beside the accountant `gdp`";
const NOTES: &str = "Steps w <- w - eta ((1/b) sum of the gradients of one batch + lambda w) + \
                     sqrt(2 eta) sigma Z, the batches in a fixed order again and again, a \
                     record's batch fixed for good. Against a run of as many steps on the latest \
                     data alone. Not for batches that are drawn or shuffled. Exact arithmetic: \
                     certificates add what their grid and floats cost.";
const BATCHES: Input = Input::new("batches", Form::Count(1), "batches", "l, visited in turn");
const SIZE: Input =
    Input::new("size", Form::Positive, "records", "b, which divides the sum over a batch");
const LAMBDA: Input =
    Input::new("lambda", Form::Nonnegative, "loss/weight^2", "L2 regularisation: strong convexity");
const BETA: Input = Input::new(
    "beta",
    Form::Nonnegative,
    "loss/weight^2",
    "smoothness of the loss of any batch: its largest number of records over b times a record's",
);
const LIPSCHITZ: Input =
    Input::new("lipschitz", Form::Positive, "loss/weight", "G, bound on one record's gradient");
const ETA: Input = Input::new(
    "eta",
    Form::Positive,
    "weight^2/loss",
    "step size, at most 2/(beta + lambda) so that no step expands",
);
const SIGMA: Input =
    Input::new("sigma", Form::Positive, "sqrt(loss)", "noise: each step adds sqrt(2 eta) sigma Z");
const LEARNING: Input = Input::new(
    "learning_steps",
    Form::Count(0),
    "steps",
    "steps on the first data set, each over one batch",
);
const ADJACENCY: Input = Input::new(
    "adjacency",
    Form::Word(&["replace", "remove-fixed"]),
    "",
    "records are replaced, or removed with b fixed",
);
const RESULTS: &[Answer] = &[
    Answer::new("mu", "", "mu of the last iterates"),
    Answer::new("epsilon", "nats", "epsilon at `delta`"),
];

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "noisy-cgd",
        summary: "mu of noisy descent over batches after one request and further steps",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: NOTES,
        inputs: &[
            BATCHES,
            SIZE,
            LAMBDA,
            BETA,
            LIPSCHITZ,
            ETA,
            SIGMA,
            LEARNING,
            Input::new("unlearning_steps", Form::Count(0), "steps", "K, after the request"),
            Input::new(
                "group",
                Form::Count(0),
                "records",
                "S, records of the request, all in one batch",
            ),
            Input::new(
                "offset",
                Form::Count(0),
                "steps",
                "steps of learning after the last one that visited this batch; 0 is the worst",
            )
            .or("0"),
            ADJACENCY,
            DELTA,
        ],
        results: RESULTS,
        compute: one_request,
    },
    Kind {
        name: "noisy-cgd-sequence",
        summary: "mu of noisy descent over batches after a sequence of requests",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: "As `noisy-cgd`. The lists are of equal length, one entry per request; the records \
                of each are taken to be in the batch that was visited last before it, which bounds \
                all others. Records added by a request count as those deleted.",
        inputs: &[
            BATCHES,
            SIZE,
            LAMBDA,
            BETA,
            LIPSCHITZ,
            ETA,
            SIGMA,
            LEARNING,
            Input::new("unlearning_steps", Form::Counts, "steps", "steps after each request"),
            Input::new("groups", Form::Counts, "records", "records of each request"),
            ADJACENCY,
            DELTA,
        ],
        results: RESULTS,
        compute: sequence,
    },
];

/// The constants that all steps share.
struct Descent {
    batches: u64,
    /// How far one record shifts a step that visits it.
    shift: f64,
    /// A step that visits none of the records.
    each: Stretch,
}

impl Descent {
    fn read(inputs: &Inputs<'_>) -> Result<Self> {
        let (lambda, beta) = (inputs.number("lambda")?, inputs.number("beta")?);
        let eta = inputs.number("eta")?;
        let steep = eta * (beta + lambda) - 1.0;
        if steep > 1.0 {
            return Err(inputs.refuse("eta", "at most 2/(`beta` + `lambda`)"));
        }
        let steep = if steep > 0.0 { libm::log(steep) } else { f64::NEG_INFINITY };
        let times = if inputs.word("adjacency")? == "replace" { 2.0 } else { 1.0 };
        let each = Stretch {
            steps: 1,
            ln_contraction: libm::log1p(-(eta * lambda).min(1.0)).max(steep),
            shift: 0.0,
            noise: (2.0 * eta).sqrt() * inputs.number("sigma")?,
        };
        let shift = times * eta * inputs.number("lipschitz")? / inputs.number("size")?;
        Ok(Self { batches: inputs.count("batches")?, shift, each })
    }

    fn differing(&self, until: u64, records: f64) -> Differing {
        Differing { until, shift: self.shift * records }
    }

    fn bounds(&self, steps: u64, differing: &[Differing], delta: f64) -> Result {
        let refused = |error: interpolation::StretchError| Problem::Refused(error.to_string());
        let stretches =
            cyclic::stretches(self.batches, steps, differing, self.each).map_err(refused)?;
        let ln_mu = interpolation::ln_mu(0.0, &stretches).map_err(refused)?;
        let epsilon = unrounded::epsilon(libm::exp(ln_mu), delta);
        Ok(Map::from_iter([decimal_of_ln("mu", ln_mu), decimal("epsilon", epsilon)]))
    }
}

fn one_request(inputs: &Inputs<'_>) -> Result {
    let descent = Descent::read(inputs)?;
    let learning = inputs.count("learning_steps")?;
    // Both are at most 2^53.
    let steps = learning + inputs.count("unlearning_steps")?;
    let until = learning.saturating_sub(inputs.count("offset")?);
    let differing = descent.differing(until, inputs.number("group")?);
    descent.bounds(steps, &[differing], inputs.number("delta")?)
}

fn sequence(inputs: &Inputs<'_>) -> Result {
    let descent = Descent::read(inputs)?;
    let (after, groups) = (inputs.numbers("unlearning_steps")?, inputs.numbers("groups")?);
    if groups.len() != after.len() {
        return Err(malformed("groups", "as long as `unlearning_steps`", &groups.len().into()));
    }
    let mut steps = inputs.count("learning_steps")?;
    let mut differing = Vec::with_capacity(groups.len());
    for (after, records) in after.into_iter().zip(groups) {
        differing.push(descent.differing(steps, records));
        steps = steps
            .checked_add(after as u64)
            .ok_or_else(|| inputs.refuse("unlearning_steps", "below 2^64 steps in all"))?;
    }
    descent.bounds(steps, &differing, inputs.number("delta")?)
}
