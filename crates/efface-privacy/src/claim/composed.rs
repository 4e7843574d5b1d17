#![doc = include_str!("composed.md")]

use super::account::{Account, Bound, Listed, Terms, epsilon_at, unaccounted, unavailable};
use super::{ClaimError, Question, Requests, trunk};
use crate::accountant::gdp::AccountantError;
use crate::accountant::{Accountant, compose, group};
use crate::event::{Adjacency, Composed, Event, Stated, What};
use crate::quantity::{Decimal, Delta, Epsilon, Mu, RenyiOrder};
use crate::{advantage, outward, rdp};

const THEOREM: &str = "adaptive composition with the given start or extractor, after group \
    privacy; otherwise by the accountant";

impl Account for Composed {
    fn constants(&self) -> Vec<(&'static str, String)> {
        let mut list = self.inner.account().constants();
        let given = &self.given;
        list.push(("given", given.what.name().to_owned()));
        let numbers = [
            ("given-epsilon", given.epsilon),
            ("given-delta", given.delta),
            ("given-mu", given.mu),
        ];
        list.extend(numbers.into_iter().filter_map(|(name, x)| Some((name, x?.to_string()))));
        list.push(("given-group", given.group.to_string()));
        list.extend(given.training.iter().flat_map(|training| trunk::constants(training)));
        list.extend(given.declared.iter().flat_map(|training| trunk::declared_constants(training)));
        list
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        let mu = self.checked()?;
        if self.given.is_trained() {
            return trunk::bound(self, question, accountant);
        }
        let protected = |adjacency| {
            let records = self.facts().group;
            if adjacency == Adjacency::Replace { records.saturating_mul(2) } else { records }
        };
        let records = match *question {
            Question::Indistinguishable { .. } | Question::Renyi { .. } => {
                self.removed.ok_or_else(|| {
                    unaccounted(accountant, "the number of deleted records is private here")
                })?
            }
            Question::Deletion { requests: Requests::PAdaptive(_), .. } => {
                let reason = "the given start or extractor depends on the records, so requests \
                    must be `non-adaptive`";
                return Err(unavailable(question, reason));
            }
            Question::Deletion { adjacency, .. } | Question::Differential { adjacency, .. } => {
                protected(adjacency)
            }
            Question::Exact => {
                let reason = "the given start or extractor saw the records and is only as private \
                    as declared";
                return Err(unavailable(question, reason));
            }
        };
        let groups = records.div_ceil(self.given.group);
        let whole = self.inner.account().bound(question, accountant)?;
        let (epsilon, mu, advantage) = match (mu, whole.mu) {
            (Some(given), Some(inner)) => {
                let mu = compose::stacked_mu(given, groups, inner);
                let (epsilon, advantage) = gaussian(question, mu)?;
                (epsilon, Some(mu), advantage)
            }
            _ => {
                let (epsilon, advantage) = self.added(question, accountant, mu, groups)?;
                (epsilon, None, advantage)
            }
        };
        let (group, reference, requests) = match question {
            Question::Differential { .. } => (
                self.facts().group.to_string(),
                "the same releases, with the given start or extractor, from data that differ in \
                 the protected records",
                whole.terms.requests,
            ),
            Question::Deletion { .. } => (
                self.facts().group.to_string(),
                "the given start or extractor and the model, both made without records of one \
                 person among the request's, at most the stated group",
                whole.terms.requests,
            ),
            _ => (
                records.to_string(),
                match self.given.what {
                    What::Extractor => {
                        "a feature extractor made without the deleted records, and the model \
                         retrained on its features of the data after the request"
                    }
                    What::Start => {
                        "a start made without the deleted records, and all steps of learning and \
                         of every request from it, on the data after the request"
                    }
                },
                Requests::NonAdaptive,
            ),
        };
        let terms = Terms { requests, group, reference, theorem: THEOREM };
        let bound = Bound::without_mu(epsilon, advantage, terms);
        Ok(Bound { mu, releases: whole.releases, ..bound })
    }

    fn states_counts(&self) -> Result<bool, String> {
        let trained = self.given.is_trained();
        Ok(trained || self.removed.is_some() || self.inner.account().states_counts()?)
    }

    fn steps_are_fixed(&self, listed: &Listed<'_>) -> Result<(), String> {
        self.inner.account().steps_are_fixed(listed)
    }
}

