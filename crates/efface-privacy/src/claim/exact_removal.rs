//! Claims of a model whose removals are exact: one, and no more.

use super::account::{Account, Bound, Listed, exactly, unaccounted};
use super::{ClaimError, Question};
use crate::accountant::{Accountant, exact};
use crate::event::{ExactRemoval, Refitted};

const ANEW: &str =
    "learning from the records after the request alone, with the same public constants";
const ANEW_REFITTED: &str = "learning from the records after the request alone, which fits its \
    preprocessing again to them, with the same public constants";
const THEOREM: &str = "whole-number sums of rounded records, solved in a fixed order: a function of \
    the current records only";

impl Account for ExactRemoval {
    fn steps_are_fixed(&self, _: &Listed<'_>) -> Result<(), String> {
        Ok(())
    }

    fn constants(&self) -> Vec<(&'static str, String)> {
        let mut list = vec![
            ("row-bound", self.row_bound.to_string()),
            ("row-grid", self.row_grid.to_string()),
            ("target-bound", self.target_bound.to_string()),
            ("target-grid", self.target_grid.to_string()),
        ];
        list.extend(self.max_weight.map(|most| ("max-weight", most.to_string())));
        list.extend(self.preprocessing.iter().flat_map(Refitted::constants));
        list
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        if accountant != Accountant::Exact {
            return Err(unaccounted(accountant, "only `exact` applies to a model without noise"));
        }
        let reference = if self.preprocessing.is_some() { ANEW_REFITTED } else { ANEW };
        let bound = exactly(question, reference, THEOREM)?;
        exact::check(self)?;
        Ok(bound)
    }

