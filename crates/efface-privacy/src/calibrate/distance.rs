//! How far from the optimum a release may be.

use super::{CalibrationError, target};
use crate::accountant::gdp::{World, mu_output_noise};
use crate::event::{OutputNoise, State};
use crate::quantity::{Decimal, Mu};

/// The largest tau (in weight units, to a relative 1e-8) with which the template, its `distance`
/// replaced, is `mu`-close to retraining: (mu sigma/sqrt(R) - g sqrt(P))/2.
///
/// # Errors
/// When the grid's own part already exceeds `mu`, and when the accountant refuses the template.
pub fn largest_distance(template: &OutputNoise, mu: Mu) -> Result<f64, CalibrationError> {
    let aim = target(mu)?;
    let mut event = template.clone();
    let mut reaches = |tau: f64| -> Result<bool, CalibrationError> {
        event.distance = Decimal(tau);
        Ok(mu_output_noise(&event, World::Retraining)?.get() <= aim)
    };
    let infeasible = CalibrationError::Infeasible {
        target: aim,
        reason: "the rounding to the grid alone exceeds it; take more noise or a finer grid",
    };
    if !reaches(0.0)? {
        return Err(infeasible);
    }
    let joint = match template.state {
        State::Perfect => 1.0,
        State::Secret => template.joint_releases as f64,
    };
    let spread = template.grid.0 * (template.setting.parameters as f64).sqrt();
    let exact = 0.5 * (aim * template.noise.0 / joint.sqrt() - spread);
    // The accountant's own margin is 1e-9 of mu, which is more of tau when the grid's part is big.
    let mut margin = 2e-9 * (1.0 + spread / exact.max(f64::MIN_POSITIVE));
    while margin < 1.0 {
        let tau = exact * (1.0 - margin);
        if tau >= 1e-100 && reaches(tau)? {
            return Ok(tau);
        }
        margin *= 2.0;
    }
    Err(infeasible)
}
