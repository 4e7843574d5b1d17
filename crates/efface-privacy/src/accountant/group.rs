//! Group privacy: from one record to k.
//!
//! Source: Vadhan (2017), Lemma 2.2, with the geometric sum kept exact: k steps from one data set
//! to the other, each of which multiplies by e^epsilon what it adds to delta.

use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu};

/// (k epsilon, delta (e^{k epsilon} - 1)/(e^epsilon - 1)): what holds for groups of `k` when
/// (epsilon, delta) holds for one record. Both rounded up by a relative 1e-9; the delta is at most
/// 1, which says nothing.
#[must_use]
pub fn of_group(epsilon: Epsilon, delta: Delta, k: u64) -> (Epsilon, f64) {
    let k = k as f64;
    let total = epsilon.get() * k;
    let group_delta = libm::exp(unrounded_ln_group_delta(epsilon.get(), delta.get(), k));
    (outward::epsilon(outward::up(total)), outward::up(group_delta).min(1.0))
}

/// The (epsilon/k, delta (e^{epsilon/k} - 1)/(e^epsilon - 1)) to ask for each record so that
/// groups of `k` get (epsilon, delta). Both rounded down by a relative 1e-9.
///
/// For `k` = 0 nothing is needed: (infinity, 1).
#[must_use]
pub fn for_group(epsilon: Epsilon, delta: Delta, k: u64) -> (Epsilon, f64) {
    if k == 0 {
        return (outward::epsilon(f64::INFINITY), 1.0);
    }
    let k = k as f64;
    let single = outward::down(epsilon.get() / k);
    let ln_delta = unrounded_ln_single_delta(epsilon.get(), delta.get(), k);
    (outward::epsilon(single), outward::down(libm::exp(ln_delta)))
}

/// k mu: groups of `k` under mu-GDP for one record, rounded up by a relative 1e-9. Source: Dong,
/// Roth and Su (2022), Theorem 2.14.
#[must_use]
pub fn of_group_mu(mu: Mu, k: u64) -> Mu {
    if k == 0 { outward::mu(0.0) } else { outward::mu(outward::up(mu.get() * k as f64)) }
}

/// sqrt(sum of mu^2): several mu-GDP observations together, each allowed to depend on those
/// before, rounded up by a relative 1e-9.
pub fn composed(parts: impl IntoIterator<Item = Mu>) -> Mu {
    outward::mu(outward::up(parts.into_iter().fold(0.0, |sum, mu| f64::hypot(sum, mu.get()))))
}

pub(crate) fn unrounded_ln_group_delta(epsilon: f64, delta: f64, k: f64) -> f64 {
    libm::log(delta) + ln_ratio(epsilon, k)
}

pub(crate) fn unrounded_ln_single_delta(epsilon: f64, delta: f64, k: f64) -> f64 {
    libm::log(delta) - ln_ratio(epsilon / k, k)
}

/// ln of (e^{k epsilon} - 1)/(e^epsilon - 1), for k >= 1 without overflow; ln k at epsilon = 0.
fn ln_ratio(epsilon: f64, k: f64) -> f64 {
    if epsilon == 0.0 {
        return libm::log(k);
    }
    (k - 1.0) * epsilon + libm::log(libm::expm1(-k * epsilon) / libm::expm1(-epsilon))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_undoes_the_single() {
        for (e, d, k) in [(1.0, 1e-5, 10), (0.1, 1e-6, 3), (1e-9, 1e-3, 1000), (300.0, 1e-9, 2)] {
            let (epsilon, delta) = (Epsilon::new(e).unwrap(), Delta::new(d).unwrap());
            let (single, single_delta) = for_group(epsilon, delta, k);
            let Ok(single_delta) = Delta::new(single_delta) else { continue };
            let (group, group_delta) = of_group(single, single_delta, k);
            assert!((group.get() / e - 1.0).abs() < 3e-9);
            assert!((group_delta / d - 1.0).abs() < 1e-6, "{group_delta}");
        }
    }

    #[test]
    fn gdp_groups_are_at_least_as_good_as_epsilon_delta_groups() {
        for m in [0.01, 0.1, 0.5] {
            let mu = Mu::new(m).unwrap();
            let delta = Delta::new(1e-6).unwrap();
            let one = crate::gaussian::epsilon(mu, delta).unwrap();
            let (group, group_delta) = of_group(one, delta, 4);
            let direct = crate::gaussian::delta(group, of_group_mu(mu, 4));
            assert!(direct <= group_delta, "{direct} {group_delta}");
        }
    }

    #[test]
    fn composition_is_pythagorean_and_an_empty_group_reveals_nothing() {
        let mu = |x| Mu::new(x).unwrap();
        let five = composed([mu(3.0), mu(4.0)]).get();
        assert!((5.0..5.0 + 1e-8).contains(&five));
        assert_eq!(composed([]).get(), 0.0);
        assert_eq!(of_group_mu(mu(f64::INFINITY), 0).get(), 0.0);
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap());
        assert_eq!(of_group(epsilon, delta, 0).0.get(), 0.0);
    }
}
