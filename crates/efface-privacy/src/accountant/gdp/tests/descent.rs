//! Descent-to-delete: exact runs from below, the published theorems from above.

use proptest::prelude::*;

use crate::accountant::descent::Descent as Theorem;
use crate::accountant::descent_event::epsilon_descent;
use crate::accountant::gdp::{AccountantError, World, mu_descent, mu_descent_lifetime};
use crate::event::{Adjacency, Descent, Normalizer, Phase, Setting, State, Variant};
use crate::gaussian;
use crate::quantity::{Decimal, Delta};

const DELTA: f64 = 1e-5;

fn delta() -> Delta {
    Delta::new(DELTA).unwrap()
}

fn phase(steps: u64, only_then: u64) -> Phase {
    Phase { steps, releases: 1, only_then, only_now: 0, records: None }
}

/// Learning only, with the theorem's T for one record per update.
fn learnt(variant: Variant, n: u64, m: f64, iterations: u64, sigma: f64) -> Descent {
    let (beta, diameter) = (0.25, 20.0);
    let theorem = theorem(n, m, 1.0);
    let steps = theorem.learning_steps(iterations, diameter).unwrap().max(iterations) + 1;
    Descent {
        setting: Setting {
            parameters: 100,
            normalizer: Normalizer::Fixed { n, capacity: 2 * n },
            lipschitz: Decimal(1.0),
            smoothness: Decimal(beta),
            strong_convexity: Decimal(m),
            group: 1,
        },
        variant,
        xi: (variant == Variant::Weak).then_some(Decimal(1.5)),
        tail: (variant == Variant::Perfect).then_some(Decimal(DELTA)),
        iterations,
        step: Decimal((2.0 / (beta + 2.0 * m)).next_down()),
        diameter: Decimal(diameter),
        noise: Decimal(sigma),
        grid: Decimal(2_f64.powf((sigma.log2() - 40.0).floor())),
        rounding: Decimal(0.0),
        phases: vec![phase(steps, 0)],
        updates: 0,
        longest: steps,
        joint_releases: if variant == Variant::Perfect { 1 } else { 100 },
        releases: 1,
    }
}

fn theorem(n: u64, m: f64, epsilon: f64) -> Theorem {
    Theorem {
        lipschitz: 1.0,
        strong_convexity: m,
        smoothness: 0.25 + m,
        records: n as f64,
        parameters: 100.0,
        epsilon,
        delta: DELTA,
    }
}

/// After requests that delete so many records each.
fn after(mut event: Descent, requests: &[u64]) -> Descent {
    for &deleted in requests {
        for phase in &mut event.phases {
            phase.only_then += deleted;
        }
        let updates = event.updates + deleted.max(1);
        let steps = event.steps_between(event.updates, updates).unwrap();
        event.phases.push(phase(steps, 0));
        event.updates = updates;
        event.longest = event.longest.max(steps);
        event.releases += 1;
    }
    event
}

fn variants() -> impl Strategy<Value = Variant> {
    (0_usize..4).prop_map(|index| Variant::ALL[index])
}

#[test]
fn single_deletions_of_a_linear_loss_attain_the_distance() {
    // Losses of constant slope 1 along e_1: w <- c w - eta k/N with k records present. T = 400 steps,
    // then 200 requests that delete one record each; the reference makes 400 steps with what is left.
    // c^T D is far below the rest.
    let (n, m, sigma) = (1000, 0.05, 1e-4);
    let mut event = learnt(Variant::Secret, n, m, 7, sigma);
    event.setting.smoothness = Decimal(0.0);
    event.step = Decimal(2.0);
    event.phases[0].steps = 400;
    event.longest = 400;
    event.joint_releases = 201;
    let event = after(event, &[1; 200]);
    let run = |start: f64, steps: u64, present: f64| {
        (0..steps).fold(start, |w, _| (1.0 - 2.0 * m) * w - 2.0 * present / n as f64)
    };
    let kept = (0..=200_u32)
        .fold(0.0, |w, gone| run(w, if gone == 0 { 400 } else { 7 }, 300.0 - f64::from(gone)));
    let distance = (kept - run(0.0, 400, 100.0)).abs();
    let mu = mu_descent(&event, World::Retraining).unwrap().get();
    let exact = 201.0_f64.sqrt() * distance / sigma;
    assert!(mu >= exact && mu < exact * (1.0 + 1e-6), "{mu} {exact}");
    // With the record or without it, every iterate is at most 1/(m N) apart.
    let world = World::DifferentialPrivacyOneRelease(Adjacency::Remove);
    let one = mu_descent(&event, world).unwrap().get();
    let with = run(0.0, 400, 301.0) - run(0.0, 400, 300.0);
    assert!((one * sigma / with.abs() - 1.0).abs() < 1e-6, "{one} {with}");
}

