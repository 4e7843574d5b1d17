//! The Gaussian bound restarted inside the domain, as if the two runs were a diameter apart.
//!
//! Maps may expand here, so the restart is found by search; `gdp::restart` has it in closed form for maps
//! that contract.

use crate::accountant::gdp::{Stretch, StretchError, interpolation};

/// Restarts are tried in this many of the last stretches that make a step.
const TRIED: usize = 32;

/// Returns the least ln mu over the start (at one point) and restarts `diameter` apart.
pub(super) fn ln_mu(diameter: f64, stretches: &[Stretch]) -> Result<f64, StretchError> {
    let mut best = bound(0.0, stretches)?;
    let making: Vec<usize> = (0..stretches.len()).filter(|&i| stretches[i].steps > 0).collect();
    for &first in making.iter().rev().take(TRIED) {
        let mut rest = stretches[first..].to_vec();
        let mut with = |steps: u64| {
            rest[0].steps = steps;
            bound(diameter, &rest)
        };
        best = best.min(least(stretches[first].steps, &mut with)?);
    }
    Ok(best)
}

/// Returns the least value found among 1..=`most` steps: powers of two, then thirds around the best. Every
/// value is a valid bound, so a missed minimum costs sharpness only.
fn least(
    most: u64,
    value: &mut impl FnMut(u64) -> Result<f64, StretchError>,
) -> Result<f64, StretchError> {
    let (mut best, mut at) = (value(most)?, most);
    let mut steps = 1;
    while steps < most {
        let here = value(steps)?;
        if here < best {
            (best, at) = (here, steps);
        }
        steps = steps.saturating_mul(2);
    }
    let (mut low, mut high) = ((at / 2).max(1), at.saturating_mul(2).min(most));
    while high - low > 2 {
        let third = (high - low) / 3;
        let (left, right) = (value(low + third)?, value(high - third)?);
        best = best.min(left).min(right);
        if left <= right { high -= third } else { low += third }
    }
    for steps in low..=high {
        best = best.min(value(steps)?);
    }
    Ok(best)
}

/// Bounds runs that start `distance` apart; no bound exists if too many steps expand.
fn bound(distance: f64, stretches: &[Stretch]) -> Result<f64, StretchError> {
    match interpolation::ln_mu(distance, stretches) {
        Err(StretchError::TooManyExpandingSteps(_)) => Ok(f64::INFINITY),
        other => other,
    }
}
