//! Bok, Su and Altschuler (2024): the closed form for noisy descent over batches in turn.

use efface::Result;
use serde::Deserialize;
use serde_json::json;

use super::account;
use super::bench::Bench;
use super::outcome::{Outcome, number};

/// The relative difference up to which numbers are the same.
const EQUAL: f64 = 1e-9;

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grid {
    delta: f64,
    cases: Vec<Case>,
}

/// One training.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    batches: u64,
    size: u64,
    epochs: u64,
    lambda: f64,
    beta: f64,
    lipschitz: f64,
    eta: f64,
    sigma: f64,
}

impl Case {
    /// mu by the closed form, a record of the last batch being there or not:
    /// (s/s~)^2 (1 + c^(2l-2) (1 - c^2) (1 - c^l)^-2 (1 - c^(l(E-1))) / (1 + c^(l(E-1)))), with the shift
    /// s = eta G/b, the noise s~ = sqrt(2 eta) sigma, and the contraction c.
    fn closed(&self) -> f64 {
        let contraction =
            (1.0 - self.eta * self.lambda).max(self.eta * (self.beta + self.lambda) - 1.0);
        let cycle = contraction.powf(self.batches as f64);
        let earlier = cycle.powf(self.epochs as f64 - 1.0);
        let hidden = contraction.powf(2.0 * self.batches as f64 - 2.0)
            * (1.0 - contraction * contraction)
            / ((1.0 - cycle) * (1.0 - cycle))
            * ((1.0 - earlier) / (1.0 + earlier));
        let shift = self.eta * self.lipschitz / self.size as f64;
        shift / ((2.0 * self.eta).sqrt() * self.sigma) * (1.0 + hidden).sqrt()
    }
}

pub(super) fn run(grid: &Grid, _: &mut Bench<'_>) -> Result<Outcome> {
    let columns = ["l", "b", "E", "lambda", "eta", "sigma", "mu, closed form", "mu, accountant"];
    let mut outcome = Outcome::of(&columns);
    let mut equal = 0.0;
    for case in &grid.cases {
        let asked = json!({ "batches": case.batches, "size": case.size, "lambda": case.lambda,
            "beta": case.beta, "lipschitz": case.lipschitz, "eta": case.eta, "sigma": case.sigma,
            "learning_steps": case.batches * case.epochs, "unlearning_steps": 0, "group": 1,
            "offset": 0, "adjacency": "remove-fixed", "delta": grid.delta });
        let ours = account::number("noisy-cgd", &asked, "mu")?;
        let closed = case.closed();
        equal += f64::from(u8::from((ours / closed - 1.0).abs() < EQUAL));
        let counts = [case.batches, case.size, case.epochs].map(|count| count.to_string());
        let numbers = [case.lambda, case.eta, case.sigma, closed, ours].map(number);
        outcome.row(counts.into_iter().chain(numbers));
    }
    outcome.measure("equal", equal);
    Ok(outcome)
}
