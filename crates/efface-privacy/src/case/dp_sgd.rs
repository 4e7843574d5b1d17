//! Cases of stochastic gradient descent with clipped gradients and Gaussian noise (DP-SGD).

use serde_json::Map;

use super::form::malformed;
use super::inputs::{Inputs, decimal};
use super::kind::{DELTA, EPSILON};
use super::{Answer, Form, Input, Kind, Problem, Result, Soundness};
use crate::accountant::pld::{self, PldError, Segment};
use crate::quantity::{Delta, Epsilon, Mu};

const NOISE: Input = Input::new(
    "noise",
    Form::Positive,
    "clipping norms",
    "standard deviation of the noise on the sum of clipped gradients",
);
const RATE: Input = Input::new(
    "rate",
    Form::Nonnegative,
    "probability",
    "probability with which a unit is in the batch of a step, at most 1",
);
const STEPS: Input = Input::new("steps", Form::Count(0), "steps", "steps of training");
const GROUP: Input =
    Input::new("group", Form::Count(0), "units", "units (records or subjects) in the group");

const SOURCE: &str = "Doroshenko et al. (2022) for the distribution of privacy losses; \
                      Ganesh (2024) for groups; the derivation is beside the accountant `pld`";
const NOTES: &str = "Units are drawn for each batch independently and afresh (Poisson sampling), \
                     their gradients clipped one by one; what is done with the noisy sums is \
                     free. The group is absent in one of the two runs. Rounded up; the grid adds \
                     less than a relative 1e-3 in ordinary cases and at most 1e-2. Not for \
                     batches that are shuffled or of fixed size.";

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "dp-sgd",
        summary: "The least epsilon at a delta of DP-SGD for a group, the larger of both directions",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: NOTES,
        inputs: &[NOISE, RATE, STEPS, GROUP, DELTA],
        results: &[Answer::new("epsilon", "nats", "epsilon with and without the group")],
        compute: epsilon,
    },
    Kind {
        name: "dp-sgd-delta",
        summary: "The least delta at an epsilon of DP-SGD for a group, the larger of both directions",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: NOTES,
        inputs: &[NOISE, RATE, STEPS, GROUP, EPSILON],
        results: &[Answer::new("delta", "probability", "delta with and without the group")],
        compute: delta,
    },
    Kind {
        name: "dp-sgd-schedule",
        summary: "The least epsilon at a delta of several phases of DP-SGD and something Gaussian \
                  on top",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: "As `dp-sgd`, where each phase has its own noise, rate, steps and units of the \
                group that were present in it. `mu` is that of what follows, such as a head \
                trained on the features of a network, and must hold for every outcome before. \
                Composed as distributions of privacy losses, which is sharper than adding \
                (epsilon, delta).",
        inputs: &[
            Input { form: Form::Numbers, meaning: "noise of each phase", ..NOISE },
            Input { form: Form::Numbers, meaning: "sampling rate of each phase", ..RATE },
            Input { form: Form::Counts, meaning: "steps of each phase", ..STEPS },
            Input { form: Form::Counts, meaning: "units of the group in each phase", ..GROUP },
            Input::new("mu", Form::Nonnegative, "", "mu of what follows the last phase").or("0"),
            DELTA,
        ],
        results: &[Answer::new("epsilon", "nats", "epsilon of everything together")],
        compute: schedule,
    },
    Kind {
        name: "dp-sgd-noise",
        summary: "The least noise with which DP-SGD reaches an epsilon at a delta for a group",
        source: SOURCE,
        soundness: Soundness::Tight,
        notes: "Found by bisection to a relative 1e-4; `dp-sgd` confirms epsilon for it. Searched \
                from 0.3 to 100,000 clipping norms.",
        inputs: &[RATE, STEPS, GROUP, EPSILON, DELTA],
        results: &[Answer::new("noise", "clipping norms", "the least noise, rounded up")],
        compute: noise,
    },
    Kind {
        name: "dp-sgd-rdp",
        summary: "The Rényi divergence of DP-SGD for a group, at a whole order",
        source: "Mironov, Talwar and Zhang (2019) for one unit; the derivation for \
                 groups is beside the accountant `pld`",
        soundness: Soundness::Tight,
        notes: "Of the run with the group from the run without it, in closed form. The same \
                assumptions as `dp-sgd`; `order` times `group` is at most 4096.",
        inputs: &[
            NOISE,
            RATE,
            STEPS,
            GROUP,
            Input::new("order", Form::Count(2), "", "the order of the divergence"),
        ],
        results: &[Answer::new("epsilon", "nats", "the divergence of all steps")],
        compute: rdp,
    },
];

