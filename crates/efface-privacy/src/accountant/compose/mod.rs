#![doc = include_str!("compose.md")]

use super::group;
use crate::outward;
use crate::quantity::Mu;

/// The deltas of two guarantees together; they may exceed 1.
pub(crate) struct Deltas {
    pub(crate) tight: f64,
    pub(crate) noted: f64,
    pub(crate) proven: f64,
}

/// Returns the deltas that follow from (epsilon, delta) of the learner for groups and of unlearning on top;
/// not rounded.
pub(crate) fn unrounded_deltas(first: (f64, f64), second: (f64, f64)) -> Deltas {
    let grown =
        |epsilon: f64, delta: f64| if delta == 0.0 { 0.0 } else { libm::exp(epsilon) * delta };
    let one = grown(first.0, second.1) + first.1;
    let other = grown(second.0, first.1) + second.1;
    Deltas { tight: first.1 + second.1, noted: one.min(other), proven: one.max(other) }
}

/// Returns sqrt((k mu)^2 + mu'^2): unlearning that is mu'-GDP from every start, after a learner that is
/// mu-GDP for one record; rounded up by a relative 1e-9.
#[must_use]
pub fn stacked_mu(learner: Mu, k: u64, unlearning: Mu) -> Mu {
    composed([group::of_group_mu(learner, k), unlearning])
}

/// Returns sqrt(sum of mu^2): several mu-GDP observations together, each allowed to depend on those before,
/// rounded up by a relative 1e-9.
pub fn composed(parts: impl IntoIterator<Item = Mu>) -> Mu {
    outward::mu(outward::up(parts.into_iter().fold(0.0, |sum, mu| f64::hypot(sum, mu.get()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Delta, Epsilon};

    fn mu(x: f64) -> Mu {
        Mu::new(x).unwrap()
    }

    #[test]
    fn tight_is_below_what_the_note_states_and_that_below_what_it_proves() {
        for (first, second) in
            [((1.0, 1e-5), (0.5, 1e-6)), ((0.1, 0.0), (3.0, 1e-3)), ((2.0, 0.01), (0.0, 0.1))]
        {
            let both = unrounded_deltas(first, second);
            assert!(both.tight <= both.noted && both.noted <= both.proven);
        }
    }

    /// The exact curve of two Gaussians together is below the sum of their (epsilon, delta).
    #[test]
    fn gaussian_composition_is_below_the_sum() {
        let (one, other) = (mu(0.3), mu(0.5));
        let delta = Delta::new(1e-5).unwrap();
        let e1 = crate::gaussian::epsilon(group::of_group_mu(one, 2), delta).unwrap();
        let e2 = crate::gaussian::epsilon(other, delta).unwrap();
        let epsilon = Epsilon::new(e1.get() + e2.get()).unwrap();
        let sum = unrounded_deltas((e1.get(), 1e-5), (e2.get(), 1e-5)).tight;
        assert!(crate::gaussian::delta(epsilon, stacked_mu(one, 2, other)) <= sum);
    }

    #[test]
    fn composition_is_pythagorean() {
        let five = composed([mu(3.0), mu(4.0)]).get();
        assert!((5.0..5.0 + 1e-8).contains(&five));
        assert_eq!(composed([]).get(), 0.0);
    }
}
