//! Theorem 5.2 in numbers: bounded losses, convex or not.

use efface::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::reproduce::account;
use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Outcome, number};

/// Settings: a small problem that has a solution, and numbers of records to try.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    lambda: f64,
    beta: f64,
    lipschitz: f64,
    loss_bound: f64,
    d: u64,
    q: f64,
    epsilon_dp: f64,
    epsilon_dd: f64,
    n: Vec<u64>,
}

impl Grid {
    fn asked(&self, n: u64, epsilon_dd: f64) -> Value {
        json!({ "lambda": self.lambda, "beta": self.beta, "lipschitz": self.lipschitz,
            "loss_bound": self.loss_bound, "n": n, "d": self.d, "q": self.q,
            "epsilon_dp": self.epsilon_dp, "epsilon_dd": epsilon_dd })
    }
}

pub(crate) fn run(grid: &Grid, _: &mut Bench<'_>) -> Result<Outcome> {
    let columns = ["n", "ln B", "eta", "sigma", "K_A", "K", "saved per request"];
    let mut outcome = Outcome::of(&columns);
    for &n in &grid.n {
        let answer = match account::ask("deletion-rdp-bounded", &grid.asked(n, grid.epsilon_dd)) {
            Ok(answer) => answer,
            Err(error) => {
                outcome.remarks.push(format!("n = {n} is refused: {}.", error.said()));
                outcome.row(
                    [n.to_string(), "refused".into()].into_iter().chain(vec![String::new(); 5]),
                );
                outcome.measure("refused", 1.0);
                continue;
            }
        };
        let of = |name: &str| account::read(&answer[name]);
        let (learn, remove) = (of("learning_steps")?, of("removal_steps")?);
        outcome.row([
            n.to_string(),
            number(of("ln_b")?),
            number(of("eta")?),
            number(of("sigma")?),
            number(learn),
            number(remove),
            number((1.0 - remove / learn).max(0.0)),
        ]);
        outcome.measure("ln-b", of("ln_b")?);
        outcome.measure("learning", learn);
        outcome.measure("removal", remove);
        outcome.measure("eta", of("eta")?);
        outcome.measure("saved", 1.0 - remove / learn);
    }
    Ok(outcome)
}
