#![doc = include_str!("gaussian.md")]

mod inverse;
mod profile;
/// The same numbers without the outward margin, for comparison with published values.
pub mod unrounded {
    pub use super::inverse::{epsilon, mu};
    pub use super::profile::{complement, delta, ln_delta};
}

use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu, QuantityError};

/// Returns the least delta with which a `mu`-GDP pair is (epsilon, delta)-indistinguishable; in [0, 1],
/// rounded up by a relative 1e-9.
///
/// 0 for `mu` = 0 and for infinite `epsilon`, 1 for infinite `mu`. Values below about 1e-308 come
/// out as 2.2e-308, never as 0. Source: Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang
/// (2018), Theorem 8.
#[must_use]
pub fn delta(epsilon: Epsilon, mu: Mu) -> f64 {
    let exact = unrounded::delta(epsilon.get(), mu.get());
    let vanished = exact == 0.0 && mu.get() > 0.0 && epsilon.get() < f64::INFINITY;
    if vanished { f64::MIN_POSITIVE } else { outward::up(exact).min(1.0) }
}

/// Returns the least epsilon for which a `mu`-GDP pair is (epsilon, `delta`)-indistinguishable, rounded up by
/// a relative 1e-9; exactly 0 if `delta` alone suffices, infinity ("no bound") for infinite `mu`.
///
/// # Errors
/// Never fails for checked quantities; the type leaves room for a refusal.
pub fn epsilon(mu: Mu, delta: Delta) -> Result<Epsilon, QuantityError> {
    let end = inverse::epsilon_with_margin(mu.get(), delta.get(), EVALUATION);
    Epsilon::new(outward::up(end))
}

/// Returns the largest mu for which a mu-GDP pair is (`epsilon`, `delta`)-indistinguishable, rounded down by
/// a relative 1e-9.
///
/// # Errors
/// Never fails for checked quantities; the type leaves room for a refusal.
pub fn mu(epsilon: Epsilon, delta: Delta) -> Result<Mu, QuantityError> {
    let end = inverse::mu_with_margin(epsilon.get(), delta.get(), EVALUATION);
    Mu::new(outward::down(end))
}

/// Bound on the relative error of delta, and of 1 - delta above one half, in the inverses.
const EVALUATION: f64 = 1e-12;

#[cfg(test)]
mod tests;
