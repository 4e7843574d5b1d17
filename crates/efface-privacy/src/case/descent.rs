//! Cases of noisy gradient descent.

use serde_json::{Map, Value};

use super::Problem;
use super::inputs::{Inputs, decimal, decimal_of_ln, malformed};
use super::requests::{self, Counts};
use crate::accountant::bounded_domain as domain;
use crate::accountant::gdp::{Stretch, interpolation};
use crate::gaussian::unrounded;

type Result<T = Map<String, Value>> = std::result::Result<T, Problem>;

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
        let (lambda, beta) = (inputs.nonnegative("lambda")?, inputs.nonnegative("beta")?);
        let eta = inputs.positive("eta")?;
        let flat = libm::log1p(-(eta * lambda).min(1.0));
        let steep = eta * (beta + lambda) - 1.0;
        let steep = if steep > 0.0 { libm::log(steep) } else { f64::NEG_INFINITY };
        let rule = "`replace`, `remove-fixed` or `remove-mean`";
        let adjacency = match inputs.text("adjacency", rule)? {
            "replace" => Adjacency::Replace,
            "remove-fixed" => Adjacency::RemoveFixed,
            "remove-mean" => Adjacency::RemoveMean,
            _ => return Err(malformed("adjacency", rule, inputs.get("adjacency")?)),
        };
        Ok(Self {
            n: inputs.count("n", 1)? as f64,
            reach: eta * inputs.positive("lipschitz")?,
            ln_contraction: flat.max(steep),
            noise: (2.0 * eta).sqrt() * inputs.positive("sigma")?,
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

pub(super) fn one_request(inputs: &Inputs<'_>) -> Result {
    let descent = Descent::read(inputs)?;
    let (learning, unlearning) =
        (inputs.count("learning_steps", 0)?, inputs.count("unlearning_steps", 0)?);
    let group = inputs.count("group", 0)?;
    let after = match descent.adjacency {
        Adjacency::Replace => descent.n,
        _ if group as f64 > descent.n => {
            return Err(malformed("group", "at most `n`", inputs.get("group")?));
        }
        _ => descent.n - group as f64,
    };
    let differing = Counts { only_then: group, only_now: 0, records: descent.n as u64 };
    let same = Counts { only_then: 0, only_now: 0, records: after as u64 };
    let stretches =
        [descent.stretch(learning, differing, after), descent.stretch(unlearning, same, after)];
    bounds(0.0, &stretches, inputs.delta()?)
}

pub(super) fn sequence(inputs: &Inputs<'_>) -> Result {
    let descent = Descent::read(inputs)?;
    let learning = inputs.count("learning_steps", 0)?;
    let phases = requests::read(inputs.list("requests")?, descent.n as u64, learning)?;
    let after = phases.last().map_or(descent.n, |(_, counts)| counts.records as f64);
    let stretches: Vec<Stretch> =
        phases.iter().map(|&(steps, counts)| descent.stretch(steps, counts, after)).collect();
    bounds(0.0, &stretches, inputs.delta()?)
}

pub(super) fn schedule(inputs: &Inputs<'_>) -> Result {
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
    bounds(inputs.nonnegative("initial_distance")?, &stretches, inputs.delta()?)
}

pub(super) fn bounded_domain(inputs: &Inputs<'_>) -> Result {
    let ln_delta = domain::ln_delta(
        inputs.nonnegative("epsilon")?,
        inputs.nonnegative("diameter_over_noise")?,
        inputs.count("steps", 0)?,
    )
    .map_err(|error| Problem::Refused(error.to_string()))?;
    Ok(Map::from_iter([decimal("ln_delta", ln_delta)]))
}