impl Composed {
    /// Checks what was given, and returns its mu if it is declared by mu.
    fn checked(&self) -> Result<Option<Mu>, AccountantError> {
        let malformed =
            |name, rule, got: String| Err(AccountantError::Malformed { name, rule, got });
        let given = &self.given;
        if given.group == 0 || given.group > 1 << 53 {
            return malformed("given.group", "in 1..=2^53", given.group.to_string());
        }
        if matches!(*self.inner, Event::Composed(_)) {
            return malformed("inner", "an event that is not composed itself", "composed".into());
        }
        if matches!(*self.inner, Event::DpSgd(_)) {
            let rule = "an event whose start or features may have seen the records: of `dp-sgd` no \
                bound on top of something given is known here";
            return malformed("inner", rule, "dp-sgd".into());
        }
        if matches!(*self.inner, Event::Shards(_)) {
            let rule = "an event whose start or features may have seen the records: the networks of \
                shards start from nothing";
            return malformed("inner", rule, "shards".into());
        }
        let phases = match &*self.inner {
            Event::NoisyGd(inner) => inner.phases.as_slice(),
            Event::Descent(inner) => inner.phases.as_slice(),
            _ => &[],
        };
        let gone = phases.iter().map(|phase| phase.only_then).max().unwrap_or(0);
        if let Some(removed) = self.removed.filter(|removed| *removed < gone) {
            let rule = "at least the number of deleted records that any phase saw";
            return malformed("removed", rule, removed.to_string());
        }
        let finite = |x: Decimal| x.0 >= 0.0 && x.0.is_finite();
        if given.is_trained() {
            trunk::check(given)?;
            return Ok(None);
        }
        match (given.epsilon, given.delta, given.mu) {
            (Some(epsilon), Some(delta), None) if finite(epsilon) && finite(delta) => {
                if delta.0 < 1.0 {
                    Ok(None)
                } else {
                    malformed("given.delta", "in [0, 1)", delta.to_string())
                }
            }
            (None, None, Some(mu)) if finite(mu) => Ok(Some(outward::mu(mu.0))),
            _ => malformed(
                "given",
                "a finite epsilon and delta, or a finite mu",
                format!("{:?}, {:?}, {:?}", given.epsilon, given.delta, given.mu),
            ),
        }
    }

    /// Basic composition of (epsilon, delta).
    fn added(
        &self,
        question: &Question,
        accountant: Accountant,
        mu: Option<Mu>,
        groups: u64,
    ) -> Result<(Epsilon, f64), ClaimError> {
        let delta = match *question {
            Question::Indistinguishable { delta } | Question::Differential { delta, .. } => delta,
            _ => {
                let reason = "Rényi notions need the mu of the given start or extractor, and an \
                    accountant with a mu; (epsilon, delta) composes only with (epsilon, delta)";
                return Err(unavailable(question, reason));
            }
        };
        let (epsilon, spent) = self.of_groups(mu, groups, Delta::new(delta)?)?;
        let left = (delta - spent).next_down();
        if left.is_nan() || left <= 0.0 {
            let reason = "the delta of the given start or extractor uses up the whole delta; give \
                a larger `delta`, or delete fewer records";
            return Err(unavailable(question, reason));
        }
        let rest = match *question {
            Question::Differential { adjacency, .. } => {
                Question::Differential { delta: left, adjacency }
            }
            _ => Question::Indistinguishable { delta: left },
        };
        let inner = self.inner.account().bound(&rest, accountant)?;
        let total = outward::epsilon(outward::up(epsilon.get() + inner.epsilon.get()));
        let apart = advantage::from_epsilon_delta(epsilon, spent) + inner.advantage;
        Ok((total, outward::up(apart).min(1.0)))
    }

    /// (epsilon, delta) of what was given, for so many groups.
    fn of_groups(
        &self,
        mu: Option<Mu>,
        groups: u64,
        delta: Delta,
    ) -> Result<(Epsilon, f64), ClaimError> {
        if groups == 0 {
            return Ok((outward::epsilon(0.0), 0.0));
        }
        if let Some(mu) = mu {
            let half = 0.5 * delta.get();
            return Ok((epsilon_at(group::of_group_mu(mu, groups), half)?, half));
        }
        let epsilon = Epsilon::new(self.given.epsilon.map_or(f64::INFINITY, |d| d.0))?;
        let delta = self.given.delta.map_or(1.0, |d| d.0);
        if delta == 0.0 {
            return Ok((outward::epsilon(outward::up(epsilon.get() * groups as f64)), 0.0));
        }
        Ok(group::of_group(epsilon, Delta::new(delta)?, groups))
    }
}

