//! The least noise for a target.

use super::{CalibrationError, largest_distance, target};
use crate::accountant::gdp::{World, mu_noisy_gd, mu_output_noise};
use crate::event::{NoisyGd, OutputNoise};
use crate::quantity::{Decimal, Mu};
use crate::sampler::{Grid, grid_for};

/// Noise and grid for output noise, and the distance that goes with them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputCalibration {
    /// sigma, snapped upward, with its grid.
    pub grid: Grid,
    /// tau.
    pub distance: f64,
}

/// The least noise per step (to a relative 1e-9, snapped upward to a grid of `bits` bits) with
/// which the template, its `noise` and `grid` replaced, has at most `mu` in `world`.
///
/// # Errors
/// When no noise is enough, `bits` is not in 20..=44, or the accountant refuses the template.
pub fn least_noise_for_noisy_gd(
    template: &NoisyGd,
    bits: u32,
    world: World,
    mu: Mu,
) -> Result<Grid, CalibrationError> {
    let aim = target(mu)?;
    let mut event = template.clone();
    least(aim, bits, |grid| {
        (event.noise, event.grid) = (Decimal(grid.noise), Decimal(grid.spacing));
        Ok(mu_noisy_gd(&event, world)?.get() <= aim)
    })
}

/// The least noise with which the template, its `noise` and `grid` replaced and its `distance`
/// kept, has at most `mu` in `world`.
///
/// # Errors
/// As [`least_noise_for_noisy_gd`].
pub fn least_noise_for_distance(
    template: &OutputNoise,
    bits: u32,
    world: World,
    mu: Mu,
) -> Result<Grid, CalibrationError> {
    let aim = target(mu)?;
    let mut event = template.clone();
    least(aim, bits, |grid| {
        (event.noise, event.grid) = (Decimal(grid.noise), Decimal(grid.spacing));
        Ok(mu_output_noise(&event, world)?.get() <= aim)
    })
}

/// The least noise with which the template has at most `mu` in `world` while its distance is the
/// largest that is `retraining`-close to retraining.
///
/// The distance grows with the noise, so `mu` must exceed what `retraining` alone costs.
///
/// # Errors
/// When no noise is enough (`mu` at most `retraining`, say), `bits` is not in 20..=44, or the
/// accountant refuses the template.
pub fn least_noise_for_output(
    template: &OutputNoise,
    bits: u32,
    retraining: Mu,
    world: World,
    mu: Mu,
) -> Result<OutputCalibration, CalibrationError> {
    let aim = target(mu)?;
    let mut event = template.clone();
    let mut distance = 0.0;
    let grid = least(aim, bits, |grid| {
        (event.noise, event.grid) = (Decimal(grid.noise), Decimal(grid.spacing));
        distance = largest_distance(&event, retraining)?;
        event.distance = Decimal(distance);
        Ok(mu_output_noise(&event, world)?.get() <= aim)
    })?;
    (event.noise, event.grid) = (Decimal(grid.noise), Decimal(grid.spacing));
    distance = largest_distance(&event, retraining)?;
    Ok(OutputCalibration { grid, distance })
}

/// Searched range of the noise: 2^-300 to 2^300, inside what the accountant takes.
const MOST_DOUBLINGS: i32 = 300;

/// The least noise that `enough` accepts, by doubling and bisection of the logarithm; the answer
/// itself was accepted.
fn least(
    aim: f64,
    bits: u32,
    mut enough: impl FnMut(&Grid) -> Result<bool, CalibrationError>,
) -> Result<Grid, CalibrationError> {
    let infeasible = CalibrationError::Infeasible {
        target: aim,
        reason: "no noise is enough; ask for less, for more steps, or for a smaller group",
    };
    let at = |exponent: f64| grid_for(libm::exp2(exponent), bits);
    let (mut low, mut high) = (-1.0, 0.0);
    let mut best = at(high)?;
    let mut stride = 1.0;
    if enough(&best)? {
        loop {
            let candidate = at(low)?;
            if !enough(&candidate)? {
                break;
            }
            best = candidate;
            high = low;
            stride *= 2.0;
            low -= stride;
            if low < f64::from(-MOST_DOUBLINGS) {
                return Err(CalibrationError::Infeasible {
                    target: aim,
                    reason: "any noise at all is enough; give the noise yourself",
                });
            }
        }
    } else {
        loop {
            low = high;
            stride *= 2.0;
            high += stride;
            if high > f64::from(MOST_DOUBLINGS) {
                return Err(infeasible);
            }
            best = at(high)?;
            if enough(&best)? {
                break;
            }
        }
    }
    while high - low > 1e-10 {
        let middle = 0.5 * (low + high);
        let candidate = at(middle)?;
        if enough(&candidate)? {
            (high, best) = (middle, candidate);
        } else {
            low = middle;
        }
    }
    Ok(best)
}
