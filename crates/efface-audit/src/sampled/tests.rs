use efface_privacy::accountant::pld;
use efface_privacy::quantity::{Decimal, Delta, Epsilon, Mu};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::super::result::CanaryTest;
use super::canaries::tilted;
use super::weighed::mean;
use super::*;

const CLIP: f64 = 0.1;
const RUNS: u64 = 20_000;
const NOBODY: Canaries = Canaries { count: 0, together: false };
const ONE: Segment = Segment { steps: 8, noise: 1.0, rate: 0.3, group: 1 };
const FOUR: Segment = Segment { steps: 5, noise: 2.0, rate: 0.25, group: 4 };

/// What the attacker wins in both directions, with its standard error: `segment` is what runs, and
/// what the attacker knows; `canaries` are as many units as its group.
fn won(segment: Segment, canaries: Canaries, epsilon: f64) -> [(f64, f64); 2] {
    let ratio = Ratio::new(segment);
    [(canaries, 1.0), (NOBODY, -1.0)].map(|(there, sign)| {
        let step = Step::new(segment, CLIP, there).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let run = |_| {
            let ratios =
                (0..segment.steps).map(|_| ratio.at(step.released(&mut rng, &|| false).unwrap()));
            (sign * ratios.sum::<f64>(), 0.0)
        };
        let losses: Vec<(f64, f64)> = (0..RUNS).map(run).collect();
        mean(&losses, epsilon)
    })
}

fn claimed_delta(segment: Segment, epsilon: f64) -> f64 {
    let none = Mu::new(0.0).unwrap();
    pld::delta(&[segment], none, Epsilon::new(epsilon).unwrap()).unwrap()
}

#[test]
fn attackers_win_what_is_accounted_and_never_more() {
    for (segment, epsilon) in [(ONE, 0.8), (ONE, 1.6), (FOUR, 1.0)] {
        let canaries = Canaries { count: segment.group as usize, together: false };
        let claimed = claimed_delta(segment, epsilon);
        let both = won(segment, canaries, epsilon);
        for (mean, error) in both {
            assert!(mean - 4.0 * error <= claimed, "{segment:?}: {mean} +- {error} over {claimed}");
        }
        let best = both.map(|(mean, _)| mean).into_iter().fold(0.0, f64::max);
        assert!(best >= 0.95 * claimed, "{segment:?}: {best} of {claimed}");
    }
}

#[test]
fn records_of_one_subject_weigh_no_more_than_one() {
    let canaries = Canaries { count: 6, together: true };
    let claimed = claimed_delta(ONE, 0.8);
    let [(mean, error), _] = won(ONE, canaries, 0.8);
    assert!((mean - claimed).abs() <= 4.0 * error + 0.02 * claimed, "{mean} against {claimed}");
}

#[test]
fn planted_faults_are_found() {
    let claimed = claimed_delta(ONE, 0.8);
    let found = |actual: Segment| {
        let canaries = Canaries { count: actual.group as usize, together: false };
        let both = won(actual, canaries, 0.8);
        both.into_iter().any(|(mean, error)| mean - 4.0 * error > claimed)
    };
    assert!(found(Segment { noise: 0.9, ..ONE }), "too little noise");
    assert!(found(Segment { rate: 0.34, ..ONE }), "drawn too often");
    assert!(found(Segment { group: 2, ..ONE }), "two units that count as one");
    assert!(found(Segment { steps: 10, ..ONE }), "steps that are not counted");
}

fn budget(runs: u64) -> Budget<'static> {
    Budget { runs, limit: None, elapsed: &|| 0.0, stop: &|| false }
}

fn certified(segment: Segment, delta: f64) -> Certified {
    let none = Mu::new(0.0).unwrap();
    let epsilon = pld::epsilon(&[segment], none, Delta::new(delta).unwrap()).unwrap().get();
    Certified {
        accountant: "pld".into(),
        mu: None,
        epsilon: Decimal(epsilon),
        delta: Decimal(delta),
    }
}

/// Tests on runs of `actual` against what is certified of what is stated.
fn judged(stated: Segment, actual: Segment, seed: u8, runs: u64) -> (Verdict, f64, f64) {
    let delta = common(stated).unwrap();
    let worlds = LossWorlds::new(stated, actual, CLIP, Seeds::new([seed; 32])).unwrap();
    let Examined { tests, reach, .. } = told(&worlds, delta, &budget(runs)).unwrap();
    let certified = certified(stated, delta);
    let verdict = judge(&tests, &reach, std::slice::from_ref(&certified));
    (verdict, largest(&tests).1, certified.epsilon.0)
}

const TOLD: Segment = Segment { steps: 20, noise: 2.0, rate: 0.2, group: 4 };

