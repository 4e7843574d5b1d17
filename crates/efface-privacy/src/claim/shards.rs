//! Claims of networks that are each trained on one shard: removal is exact, and nothing else holds.

use super::account::{Account, Bound, Listed, exactly, unaccounted};
use super::words::ANEW_NAMED;
use super::{ClaimError, Question};
use crate::accountant::{Accountant, exact};
use crate::event::Shards;

const THEOREM: &str = "each network is trained on the records of one shard in a fixed order of \
    operations, and a record's shard follows from its own name: a function of the current records only";

impl Account for Shards {
    fn steps_are_fixed(&self, _: &Listed<'_>) -> Result<(), String> {
        Ok(())
    }

    fn constants(&self) -> Vec<(&'static str, String)> {
        vec![
            ("unit", self.unit.name().to_owned()),
            ("shards", self.shards.to_string()),
            ("arithmetic", self.arithmetic.to_string()),
        ]
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        if accountant != Accountant::Exact {
            return Err(unaccounted(accountant, "only `exact` applies to a model without noise"));
        }
        let bound = exactly(question, ANEW_NAMED, THEOREM)?;
        exact::check_shards(self)?;
        Ok(bound)
    }

    /// A request retrains no more shards than it touches records.
    fn states_counts(&self) -> Result<bool, String> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::gdp::AccountantError;
    use crate::claim::{Claim, Requests, evaluate};
    use crate::event::{Adjacency, Event, State, Unit};

    fn event() -> Shards {
        Shards {
            parameters: 260_100,
            unit: Unit::Record,
            shards: 10,
            retrained: 1,
            arithmetic: 1,
            releases: 3,
        }
    }

    fn ask(event: Shards, question: &Question) -> Result<Claim, ClaimError> {
        evaluate(&Event::Shards(event), question, Accountant::Exact)
    }

    #[test]
    fn it_earns_exact_removal_and_nothing_else() {
        let claim = ask(event(), &Question::Exact).unwrap();
        assert_eq!((claim.epsilon.0, claim.advantage.0), (0.0, 0.0));
        assert_eq!((claim.delta, claim.mu, claim.order, claim.adjacency), (None, None, None, None));
        assert_eq!((claim.state, claim.requests), (State::Perfect, Requests::Any));
        assert_eq!(claim.group, "any");
        assert!(claim.words.ends_with("public constants and names of the other records"));
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
        for accountant in Accountant::ALL.into_iter().filter(|a| *a != Accountant::Exact) {
            let other = evaluate(&Event::Shards(event()), &Question::Exact, accountant);
            assert!(matches!(other, Err(ClaimError::Accountant(_))));
        }
    }

    #[test]
    fn events_that_no_run_has_are_refused() {
        type Change = fn(&mut Shards);
        let changes: [(&str, Change); 9] = [
            ("parameters", |e| e.parameters = 0),
            ("parameters", |e| e.parameters += 1),
            ("shards", |e| e.shards = 0),
            ("shards", |e| e.shards = Shards::MOST + 1),
            ("retrained", |e| e.retrained = 0),
            ("retrained", |e| e.retrained = 11),
            ("arithmetic", |e| e.arithmetic = 0),
            ("releases", |e| e.releases = 0),
            ("releases", |e| e.releases = u64::MAX),
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
        let most = Shards { shards: Shards::MOST, parameters: 3 * Shards::MOST, ..event() };
        assert!(ask(most, &Question::Exact).is_ok());
    }
}
