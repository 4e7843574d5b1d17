#![doc = include_str!("group.md")]

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

/// What khi2024 asks for instead of [`for_group`]: (epsilon/k, delta (e^epsilon - 1)/(e^{k epsilon} -
/// 1)). Sound, and stricter than needed: it takes the group's epsilon for one record's. Both rounded
/// down by a relative 1e-9.
#[must_use]
pub fn for_group_as_noted(epsilon: Epsilon, delta: Delta, k: u64) -> (Epsilon, f64) {
    if k == 0 {
        return (outward::epsilon(f64::INFINITY), 1.0);
    }
    let k = k as f64;
    let single = outward::down(epsilon.get() / k);
    let ln_delta = unrounded_ln_noted_delta(epsilon.get(), delta.get(), k);
    (outward::epsilon(single), outward::down(libm::exp(ln_delta)))
}

pub(crate) fn unrounded_ln_group_delta(epsilon: f64, delta: f64, k: f64) -> f64 {
    libm::log(delta) + ln_ratio(epsilon, k)
}

pub(crate) fn unrounded_ln_single_delta(epsilon: f64, delta: f64, k: f64) -> f64 {
    libm::log(delta) - ln_ratio(epsilon / k, k)
}

pub(crate) fn unrounded_ln_noted_delta(epsilon: f64, delta: f64, k: f64) -> f64 {
    libm::log(delta) - ln_ratio(epsilon, k)
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
    fn the_note_asks_for_more_than_is_needed() {
        for (e, d, k) in [(1.0, 1e-5, 10), (0.1, 1e-6, 3), (20.0, 1e-3, 4)] {
            let (epsilon, delta) = (Epsilon::new(e).unwrap(), Delta::new(d).unwrap());
            let (tight, tight_delta) = for_group(epsilon, delta, k);
            let (noted, noted_delta) = for_group_as_noted(epsilon, delta, k);
            assert_eq!(tight, noted);
            assert!(0.0 < noted_delta && noted_delta < tight_delta);
        }
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap());
        assert_eq!(for_group_as_noted(epsilon, delta, 1), for_group(epsilon, delta, 1));
    }

    #[test]
    fn an_empty_group_reveals_nothing() {
        let infinite = Mu::new(f64::INFINITY).unwrap();
        assert_eq!(of_group_mu(infinite, 0).get(), 0.0);
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap());
        assert_eq!(of_group(epsilon, delta, 0).0.get(), 0.0);
    }
}