/// epsilon and advantage of a joint mu.
fn gaussian(question: &Question, mu: Mu) -> Result<(Epsilon, f64), ClaimError> {
    Ok(match *question {
        Question::Indistinguishable { delta } | Question::Differential { delta, .. } => {
            (epsilon_at(mu, delta)?, advantage::from_mu(mu))
        }
        Question::Renyi { order } => {
            (rdp::from_mu(mu, RenyiOrder::new(order)?), advantage::from_mu(mu))
        }
        Question::Deletion { order, .. } => {
            let order = RenyiOrder::new(order)?;
            let epsilon = rdp::from_mu(mu, order);
            (epsilon, advantage::from_deletion_privacy(order, epsilon))
        }
        Question::Exact => return Err(super::account::random()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::evaluate;
    use crate::event::{Given, Normalizer, OutputNoise, Procedure, Setting, State};

    fn head(mu: f64) -> Event {
        Event::OutputNoise(OutputNoise {
            setting: Setting {
                parameters: 10,
                normalizer: Normalizer::Fixed { n: 1000, capacity: 1000 },
                lipschitz: Decimal(1.0),
                smoothness: Decimal(0.25),
                strong_convexity: Decimal(0.01),
                group: 3,
            },
            procedure: Procedure::Solve,
            distance: Decimal(mu / 2.0),
            noise: Decimal(1.0),
            grid: Decimal(2f64.powi(-40)),
            state: State::Perfect,
            joint_releases: 1,
            releases: 2,
            records: Some(990),
            preprocessing: None,
        })
    }

    fn given(figures: [Option<f64>; 3]) -> Given {
        let [epsilon, delta, mu] = figures.map(|x| x.map(Decimal));
        Given {
            what: What::Extractor,
            epsilon,
            delta,
            mu,
            group: 4,
            training: None,
            declared: None,
        }
    }

    fn composed(figures: [Option<f64>; 3], removed: Option<u64>) -> Event {
        Event::Composed(Composed { given: given(figures), removed, inner: Box::new(head(0.1)) })
    }

    const PAIR: [Option<f64>; 3] = [Some(0.5), Some(1e-7), None];
    const MU: [Option<f64>; 3] = [None, None, Some(0.3)];

    #[test]
    fn epsilons_and_deltas_add_up_group_by_group() {
        let question = Question::Indistinguishable { delta: 1e-5 };
        for (removed, groups) in [(0, 0_u32), (1, 1), (4, 1), (5, 2), (12, 3)] {
            let claim = evaluate(&composed(PAIR, Some(removed)), &question, Accountant::Gdp);
            let claim = claim.unwrap();
            let e: f64 = 0.5 * f64::from(groups);
            let d = 1e-7 * e.exp_m1() / f64::exp_m1(0.5);
            let want = e + crate::gaussian::unrounded::epsilon(0.1, 1e-5 - d);
            assert!((claim.epsilon.0 / want - 1.0).abs() < 1e-7, "{} {want}", claim.epsilon);
            assert_eq!((claim.group, claim.requests), (removed.to_string(), Requests::NonAdaptive));
            assert_eq!((claim.mu, claim.delta), (None, Some(Decimal(1e-5))));
        }
    }

    #[test]
    fn mus_add_up_in_squares_for_every_notion() {
        let event = composed(MU, Some(5));
        let total = f64::hypot(0.6, 0.1);
        let claim = evaluate(&event, &Question::Renyi { order: 4.0 }, Accountant::Gdp).unwrap();
        assert!((claim.mu.unwrap().0 / total - 1.0).abs() < 1e-8);
        assert!((claim.epsilon.0 / (2.0 * total * total) - 1.0).abs() < 1e-8);
        // Three records, one group of four; contents replaced: six records, two groups.
        for (adjacency, groups) in [(Adjacency::Remove, 1.0_f64), (Adjacency::Replace, 2.0)] {
            let requests = Requests::NonAdaptive;
            let question = Question::Deletion { order: 4.0, adjacency, requests };
            let claim = evaluate(&event, &question, Accountant::Gdp).unwrap();
            let total = f64::hypot(0.3 * groups, 0.05);
            assert!((claim.mu.unwrap().0 / total - 1.0).abs() < 1e-8, "{:?}", claim.mu);
            assert_eq!(claim.group, "3");
        }
    }

    #[test]
    fn what_does_not_follow_is_refused() {
        let refused = |event: &Event, question: Question| {
            evaluate(event, &question, Accountant::Gdp).unwrap_err().to_string()
        };
        let pair = composed(PAIR, Some(1));
        let adjacency = Adjacency::Remove;
        let text = refused(&pair, Question::Renyi { order: 2.0 });
        assert!(text.contains("need the mu"), "{text}");
        let requests = Requests::PAdaptive(5);
        let text =
            refused(&composed(MU, Some(1)), Question::Deletion { order: 2.0, adjacency, requests });
        assert!(text.contains("non-adaptive"), "{text}");
        let text = refused(&pair, Question::Indistinguishable { delta: 1e-8 });
        assert!(text.contains("uses up the whole delta"), "{text}");
        let text = refused(&composed(PAIR, None), Question::Indistinguishable { delta: 1e-5 });
        assert!(text.contains("private"), "{text}");
        assert!(
            evaluate(
                &composed(PAIR, None),
                &Question::Differential { delta: 1e-5, adjacency },
                Accountant::Gdp
            )
            .is_ok()
        );
        for bad in [
            [None, None, None],
            [Some(1.0), None, None],
            [Some(1.0), Some(0.1), Some(1.0)],
            [Some(-1.0), Some(0.1), None],
            [Some(1.0), Some(1.0), None],
            [Some(f64::INFINITY), Some(0.1), None],
            [None, None, Some(f64::NAN)],
        ] {
            let text = refused(&composed(bad, Some(1)), Question::Indistinguishable { delta: 0.5 });
            assert!(text.contains("given"), "{text}");
        }
        let nested = Composed { given: given(PAIR), removed: Some(0), inner: Box::new(pair) };
        let text = refused(&Event::Composed(nested), Question::Indistinguishable { delta: 0.5 });
        assert!(text.contains("not composed itself"), "{text}");
    }
}