#[test]
fn one_deletion_in_perfect_state_attains_the_interpolation() {
    // As above: T steps with one record more, noise, 7 steps without it, noise.
    let (n, m) = (1000_u64, 0.05);
    let mut event = learnt(Variant::Perfect, n, m, 7, 1e-3);
    event.setting.smoothness = Decimal(0.0);
    event.step = Decimal(2.0);
    event.tail = None;
    event.phases = vec![phase(400, 1), phase(7, 0)];
    (event.updates, event.releases, event.longest) = (1, 2, 400);
    let q = (1.0 - 2.0 * m).powi(7);
    // Linear maps: means differ by q/(m n), the variance is sigma^2 (1 + q^2).
    let exact = q / (m * n as f64) / (1e-3 * (1.0 + q * q).sqrt());
    let mu = mu_descent(&event, World::Retraining).unwrap().get();
    assert!(mu >= exact && mu < exact * (1.0 + 1e-6), "{mu} {exact}");
    let one = mu_descent(&event, World::DeletionPrivacy(Adjacency::Replace)).unwrap().get();
    assert!((one / (2.0 * exact) - 1.0).abs() < 1e-6, "{one}");
}

proptest! {
    #[test]
    fn the_tight_accountant_is_below_the_published_one(
        variant in variants(), n in 100_u64..100_000, ln_m in -8.0..-1.0_f64,
        iterations in 1_u64..200, ln_sigma in -12.0..0.0_f64,
        requests in proptest::collection::vec(1_u64..5, 0..12), ln_rounding in -40.0..-12.0_f64,
    ) {
        let mut event = learnt(variant, n, ln_m.exp(), iterations, ln_sigma.exp());
        event.rounding = Decimal(ln_rounding.exp());
        let event = after(event, &requests);
        let published = epsilon_descent(&event, delta()).unwrap();
        let mu = mu_descent(&event, World::Retraining).unwrap();
        let tight = gaussian::epsilon(mu, delta()).unwrap();
        prop_assert!(tight.get() <= published.get() * (1.0 + 1e-9), "{tight} {published}");
        let life = gaussian::epsilon(mu_descent_lifetime(&event).unwrap(), delta()).unwrap();
        prop_assert!(life.get() <= published.get() * (1.0 + 1e-9), "{life} {published}");
    }

    #[test]
    fn the_bound_for_life_holds_for_life(
        variant in variants(), n in 100_u64..100_000, ln_m in -8.0..-1.0_f64,
        iterations in 1_u64..60, requests in proptest::collection::vec(1_u64..9, 0..30),
    ) {
        let mut event = learnt(variant, n, ln_m.exp(), iterations, 1e-3);
        event.rounding = Decimal(1e-14);
        let promise = mu_descent_lifetime(&event).unwrap().get();
        for upto in 0..=requests.len() {
            let event = after(event.clone(), &requests[..upto]);
            let mu = mu_descent(&event, World::Retraining).unwrap().get();
            prop_assert!(mu <= promise * (1.0 + 1e-8), "{mu} {promise}");
        }
    }

    #[test]
    fn no_history_is_farther_from_the_optimum_than_the_bound(
        variant in variants(), n in 100_u64..100_000, ln_m in -8.0..-1.0_f64,
        iterations in 1_u64..60, requests in proptest::collection::vec(1_u64..9, 1..30),
    ) {
        prop_assume!(variant != Variant::Perfect);
        let event = learnt(variant, n, ln_m.exp(), iterations, 1.0);
        let event = after(event, &requests);
        let m = event.setting.strong_convexity.0;
        let c = 1.0 - event.step.0 * m;
        let learnt = event.diameter.0 * c.powf(event.phases[0].steps as f64);
        let mut distance = learnt;
        for (&deleted, phase) in requests.iter().zip(&event.phases[1..]) {
            let moved = deleted as f64 / (m * n as f64);
            distance = c.powf(phase.steps as f64) * (distance + moved);
            let root = (event.joint_releases as f64).sqrt();
            let mu = mu_descent(&event, World::Retraining).unwrap().get();
            prop_assert!(root * (distance + learnt / 2.0) <= mu, "{distance} {mu}");
        }
    }
}