impl From<PldError> for Problem {
    fn from(error: PldError) -> Self {
        Self::Refused(error.to_string())
    }
}

fn segment(inputs: &Inputs<'_>, noise: f64) -> Result<Segment> {
    Ok(Segment {
        steps: inputs.count("steps")?,
        noise,
        rate: inputs.number("rate")?,
        group: inputs.count("group")?,
    })
}

fn given_delta(inputs: &Inputs<'_>) -> Result<Delta> {
    let delta = inputs.number("delta")?;
    Delta::new(delta).map_err(|_| inputs.refuse("delta", "in (0, 1)"))
}

fn given_epsilon(inputs: &Inputs<'_>) -> Result<Epsilon> {
    let epsilon = inputs.number("epsilon")?;
    Epsilon::new(epsilon).map_err(|_| inputs.refuse("epsilon", "at least 0"))
}

fn given_mu(inputs: &Inputs<'_>) -> Result<Mu> {
    Mu::new(inputs.number("mu")?).map_err(|_| inputs.refuse("mu", "at least 0"))
}

fn no_head() -> Result<Mu> {
    Mu::new(0.0).map_err(|error| Problem::Refused(error.to_string()))
}

fn epsilon(inputs: &Inputs<'_>) -> Result {
    let segment = segment(inputs, inputs.number("noise")?)?;
    let epsilon = pld::epsilon(&[segment], no_head()?, given_delta(inputs)?)?;
    Ok(Map::from_iter([decimal("epsilon", epsilon.get())]))
}

fn delta(inputs: &Inputs<'_>) -> Result {
    let segment = segment(inputs, inputs.number("noise")?)?;
    let delta = pld::delta(&[segment], no_head()?, given_epsilon(inputs)?)?;
    Ok(Map::from_iter([decimal("delta", delta)]))
}

fn schedule(inputs: &Inputs<'_>) -> Result {
    let (noise, rate) = (inputs.numbers("noise")?, inputs.numbers("rate")?);
    let (steps, group) = (inputs.numbers("steps")?, inputs.numbers("group")?);
    for (name, length) in [("rate", rate.len()), ("steps", steps.len()), ("group", group.len())] {
        if length != noise.len() {
            return Err(malformed(name, "as long as `noise`", &length.into()));
        }
    }
    let segments: Vec<Segment> = (0..noise.len())
        .map(|i| (steps[i] as u64, noise[i], rate[i], group[i] as u64))
        .map(|(steps, noise, rate, group)| Segment { steps, noise, rate, group })
        .collect();
    let epsilon = pld::epsilon(&segments, given_mu(inputs)?, given_delta(inputs)?)?;
    Ok(Map::from_iter([decimal("epsilon", epsilon.get())]))
}

fn noise(inputs: &Inputs<'_>) -> Result {
    let (epsilon, delta) = (given_epsilon(inputs)?, given_delta(inputs)?);
    let segment = segment(inputs, 1.0)?;
    let noise = pld::noise(segment, epsilon, delta)?;
    Ok(Map::from_iter([decimal("noise", noise)]))
}

fn rdp(inputs: &Inputs<'_>) -> Result {
    let segment = segment(inputs, inputs.number("noise")?)?;
    let epsilon = pld::rdp(segment, inputs.count("order")?)?;
    Ok(Map::from_iter([decimal("epsilon", epsilon.get())]))
}
