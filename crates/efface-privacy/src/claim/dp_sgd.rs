//! Claims of a network trained by DP-SGD, after deletions that leave the model as it is.

use super::account::{Account, Bound, Listed, Terms, unaccounted, unavailable};
use super::{ClaimError, Question, Requests};
use crate::accountant::{Accountant, pld};
use crate::event::{Adjacency, DpSgd, Unit};
use crate::outward;

const RETRAINED: &str = "the same segments of steps from the same start, with the units deleted so \
    far in none of them and all others as they were";
const NEIGHBOURS: &str = "the same releases from data that differ in the protected units";
const THEOREM: &str = "distributions of privacy losses of the Gaussian mechanism with Poisson \
    sampling, for groups by Kahane's inequality, composed on a grid (Doroshenko et al., 2022), \
    held against Rényi divergences of whole orders";

impl Account for DpSgd {
    fn steps_are_fixed(&self, _: &Listed<'_>) -> Result<(), String> {
        Ok(())
    }

    fn constants(&self) -> Vec<(&'static str, String)> {
        pld::event::constants(self)
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        if accountant != Accountant::Pld {
            return Err(unaccounted(accountant, "only `pld` applies to a network"));
        }
        // Nothing was built on the network.
        let nothing = outward::mu(0.0);
        let terms = |requests, units, reference| {
            let group = self.units(units);
            Terms { requests, group, reference, theorem: THEOREM }
        };
        match *question {
            // All units deleted so far, as one group.
            Question::Indistinguishable { delta } => {
                let segments = pld::event::with_deleted(self)?;
                let terms = terms(Requests::NonAdaptive, self.deleted(), RETRAINED);
                Bound::of_losses(&segments, nothing, delta, Adjacency::Remove, terms)
            }
            // A group that is present throughout, in every training.
            Question::Differential { delta, adjacency } => {
                let segments = pld::event::with_group(self)?;
                let terms = terms(Requests::Any, self.group, NEIGHBOURS);
                let bound = Bound::of_losses(&segments, nothing, delta, adjacency, terms)?;
                Ok(Bound { releases: self.releases, ..bound })
            }
            _ => Err(unavailable(question, refusal(question))),
        }
    }

    /// Units of records that were deleted are counted; the number of subjects does not reveal how many
    /// records a subject had.
    fn states_counts(&self) -> Result<bool, String> {
        Ok(self.unit == Unit::Record && self.deleted() > 0)
    }
}

impl DpSgd {
    /// Names so many units: a plain number if they are records.
    fn units(&self, count: u64) -> String {
        match (self.unit, count) {
            (Unit::Record, _) => count.to_string(),
            (Unit::Subject, 1) => "1 subject".to_owned(),
            (Unit::Subject, _) => format!("{count} subjects"),
        }
    }
}

