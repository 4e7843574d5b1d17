//! Claims of descent-to-delete.

use super::account::{Account, Bound, Listed, Terms, gaussian_bound, unaccounted, unavailable};
use super::{ClaimError, Question, Requests};
use crate::accountant::descent_event::epsilon_descent;
use crate::accountant::{Accountant, gdp};
use crate::advantage;
use crate::event::{Adjacency, Descent, Phase, State, Variant};
use crate::quantity::{Delta, Epsilon};

const RETRAINED: &str = "the steps of learning from weights 0 on the data after the request, \
    published with the same noise and grid";
const REPEATED: &str = "the same schedule of steps and noises from the same start, on the data \
    after the request";

impl Account for Descent {
    fn constants(&self) -> Vec<(&'static str, String)> {
        let mut list = vec![
            ("variant", self.variant.name().to_owned()),
            ("iterations", self.iterations.to_string()),
            ("eta", self.step.to_string()),
            ("diameter", self.diameter.to_string()),
            ("noise", self.noise.to_string()),
            ("steps", self.phases.first().map_or(0, |phase| phase.steps).to_string()),
            ("releases", self.joint_releases.to_string()),
        ];
        list.extend(self.xi.map(|xi| ("xi", xi.to_string())));
        list.extend(self.tail.map(|tail| ("tail", tail.to_string())));
        list
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        match accountant {
            Accountant::Gdp => self.tight(question),
            Accountant::Descent => self.published(question),
            other => Err(unaccounted(other, "only `gdp` and `descent` apply to descent-to-delete")),
        }
    }

    /// A request's steps, and so its event, follow its number of records.
    fn states_counts(&self) -> Result<bool, String> {
        Ok(true)
    }

    fn steps_are_fixed(&self, listed: &Listed<'_>) -> Result<(), String> {
        let listed = listed("iterations")?;
        if self.one_update_each() && listed == self.iterations.to_string() {
            return Ok(());
        }
        Err(format!(
            "`iterations` is `{listed}`, which the event's steps do not follow: a number chosen \
             by the request reveals its size"
        ))
    }
}

impl Descent {
    /// Returns whether every request so far was one update of exactly `iterations` steps, so that its work
    /// reveals nothing about its size.
    #[must_use]
    pub fn one_update_each(&self) -> bool {
        let follows =
            |phase: &Phase| self.iterations.checked_mul(phase.releases) == Some(phase.steps);
        self.phases.iter().skip(1).all(follows)
    }

    fn tight(&self, question: &Question) -> Result<Bound, ClaimError> {
        if let (_, _, Some(Adjacency::Remove)) = question.parameters() {
            let reason = "the steps of a request depend on its size, so the row count must be \
                          public (adjacency `replace`)";
            return Err(unavailable(question, reason));
        }
        let group = self.setting.group.to_string();
        let secret = self.variant.state() == State::Secret;
        let (group, reference) = match question {
            Question::Differential { .. } => {
                (group, "the same releases from data that differ in the protected records")
            }
            Question::Deletion { .. } => {
                if !self.one_update_each() {
                    let reason = "a request of more than `§max-group` records reveals its size by \
                        its steps";
                    return Err(unavailable(question, reason));
                }
                (
                    group,
                    "the same schedule of steps and noises with records of one person among the \
                     request's, at most the stated group, absent from the start",
                )
            }
            _ if secret => ("any".to_owned(), RETRAINED),
            _ => (Phase::most_differing(&self.phases).to_string(), REPEATED),
        };
        let theorem = if secret {
            "distance of two runs of projected gradient descent, exact Gaussian conversion"
        } else {
            "shifted interpolation (Bok, Su, Altschuler, ICML 2024) over composite steps"
        };
        let requests = if secret { Requests::Any } else { Requests::NonAdaptive };
        let terms = Terms { requests, group, reference, theorem };
        gaussian_bound(self, question, terms, |world| gdp::mu_descent(self, world))
    }

    fn published(&self, question: &Question) -> Result<Bound, ClaimError> {
        let Question::Indistinguishable { delta } = *question else {
            let reason = "the theorems of descent-to-delete give indistinguishability only; use \
                          `§accountant gdp`";
            return Err(unavailable(question, reason));
        };
        let epsilon: Epsilon = epsilon_descent(self, Delta::new(delta)?)?;
        let (theorem, requests) = match self.variant {
            Variant::Secret => ("Neel, Roth, Sharifi-Malvajerdi 2020, Theorem 3.1", Requests::Any),
            Variant::Perfect => {
                ("Neel, Roth, Sharifi-Malvajerdi 2020, Theorem 3.2", Requests::NonAdaptive)
            }
            Variant::Regularised => {
                ("Neel, Roth, Sharifi-Malvajerdi 2020, Theorem 3.4", Requests::Any)
            }
            Variant::Weak => {
                ("Neel, Roth, Sharifi-Malvajerdi 2020, Theorem 3.5, Remark 3.6", Requests::Any)
            }
        };
        let terms = Terms { requests, group: "any".to_owned(), reference: RETRAINED, theorem };
        let advantage = advantage::from_epsilon_delta(epsilon, delta);
        let bound = Bound::without_mu(epsilon, advantage, terms);
        Ok(Bound { releases: self.joint_releases, ..bound })
    }
}
