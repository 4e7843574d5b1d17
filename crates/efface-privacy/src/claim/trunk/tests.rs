use super::*;
use crate::accountant::gdp::AccountantError;
use crate::claim::{Claim, evaluate};
use crate::event::{
    DeclaredSteps, ExactRemoval, Normalizer, OutputNoise, Procedure, Segment, Setting, State,
};
use crate::quantity::Decimal;
use crate::quantity::Delta;
use proptest::prelude::*;

const N: f64 = 1.0 / 60_000.0;

fn training(segments: &[(u64, u64)]) -> DpSgd {
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

fn setting() -> Setting {
    Setting {
        parameters: 5130,
        normalizer: Normalizer::Fixed { n: 60_000, capacity: 1 << 18 },
        lipschitz: Decimal(1.0),
        smoothness: Decimal(0.5),
        strong_convexity: Decimal(1e-4),
        group: 1,
    }
}

/// A head that is mu-GDP from every network, by an optimum found to half of mu times the noise.
fn solved(mu: f64) -> Event {
    Event::OutputNoise(OutputNoise {
        setting: setting(),
        procedure: Procedure::Solve,
        distance: Decimal(mu / 2.0),
        noise: Decimal(1.0),
        grid: Decimal(2.0_f64.powi(-60)),
        state: State::Perfect,
        joint_releases: 1,
        releases: 2,
        records: None,
        preprocessing: None,
    })
}

fn exact() -> Event {
    Event::ExactRemoval(ExactRemoval {
        setting: Setting { lipschitz: Decimal(f64::INFINITY), ..setting() },
        row_bound: Decimal(1.5),
        row_grid: Decimal(2.0_f64.powi(-21)),
        target_bound: Decimal(1.0),
        target_grid: Decimal(2.0_f64.powi(-22)),
        releases: 2,
        max_weight: None,
        records: None,
        preprocessing: None,
    })
}

fn on(training: DpSgd, removed: u64, inner: Event) -> Composed {
    Composed {
        given: Given {
            what: What::Extractor,
            epsilon: None,
            delta: None,
            mu: None,
            group: 1,
            training: Some(Box::new(training)),
            declared: None,
        },
        removed: Some(removed),
        inner: Box::new(inner),
    }
}

fn ask(event: &Composed, question: Question, by: Accountant) -> Result<Claim, ClaimError> {
    evaluate(&Event::Composed(event.clone()), &question, by)
}

fn retrained(event: &Composed) -> Claim {
    let by = match *event.inner {
        Event::ExactRemoval(_) => Accountant::Exact,
        _ => Accountant::Gdp,
    };
    ask(event, Question::Indistinguishable { delta: N }, by).unwrap()
}

fn near(claim: &Claim, epsilon: f64) {
    assert!((claim.epsilon.0 / epsilon - 1.0).abs() < 1e-4, "{} {epsilon}", claim.epsilon);
}

fn mu_of(epsilon: f64) -> f64 {
    crate::gaussian::mu(crate::outward::epsilon(epsilon), Delta::new(N).unwrap()).unwrap().get()
}

/// The numbers of an integral over complex moments, without a grid of losses.
#[test]
fn an_exact_head_adds_nothing_and_a_noisy_one_its_gaussian() {
    let claim = retrained(&on(training(&[(175, 0)]), 8, exact()));
    near(&claim, 0.979_457_922_996);
    assert_eq!((claim.group.as_str(), claim.releases, claim.mu), ("8", 1, None));
    assert_eq!((claim.requests, claim.accountant), (Requests::NonAdaptive, Accountant::Exact));
    let head = mu_of(0.48);
    let both = retrained(&on(training(&[(175, 0)]), 8, solved(head)));
    assert!((both.epsilon.0 - 1.119).abs() < 1e-3, "{}", both.epsilon);
    assert!(both.epsilon.0 < claim.epsilon.0 + 0.48 && both.advantage > claim.advantage);
    // Nobody deleted: the head alone.
    let none = retrained(&on(training(&[(175, 0)]), 0, solved(head)));
    near(&none, 0.48);
    assert_eq!(retrained(&on(training(&[(175, 0)]), 0, exact())).epsilon.0, 0.0);
}

#[test]
fn those_deleted_from_the_network_before_count_as_those_deleted_since() {
    let all = retrained(&on(training(&[(175, 0)]), 8, exact()));
    for (before, since) in [(3, 5), (8, 0)] {
        let claim = retrained(&on(training(&[(175, before)]), since, exact()));
        assert_eq!((claim.epsilon, claim.group.as_str()), (all.epsilon, "8"));
    }
    // Whoever is deleted since may have been in each segment.
    let parts = retrained(&on(training(&[(100, 0), (75, 3)]), 5, exact()));
    let (least, most) = (retrained(&on(training(&[(175, 0)]), 5, exact())), all.epsilon.0);
    assert!((least.epsilon.0 * 1.01..most * 0.99).contains(&parts.epsilon.0), "{}", parts.epsilon);
}

#[test]
fn privacy_is_of_all_trainings_and_all_releases() {
    let adjacency = Adjacency::Remove;
    let of = |event: &Composed, adjacency| {
        ask(event, Question::Differential { delta: N, adjacency }, Accountant::Gdp).unwrap()
    };
    let event = on(training(&[(175, 4)]), 3, solved(0.1));
    let claim = of(&event, adjacency);
    assert_eq!((claim.group.as_str(), claim.releases, claim.requests), ("1", 2, Requests::Any));
    // Deletions do not change it; a training before does.
    assert_eq!(of(&on(training(&[(175, 0)]), 0, solved(0.1)), adjacency).epsilon, claim.epsilon);
    let twice = DpSgd { earlier_steps: 175, ..training(&[(175, 0)]) };
    assert!(of(&on(twice, 0, solved(0.1)), adjacency).epsilon.0 > claim.epsilon.0 * 1.001);
    // More than the network alone, and than the head alone.
    let alone = DpSgd { group: 1, ..training(&[(175, 0)]) };
    let question = Question::Differential { delta: N, adjacency };
    let network = evaluate(&Event::DpSgd(alone), &question, Accountant::Pld).unwrap();
    let head = evaluate(&solved(0.1), &question, Accountant::Gdp).unwrap();
    assert!(claim.epsilon.0 > network.epsilon.0.max(head.epsilon.0) * 1.001);
    assert!(of(&event, Adjacency::Replace).epsilon.0 > 1.5 * claim.epsilon.0);
    let refused = ask(&on(training(&[(175, 0)]), 0, exact()), question, Accountant::Exact);
    assert!(refused.unwrap_err().to_string().contains("nothing hides"));
}

#[test]
fn what_is_not_proved_is_refused() {
    let event = on(training(&[(175, 1)]), 1, solved(0.1));
    let (order, requests, adjacency) = (2.0, Requests::NonAdaptive, Adjacency::Remove);
    for (question, why) in [
        (Question::Renyi { order }, "one direction only"),
        (Question::Deletion { order, adjacency, requests }, "one direction only"),
        (Question::Exact, "hidden by noise"),
    ] {
        let refused = ask(&event, question, Accountant::Gdp).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    let hidden = Composed { removed: None, ..event };
    let question = Question::Indistinguishable { delta: N };
    let refused = ask(&hidden, question, Accountant::Gdp).unwrap_err().to_string();
    assert!(refused.contains("private"), "{refused}");
}

#[test]
fn malformed_trainings_are_refused_by_name() {
    type Change = fn(&mut Composed);
    fn of(event: &mut Composed) -> &mut DpSgd {
        event.given.training.as_mut().unwrap()
    }
    let changes: [(&str, Change); 8] = [
        ("given", |e| e.given.epsilon = Some(Decimal(1.0))),
        ("given", |e| e.given.mu = Some(Decimal(0.0))),
        ("given.group", |e| e.given.group = 8),
        ("given.what", |e| e.given.what = What::Start),
        ("given.training.unit", |e| of(e).unit = Unit::Subject),
        ("segments", |e| of(e).segments.clear()),
        ("noise", |e| of(e).noise.0 = f64::NAN),
        ("deleted", |e| e.removed = Some(u64::MAX)),
    ];
    for (name, change) in changes {
        for inner in [exact(), solved(0.1)] {
            let mut event = on(training(&[(175, 1)]), 1, inner);
            change(&mut event);
            let by = if event.inner.grid().is_none() { Accountant::Exact } else { Accountant::Gdp };
            let refused = ask(&event, Question::Indistinguishable { delta: N }, by);
            let Err(ClaimError::Accountant(AccountantError::Malformed { name: got, .. })) = refused
            else {
                panic!("{name}: {refused:?}")
            };
            assert_eq!(got, name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn more_of_anything_is_never_less(
        ln_noise in 0.0_f64..4.0, ln_rate in -6.0_f64..-0.5, first in 1_u64..300,
        second in 1_u64..300, before in 0_u64..6, since in 0_u64..6, ln_mu in -9.0_f64..1.0,
    ) {
        let mu = ln_mu.exp();
        let base = on(
            DpSgd {
                noise: Decimal(ln_noise.exp()),
                rate: Decimal(ln_rate.exp()),
                ..training(&[(first, before), (second, 0)])
            },
            since,
            solved(mu),
        );
        let more = |change: &dyn Fn(&mut Composed)| {
            let mut more = base.clone();
            change(&mut more);
            more
        };
        let claim = retrained(&base);
        for larger in [
            more(&|e| e.removed = Some(since + 1)),
            more(&|e| e.given.training.as_mut().unwrap().segments[0].deleted += 1),
            more(&|e| e.given.training.as_mut().unwrap().segments[1].deleted += 1),
            more(&|e| e.given.training.as_mut().unwrap().segments[1].steps += 9),
            more(&|e| *e.inner = solved(mu * 1.1)),
        ] {
            let larger = retrained(&larger);
            prop_assert!(larger.epsilon.0 >= claim.epsilon.0 * (1.0 - 2e-4));
            prop_assert!(larger.advantage.0 >= claim.advantage.0 * (1.0 - 2e-4));
        }
        // Not less than either alone, and not more than both added.
        let (network, head) = (on(base.given.training.as_deref().unwrap().clone(), since, exact()), mu);
        let network = retrained(&network).epsilon.0;
        let delta = Delta::new(N).unwrap();
        let head = crate::gaussian::epsilon(crate::outward::mu(head), delta).unwrap().get();
        prop_assert!(claim.epsilon.0 >= network.max(head) * (1.0 - 2e-4));
    }
}

/// The same steps as [`training`] has, in phases (noise, steps), as whoever made the extractor states them.
fn declared(phases: &[(f64, u64)], deleted: u64, removed: u64, inner: Event) -> Composed {
    let mut event = on(training(&[(1, 0)]), removed, inner);
    let rate = Decimal(4096.0 / 60_000.0);
    let phase = |&(noise, steps)| DeclaredSteps { noise: Decimal(noise), rate, steps };
    let phases = phases.iter().map(phase).collect();
    event.given.training = None;
    event.given.declared = Some(Box::new(DeclaredTraining { phases, clip: None, deleted }));
    event
}

#[test]
fn a_declared_training_is_accounted_as_the_same_steps_here() {
    for (inner, before) in [(exact(), 0), (exact(), 3), (solved(0.2), 0), (solved(0.2), 3)] {
        let here = retrained(&on(training(&[(175, before)]), 5, inner.clone()));
        let there = retrained(&declared(&[(26.74, 175)], before, 5, inner.clone()));
        assert_eq!((here.epsilon, here.advantage), (there.epsilon, there.advantage));
        assert_eq!((here.group, here.requests), (there.group, there.requests));
        assert!(there.reference.contains("as declared") && there.theorem.contains("declared"));
        // In parts, as histories of trainings have them.
        let parts = retrained(&declared(&[(26.74, 100), (26.74, 75)], before, 5, inner));
        assert_eq!(parts.epsilon, there.epsilon);
    }
    let none = retrained(&declared(&[(26.74, 175)], 0, 0, exact()));
    assert_eq!((none.epsilon.0, none.group.as_str()), (0.0, "0"));
    let question = Question::Differential { delta: N, adjacency: Adjacency::Remove };
    let of = |event: &Composed| ask(event, question, Accountant::Gdp).unwrap().epsilon;
    let (here, there) = (on(training(&[(175, 0)]), 0, solved(0.1)), solved(0.1));
    assert_eq!(of(&here), of(&declared(&[(26.74, 175)], 4, 9, there)));
}

#[test]
fn phases_of_different_noise_lie_between_those_of_one() {
    let of = |phases: &[(f64, u64)]| retrained(&declared(phases, 0, 8, exact())).epsilon.0;
    let both = of(&[(26.74, 100), (40.0, 75)]);
    assert!(of(&[(40.0, 175)]) * 1.01 < both && both < of(&[(26.74, 175)]) * 0.99, "{both}");
    assert!(of(&[(26.74, 100)]) * 1.01 < both);
    // Without a draw the closed form: mu = sqrt(steps) group / noise.
    let mut whole = declared(&[(80.0, 4), (40.0, 3)], 0, 2, exact());
    for phase in &mut whole.given.declared.as_mut().unwrap().phases {
        phase.rate = Decimal(1.0);
    }
    let mu = 2.0 * (4.0_f64 / 6400.0 + 3.0 / 1600.0).sqrt();
    near(&retrained(&whole), crate::gaussian::unrounded::epsilon(mu, N));
}

#[test]
fn malformed_declarations_are_refused_by_name() {
    type Change = fn(&mut Composed);
    fn of(event: &mut Composed) -> &mut DeclaredTraining {
        event.given.declared.as_mut().unwrap()
    }
    let changes: [(&str, Change); 18] = [
        ("given", |e| e.given.delta = Some(Decimal(0.0))),
        ("given", |e| e.given.training = Some(Box::new(training(&[(1, 0)])))),
        ("given.group", |e| e.given.group = 8),
        ("given.what", |e| e.given.what = What::Start),
        ("phases", |e| of(e).phases.clear()),
        ("phases", |e| of(e).phases = vec![of(e).phases[0]; 65]),
        ("noise", |e| of(e).phases[0].noise.0 = 0.0),
        ("noise", |e| of(e).phases[0].noise.0 = 0.09),
        ("noise", |e| of(e).phases[1].noise.0 = f64::NAN),
        ("rate", |e| of(e).phases[0].rate.0 = 1.1),
        ("rate", |e| of(e).phases[0].rate.0 = 0.0),
        ("steps", |e| of(e).phases[0].steps = 0),
        ("steps", |e| of(e).phases[0].steps = u64::MAX),
        ("clip", |e| of(e).clip = Some(Decimal(0.0))),
        ("deleted", |e| of(e).deleted = 1025),
        ("deleted", |e| e.removed = Some(1023)),
        ("noise", |e| (of(e).phases[0].rate.0, of(e).phases[0].noise.0) = (1.0, 2e6)),
        ("training", |e| {
            of(e).phases = vec![of(e).phases[0]; 64];
            e.removed = Some(70);
        }),
    ];
    for (name, change) in changes {
        for inner in [exact(), solved(0.1)] {
            let mut event = declared(&[(26.74, 100), (30.0, 75)], 2, 1, inner);
            change(&mut event);
            let by = if event.inner.grid().is_none() { Accountant::Exact } else { Accountant::Gdp };
            let refused = ask(&event, Question::Indistinguishable { delta: N }, by);
            let Err(ClaimError::Accountant(AccountantError::Malformed { name: got, .. })) = refused
            else {
                panic!("{name}: {refused:?}")
            };
            assert_eq!(got, name);
        }
    }
}

#[test]
fn phases_of_rate_1_far_beside_those_that_draw_are_refused_in_words() {
    let beside = |noise: f64, inner: Event| {
        let mut event = declared(&[(26.74, 100), (noise, 4)], 0, 2, inner);
        event.given.declared.as_mut().unwrap().phases[1].rate = Decimal(1.0);
        let by = if event.inner.grid().is_none() { Accountant::Exact } else { Accountant::Gdp };
        ask(&event, Question::Indistinguishable { delta: N }, by)
    };
    for inner in [exact(), solved(0.1)] {
        // mu = 2 sqrt(4) / noise.
        assert!(beside(0.05, inner.clone()).is_err());
        assert!(beside(4.0, inner).is_ok());
    }
    let mut event = declared(&[(26.74, 100), (0.1, 4)], 0, 50, exact());
    event.given.declared.as_mut().unwrap().phases[1].rate = Decimal(1.0);
    let refused = ask(&event, Question::Indistinguishable { delta: N }, Accountant::Exact);
    let words = refused.unwrap_err().to_string();
    assert!(words.contains("`rate` 1") && !words.contains("`mu`"), "{words}");
}
