//! Cases of noisy gradient descent, by the Gaussian accountant.

use serde_json::Map;

use super::form::malformed;
use super::inputs::{Inputs, decimal, decimal_of_ln};
use super::kind::DELTA;
use super::requests::{self, Counts};
use super::{Answer, Form, Input, Kind, Problem, Result, Soundness};
use crate::accountant::gdp::{Stretch, interpolation};
use crate::gaussian::unrounded;

const SOURCE: &str = "Bok, Su and Altschuler (2024), shifted interpolation";
const NOTES: &str = "Steps w <- w - eta grad F(w) + sqrt(2 eta) sigma Z with full batches, from \
                     a start that no record influences, against a run of as many steps on the \
                     latest data set alone. Exact arithmetic: certificates add what their grid \
                     and floats cost.";
const RECORDS: Input =
    Input::new("n", Form::Count(1), "records", "N, which divides the sum of losses");
const LAMBDA: Input =
    Input::new("lambda", Form::Nonnegative, "loss/weight^2", "L2 regularisation: strong convexity");
const BETA: Input =
    Input::new("beta", Form::Nonnegative, "loss/weight^2", "smoothness of the averaged loss");
const LIPSCHITZ: Input =
    Input::new("lipschitz", Form::Positive, "loss/weight", "G, bound on one record's gradient");
const ETA: Input = Input::new("eta", Form::Positive, "weight^2/loss", "step size");
const SIGMA: Input =
    Input::new("sigma", Form::Positive, "sqrt(loss)", "noise: each step adds sqrt(2 eta) sigma Z");
const LEARNING: Input =
    Input::new("learning_steps", Form::Count(0), "steps", "T, on the first data set");
const ADJACENCY: Input = Input::new(
    "adjacency",
    Form::Word(&["replace", "remove-fixed", "remove-mean"]),
    "",
    "records are replaced, or removed with N fixed, or removed with N their current number",
);
const RESULTS: &[Answer] = &[
    Answer::new("mu", "", "mu of the last iterates"),
    Answer::new("epsilon", "nats", "epsilon at `delta`"),
];

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "noisy-gd-gdp",
        summary: "mu of noisy gradient descent after one request and further steps",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: NOTES,
        inputs: &[
            RECORDS,
            LAMBDA,
            BETA,
            LIPSCHITZ,
            ETA,
            SIGMA,
            LEARNING,
            Input::new("unlearning_steps", Form::Count(0), "steps", "K, after the request"),
            Input::new("group", Form::Count(0), "records", "S, records of the request"),
            ADJACENCY,
            DELTA,
        ],
        results: RESULTS,
        compute: one_request,
    },
    Kind {
        name: "noisy-gd-gdp-sequence",
        summary: "mu of noisy gradient descent after a sequence of deletions and additions",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: NOTES,
        inputs: &[
            RECORDS,
            LAMBDA,
            BETA,
            LIPSCHITZ,
            ETA,
            SIGMA,
            LEARNING,
            ADJACENCY,
            Input::new(
                "requests",
                Form::Requests,
                "",
                "in order: ids to delete, ids to add, steps after them; an id is never used again",
            ),
            DELTA,
        ],
        results: RESULTS,
        compute: sequence,
    },
    Kind {
        name: "noisy-gd-gdp-schedule",
        summary: "mu of two runs of noisy steps given step by step",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: "The lists are of equal length, one entry per step.",
        inputs: &[
            Input::new("contraction", Form::Numbers, "", "Lipschitz constant of each step's map"),
            Input::new("shift", Form::Numbers, "weight", "distance of the two runs' maps"),
            Input::new("noise_std", Form::Numbers, "weight", "standard deviation of each noise"),
            Input::new("initial_distance", Form::Nonnegative, "weight", "distance of the starts"),
            DELTA,
        ],
        results: RESULTS,
        compute: schedule,
    },
];

/// What the two worlds differ in, under which normaliser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Adjacency {
    Replace,
    RemoveFixed,
    RemoveMean,
}

/// The constants that all phases share.
struct Descent {
    n: f64,
    /// eta G.
    reach: f64,
    ln_contraction: f64,
    noise: f64,
    adjacency: Adjacency,
}

