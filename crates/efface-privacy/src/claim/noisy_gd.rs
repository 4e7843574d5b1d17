//! Claims of noisy gradient descent.

use super::account::{Account, Bound, Listed, Terms, adaptive, gaussian_bound, unaccounted};
use super::{ClaimError, Question, Requests};
use crate::accountant::history::{Ball, Deletion, Sequence};
use crate::accountant::{Accountant, gdp};
use crate::advantage;
use crate::event::{NoisyGd, Normalizer, Phase};
use crate::outward;
use crate::quantity::{Delta, RenyiOrder};

impl Account for NoisyGd {
    fn constants(&self) -> Vec<(&'static str, String)> {
        let mut list = vec![
            ("eta", self.step.to_string()),
            ("step-noise", self.noise.to_string()),
            ("steps", self.learning.to_string()),
        ];
        list.extend(self.radius.map(|radius| ("radius", radius.to_string())));
        if let Some(batches) = &self.batches {
            list.push(("batches", batches.count.to_string()));
            list.push(("batch-size", batches.size.to_string()));
            list.push(("batch-capacity", batches.most.to_string()));
        }
        list
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        if self.batches.is_some() && accountant != Accountant::Gdp {
            let reason = "its theorems are about full batches; over batches only `gdp` has a bound";
            return Err(unaccounted(accountant, reason));
        }
        match accountant {
            Accountant::Gdp => self.gaussian(question),
            Accountant::BoundedDomain => self.in_ball(question),
            Accountant::Langevin => self.langevin(question),
            Accountant::DeletionRdp => self.deletion_rdp(question),
            Accountant::Descent | Accountant::Exact | Accountant::Pld => Err(unaccounted(
                accountant,
                "it does not cover noisy gradient descent; use `gdp`, `bounded-domain`, \
                 `langevin` or `deletion-rdp`",
            )),
        }
    }

    fn states_counts(&self) -> Result<bool, String> {
        let Normalizer::Fixed { capacity, .. } = self.setting.normalizer else {
            return Err("under `mean` the row count is public".into());
        };
        let earlier = self.phases.split_last().map_or(&[][..], |(_, earlier)| earlier);
        Ok(self.replaced.is_some()
            || self.batches.as_ref().is_some_and(|batches| batches.changed.is_some())
            || self.phases.iter().any(|phase| phase.records.is_some())
            || earlier.iter().any(|p| p.only_then != capacity || p.only_now != capacity))
    }

    /// Checks that the steps of every request are the listed constant `removal-steps`.
    fn steps_are_fixed(&self, listed: &Listed<'_>) -> Result<(), String> {
        let listed = listed("removal-steps")?;
        let fixed = listed.parse::<u64>().ok();
        let follows =
            |phase: &Phase| fixed.and_then(|k| k.checked_mul(phase.releases)) == Some(phase.steps);
        if self.phases.iter().skip(1).all(follows) {
            return Ok(());
        }
        Err(format!(
            "`removal-steps` is `{listed}`, which the event's steps do not follow: a number \
             chosen by the request reveals its size"
        ))
    }
}

impl NoisyGd {
    fn gaussian(&self, question: &Question) -> Result<Bound, ClaimError> {
        let (group, reference) = self.compared(question);
        let theorem = match (self.radius, &self.batches) {
            (None, None) => "shifted interpolation (Bok, Su, Altschuler, ICML 2024)",
            (_, Some(_)) => {
                "shifted interpolation over batches in turn (Bok, Su, Altschuler, ICML 2024)"
            }
            (Some(_), None) => {
                "shifted interpolation, from late starts in the ball too (Bok, Su, Altschuler, ICML 2024)"
            }
        };
        let terms = Terms { requests: Requests::NonAdaptive, group, reference, theorem };
        gaussian_bound(self, question, terms, |world| gdp::mu_noisy_gd(self, world))
    }

