//! Published bounds for losses of any convexity, at the sizes of a small network: numbers by formula.

use efface::Result;
use serde::Deserialize;
use serde_json::json;

use super::account;
use super::bench::Bench;
use super::outcome::{Outcome, number};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grid {
    n: f64,
    /// Numbers of weights.
    d: Vec<f64>,
    lambda: f64,
    beta: f64,
    lipschitz: f64,
    loss_bound: f64,
    /// The order of divergences.
    order: f64,
    epsilon_dp: f64,
    epsilon_dd: f64,
    /// R of the ball that steps project on.
    radius: f64,
    eta: f64,
    sigma: f64,
}

impl Grid {
    /// ln B of chourasia2023, Theorem 5.2, which must be at least 4 |l|/sigma^2: with
    /// sigma^2 = q G^2 (2B/lambda) max(ln(q ln(B)/eps_dd), ln(2q (1 + ln(B)/(n eps_dd))))/(eps_dp n^2).
    fn ln_b(&self) -> f64 {
        let enough = |ln_b: f64| {
            let reach = self.lipschitz / self.n;
            let time = 2.0 * ln_b.exp() / self.lambda * self.learning(ln_b).max(self.request(ln_b));
            0.25 * self.order * reach * reach * time / self.epsilon_dp * ln_b >= self.loss_bound
        };
        let (mut low, mut high) = (0.0, 600.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if enough(middle) { high = middle } else { low = middle }
        }
        high
    }

    fn learning(&self, ln_b: f64) -> f64 {
        (self.order * ln_b / self.epsilon_dd).ln().max(0.0)
    }

    fn request(&self, ln_b: f64) -> f64 {
        (2.0 * self.order * (1.0 + ln_b / (self.n * self.epsilon_dd))).ln()
    }

    /// Steps of learning and of a request: 2 B/(lambda eta) times the logarithms, with the largest eta that is
    /// allowed, lambda min(eps_dd/d, 1/q)/(64 q B (beta + lambda)^2).
    fn steps(&self, d: f64) -> (f64, f64) {
        let ln_b = self.ln_b();
        let curvature = self.beta + self.lambda;
        let share = (self.epsilon_dd / d).min(1.0 / self.order);
        let eta = self.lambda * share / (64.0 * self.order * ln_b.exp() * curvature * curvature);
        let unit = 2.0 * ln_b.exp() / (self.lambda * eta);
        (unit * self.learning(ln_b), unit * self.request(ln_b))
    }

    /// ln of chien2024's bound on the log-Sobolev constant (Theorem 3.2), and log10 of the steps in which the
    /// divergence is certified to halve, each step by R = ln(1 + 2 eta sigma^2/((1 + eta L)^2 C))/order.
    fn sobolev(&self) -> (f64, f64) {
        let noise = 2.0 * self.eta * self.sigma * self.sigma;
        let reach = 4.0 * (self.radius + self.eta * self.lipschitz).powi(2);
        let ln_c = (6.0 * (reach + noise)).ln() + reach / noise;
        let expansion = 1.0 + self.eta * self.beta;
        let ln_rate = noise.ln() - 2.0 * expansion.ln() - ln_c;
        let ln_steps = (self.order * std::f64::consts::LN_2).ln() - ln_rate;
        (ln_c, ln_steps / std::f64::consts::LN_10)
    }
}

pub(super) fn run(grid: &Grid, _: &mut Bench<'_>) -> Result<Outcome> {
    let mut outcome = Outcome::of(&["weights", "B", "steps of learning", "steps of a request"]);
    let mut refused = 0.0;
    for &d in &grid.d {
        let (learning, request) = grid.steps(d);
        outcome.row([d, grid.ln_b().exp(), learning, request].map(number));
        outcome.measure(format!("learning-{d}"), learning);
        outcome.measure(format!("request-{d}"), request);
        let asked = json!({ "lambda": grid.lambda, "beta": grid.beta, "lipschitz": grid.lipschitz,
            "loss_bound": grid.loss_bound, "n": grid.n as u64, "d": d as u64, "q": grid.order,
            "epsilon_dp": grid.epsilon_dp, "epsilon_dd": grid.epsilon_dd });
        refused += f64::from(u8::from(account::ask("deletion-rdp-bounded", &asked).is_err()));
    }
    outcome.measure("refused", refused);
    let (ln_c, steps) = grid.sobolev();
    outcome.measure("ln-c", ln_c);
    outcome.measure("halving", steps);
    outcome.remarks.push(
        "None of these numbers of steps can be made: they show what the theorems ask for at such sizes, and \
         no model was trained."
            .into(),
    );
    Ok(outcome)
}
