use super::*;
use crate::accountant::gdp::{World, mu_noisy_gd, mu_output_noise};
use crate::event::{Adjacency, NoisyGd, Normalizer, OutputNoise, Phase, Procedure, Setting, State};
use crate::quantity::Decimal;
use proptest::prelude::*;

fn setting(n: u64, m: f64) -> Setting {
    Setting {
        parameters: 100,
        normalizer: Normalizer::Fixed { n, capacity: 2 * n },
        lipschitz: Decimal(1.0),
        smoothness: Decimal(0.25),
        strong_convexity: Decimal(m),
        group: 3,
    }
}

fn noisy_gd(n: u64, m: f64, learning: u64, removal: u64) -> NoisyGd {
    let phase =
        |steps, only_then| Phase { steps, releases: 1, only_then, only_now: 0, records: Some(n) };
    NoisyGd {
        setting: setting(n, m),
        step: Decimal(2.0 / (0.25 + 2.0 * m)),
        noise: Decimal(1.0),
        grid: Decimal(2f64.powi(-30)),
        rounding: Decimal(1e-13),
        radius: None,
        replaced: None,
        phases: vec![phase(learning, 10), phase(removal, 0)],
        longest: learning.max(removal),
        learning,
        releases: 2,
    }
}

fn output_noise(n: u64, m: f64, sigma: f64) -> OutputNoise {
    OutputNoise {
        setting: setting(n, m),
        procedure: Procedure::Solve,
        distance: Decimal(0.0),
        noise: Decimal(sigma),
        grid: Decimal(sigma * 2f64.powi(-30)),
        state: State::Perfect,
        joint_releases: 1,
        releases: 1,
        records: Some(n),
    }
}

fn mu(x: f64) -> Mu {
    Mu::new(x).unwrap()
}

proptest! {
    #[test]
    fn the_distance_found_is_accounted_within_the_target_and_nearly_all_of_it(
        ln_sigma in -12.0..3.0_f64, ln_target in -8.0..2.0_f64, releases in 1_u64..20,
    ) {
        let mut event = output_noise(1000, 0.01, ln_sigma.exp());
        (event.state, event.joint_releases) = (State::Secret, releases);
        let aim = ln_target.exp();
        let tau = largest_distance(&event, mu(aim)).unwrap();
        event.distance = Decimal(tau);
        let got = mu_output_noise(&event, World::Retraining).unwrap().get();
        prop_assert!(got <= aim && got > aim * (1.0 - 1e-7), "{got} {aim}");
    }

    #[test]
    fn the_step_noise_found_is_enough_and_a_little_less_is_not(
        n in 100_u64..100_000, ln_m in -7.0..0.0_f64, learning in 1_u64..5000,
        removal in 1_u64..500, ln_target in -4.0..2.0_f64, which in 0_usize..4,
    ) {
        let adjacency = Adjacency::Remove;
        let world = [
            World::Retraining,
            World::DeletionPrivacy(adjacency),
            World::DifferentialPrivacyOneRelease(adjacency),
            World::DifferentialPrivacyAllReleases(adjacency),
        ][which];
        let mut event = noisy_gd(n, ln_m.exp(), learning, removal);
        let aim = ln_target.exp();
        let grid = least_noise_for_noisy_gd(&event, 30, world, mu(aim)).unwrap();
        (event.noise, event.grid) = (Decimal(grid.noise), Decimal(grid.spacing));
        prop_assert!(mu_noisy_gd(&event, world).unwrap().get() <= aim);
        event.noise = Decimal(grid.noise * (1.0 - 1e-6));
        prop_assert!(mu_noisy_gd(&event, world).unwrap().get() > aim);
    }

    #[test]
    fn the_steps_found_are_enough_and_one_less_is_not(
        n in 100_u64..100_000, ln_m in -7.0..0.0_f64, learning in 1_u64..5000,
        sigma in 0.05..2.0_f64, ln_target in -3.0..1.0_f64,
    ) {
        let mut event = noisy_gd(n, ln_m.exp(), learning, 1);
        event.noise = Decimal(sigma);
        event.grid = Decimal(sigma * 2f64.powi(-40));
        let aim = ln_target.exp();
        let steps = least_last_steps(&event, World::Retraining, mu(aim)).unwrap();
        let at = |k: u64| {
            let mut event = event.clone();
            event.phases[1].steps = k;
            event.longest = learning.max(k);
            mu_noisy_gd(&event, World::Retraining).unwrap().get()
        };
        prop_assert!(at(steps) <= aim);
        prop_assert!(steps == 1 || at(steps - 1) > aim);
    }

    #[test]
    fn noise_and_distance_found_together_meet_both_targets(
        n in 100_u64..100_000, ln_m in -7.0..0.0_f64, ln_target in -3.0..1.0_f64,
        share in 0.01..0.9_f64,
    ) {
        let mut event = output_noise(n, ln_m.exp(), 1.0);
        let world = World::DifferentialPrivacyAllReleases(Adjacency::Replace);
        let aim = ln_target.exp();
        let close = aim * share;
        let found = least_noise_for_output(&event, 30, mu(close), world, mu(aim)).unwrap();
        (event.noise, event.grid) = (Decimal(found.grid.noise), Decimal(found.grid.spacing));
        event.distance = Decimal(found.distance);
        prop_assert!(mu_output_noise(&event, World::Retraining).unwrap().get() <= close);
        let got = mu_output_noise(&event, world).unwrap().get();
        prop_assert!(got <= aim && got > aim * (1.0 - 1e-6), "{got} {aim}");
        let kept = least_noise_for_distance(&event, 30, world, mu(aim)).unwrap();
        prop_assert!((kept.noise / found.grid.noise - 1.0).abs() < 1e-6);
    }
}

