//! What the paper concludes from a bound on the residual. NOT SOUND: numbers for reproduction.

use super::super::PublishedError;

/// Returns sigma epsilon/c (Algorithm 2) with c = sqrt(2 ln(1.5/delta)), the sum of residuals after which the
/// paper retrains. NOT SOUND.
///
/// # Errors
/// Fails if a number is out of range; epsilon must be at most 1.
pub fn residual_budget(noise: f64, epsilon: f64, delta: f64) -> Result<f64, PublishedError> {
    PublishedError::unless_positive(&[("sigma", noise)])?;
    Ok(noise * epsilon / tail(epsilon, delta)?)
}

/// Returns the sigma (Theorem 3 (ii)) that the paper asks for a residual of at most `residual`. NOT SOUND.
///
/// # Errors
/// Fails as [`residual_budget`] does.
pub fn noise_for_residual(residual: f64, epsilon: f64, delta: f64) -> Result<f64, PublishedError> {
    PublishedError::unless_positive(&[("residual", residual)])?;
    Ok(tail(epsilon, delta)? * residual / epsilon)
}

/// Returns the delta (Theorem 3 (ii)) that the paper claims, 1.5 exp(-(sigma epsilon/residual)^2/2), at most
/// 1. NOT SOUND.
///
/// # Errors
/// Fails if a number is not positive and finite, or epsilon above 1.
pub fn claimed_delta(noise: f64, residual: f64, epsilon: f64) -> Result<f64, PublishedError> {
    PublishedError::unless_positive(&[("sigma", noise), ("residual", residual)])?;
    check_epsilon(epsilon)?;
    let c = noise * epsilon / residual;
    Ok((1.5 * libm::exp(-0.5 * c * c)).min(1.0))
}

/// Returns the scale (Theorem 3 (i)) of the Gamma(d) law of |b| for pure epsilon: residual/epsilon. NOT
/// SOUND.
///
/// # Errors
/// Fails if a number is not positive and finite.
pub fn pure_scale(residual: f64, epsilon: f64) -> Result<f64, PublishedError> {
    PublishedError::unless_positive(&[("residual", residual), ("epsilon", epsilon)])?;
    Ok(residual / epsilon)
}

/// Returns c, after the checks.
fn tail(epsilon: f64, delta: f64) -> Result<f64, PublishedError> {
    check_epsilon(epsilon)?;
    PublishedError::unless_delta(delta)?;
    Ok((2.0 * libm::log(1.5 / delta)).sqrt())
}

fn check_epsilon(epsilon: f64) -> Result<(), PublishedError> {
    PublishedError::unless(epsilon > 0.0 && epsilon <= 1.0, "epsilon", "in (0, 1]", epsilon)
}
