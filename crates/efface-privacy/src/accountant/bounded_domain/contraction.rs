//! Contraction of delta by steps that are the same in both runs.

use crate::accountant::PublishedError;
use crate::gaussian::unrounded;

/// More steps than this are refused; p falls at least geometrically, so none are needed.
pub(super) const MOST_STEPS: u64 = 10_000_000;

pub(super) fn too_many(steps: u64) -> PublishedError {
    PublishedError(format!("`steps` must be at most {MOST_STEPS}, got {steps}"))
}

/// Returns ln delta(epsilon) after `steps` shift-free steps from p_0 = 1, not rounded outward (absolute error
/// below 1e-12 per step, relative to the logarithm's size below 1e-12).
///
/// 0 (no bound) for infinite `diameter_over_noise`; minus infinity once delta has vanished.
///
/// # Errors
/// Fails if a number is out of range.
pub fn ln_delta(epsilon: f64, diameter_over_noise: f64, steps: u64) -> Result<f64, PublishedError> {
    PublishedError::unless_nonnegative("epsilon", epsilon)?;
    let (holds, name) = (diameter_over_noise >= 0.0, "diameter_over_noise");
    PublishedError::unless(holds, name, "at least 0", diameter_over_noise)?;
    if steps > MOST_STEPS {
        return Err(too_many(steps));
    }
    Ok(contracted(0.0, epsilon, diameter_over_noise, steps, f64::NEG_INFINITY))
}

/// Returns ln p after `steps` steps from ln p = `ln_p`, or after the first of them that brings it to `enough`
/// or less.
pub(in crate::accountant) fn contracted(
    mut ln_p: f64,
    epsilon: f64,
    diameter_over_noise: f64,
    steps: u64,
    enough: f64,
) -> f64 {
    // ln(e^epsilon - 1), without overflow.
    let ln_gap = epsilon + libm::log(-libm::expm1(-epsilon));
    for _ in 0..steps {
        if ln_p <= enough {
            break;
        }
        let step_epsilon = softplus(ln_gap - ln_p);
        ln_p += unrounded::ln_delta(step_epsilon, diameter_over_noise);
    }
    ln_p
}

/// Returns ln(1 + e^x).
fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + libm::log1p(libm::exp(-x)) } else { libm::log1p(libm::exp(x)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_is_the_gaussian_profile() {
        for (e, d) in [(0.0, 0.3), (1.0, 3.0), (5.0, 1.0), (800.0, 50.0)] {
            let want = unrounded::ln_delta(e, d);
            let got = ln_delta(e, d, 1).unwrap();
            assert!((got - want).abs() <= 1e-12 * want.abs(), "{got} {want}");
        }
    }

    #[test]
    fn at_epsilon_zero_steps_multiply_and_above_they_fall_faster() {
        let one = ln_delta(0.0, 2.0, 1).unwrap();
        assert!((ln_delta(0.0, 2.0, 40).unwrap() - 40.0 * one).abs() < 1e-10);
        let first = ln_delta(0.5, 2.0, 1).unwrap();
        assert!(ln_delta(0.5, 2.0, 8).unwrap() < 8.0 * first);
    }

    #[test]
    fn the_ends_of_the_ranges_are_safe() {
        assert_eq!(ln_delta(1.0, f64::INFINITY, 5).unwrap(), 0.0);
        assert_eq!(ln_delta(1.0, 0.0, 1).unwrap(), f64::NEG_INFINITY);
        assert_eq!(ln_delta(1.0, 1.0, 0).unwrap(), 0.0);
        assert!(ln_delta(f64::INFINITY, 1.0, 1).is_err());
        assert!(ln_delta(1.0, f64::NAN, 1).is_err());
        assert!(ln_delta(1.0, 1.0, MOST_STEPS + 1).is_err());
    }
}
