#![doc = include_str!("group.md")]

use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu};

/// Returns (k epsilon, delta (e^{k epsilon} - 1)/(e^epsilon - 1)): the guarantee that holds for groups of `k`
/// when (epsilon, delta) holds for one record. Both rounded up by a relative 1e-9; the delta is at most 1,
/// which says nothing.
#[must_use]
pub fn of_group(epsilon: Epsilon, delta: Delta, k: u64) -> (Epsilon, f64) {
    let k = k as f64;
    let total = epsilon.get() * k;
    let group_delta = libm::exp(unrounded_ln_group_delta(epsilon.get(), delta.get(), k));
    (outward::epsilon(outward::up(total)), outward::up(group_delta).min(1.0))
}

/// Returns k mu, the bound for groups of `k` under mu-GDP for one record, rounded up by a relative 1e-9.
/// Source: Dong, Roth and Su (2022), Theorem 2.14.
#[must_use]
pub fn of_group_mu(mu: Mu, k: u64) -> Mu {
    if k == 0 { outward::mu(0.0) } else { outward::mu(outward::up(mu.get() * k as f64)) }
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

/// Returns ln of (e^{k epsilon} - 1)/(e^epsilon - 1), for k >= 1 without overflow; ln k at epsilon = 0.
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
        for (e, d, k) in [(1.0, 1e-5, 10_u32), (0.1, 1e-6, 3), (1e-9, 1e-3, 1000), (300.0, 1e-9, 2)]
        {
            let ln_single = unrounded_ln_single_delta(e, d, f64::from(k));
            let Ok(single) = Delta::new(libm::exp(ln_single)) else { continue };
            let (group, group_delta) =
                of_group(Epsilon::new(e / f64::from(k)).unwrap(), single, k.into());
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
        for (e, d, k) in [(1.0, 1e-5, 10.0), (0.1, 1e-6, 3.0), (20.0, 1e-3, 4.0)] {
            assert!(unrounded_ln_noted_delta(e, d, k) < unrounded_ln_single_delta(e, d, k));
        }
        let one = unrounded_ln_single_delta(1.0, 1e-5, 1.0);
        assert_eq!(unrounded_ln_noted_delta(1.0, 1e-5, 1.0), one);
    }

    #[test]
    fn an_empty_group_reveals_nothing() {
        let infinite = Mu::new(f64::INFINITY).unwrap();
        assert_eq!(of_group_mu(infinite, 0).get(), 0.0);
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap());
        assert_eq!(of_group(epsilon, delta, 0).0.get(), 0.0);
    }
}