#[test]
fn sixty_steps_forget_a_hundred_replaced_records() {
    // The published MNIST setting: 45 steps for 100 removed records at epsilon 1, delta 1/n.
    let mut event = noisy_gd(11_982, 0.011_982, 10_000, 1);
    let step = 1.0 / 0.261_982;
    event.step = Decimal(step);
    event.noise = Decimal((2.0 * step).sqrt() * 0.03);
    event.grid = Decimal(2f64.powi(-44));
    event.phases[0].only_then = 100;
    let delta = crate::quantity::Delta::new(1.0 / 11_982.0).unwrap();
    let aim = crate::gaussian::mu(crate::quantity::Epsilon::new(1.0).unwrap(), delta).unwrap();
    assert_eq!(least_last_steps(&event, World::Retraining, aim).unwrap(), 45);
    event.phases[0].only_then = 200;
    assert_eq!(least_last_steps(&event, World::Retraining, aim).unwrap(), 60);
}

#[test]
fn what_cannot_be_had_is_refused() {
    let gd = noisy_gd(1000, 0.01, 100, 10);
    let coarse = output_noise(1000, 0.01, 1.0);
    for bad in [0.0, f64::INFINITY] {
        let refused = largest_distance(&coarse, mu(bad)).unwrap_err();
        assert_eq!(refused, CalibrationError::Target(bad));
    }
    // The grid's part is 10 * 2^-30 of the noise.
    let refused = largest_distance(&coarse, mu(1e-9)).unwrap_err();
    assert!(matches!(refused, CalibrationError::Infeasible { .. }), "{refused}");
    let refused = least_last_steps(&gd, World::Retraining, mu(1e-12)).unwrap_err();
    assert!(matches!(refused, CalibrationError::Infeasible { .. }), "{refused}");
    let refused = least_noise_for_noisy_gd(&gd, 20, World::Retraining, mu(1e-12)).unwrap_err();
    assert!(matches!(refused, CalibrationError::Infeasible { .. }), "{refused}");
    let refused = least_noise_for_noisy_gd(&gd, 50, World::Retraining, mu(1.0)).unwrap_err();
    assert!(matches!(refused, CalibrationError::Grid(_)), "{refused}");
    let world = World::DifferentialPrivacyOneRelease(Adjacency::Remove);
    let refused = least_noise_for_output(&coarse, 30, mu(1.0), world, mu(0.5)).unwrap_err();
    assert!(matches!(refused, CalibrationError::Infeasible { .. }), "{refused}");
}
