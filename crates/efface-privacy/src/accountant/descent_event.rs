#![doc = include_str!("descent_event.md")]

use super::gdp::{AccountantError, DescentRun};
use crate::event::{Descent, Variant};
use crate::outward;
use crate::quantity::{Delta, Epsilon};

const NOTION: &str = "closeness to retraining by the published theorem";

/// Returns the least epsilon that the variant's theorem gives at `delta` for one release (jointly for the
/// event's `joint_releases`), rounded up by a relative 1e-9.
///
/// # Errors
/// Fails if the event is malformed or breaks a hypothesis of its theorem.
pub fn epsilon_descent(event: &Descent, delta: Delta) -> Result<Epsilon, AccountantError> {
    let run = DescentRun::new(event)?;
    let setting = &event.setting;
    let (g, m) = (setting.lipschitz.0, setting.strong_convexity.0);
    // S/(m n): one update moves the optimum by at most 4 G of these.
    let unit = setting.group as f64 / (m * run.records);
    let (q, rest) = (run.decay(event.iterations), run.fall(event.iterations));
    if 2.0 * run.tail > 2.0 * g * unit * q * (1.0 + outward::MARGIN) {
        return Err(refused("learning needs I + log(D m n/(2 G))/log(1/gamma) steps"));
    }
    let arithmetic = 2.0 * run.rounding / run.fall(1) + run.spread;
    let ln = -libm::log(delta.get());
    let epsilon = match event.variant {
        Variant::Perfect => {
            if event.tail.is_none_or(|tail| tail.0 > delta.get()) {
                return Err(refused(
                    "`perfect` needs the steps of Theorem 3.2, which grow with the number of \
                     updates: a `tail` of at most delta",
                ));
            }
            if !run.takes_the_printed_step() {
                return Err(refused("Theorem 3.2 supposes eta = 2/(L + m)"));
            }
            let start = 2.0 * (ln + std::f64::consts::LN_2);
            let parameters = setting.parameters as f64;
            let steps = (2.0 * parameters).sqrt() * q / run.fall(1);
            let masked = 8.0 * g * unit * q / rest + q / rest * run.spread + arithmetic;
            let by_steps = steps * (steps + 2.0 * start.sqrt());
            by_steps.max(hidden(start, masked / run.noise))
        }
        Variant::Secret => lemma(8.0 * g * unit * q / rest + arithmetic, &run, event, ln),
        Variant::Regularised => {
            let g = g + m * event.diameter.0;
            lemma(8.0 * g * unit * q / rest + arithmetic, &run, event, ln)
        }
        Variant::Weak => {
            let g = g + m * event.diameter.0;
            let xi = event.xi.map_or(1.0, |xi| xi.0);
            let distance = if xi > 2.0 {
                8.0 * g * unit * q / rest
            } else {
                if !run.takes_the_printed_step() {
                    return Err(refused("Theorem 3.5 supposes eta = 2/(L + m)"));
                }
                let relative = setting.smoothness.0 / (m * event.iterations as f64);
                let root = libm::pow(relative, 0.5 / xi);
                4.0 * g * unit * root
            };
            lemma(distance + arithmetic, &run, event, ln)
        }
    };
    Ok(outward::epsilon(outward::up(epsilon)))
}

fn refused(reason: &'static str) -> AccountantError {
    AccountantError::Unsupported { notion: NOTION, reason }
}

/// Applies Lemma A.3 at a distance, for all joint releases.
fn lemma(distance: f64, run: &DescentRun<'_>, event: &Descent, ln: f64) -> f64 {
    let b = (event.joint_releases as f64).sqrt() * distance / run.noise;
    0.5 * b * b + b * (2.0 * ln).sqrt()
}

/// Returns the epsilon with sqrt(start + 3 epsilon) - sqrt(start + 2 epsilon) = `wanted`: the larger root of
/// epsilon^2 - 10 w^2 epsilon + w^4 - 4 w^2 start.
fn hidden(start: f64, wanted: f64) -> f64 {
    wanted * (5.0 * wanted + (24.0 * wanted * wanted + 4.0 * start).sqrt())
}
