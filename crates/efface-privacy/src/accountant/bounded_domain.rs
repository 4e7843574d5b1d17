//! Noisy steps inside a bounded domain, for losses of any convexity.
//!
//! Claim: two runs that make the same steps (no shift) with noise s~ on every coordinate, and whose
//! noiseless results always lie at most D apart, are (epsilon, delta)-indistinguishable after k
//! steps with delta = p_k, where p_0 bounds delta at the start (1 always does) and
//!
//! ```text
//! p_{k+1} = p_k * delta( ln(1 + (e^epsilon - 1)/p_k); D/s~ ).
//! ```
//!
//! Each step is a channel that contracts the hockey-stick divergence E_gamma of its inputs;
//! splitting off the part of mass p_k on which the inputs differ turns gamma into
//! 1 + (gamma - 1)/p_k on that part. Source: Asoodeh, Diaz and Calmon (2020), Theorem 3 and its
//! use for iterations; the profile of the Gaussian channel is exact.
//!
//! What the caller must make true: D = min(2 R c, 2 R + 2 eta sup|grad F|) or another bound that
//! holds for every pair of points of the domain; releases on a grid add g sqrt(P) to D.

use crate::gaussian::unrounded;

/// More steps than this are refused; p falls at least geometrically, so none are needed.
const MOST_STEPS: u64 = 10_000_000;

/// Why the bound was not computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BoundedDomainError {
    /// epsilon is out of range.
    #[error("`epsilon` must be finite and at least 0, got {0}")]
    Epsilon(f64),
    /// D/s~ is out of range.
    #[error("`diameter_over_noise` must be at least 0, got {0}")]
    Diameter(f64),
    /// Too many steps.
    #[error("`steps` must be at most 10000000, got {0}")]
    Steps(u64),
}

/// ln delta(epsilon) after `steps` shift-free steps from p_0 = 1, not rounded outward (absolute
/// error below 1e-12 per step, relative to the logarithm's size below 1e-12).
///
/// 0 (no bound) for infinite `diameter_over_noise`; minus infinity once delta has vanished.
///
/// # Errors
/// When a number is out of range.
pub fn ln_delta(
    epsilon: f64,
    diameter_over_noise: f64,
    steps: u64,
) -> Result<f64, BoundedDomainError> {
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(BoundedDomainError::Epsilon(epsilon));
    }
    if diameter_over_noise.is_nan() || diameter_over_noise < 0.0 {
        return Err(BoundedDomainError::Diameter(diameter_over_noise));
    }
    if steps > MOST_STEPS {
        return Err(BoundedDomainError::Steps(steps));
    }
    // ln(e^epsilon - 1), without overflow.
    let ln_gap = epsilon + libm::log(-libm::expm1(-epsilon));
    let mut ln_p = 0.0;
    for _ in 0..steps {
        let step_epsilon = softplus(ln_gap - ln_p);
        ln_p += unrounded::ln_delta(step_epsilon, diameter_over_noise);
        if ln_p == f64::NEG_INFINITY {
            break;
        }
    }
    Ok(ln_p)
}

/// ln(1 + e^x).
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