    fn states_counts(&self) -> Result<bool, String> {
        Ok(self.records.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::gdp::AccountantError;
    use crate::claim::{Requests, evaluate};
    use crate::event::State;
    use crate::event::{Adjacency, Event, Normalizer, Setting};
    use crate::quantity::Decimal;

    fn event() -> ExactRemoval {
        ExactRemoval {
            setting: Setting {
                parameters: 20,
                normalizer: Normalizer::Fixed { n: 200_000, capacity: 1 << 18 },
                lipschitz: Decimal(f64::INFINITY),
                smoothness: Decimal(2.5),
                strong_convexity: Decimal(1e-3),
                group: 1,
            },
            row_bound: Decimal(1.5),
            row_grid: Decimal(2.0_f64.powi(-21)),
            target_bound: Decimal(1.0),
            target_grid: Decimal(2.0_f64.powi(-22)),
            releases: 3,
            max_weight: None,
            records: None,
            preprocessing: None,
        }
    }

    /// Returns the same event with preprocessing fitted to so many records.
    fn refitted(records: u64) -> ExactRemoval {
        let mut event = event();
        event.setting.normalizer = Normalizer::Mean { minimum: 0 };
        (event.row_grid.0, event.target_grid.0) = (2.0_f64.powi(-18), 2.0_f64.powi(-19));
        event.records = Some(records);
        event.preprocessing = Some(Refitted { min_frequency: 10 });
        event
    }

    fn ask(event: ExactRemoval, question: &Question) -> Result<super::super::Claim, ClaimError> {
        evaluate(&Event::ExactRemoval(event), question, Accountant::Exact)
    }

    #[test]
    fn it_earns_exact_removal_and_nothing_else() {
        let claim = ask(event(), &Question::Exact).unwrap();
        assert_eq!((claim.epsilon.0, claim.advantage.0), (0.0, 0.0));
        assert_eq!((claim.delta, claim.mu, claim.order, claim.adjacency), (None, None, None, None));
        assert_eq!((claim.state, claim.requests), (State::Perfect, Requests::Any));
        assert_eq!(claim.question().unwrap(), Question::Exact);
        assert!(claim.words.ends_with("given the same public constants"));
        let (delta, order, adjacency) = (1e-5, 2.0, Adjacency::Remove);
        for question in [
            Question::Indistinguishable { delta },
            Question::Renyi { order },
            Question::Deletion { order, adjacency, requests: Requests::NonAdaptive },
            Question::Differential { delta, adjacency },
        ] {
            let refused = ask(event(), &question);
            assert!(matches!(refused, Err(ClaimError::Unavailable { .. })), "{refused:?}");
        }
        let other = evaluate(&Event::ExactRemoval(event()), &Question::Exact, Accountant::Gdp);
        assert!(matches!(other, Err(ClaimError::Accountant(_))));
    }

    #[test]
    fn fitted_preprocessing_is_part_of_the_reference_and_needs_its_records() {
        for records in [1, 1 << 24] {
            let claim = ask(refitted(records), &Question::Exact).unwrap();
            assert_eq!((claim.epsilon.0, claim.reference.as_str()), (0.0, ANEW_REFITTED));
        }
        type Change = fn(&mut ExactRemoval);
        let changes: [(&str, Change); 6] = [
            ("records", |e| e.records = None),
            ("records", |e| e.records = Some(0)),
            ("records", |e| e.records = Some((1 << 24) + 1)),
            ("records", |e| e.preprocessing = None),
            ("min_frequency", |e| e.preprocessing = Some(Refitted { min_frequency: 0 })),
            ("normalizer", |e| {
                e.setting.normalizer = Normalizer::Fixed { n: 9, capacity: 9 };
            }),
        ];
        for (name, change) in changes {
            let mut event = refitted(7);
            change(&mut event);
            let refused = ask(event, &Question::Exact);
            let Err(ClaimError::Accountant(AccountantError::Malformed { name: got, .. })) = refused
            else {
                panic!("{name}: {refused:?}")
            };
            assert_eq!(got, name);
        }
    }

    #[test]
    fn constants_that_let_a_sum_overflow_are_refused() {
        type Change = fn(&mut ExactRemoval);
        let changes: [(&str, Change); 13] = [
            ("row_grid", |e| e.row_bound.0 = 2.0_f64.next_up()),
            ("row_grid", |e| e.row_grid.0 *= 0.5),
            ("row_grid", |e| e.row_grid.0 *= 1.5),
            ("row_grid", |e| e.row_grid.0 = f64::INFINITY),
            ("target_grid", |e| e.target_grid.0 *= 0.5),
            ("row_grid", |e| {
                e.row_bound.0 = 2.0;
                e.setting.normalizer = Normalizer::Fixed { n: 1, capacity: (1 << 18) + 1 };
            }),
            ("row_grid", |e| e.row_grid.0 = -e.row_grid.0),
            ("row_bound", |e| e.row_bound.0 = 0.0),
            ("lipschitz", |e| e.setting.lipschitz.0 = 0.0),
            ("strong_convexity", |e| e.setting.strong_convexity.0 = 0.0),
            ("releases", |e| e.releases = 0),
            ("max_weight", |e| e.max_weight = Some(0)),
            // The longest rows fill the range at weight 1.
            ("row_grid", |e| {
                (e.row_bound.0, e.max_weight) = (2.0, Some(2));
            }),
        ];
        for (name, change) in changes {
            let mut event = event();
            change(&mut event);
            let refused = ask(event, &Question::Exact);
            let Err(ClaimError::Accountant(AccountantError::Malformed { name: got, .. })) = refused
            else {
                panic!("{name}: {refused:?}")
            };
            assert_eq!(got, name);
        }
        // Under `mean` 2^24 records are the most: 19 bits.
        let mut mean = event();
        mean.setting.normalizer = Normalizer::Mean { minimum: 5 };
        assert!(ask(mean.clone(), &Question::Exact).is_err());
        (mean.row_grid.0, mean.target_grid.0) = (2.0_f64.powi(-18), 2.0_f64.powi(-19));
        assert!(ask(mean, &Question::Exact).is_ok());
    }
}
