//! Claims of objective perturbation: what the paper states, never to be believed.

use super::account::{Account, Bound, unaccounted};
use super::{ClaimError, Notion, Question, Requests};
use crate::accountant::gdp::AccountantError;
use crate::accountant::{Accountant, objective};
use crate::event::ObjectivePerturbation;
use crate::quantity::{Decimal, Delta, Epsilon};
use crate::{advantage, outward};

/// Why no certificate of it verifies.
const NOT_SOUND: &str = "NOT SOUND: residual depends on the perturbation";

impl Account for ObjectivePerturbation {
    fn constants(&self) -> Vec<(&'static str, String)> {
        vec![("noise", self.noise.to_string()), ("residual-budget", self.residual.to_string())]
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        if accountant != Accountant::Objective {
            return Err(unaccounted(
                accountant,
                "only `objective` applies to objective \
                perturbation",
            ));
        }
        let Question::Indistinguishable { delta } = *question else {
            return Err(ClaimError::Unavailable {
                notion: Notion::of(question).name(),
                reason: "`objective-perturbation` is published for closeness to retraining alone",
            });
        };
        let delta = Delta::new(delta)?;
        let epsilon = self.epsilon(delta)?;
        Ok(Bound {
            epsilon,
            rdp_epsilon: None,
            mu: None,
            advantage: advantage::from_epsilon_delta(epsilon, delta.get()),
            requests: Requests::NonAdaptive,
            releases: 1,
            group: "any".to_owned(),
            reference: "the exact minimiser on the data after the request, with its own \
                        perturbation",
            theorem: "Theorem 3 of Guo et al. (ICML 2020): NOT SOUND",
        })
    }

    fn states_counts(&self) -> Result<bool, String> {
        Ok(false)
    }

    fn steps_are_fixed(
        &self,
        _: &dyn Fn(&'static str) -> Result<String, String>,
    ) -> Result<(), String> {
        Ok(())
    }

    fn unsound(&self) -> Option<&'static str> {
        Some(NOT_SOUND)
    }
}

impl ObjectivePerturbation {
    /// c residual/sigma, c = sqrt(2 ln(1.5/delta)), as published for at most 1.
    fn epsilon(&self, delta: Delta) -> Result<Epsilon, ClaimError> {
        let malformed = |name, rule, got: Decimal| AccountantError::Malformed {
            name,
            rule,
            got: got.to_string(),
        };
        for (name, value) in
            [("noise", self.noise), ("residual", self.residual), ("grid", self.grid)]
        {
            if !(1e-100..=1e100).contains(&value.0) {
                return Err(malformed(name, "in [1e-100, 1e100]", value).into());
            }
        }
        if self.grid.0 > self.noise.0 / f64::from(1 << 20) {
            return Err(malformed("grid", "at most 2^-20 of `noise`", self.grid).into());
        }
        // The budget at epsilon = 1 is sigma/c.
        let unit = objective::residual_budget(self.noise.0, 1.0, delta.get());
        let epsilon = unit.map_or(f64::INFINITY, |unit| outward::up(self.residual.0 / unit));
        if epsilon > 1.0 + 1e-6 {
            return Err(ClaimError::Unavailable {
                notion: Notion::IndistinguishableFromRetraining.name(),
                reason: "Theorem 3 of Guo et al. (2020) is stated for epsilon up to 1",
            });
        }
        Ok(outward::epsilon(epsilon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{evaluate, in_words, scope};
    use crate::event::State;
    use crate::event::{Event, Normalizer, Setting};

    fn event(residual: f64) -> Event {
        Event::ObjectivePerturbation(ObjectivePerturbation {
            setting: Setting {
                parameters: 10,
                normalizer: Normalizer::Fixed { n: 100, capacity: 125 },
                lipschitz: Decimal(1.0),
                smoothness: Decimal(0.25),
                strong_convexity: Decimal(0.1),
                group: 1,
            },
            noise: Decimal(2.0),
            grid: Decimal(1e-9),
            residual: Decimal(residual),
            releases: 3,
        })
    }

    #[test]
    fn the_published_numbers_are_stated_and_called_what_they_are() {
        let question = Question::Indistinguishable { delta: 1e-4 };
        let budget = objective::residual_budget(2.0, 0.7, 1e-4).unwrap();
        let claim = evaluate(&event(budget), &question, Accountant::Objective).unwrap();
        assert!((claim.epsilon.0 - 0.7).abs() < 1e-8);
        assert_eq!(claim.state, State::Secret);
        assert!(in_words(&claim).starts_with("NOT SOUND, only as published: "), "{}", claim.words);
        let (covers, limits) = scope(&event(budget));
        assert!(covers.is_empty());
        assert_eq!(limits[0], format!("anything at all: {NOT_SOUND}"));
    }

    #[test]
    fn nothing_else_is_claimed() {
        let ask = |event: &Event, question| {
            let accountant = Accountant::Objective;
            evaluate(event, &question, accountant).unwrap_err().to_string()
        };
        let far = ask(&event(2.0), Question::Indistinguishable { delta: 1e-4 });
        assert!(far.contains("up to 1"), "{far}");
        let exact = ask(&event(0.1), Question::Exact);
        assert!(exact.contains("closeness to retraining alone"), "{exact}");
        let question = Question::Indistinguishable { delta: 1e-4 };
        assert!(evaluate(&event(0.1), &question, Accountant::Gdp).is_err());
        assert!(evaluate(&event(f64::NAN), &question, Accountant::Objective).is_err());
        assert!(evaluate(&event(0.0), &question, Accountant::Objective).is_err());
    }
}
