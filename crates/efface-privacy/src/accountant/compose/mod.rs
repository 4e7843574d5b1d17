#![doc = include_str!("compose.md")]

use super::group;
use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu};

/// (epsilon, delta) of a private learner for groups, and of unlearning on top of its output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stacked {
    /// epsilon_1, of the group.
    pub first_epsilon: Epsilon,
    /// delta_1, of the group, in [0, 1].
    pub first_delta: f64,
    /// epsilon_2, for every fixed output of the learner.
    pub second_epsilon: Epsilon,
    /// delta_2 of the second mechanism, in [0, 1).
    pub second_delta: Delta,
}

/// The deltas of two guarantees together, before rounding; they may exceed 1.
pub(crate) struct Deltas {
    pub(crate) tight: f64,
    pub(crate) noted: f64,
    pub(crate) proven: f64,
}

impl Stacked {
    /// From (epsilon, delta) of the learner for groups, and of unlearning on top.
    pub(crate) fn unrounded_deltas(first: (f64, f64), second: (f64, f64)) -> Deltas {
        let grown = |epsilon: f64, delta: f64| {
            if delta == 0.0 { 0.0 } else { libm::exp(epsilon) * delta }
        };
        let one = grown(first.0, second.1) + first.1;
        let other = grown(second.0, first.1) + second.1;
        Deltas { tight: first.1 + second.1, noted: one.min(other), proven: one.max(other) }
    }

    /// A learner that is (`epsilon`, `delta`)-private for one record, taken for groups of `k`
    /// (guo2020, Theorem 5, with the extractor's group guarantee).
    #[must_use]
    pub fn on_records(
        (epsilon, delta): (Epsilon, Delta),
        k: u64,
        (second_epsilon, second_delta): (Epsilon, Delta),
    ) -> Self {
        let (first_epsilon, first_delta) = group::of_group(epsilon, delta, k);
        Self { first_epsilon, first_delta, second_epsilon, second_delta }
    }

    /// (epsilon_1 + epsilon_2, delta_1 + delta_2), rounded up by a relative 1e-9.
    #[must_use]
    pub fn tight(&self) -> (Epsilon, f64) {
        self.rounded(self.deltas().tight)
    }

    /// What khi2024 states, with the smaller of its two deltas, rounded up by a relative 1e-9.
    #[must_use]
    pub fn as_noted(&self) -> (Epsilon, f64) {
        self.rounded(self.deltas().noted)
    }

    /// What khi2024's proof supports, the larger of its two deltas, rounded up by a relative 1e-9.
    #[must_use]
    pub fn as_proven(&self) -> (Epsilon, f64) {
        self.rounded(self.deltas().proven)
    }

    fn deltas(&self) -> Deltas {
        let first = (self.first_epsilon.get(), self.first_delta);
        Self::unrounded_deltas(first, (self.second_epsilon.get(), self.second_delta.get()))
    }

    fn rounded(&self, delta: f64) -> (Epsilon, f64) {
        let epsilon = self.first_epsilon.get() + self.second_epsilon.get();
        (outward::epsilon(outward::up(epsilon)), outward::up(delta).min(1.0))
    }
}

/// sqrt((k mu)^2 + mu'^2): unlearning that is mu'-GDP from every start, after a learner that is
/// mu-GDP for one record; rounded up by a relative 1e-9.
#[must_use]
pub fn stacked_mu(learner: Mu, k: u64, unlearning: Mu) -> Mu {
    composed([group::of_group_mu(learner, k), unlearning])
}

/// sqrt(sum of mu^2): several mu-GDP observations together, each allowed to depend on those
/// before, rounded up by a relative 1e-9.
pub fn composed(parts: impl IntoIterator<Item = Mu>) -> Mu {
    outward::mu(outward::up(parts.into_iter().fold(0.0, |sum, mu| f64::hypot(sum, mu.get()))))
}

/// sqrt(sum of beta^2): the residual of one-vs-rest heads taken together, from a bound for each;
/// rounded up by a relative 1e-9, infinite where one is not a number.
pub fn joint_residual(heads: impl IntoIterator<Item = f64>) -> f64 {
    outward::up(heads.into_iter().fold(0.0, f64::hypot))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mu(x: f64) -> Mu {
        Mu::new(x).unwrap()
    }

    fn stacked(e1: f64, d1: f64, e2: f64, d2: f64) -> Stacked {
        Stacked {
            first_epsilon: Epsilon::new(e1).unwrap(),
            first_delta: d1,
            second_epsilon: Epsilon::new(e2).unwrap(),
            second_delta: Delta::new(d2).unwrap(),
        }
    }

    #[test]
    fn tight_is_below_what_the_note_states_and_that_below_what_it_proves() {
        for (e1, d1, e2, d2) in
            [(1.0, 1e-5, 0.5, 1e-6), (0.1, 0.0, 3.0, 1e-3), (2.0, 0.01, 0.0, 0.1)]
        {
            let both = stacked(e1, d1, e2, d2);
            let (epsilon, tight) = both.tight();
            assert!((epsilon.get() - e1 - e2).abs() < 1e-8);
            assert!(tight <= both.as_noted().1 && both.as_noted().1 <= both.as_proven().1);
            assert_eq!(both.as_noted().0, epsilon);
        }
    }

    #[test]
    fn groups_pay_in_the_learner_only() {
        let pair = |e, d| (Epsilon::new(e).unwrap(), Delta::new(d).unwrap());
        let both = Stacked::on_records(pair(0.5, 1e-6), 3, pair(1.0, 1e-4));
        let (epsilon, delta) = both.tight();
        assert!((epsilon.get() - 2.5).abs() < 1e-8);
        let want = 1e-6 * (1.0 + 0.5_f64.exp() + 1.0_f64.exp()) + 1e-4;
        assert!((delta / want - 1.0).abs() < 1e-8, "{delta}");
    }

    /// The exact curve of two Gaussians together is below the sum of their (epsilon, delta).
    #[test]
    fn gaussian_composition_is_below_the_sum() {
        let (one, other) = (mu(0.3), mu(0.5));
        let delta = Delta::new(1e-5).unwrap();
        let e1 = crate::gaussian::epsilon(group::of_group_mu(one, 2), delta).unwrap();
        let e2 = crate::gaussian::epsilon(other, delta).unwrap();
        let (epsilon, sum) = stacked(e1.get(), 1e-5, e2.get(), 1e-5).tight();
        assert!(crate::gaussian::delta(epsilon, stacked_mu(one, 2, other)) <= sum);
    }

    #[test]
    fn composition_is_pythagorean() {
        let five = composed([mu(3.0), mu(4.0)]).get();
        assert!((5.0..5.0 + 1e-8).contains(&five));
        assert_eq!(composed([]).get(), 0.0);
        assert!((5.0..5.0 + 1e-8).contains(&joint_residual([3.0, -4.0])));
        assert_eq!(joint_residual([1.0, f64::NAN]), f64::INFINITY);
    }
}