/// Each false claim is refuted by counting errors, and the honest one is not, nor is it loose.
#[test]
fn tests_refute_what_the_engine_does_not_do() {
    let (verdict, shown, claimed) = judged(TOLD, TOLD, 60, 6000);
    assert_eq!(verdict, Verdict::Consistent);
    assert!(shown > 0.6 * claimed, "{shown} of {claimed}");
    for (number, (fault, actual)) in [
        ("less noise", Segment { noise: 1.5, ..TOLD }),
        ("drawn more often", Segment { rate: 0.3, ..TOLD }),
        ("more units than are counted", Segment { group: 6, ..TOLD }),
        ("steps not counted", Segment { steps: 36, ..TOLD }),
    ]
    .into_iter()
    .enumerate()
    {
        let (verdict, shown, claimed) = judged(TOLD, actual, 61 + number as u8, 6000);
        assert_eq!(verdict, Verdict::Refuted, "{fault}: {shown} of {claimed}");
    }
}

/// What is said to be found is, by the engine's own runs.
#[test]
fn the_noise_that_tests_find_is_found() {
    let delta = common(TOLD).unwrap();
    let stated = (certified(TOLD, delta).epsilon.0, delta);
    let finds = |runs| power::found_noise(TOLD, stated, [95; 32], &budget(runs)).unwrap();
    let part = finds(6000).unwrap();
    assert!((0.5..0.9).contains(&part), "{part}");
    let actual = Segment { noise: part * TOLD.noise, ..TOLD };
    assert_eq!(judged(TOLD, actual, 96, 6000).0, Verdict::Refuted, "{part}");
    assert!(finds(1500).unwrap() < part);
    assert_eq!(finds(20), None);
}

fn weighed(segment: Segment, delta: f64, epsilon: f64, seed: u8) -> CanaryTest {
    let weighed = Weighed { segment, epsilon, delta };
    weighed.measure(CLIP, &Seeds::new([seed; 32]), &budget(4000)).unwrap()
}

const PLANS: [(Segment, f64); 4] = [
    (Segment { steps: 60, noise: 2.0, rate: 0.06, group: 1 }, 1e-5),
    (Segment { steps: 60, noise: 2.0, rate: 0.06, group: 5 }, 1e-5),
    (Segment { steps: 40, noise: 12.0, rate: 0.07, group: 8 }, 1.0 / 60_000.0),
    (Segment { steps: 30, noise: 11.0, rate: 0.07, group: 1 }, 1e-6),
];

/// At the delta of a certificate the estimate is within 5 % of what is certified. That the lower bound is above
/// it has, at six standard errors, a probability below 1e-8.
#[test]
fn weighed_canaries_attain_the_certified_epsilon() {
    for (number, (segment, delta)) in PLANS.into_iter().enumerate() {
        let certified = certified(segment, delta).epsilon.0;
        let found = weighed(segment, delta, certified, 70 + number as u8);
        assert!((found.estimate / certified - 1.0).abs() < 0.05, "{segment:?}: {found:?}");
        assert!(found.lower <= certified && found.lower > 0.8 * certified, "{found:?}");
        assert_eq!(Verdict::of_canaries(&[found]), Verdict::Consistent);
    }
}

/// What a false accountant would certify is below what is measured: the numbers of one unit for five, and five
/// times the mu of one by the central limit theorem.
#[test]
fn weighed_canaries_refute_false_accounting() {
    let (segment, delta) = PLANS[1];
    let moment = (1.0 / segment.noise).powi(2).exp_m1();
    let mu = segment.rate * (segment.steps as f64 * moment).sqrt();
    let (mu, at) = (Mu::new(5.0 * mu).unwrap(), Delta::new(delta).unwrap());
    let limit = efface_privacy::gaussian::epsilon(mu, at).unwrap().get();
    let one = certified(Segment { group: 1, ..segment }, delta).epsilon.0;
    for (number, epsilon) in [one, limit].into_iter().enumerate() {
        let found = weighed(segment, delta, epsilon, 80 + number as u8);
        assert_eq!(Verdict::of_canaries(&[found]), Verdict::Refuted, "{found:?}");
    }
}

/// A tilt makes losses of the size that counts common, and needs none where they are.
#[test]
fn a_tilt_has_at_least_as_many_canaries() {
    for (segment, delta) in PLANS {
        let drawn = tilted(segment, certified(segment, delta).epsilon.0);
        assert!(drawn.group >= segment.group && drawn.rate < 1.0, "{drawn:?}");
        let mean = |segment: Segment| segment.rate * segment.group as f64;
        assert!(mean(drawn) > mean(segment), "{drawn:?}");
    }
}

#[test]
fn few_runs_show_nothing() {
    let (segment, delta) = PLANS[0];
    let few = Weighed { segment, epsilon: 1.0, delta };
    for runs in [1, 2, 3, 63] {
        let found = few.measure(CLIP, &Seeds::new([90; 32]), &budget(runs)).unwrap();
        assert_eq!((found.lower, Verdict::of_canaries(&[found])), (0.0, Verdict::Undecided));
    }
    let found = few.measure(CLIP, &Seeds::new([90; 32]), &budget(64)).unwrap();
    assert!(found.estimate > 0.0, "{found:?}");
    assert_eq!(judged(TOLD, TOLD, 91, 20).0, Verdict::Undecided);
}