impl Descent {
    fn read(inputs: &Inputs<'_>) -> Result<Self> {
        let (lambda, beta) = (inputs.number("lambda")?, inputs.number("beta")?);
        let eta = inputs.number("eta")?;
        let flat = libm::log1p(-(eta * lambda).min(1.0));
        let steep = eta * (beta + lambda) - 1.0;
        let steep = if steep > 0.0 { libm::log(steep) } else { f64::NEG_INFINITY };
        let adjacency = match inputs.word("adjacency")? {
            "remove-fixed" => Adjacency::RemoveFixed,
            "remove-mean" => Adjacency::RemoveMean,
            _ => Adjacency::Replace,
        };
        Ok(Self {
            n: inputs.number("n")?,
            reach: eta * inputs.number("lipschitz")?,
            ln_contraction: flat.max(steep),
            noise: (2.0 * eta).sqrt() * inputs.number("sigma")?,
            adjacency,
        })
    }

    /// Steps on a data set that differs from the latest, which has `after` records, by `counts`.
    fn stretch(&self, steps: u64, counts: Counts, after: f64) -> Stretch {
        let (then, now) = (counts.only_then as f64, counts.only_now as f64);
        let relative = match self.adjacency {
            Adjacency::Replace => 2.0 * then.max(now) / self.n,
            Adjacency::RemoveFixed => (then + now) / self.n,
            Adjacency::RemoveMean => 2.0 * then.max(now) / (counts.records as f64).max(after),
        };
        let shift = if then == 0.0 && now == 0.0 { 0.0 } else { self.reach * relative };
        Stretch { steps, ln_contraction: self.ln_contraction, shift, noise: self.noise }
    }
}

/// mu and epsilon of a schedule.
fn bounds(start: f64, stretches: &[Stretch], delta: f64) -> Result {
    let ln_mu = interpolation::ln_mu(start, stretches)
        .map_err(|error| Problem::Refused(error.to_string()))?;
    let epsilon = unrounded::epsilon(libm::exp(ln_mu), delta);
    Ok(Map::from_iter([decimal_of_ln("mu", ln_mu), decimal("epsilon", epsilon)]))
}

fn one_request(inputs: &Inputs<'_>) -> Result {
    let descent = Descent::read(inputs)?;
    let (learning, unlearning) =
        (inputs.count("learning_steps")?, inputs.count("unlearning_steps")?);
    let group = inputs.count("group")?;
    let after = match descent.adjacency {
        Adjacency::Replace => descent.n,
        _ if group as f64 > descent.n => {
            return Err(inputs.refuse("group", "at most `n`"));
        }
        _ => descent.n - group as f64,
    };
    let differing = Counts { only_then: group, only_now: 0, records: descent.n as u64 };
    let same = Counts { only_then: 0, only_now: 0, records: after as u64 };
    let stretches =
        [descent.stretch(learning, differing, after), descent.stretch(unlearning, same, after)];
    bounds(0.0, &stretches, inputs.number("delta")?)
}

fn sequence(inputs: &Inputs<'_>) -> Result {
    let descent = Descent::read(inputs)?;
    let learning = inputs.count("learning_steps")?;
    let phases = requests::read(inputs.list("requests")?, descent.n as u64, learning)?;
    let after = phases.last().map_or(descent.n, |(_, counts)| counts.records as f64);
    let stretches: Vec<Stretch> =
        phases.iter().map(|&(steps, counts)| descent.stretch(steps, counts, after)).collect();
    bounds(0.0, &stretches, inputs.number("delta")?)
}

fn schedule(inputs: &Inputs<'_>) -> Result {
    let contraction = inputs.numbers("contraction")?;
    let (shift, noise) = (inputs.numbers("shift")?, inputs.numbers("noise_std")?);
    for (name, length) in [("shift", shift.len()), ("noise_std", noise.len())] {
        if length != contraction.len() {
            return Err(malformed(name, "as long as `contraction`", &length.into()));
        }
    }
    let steps = contraction.iter().zip(shift.iter().zip(&noise));
    let stretches: Vec<Stretch> = steps
        .map(|(c, (&shift, &noise))| Stretch {
            steps: 1,
            ln_contraction: libm::log(*c),
            shift,
            noise,
        })
        .collect();
    bounds(inputs.number("initial_distance")?, &stretches, inputs.number("delta")?)
}
