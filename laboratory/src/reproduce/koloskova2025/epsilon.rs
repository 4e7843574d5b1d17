//! The epsilon that the released code prints for noisy fine-tuning, and the one that is proved.

use efface::Result;
use serde::Deserialize;
use serde_json::json;

use super::{Projected, Steps};
use crate::reproduce::account;
use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Outcome, number};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    delta: f64,
    /// Weights of the network.
    weights: f64,
    gradient: Vec<Steps>,
    model: Projected,
    /// The least and the greatest order that the released code tries, and how many.
    orders: (f64, f64, u64),
}

impl Grid {
    /// The order and the epsilon that the released code prints: the conversion of Canonne, Kamath and
    /// Steinke at every order, of one divergence that is taken to hold at all of them.
    fn printed(&self, divergence: f64) -> (f64, f64) {
        let (least, most, count) = self.orders;
        let step = (most - least) / (count - 1) as f64;
        let at = |order: f64| {
            let paid = (self.delta.ln() + order.ln()) / (order - 1.0);
            divergence - paid + (-1.0 / order).ln_1p()
        };
        let orders = (0..count).map(|place| least + step * place as f64);
        orders.map(|order| (order, at(order))).fold((f64::NAN, f64::INFINITY), |best, found| {
            if found.1 < best.1 { found } else { best }
        })
    }
}

pub(crate) fn run(grid: &Grid, _: &mut Bench<'_>) -> Result<Outcome> {
    let columns = [
        "weight decay",
        "clip",
        "noisy steps",
        "noise",
        "mu",
        "epsilon printed",
        "epsilon that holds",
        "delta at the epsilon printed",
    ];
    let mut outcome = Outcome::of(&columns);
    let delta = grid.delta;
    for (place, steps) in grid.gradient.iter().enumerate() {
        let mu = steps.mu()?;
        let (order, printed) = grid.printed(steps.divergence);
        let holds =
            account::number("gdp-epsilon", &json!({ "mu": mu, "delta": delta }), "epsilon")?;
        let asked = json!({ "mu": mu, "epsilon": printed });
        let failure = account::number("gdp-delta", &asked, "delta")?;
        let asked = json!({ "epsilon": printed, "delta": delta });
        let enough = account::number("gdp-mu", &asked, "mu")?;
        let asked = json!({ "curve": "rho*alpha", "rho": 0.5 * mu * mu, "delta": delta });
        let renyi = account::number("rdp-epsilon", &asked, "canonne-kamath-steinke")?;
        let length = steps.noise() * steps.gathered() * grid.weights.sqrt();
        let numbers = [steps.noise(), mu, printed, holds, failure].map(number);
        let first = [number(steps.decay), number(steps.clip), steps.count().to_string()];
        outcome.row(first.into_iter().chain(numbers));
        let mut measure = |name: &str, value| outcome.measure(format!("{name}-{place}"), value);
        measure("printed", printed);
        measure("order", order);
        measure("epsilon", holds);
        measure("renyi", renyi);
        measure("delta", failure);
        measure("noise", mu / enough);
        measure("steps", steps.count() as f64);
        measure("divergence", 0.5 * mu * mu);
        measure("start", steps.start * steps.kept() / length);
    }
    let mu = 2.0 * grid.model.radius / grid.model.noise;
    let asked = json!({ "mu": mu, "delta": delta });
    outcome.measure("projected", account::number("gdp-epsilon", &asked, "epsilon")?);
    Ok(outcome)
}