fn refusal(question: &Question) -> &'static str {
    match question {
        Question::Renyi { .. } => {
            "divergences of groups are known in one direction only, and the notion asks for both: \
             see `indistinguishable-from-retraining`"
        }
        Question::Deletion { .. } => {
            "divergences of groups are known in one direction only, with the group against without: \
             see `indistinguishable-from-retraining`"
        }
        _ => "a network keeps what it learnt from deleted units, hidden by noise",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::gdp::AccountantError;
    use crate::claim::{Claim, evaluate};
    use crate::event::{Event, Segment};
    use crate::quantity::Decimal;
    use crate::quantity::Delta;
    use proptest::prelude::*;

    const N: f64 = 1.0 / 60_000.0;

    fn event(segments: &[(u64, u64)]) -> DpSgd {
        let segment = |&(steps, deleted)| Segment { steps, deleted };
        DpSgd {
            parameters: 26_010,
            unit: Unit::Record,
            rows_per_unit: 1,
            clip: Decimal(0.1),
            noise: Decimal(26.74),
            grid: Decimal(2.0_f64.powi(-30)),
            rate: Decimal(4096.0 / 60_000.0),
            group: 1,
            releases: 3,
            segments: segments.iter().map(segment).collect(),
            earlier_steps: 0,
        }
    }

    fn ask(event: DpSgd, question: Question) -> Result<Claim, ClaimError> {
        evaluate(&Event::DpSgd(event), &question, Accountant::Pld)
    }

    fn retrained(segments: &[(u64, u64)]) -> Claim {
        ask(event(segments), Question::Indistinguishable { delta: N }).unwrap()
    }

    fn private(event: DpSgd) -> Claim {
        let adjacency = Adjacency::Remove;
        ask(event, Question::Differential { delta: N, adjacency }).unwrap()
    }

    fn near(claim: &Claim, epsilon: f64) {
        assert!((claim.epsilon.0 / epsilon - 1.0).abs() < 1e-4, "{} {epsilon}", claim.epsilon);
    }

    /// Numbers of an integral over complex moments, without a grid of losses.
    #[test]
    fn all_deleted_units_are_one_group() {
        let claim = retrained(&[(175, 8)]);
        near(&claim, 0.979_457_922_996);
        assert_eq!((claim.group.as_str(), claim.releases), ("8", 1));
        assert_eq!(
            (claim.requests, claim.mu, claim.adjacency),
            (Requests::NonAdaptive, None, None)
        );
        // Eight times the mu of one unit, fitted at delta, would be less.
        let delta = Delta::new(N).unwrap();
        let one = retrained(&[(175, 1)]).epsilon.0;
        let mu = crate::gaussian::mu(crate::outward::epsilon(one), delta).unwrap().get();
        let scaled = crate::gaussian::unrounded::epsilon(8.0 * mu, N);
        assert!(claim.epsilon.0 > scaled * 1.0005, "{} against {scaled}", claim.epsilon);
        let little =
            DpSgd { noise: Decimal(2.0), rate: Decimal(1024.0 / 60_000.0), ..event(&[(878, 5)]) };
        near(&ask(little, Question::Indistinguishable { delta: N }).unwrap(), 6.287_808_835_58);
    }

    /// Stated with every epsilon, composed histories and replaced units included.
    #[test]
    fn divergences_of_whole_orders_are_stated_and_agree() {
        let stated = |claim: &Claim| claim.rdp_epsilon.map(|bound| bound.0).unwrap();
        let claim = retrained(&[(175, 8)]);
        assert!((stated(&claim) / 1.074_768_480_04 - 1.0).abs() < 1e-7, "{claim:?}");
        assert_eq!(stated(&retrained(&[(175, 0)])), 0.0);
        let late = retrained(&[(100, 2), (75, 8)]);
        assert!(stated(&late) < 0.9 * stated(&claim) && stated(&late) >= late.epsilon.0);
        for adjacency in [Adjacency::Remove, Adjacency::Replace] {
            let question = Question::Differential { delta: N, adjacency };
            let claim = ask(DpSgd { group: 8, ..event(&[(175, 0)]) }, question).unwrap();
            assert!((1.02..1.2).contains(&(stated(&claim) / claim.epsilon.0)), "{claim:?}");
        }
    }

    #[test]
    fn segments_count_those_that_they_saw() {
        let (late, both) = (retrained(&[(100, 2), (75, 8)]), retrained(&[(100, 8), (75, 8)]));
        near(&both, 0.979_457_922_996);
        assert!(late.epsilon.0 < 0.8 * both.epsilon.0 && late.group == "8");
        assert!(late.epsilon.0 > retrained(&[(75, 8)]).epsilon.0 * 1.01);
    }

    #[test]
    fn nobody_deleted_is_nothing_revealed() {
        let claim = retrained(&[(175, 0), (40, 0)]);
        assert_eq!((claim.epsilon.0, claim.advantage.0, claim.group.as_str()), (0.0, 0.0, "0"));
    }

    #[test]
    fn privacy_is_of_all_trainings_and_of_no_deletion() {
        let alone = private(DpSgd { group: 8, ..event(&[(175, 0)]) });
        near(&alone, 0.979_457_922_996);
        assert_eq!((alone.group.as_str(), alone.releases, alone.requests), ("8", 3, Requests::Any));
        assert_eq!(private(DpSgd { group: 8, ..event(&[(175, 5)]) }).epsilon, alone.epsilon);
        let parts = DpSgd { group: 8, earlier_steps: 90, ..event(&[(60, 0), (25, 9)]) };
        assert_eq!(private(parts).epsilon, alone.epsilon);
    }

    #[test]
    fn subjects_are_named_as_such() {
        let subjects = |count| DpSgd {
            unit: Unit::Subject,
            rows_per_unit: 20,
            group: count,
            ..event(&[(175, 8)])
        };
        let claim = ask(subjects(2), Question::Indistinguishable { delta: N }).unwrap();
        assert_eq!(claim.group, "8 subjects");
        assert_eq!(private(subjects(1)).group, "1 subject");
        assert!(private(subjects(2)).words.contains("for all rows of 2 removed subjects: "));
        assert!(private(subjects(1)).words.contains("for all rows of one removed subject: "));
    }

    /// Two steps, by way of the data without the units: never less than twice one at a smaller delta.
    #[test]
    fn replaced_units_are_two_steps_apart() {
        let event = DpSgd { group: 2, ..event(&[(175, 0)]) };
        let of = |delta, adjacency| {
            ask(event.clone(), Question::Differential { delta, adjacency }).unwrap()
        };
        let claim = of(N, Adjacency::Replace);
        let one = claim.epsilon.0 / 2.0;
        let near = of(N / (1.0 + one.exp()), Adjacency::Remove);
        assert!((near.epsilon.0..near.epsilon.0 * 1.001).contains(&one), "{one} {}", near.epsilon);
        assert!((claim.advantage.0 / near.advantage.0 / 2.0 - 1.0).abs() < 1e-6);
        assert!(claim.words.contains("for 2 replaced records: "));
    }

    /// The advantage is the total variation, which is far below what epsilon alone would allow.
    #[test]
    fn the_advantage_is_the_total_variation() {
        let claim = retrained(&[(175, 8)]);
        let apart = crate::advantage::from_epsilon_delta(crate::outward::epsilon(0.9), N);
        assert!(claim.advantage.0 < 0.5 * apart && claim.advantage.0 > 0.05, "{}", claim.advantage);
    }

    #[test]
    fn what_is_not_proved_is_refused() {
        let (order, requests, delta) = (2.0, Requests::NonAdaptive, N);
        let adjacency = Adjacency::Remove;
        for (question, why) in [
            (Question::Renyi { order }, "one direction only"),
            (Question::Deletion { order, adjacency, requests }, "one direction only"),
            (Question::Exact, "hidden by noise"),
        ] {
            let refused = ask(event(&[(175, 1)]), question).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        let question = Question::Indistinguishable { delta };
        for accountant in Accountant::ALL.into_iter().filter(|a| *a != Accountant::Pld) {
            let refused = evaluate(&Event::DpSgd(event(&[(175, 1)])), &question, accountant);
            assert!(refused.unwrap_err().to_string().contains("only `pld`"));
        }
    }

    #[test]
    fn malformed_events_are_refused_by_name() {
        type Change = fn(&mut DpSgd);
        let changes: [(&str, Change); 17] = [
            ("parameters", |e| e.parameters = 0),
            ("releases", |e| e.releases = u64::MAX),
            ("rows_per_unit", |e| e.rows_per_unit = 0),
            ("rows_per_unit", |e| e.rows_per_unit = 2),
            ("group", |e| e.group = 0),
            ("group", |e| e.group = 1025),
            ("clip", |e| e.clip.0 = f64::NAN),
            ("noise", |e| e.noise.0 = 0.01),
            ("noise", |e| e.noise.0 = f64::INFINITY),
            ("grid", |e| e.grid.0 = e.clip.0 * e.noise.0 * 1e-6),
            ("grid", |e| e.grid.0 = 0.0),
            ("rate", |e| e.rate.0 = 1.0_f64.next_up()),
            ("rate", |e| e.rate.0 = 0.0),
            ("segments", |e| e.segments.clear()),
            ("segments", |e| e.segments = vec![e.segments[0]; 4097]),
            ("deleted", |e| e.segments[0].deleted = 1025),
            ("steps", |e| e.earlier_steps = u64::MAX),
        ];
        for (name, change) in changes {
            let mut event = event(&[(175, 1), (3, 0)]);
            change(&mut event);
            let adjacency = Adjacency::Remove;
            for question in [
                Question::Indistinguishable { delta: N },
                Question::Differential { delta: N, adjacency },
            ] {
                let refused = ask(event.clone(), question);
                let Err(ClaimError::Accountant(AccountantError::Malformed { name: got, .. })) =
                    refused
                else {
                    panic!("{name}: {refused:?}")
                };
                assert_eq!(got, name);
            }
        }
        let many: Vec<(u64, u64)> = (0..65).map(|i| (1, i + 1)).collect();
        let refused = ask(event(&many), Question::Indistinguishable { delta: N }).unwrap_err();
        assert!(refused.to_string().contains("64 different"), "{refused}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]

        #[test]
        fn more_steps_and_more_deleted_are_never_less(
            ln_noise in 0.0_f64..4.0, ln_rate in -6.0_f64..-0.5, first in 1_u64..400,
            second in 1_u64..400, deleted in 1_u64..12, earlier in 0_u64..300,
        ) {
            let base = DpSgd {
                noise: Decimal(ln_noise.exp()),
                rate: Decimal(ln_rate.exp()),
                earlier_steps: earlier,
                ..event(&[(first, deleted), (second, deleted - 1)])
            };
            let more = |change: &dyn Fn(&mut DpSgd)| {
                let mut more = base.clone();
                change(&mut more);
                more
            };
            let of = |event: &DpSgd| {
                ask(event.clone(), Question::Indistinguishable { delta: 1e-5 }).unwrap()
            };
            let (epsilon, advantage) = (of(&base).epsilon.0, of(&base).advantage.0);
            for larger in [
                more(&|e| e.segments[0].deleted += 1),
                more(&|e| e.segments[1].deleted += 1),
                more(&|e| e.segments[0].steps += 7),
                more(&|e| e.segments[1].steps += 7),
                more(&|e| e.segments.push(Segment { steps: 5, deleted: 1 })),
            ] {
                let claim = of(&larger);
                prop_assert!(claim.epsilon.0 >= epsilon * (1.0 - 2e-4), "{} {epsilon}", claim.epsilon);
                prop_assert!(claim.advantage.0 >= advantage * (1.0 - 2e-4));
            }
            let adjacency = Adjacency::Remove;
            let private = |event: &DpSgd| {
                ask(event.clone(), Question::Differential { delta: 1e-5, adjacency }).unwrap().epsilon.0
            };
            let epsilon = private(&base);
            for larger in [
                more(&|e| e.earlier_steps += 9),
                more(&|e| e.segments[0].steps += 9),
                more(&|e| e.group += 1),
            ] {
                prop_assert!(private(&larger) >= epsilon * (1.0 - 2e-4));
            }
        }
    }
}
