//! Table 1: gradient work that a request saves against learning anew, at equal excess risk.

use efface::{Code, Error, MechanismName, Result};
use efface_privacy::accountant::descent::Descent;
use serde::Deserialize;
use serde_json::json;

use crate::reproduce::account;
use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Outcome, number};

/// Settings: a 1-Lipschitz loss and numbers of records.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    lambda: f64,
    beta: f64,
    d: u64,
    q: f64,
    /// epsilon of the Rényi privacy; (1 + 2 log(1/delta), delta) for the others.
    epsilon_dp: f64,
    epsilon_dd: f64,
    delta: f64,
    n: Vec<u64>,
}

/// Passes to learn and for a request.
struct Work {
    learning: f64,
    request: f64,
}

pub(crate) fn run(grid: &Grid, _: &mut Bench<'_>) -> Result<Outcome> {
    let columns = ["n", "method", "passes to learn", "passes per request", "gradients saved"];
    let mut outcome = Outcome::of(&columns);
    let names = [
        "noisy descent (Thm 5.1), published",
        "noisy descent, tight",
        "perturbed descent, secret state (Thm 9)",
        "perturbed descent, no secret state (Thm 28)",
    ];
    for &n in &grid.n {
        let works = [
            noisy(grid, n)?,
            tight(grid, n)?,
            perturbed(grid, n, true)?,
            perturbed(grid, n, false)?,
        ];
        for (index, work) in works.iter().enumerate() {
            let gradients = (n as f64 * (work.learning - work.request)).max(0.0);
            outcome.row([
                n.to_string(),
                names[index].into(),
                number(work.learning),
                number(work.request),
                number(gradients),
            ]);
        }
        let share = |work: &Work| 1.0 - work.request / work.learning;
        outcome.measure("noisy-share", share(&works[0]));
        outcome.measure("tight-share", share(&works[1]));
        let gain = |a: &Work, b: &Work| (a.learning - a.request) / (b.learning - b.request);
        outcome.measure("noisy-over-secret", gain(&works[0], &works[2]));
        outcome.measure("noisy-over-perfect", gain(&works[0], &works[3]));
        for (work, name) in works.iter().zip(["noisy", "tight", "secret", "perfect"]) {
            outcome.measure(format!("{name}-request"), work.request);
        }
        outcome.measure("request-tight-over-published", works[1].request / works[0].request);
    }
    Ok(outcome)
}

/// Theorem 5.1's settings.
fn recipe(grid: &Grid, n: u64) -> Result<serde_json::Map<String, serde_json::Value>> {
    let asked = json!({ "lambda": grid.lambda, "beta": grid.beta, "lipschitz": 1, "n": n,
        "d": grid.d, "q": grid.q, "epsilon_dp": grid.epsilon_dp, "epsilon_dd": grid.epsilon_dd });
    account::ask("deletion-rdp-recipe", &asked)
}

fn noisy(grid: &Grid, n: u64) -> Result<Work> {
    let recipe = recipe(grid, n)?;
    let of = |name: &str| account::read(&recipe[name]);
    let request = of("deletion_steps")?.max(of("utility_steps")?);
    Ok(Work { learning: of("learning_steps")?.max(request), request })
}

/// The same noise and eta, with the steps that the sharper bound needs for the same deletion
/// privacy, and no fewer than the risk needs by the paper's count.
fn tight(grid: &Grid, n: u64) -> Result<Work> {
    let recipe = recipe(grid, n)?;
    let of = |name: &str| account::read(&recipe[name]);
    let learning = of("learning_steps")?;
    let (eta, sigma) = (of("eta")?, of("sigma")?);
    let steps = account::least(1 << 30, |steps| {
        let asked = json!({ "n": n, "lambda": grid.lambda, "beta": grid.beta, "lipschitz": 1,
            "eta": eta, "sigma": sigma, "learning_steps": learning as u64,
            "unlearning_steps": steps, "group": 1, "adjacency": "replace", "delta": grid.delta });
        let mu = account::number("noisy-gd-gdp", &asked, "mu")?;
        Ok(0.5 * grid.q * mu * mu <= grid.epsilon_dd)
    })?;
    let steps = steps.ok_or_else(|| Error::refused(Code::Steps, "no number of steps is enough"))?;
    Ok(Work { learning, request: steps as f64 })
}

/// Descent with noise on what is published, whose noise leaves the same excess risk.
fn perturbed(grid: &Grid, n: u64, secret: bool) -> Result<Work> {
    let refused = |error: efface_privacy::accountant::PublishedError| {
        Error::refused(Code::By(MechanismName::DescentToDelete), error.to_string())
    };
    let recipe = recipe(grid, n)?;
    let risk = account::read(&recipe["excess_risk"])?;
    let problem = Descent {
        lipschitz: 1.0,
        strong_convexity: grid.lambda,
        smoothness: grid.beta + grid.lambda,
        records: n as f64,
        parameters: grid.d as f64,
        epsilon: 1.0 - 2.0 * grid.delta.ln(),
        delta: grid.delta,
    };
    // (L/2) d sigma^2 is the excess risk of the noise.
    let most = (2.0 * risk / ((grid.beta + grid.lambda) * grid.d as f64)).sqrt();
    let noise = |iterations: u64| {
        let noise = if secret {
            problem.secret_noise(iterations)
        } else {
            problem.perfect_noise(iterations)
        };
        noise.map_err(refused)
    };
    let enough = account::least(1 << 40, |iterations| Ok(noise(iterations)? <= most))?;
    let iterations =
        enough.ok_or_else(|| Error::refused(Code::Steps, "no noise is small enough"))?;
    let iterations = if secret {
        iterations
    } else {
        iterations.max(problem.perfect_iterations().map_err(refused)?)
    };
    // Learning starts anywhere in the ball that holds every minimiser: diameter 2 G/lambda.
    let learning = problem.learning_steps(iterations, 2.0 / grid.lambda).map_err(refused)? as f64;
    let request = if secret {
        iterations as f64
    } else {
        problem.perfect_steps(iterations, 1).map_err(refused)? as f64
    };
    Ok(Work { learning: learning.max(request), request })
}