#[test]
fn the_printed_noise_gives_the_epsilon_it_is_printed_for() {
    for epsilon in [0.1, 1.0, 5.0] {
        for iterations in [1, 5, 40] {
            let n = 12_000;
            let theorem = theorem(n, 0.012, epsilon);
            let sigma = theorem.secret_noise(iterations).unwrap();
            let mut event = learnt(Variant::Secret, n, 0.012, iterations, sigma);
            event.joint_releases = 1;
            let found = epsilon_descent(&event, delta()).unwrap().get();
            assert!((found / epsilon - 1.0).abs() < 1e-6, "{found} {epsilon}");
        }
        let n = 12_000;
        let theorem = theorem(n, 0.012, epsilon);
        let iterations = theorem.perfect_iterations().unwrap();
        let sigma = theorem.perfect_noise(iterations).unwrap();
        let event = learnt(Variant::Perfect, n, 0.012, iterations, sigma);
        let found = epsilon_descent(&event, delta()).unwrap().get();
        assert!(found <= epsilon * (1.0 + 1e-6) && found > 0.9 * epsilon, "{found} {epsilon}");
    }
}

#[test]
fn the_printed_noise_of_remark_3_6_is_enough_up_to_xi_2_and_not_far_beyond() {
    // In units of 4 (G + m D)/(m n): what the proof must bound over what is printed.
    let ratio = |xi: f64, relative: f64, iterations: f64| {
        let a = iterations * (2.0 * relative).ln_1p();
        let start = 0.5 * (-a).exp();
        let (mut s, mut most) = (start, 0.0_f64);
        for i in 1..400 {
            s = (-a * f64::from(i).powf(2.0 * xi)).exp() * (s + 1.0);
            most = most.max(s);
        }
        (most + start) / (relative * iterations).powf(-0.5 / xi)
    };
    let mut largest = [0.0_f64; 3];
    for (xi, largest) in [1.0, 2.0, 3.0].into_iter().zip(&mut largest) {
        for k in -30..30 {
            for iterations in [1.0, 2.0, 10.0, 300.0] {
                *largest = largest.max(ratio(xi, (0.2 * f64::from(k)).exp(), iterations));
            }
        }
    }
    assert!(largest[0] < 0.9 && largest[1] < 0.95 && largest[2] > 1.0, "{largest:?}");
}

