//! Public constants for a wanted guarantee: the inverse of the accountants.
//!
//! Every function takes an event as a template, searches one of its numbers, and returns a value
//! for which the accountant itself, asked about the event with that value, stays within the
//! target. What cannot be had is refused.

mod distance;
mod noise;
mod steps;

pub use distance::largest_distance;
pub use noise::least_noise_for_output;
pub use noise::{OutputCalibration, least_noise_for_distance, least_noise_for_noisy_gd};
pub use steps::least_last_steps;

use crate::accountant::gdp::AccountantError;
use crate::quantity::Mu;
use crate::sampler::GridError;

/// Why no value was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// The target is not a number to aim at.
    #[error("`mu` must be finite and above 0, got {0}")]
    Target(f64),
    /// No value reaches the target.
    #[error("mu {target} is out of reach: {reason}")]
    Infeasible {
        /// The target.
        target: f64,
        /// What stands in the way, and what would help.
        reason: &'static str,
    },
    /// The accountant refused the template.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// No grid for the noise.
    #[error(transparent)]
    Grid(#[from] GridError),
}

fn target(mu: Mu) -> Result<f64, CalibrationError> {
    let value = mu.get();
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(CalibrationError::Target(value)) }
}

#[cfg(test)]
mod tests;
