//! What the sharper sound bound needs where the paper has its own: shifted interpolation, replaced
//! records, the same steps of learning.

use efface::{Code, Error, Result};
use serde_json::{Map, Value, json};

use crate::reproduce::account;

/// Steps of learning in the paper's experiments.
pub(super) const LEARNING: u64 = 10_000;
/// No number of steps beyond this is looked for.
const MOST_STEPS: u64 = 1 << 20;

/// epsilon after as many requests of `group` replaced records as `steps` has.
pub(super) fn epsilon(inputs: &Map<String, Value>, sigma: f64, steps: &[u64]) -> Result<f64> {
    let group = inputs["group"].as_u64().unwrap_or(1);
    let convexity = account::read(&inputs["strong_convexity"])?;
    let (mut next, mut fresh) = (0, 1_000_000);
    let requests: Vec<Value> = steps
        .iter()
        .map(|steps| {
            let (delete, add): (Vec<u64>, Vec<u64>) =
                ((next..next + group).collect(), (fresh..fresh + group).collect());
            (next, fresh) = (next + group, fresh + group);
            json!({ "delete": delete, "add": add, "steps": steps })
        })
        .collect();
    let asked = json!({
        "n": inputs["n"],
        "lambda": inputs["strong_convexity"],
        "beta": 1.0 / account::read(&inputs["eta"])? - convexity,
        "lipschitz": inputs["lipschitz"],
        "eta": inputs["eta"],
        "sigma": sigma,
        "learning_steps": LEARNING,
        "adjacency": "replace",
        "requests": requests,
        "delta": inputs["delta"],
    });
    account::number("noisy-gd-gdp-sequence", &asked, "epsilon")
}

/// The least steps for each of `requests` equal requests.
pub(super) fn steps(inputs: &Map<String, Value>, requests: u64) -> Result<u64> {
    let (target, sigma) =
        (account::read(&inputs["target_epsilon"])?, account::read(&inputs["sigma"])?);
    let found = account::least(MOST_STEPS, |steps| {
        Ok(epsilon(inputs, sigma, &vec![steps; requests as usize])? <= target)
    })?;
    found.ok_or_else(|| Error::refused(Code::Steps, "no number of steps reaches the target"))
}

/// The least noise for which one step is enough.
pub(super) fn sigma(inputs: &Map<String, Value>) -> Result<f64> {
    let target = account::read(&inputs["target_epsilon"])?;
    account::least_real((1e-9, 10.0), |sigma| Ok(epsilon(inputs, sigma, &[1])? <= target))
}

/// The noise of descent for the same distance from the optimum, with the exact profile of the
/// Gaussian.
pub(super) fn descent_noise(inputs: &Map<String, Value>) -> Result<f64> {
    let asked = json!({ "epsilon": inputs["epsilon"], "delta": inputs["delta"] });
    let mu = account::number("gdp-mu", &asked, "mu")?;
    let of = |name: &str| account::read(&inputs[name]);
    let (m, smooth) = (of("strong_convexity")?, of("smoothness")?);
    let gamma = ((smooth - m) / (smooth + m)).powf(of("iterations")?);
    Ok(4.0 * of("lipschitz")? / (m * of("n")?) * gamma / (1.0 - gamma) / mu)
}