    fn in_ball(&self, question: &Question) -> Result<Bound, ClaimError> {
        let Question::Indistinguishable { delta } = *question else {
            return Err(unaccounted(
                Accountant::BoundedDomain,
                "it bounds closeness to retraining only; `gdp` uses the ball for other notions",
            ));
        };
        let ball = Ball::new(self)?;
        let epsilon = ball.epsilon(Delta::new(delta)?);
        let theorem = "contraction of hockey-stick divergences (Asoodeh, Diaz, Calmon, 2020) after \
                       shifted interpolation, or the latter alone where it is less";
        Ok(self.published(question, theorem, epsilon.get(), ball.advantage()))
    }

    fn langevin(&self, question: &Question) -> Result<Bound, ClaimError> {
        let theorem = "Theorem 3.2 and Corollary 3.4 of Langevin unlearning (Chien, Wang, Chen, Li, \
                       2024), with grid and rounding by a triangle inequality";
        let (epsilon, advantage) = match *question {
            Question::Indistinguishable { delta } => {
                let delta = Delta::new(delta)?.get();
                let epsilon = Sequence::new(self)?.epsilon(delta);
                (epsilon, advantage::from_epsilon_delta(outward::epsilon(epsilon), delta))
            }
            Question::Renyi { order } => {
                let epsilon = Sequence::new(self)?.renyi(RenyiOrder::new(order)?.get());
                // Pinsker: the advantage is at most sqrt(KL/2), and KL at most any order above 1.
                (epsilon, outward::up((0.5 * epsilon).sqrt()).min(1.0))
            }
            _ => {
                return Err(unaccounted(
                    Accountant::Langevin,
                    "it bounds closeness to retraining only",
                ));
            }
        };
        Ok(self.published(question, theorem, epsilon, advantage))
    }

    fn deletion_rdp(&self, question: &Question) -> Result<Bound, ClaimError> {
        let theorem = "Theorem 5.1 of Forget unlearning (Chourasia, Shah, ICML 2023), with grid and \
                       rounding by a triangle inequality";
        match *question {
            Question::Deletion { order, adjacency, requests } => {
                let order = RenyiOrder::new(order)?;
                let found = Deletion::new(self, adjacency)?;
                let one = || Ok(found.one_release(order.get()));
                let epsilon = adaptive(self, requests, found.at_rest(order.get())?, one)?;
                let advantage = advantage::from_deletion_privacy(order, epsilon);
                let Bound { terms, .. } =
                    self.published(question, theorem, epsilon.get(), advantage);
                Ok(Bound::without_mu(epsilon, advantage, Terms { requests, ..terms }))
            }
            Question::Differential { delta, adjacency } => {
                let delta = Delta::new(delta)?.get();
                let epsilon = Deletion::new(self, adjacency)?.all_releases(delta);
                let advantage = advantage::from_epsilon_delta(outward::epsilon(epsilon), delta);
                let bound = self.published(question, theorem, epsilon, advantage);
                let terms = Terms { requests: Requests::Any, ..bound.terms };
                Ok(Bound { releases: self.releases, terms, ..bound })
            }
            _ => Err(unaccounted(
                Accountant::DeletionRdp,
                "it bounds deletion-privacy and differential privacy only",
            )),
        }
    }

    /// Returns a bound without a mu.
    fn published(
        &self,
        question: &Question,
        theorem: &'static str,
        epsilon: f64,
        advantage: f64,
    ) -> Bound {
        let (group, reference) = self.compared(question);
        let terms = Terms { requests: Requests::NonAdaptive, group, reference, theorem };
        Bound::without_mu(outward::epsilon(epsilon), advantage, terms)
    }

    /// Returns the group a claim protects, and the world it compares with.
    fn compared(&self, question: &Question) -> (String, &'static str) {
        let group = self.setting.group.to_string();
        match question {
            Question::Differential { .. } => {
                (group, "the same releases from data that differ in the protected records")
            }
            Question::Deletion { .. } => (
                group,
                "the same schedule of steps with records of one person among the request's, at most \
                 the stated group, absent from the start",
            ),
            _ => (
                Phase::most_differing(&self.phases).to_string(),
                match &self.batches {
                    None => {
                        "all steps of learning and of every request from the same start, on the \
                         data after the request"
                    }
                    Some(_) => {
                        "all steps of learning and of every request from the same start, over the \
                         same batches in turn, on the data after the request"
                    }
                },
            ),
        }
    }
}
