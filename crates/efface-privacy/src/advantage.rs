//! What a guarantee means for an attacker who must tell two equally likely worlds apart.
//!
//! The advantage is twice the probability of a right answer minus one: 0 for guessing, 1 for
//! certainty. All functions return an upper bound for every attacker, rounded up by a relative
//! 1e-9 and at most 1.

use std::f64::consts::SQRT_2;

use crate::outward;
use crate::quantity::{Epsilon, Mu, RenyiOrder};

/// Returns the advantage between the two worlds of a mu-GDP pair, 2 Phi(mu/2) - 1. Attained by Gaussians.
#[must_use]
pub fn from_mu(mu: Mu) -> f64 {
    capped(unrounded_from_mu(mu.get()))
}

/// Returns the advantage between two (epsilon, delta)-indistinguishable worlds, (e^epsilon - 1 + 2
/// delta)/(e^epsilon + 1). `delta` is clamped into [0, 1]. Source: Kairouz, Oh and Viswanath (2015).
#[must_use]
pub fn from_epsilon_delta(epsilon: Epsilon, delta: f64) -> f64 {
    let delta = if delta.is_nan() { 1.0 } else { delta.clamp(0.0, 1.0) };
    capped(unrounded_from_epsilon_delta(epsilon.get(), delta))
}

/// Returns the advantage under (q, epsilon)-deletion-privacy: the least of sqrt(2 epsilon), q/(q-1)
/// e^{epsilon (q-1)/q} (2 (q-1))^{1/q} - 1, and 1. Source: Chourasia and Shah (2023), Theorem 4.1.
#[must_use]
pub fn from_deletion_privacy(order: RenyiOrder, epsilon: Epsilon) -> f64 {
    capped(unrounded_from_deletion_privacy(order.get(), epsilon.get()))
}

fn capped(x: f64) -> f64 {
    outward::up(x).min(1.0)
}

pub(crate) fn unrounded_from_mu(mu: f64) -> f64 {
    libm::erf(mu / (2.0 * SQRT_2))
}

pub(crate) fn unrounded_from_epsilon_delta(epsilon: f64, delta: f64) -> f64 {
    // Both sides are multiplied by e^-epsilon, so that nothing overflows.
    let rest = libm::exp(-epsilon);
    (-libm::expm1(-epsilon) + 2.0 * delta * rest) / (1.0 + rest)
}

pub(crate) fn unrounded_from_deletion_privacy(q: f64, epsilon: f64) -> f64 {
    let ln = libm::log(q / (q - 1.0)) + epsilon * (q - 1.0) / q + libm::log(2.0 * (q - 1.0)) / q;
    (2.0 * epsilon).sqrt().min(libm::expm1(ln)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mu(x: f64) -> Mu {
        Mu::new(x).unwrap()
    }

    fn eps(x: f64) -> Epsilon {
        Epsilon::new(x).unwrap()
    }

    #[test]
    fn ends_of_the_ranges() {
        assert_eq!(from_mu(mu(0.0)), 0.0);
        assert_eq!(from_mu(mu(f64::INFINITY)), 1.0);
        assert_eq!(from_epsilon_delta(eps(0.0), 0.0), 0.0);
        assert_eq!(from_epsilon_delta(eps(f64::INFINITY), 0.0), 1.0);
        let q = RenyiOrder::new(2.0).unwrap();
        assert_eq!(from_deletion_privacy(q, eps(0.0)), 0.0);
        assert_eq!(from_deletion_privacy(q, eps(f64::INFINITY)), 1.0);
    }

    #[test]
    fn the_gaussian_advantage_is_the_delta_at_epsilon_zero() {
        for x in [1e-6, 0.3, 2.0, 9.0] {
            let delta = crate::gaussian::delta(eps(0.0), mu(x));
            assert!((from_mu(mu(x)) / delta - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn the_exact_gaussian_never_exceeds_what_its_epsilon_delta_pairs_allow() {
        for x in [0.01, 0.5, 3.0] {
            for e in [0.0, 0.1, 1.0, 4.0] {
                let delta = crate::gaussian::delta(eps(e), mu(x));
                assert!(from_mu(mu(x)) <= from_epsilon_delta(eps(e), delta) * (1.0 + 1e-12));
            }
        }
    }
}