#[test]
fn a_hundred_deletions_take_the_steps_published_for_them() {
    // MNIST 3 against 8, lambda = 1e-6 n, sigma = 0.03, (1, 1/n), no secret state: the steps of 100
    // single deletions with the public smoothness, 12476.
    let n = 11_982;
    let target = 1.0 / n as f64;
    let mut event = learnt(Variant::Perfect, n, 1e-6 * n as f64, 1, 0.03);
    event.setting.parameters = 784;
    let set = |event: &mut Descent, iterations: u64| {
        event.iterations = iterations;
        event.tail = Some(Decimal(target));
        event.phases[0].steps = 100 * iterations + 2000;
        event.longest = event.phases[0].steps;
    };
    let at = Delta::new(target).unwrap();
    let least = (1..1000)
        .find(|&iterations| {
            set(&mut event, iterations);
            epsilon_descent(&event, at).unwrap().get() <= 1.0
        })
        .unwrap();
    set(&mut event, least);
    let steps = event.steps_between(0, 100).unwrap();
    assert!((12_400..=12_600).contains(&steps), "{least} {steps}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let fine = after(learnt(Variant::Secret, 1000, 0.01, 5, 0.1), &[1, 2]);
    assert!(mu_descent(&fine, World::Retraining).is_ok());
    let refuse = |change: &dyn Fn(&mut Descent)| {
        let mut event = fine.clone();
        change(&mut event);
        match mu_descent(&event, World::Retraining).unwrap_err() {
            AccountantError::Malformed { name, .. } => name,
            other => panic!("{other}"),
        }
    };
    assert_eq!(refuse(&|e| e.xi = Some(Decimal(1.0))), "xi");
    assert_eq!(refuse(&|e| e.tail = Some(Decimal(0.1))), "tail");
    assert_eq!(refuse(&|e| e.updates = 1), "updates");
    assert_eq!(refuse(&|e| e.updates = 9), "steps");
    assert_eq!(refuse(&|e| e.phases[1].steps = 1), "steps");
    assert_eq!(refuse(&|e| e.joint_releases = 2), "joint_releases");
    // The steps of one request cannot stand for those of another.
    let exchanged = |e: &mut Descent| (e.phases[1].steps, e.phases[2].steps) = (4, 11);
    assert_eq!(refuse(&exchanged), "steps");
    let exchanged = |e: &mut Descent| (e.phases[1].steps, e.phases[2].steps) = (6, 9);
    assert_eq!(refuse(&exchanged), "steps");
    // A request of two records where the steps are those of one.
    assert_eq!(refuse(&|e| e.phases[0].only_then = 4), "steps");
    assert_eq!(refuse(&|e| e.phases[0].only_now = 1), "steps");
    let returned = |e: &mut Descent| (e.phases[0].only_then, e.phases[1].only_then) = (0, 2);
    assert_eq!(refuse(&returned), "steps");
    assert_eq!(refuse(&|e| e.releases = 2), "releases");
    assert_eq!(refuse(&|e| e.diameter = Decimal(0.0)), "diameter");
    assert_eq!(refuse(&|e| e.step = Decimal(9.0)), "step");
    assert_eq!(refuse(&|e| e.iterations = 0), "iterations");
    assert_eq!(refuse(&|e| e.phases[2].only_then = 1), "only_then + only_now of the last phase");
    let few = |e: &mut Descent| {
        e.setting.normalizer = Normalizer::Mean { minimum: 0 };
        for (phase, records) in e.phases.iter_mut().zip([900, 899, 449]) {
            phase.records = Some(records);
        }
    };
    assert_eq!(refuse(&few), "records");
    let secret = mu_descent(&fine, World::DeletionPrivacy(Adjacency::Replace));
    assert!(matches!(secret, Err(AccountantError::Unsupported { .. })));
    let mut short = fine.clone();
    short.phases[0].steps = 20;
    let short = epsilon_descent(&short, delta());
    assert!(matches!(short, Err(AccountantError::Unsupported { .. })), "{short:?}");
    let mut perfect = learnt(Variant::Perfect, 1000, 0.01, 50, 0.1);
    perfect.tail = None;
    assert!(mu_descent(&perfect, World::Retraining).is_ok());
    let flat = epsilon_descent(&perfect, delta());
    assert!(matches!(flat, Err(AccountantError::Unsupported { .. })), "{flat:?}");
    assert_eq!(perfect.variant.state(), State::Perfect);
    // The logarithms in the steps of `perfect` are for the step that contracts most.
    perfect.tail = Some(Decimal(DELTA));
    perfect.phases[0].steps = 5000;
    perfect.longest = 5000;
    assert!(epsilon_descent(&perfect, delta()).is_ok());
    perfect.step.0 *= 0.5;
    let slow = epsilon_descent(&perfect, delta());
    assert!(matches!(slow, Err(AccountantError::Unsupported { .. })), "{slow:?}");
}

#[test]
fn merged_phases_count_the_grid_of_every_release() {
    // Runs that differ by nothing but what the grid does to them, followed release by release.
    let (m, iterations, releases) = (0.01, 3, 60);
    let mut event = learnt(Variant::Perfect, 1_000_000_000, m, iterations, 0.1);
    event.tail = None;
    event.setting.lipschitz = Decimal(1e-6);
    event.grid = Decimal(0.1 / f64::from(1 << 20) * 0.99);
    let learning = event.phases[0].steps;
    let inner = Phase { releases, ..phase(iterations * releases, 0) };
    event.phases = vec![phase(learning, 1), Phase { only_then: 1, ..inner }, phase(iterations, 0)];
    (event.updates, event.releases) = (releases + 1, releases + 2);
    let c = 1.0 - event.step.0 * m;
    let q = c.powi(iterations as i32);
    let spread = event.grid.0 * 10.0;
    let apart = (0..releases).fold(0.0, |apart, _| q * (apart + spread)) + spread;
    // One release of noise hides it, then q of both is left, and the grid twice more.
    let (variance, left) = (0.01 * (q * q + 1.0), q * apart + (1.0 + q) * spread);
    let mu = mu_descent(&event, World::Retraining).unwrap().get();
    assert!(mu >= left / variance.sqrt(), "{mu} {}", left / variance.sqrt());
    assert!(mu <= left / variance.sqrt() * 1.01);
}
