use super::super::*;
use crate::event::{Adjacency, NoisyGd, Normalizer, OutputNoise, Phase, Procedure, Setting, State};
use crate::quantity::Decimal;
use proptest::prelude::*;

pub(super) fn setting() -> Setting {
    Setting {
        parameters: 784,
        normalizer: Normalizer::Fixed { n: 11_982, capacity: 11_982 },
        lipschitz: Decimal(1.0),
        smoothness: Decimal(0.25),
        strong_convexity: Decimal(0.011_982),
        group: 100,
    }
}

pub(super) fn phase(steps: u64, only_then: u64, only_now: u64) -> Phase {
    Phase { steps, releases: 1, only_then, only_now, records: Some(11_000) }
}

/// Small enough a grid that its terms vanish against 1e-8.
pub(super) fn noisy_gd() -> NoisyGd {
    let step = 3.817_056_133_627_501;
    NoisyGd {
        setting: setting(),
        step: Decimal(step),
        noise: Decimal((2.0 * step).sqrt() * 0.03),
        grid: Decimal(1e-20),
        rounding: Decimal(0.0),
        radius: None,
        replaced: None,
        phases: vec![phase(10_000, 100, 0), phase(60, 0, 0)],
        longest: 10_000,
        learning: 10_000,
        releases: 2,
        batches: None,
    }
}

pub(super) fn output_noise() -> OutputNoise {
    OutputNoise {
        setting: setting(),
        procedure: Procedure::Solve,
        distance: Decimal(1e-3),
        noise: Decimal(0.01),
        grid: Decimal(2f64.powi(-40)),
        state: State::Perfect,
        joint_releases: 1,
        releases: 4,
        records: Some(11_000),
        preprocessing: None,
    }
}

fn close(got: Mu, want: f64) {
    let got = got.get();
    assert!(got >= want && got <= want * (1.0 + 1e-8), "got {got}, want {want}");
}

use crate::quantity::Mu;

#[test]
fn noisy_gd_reproduces_the_published_setting() {
    // 100 records removed under `fixed`, 10000 + 60 steps (vectors/accounting.json).
    close(mu_noisy_gd(&noisy_gd(), World::Retraining).unwrap(), 0.151_417_028_254_471_33);
    let deletion = World::DeletionPrivacy(Adjacency::Replace);
    close(mu_noisy_gd(&noisy_gd(), deletion).unwrap(), 0.302_834_056_508_942_65);
    let removed = World::DeletionPrivacy(Adjacency::Remove);
    close(mu_noisy_gd(&noisy_gd(), removed).unwrap(), 0.151_417_028_254_471_33);
    let mut one = noisy_gd();
    one.setting.group = 1;
    let dp = World::DifferentialPrivacyOneRelease(Adjacency::Replace);
    close(mu_noisy_gd(&one, dp).unwrap(), 0.050_244_831_007_648_115);
}

#[test]
fn noisy_gd_under_mean_uses_the_larger_size() {
    let mut event = noisy_gd();
    event.setting.normalizer = Normalizer::Mean { minimum: 5_000 };
    event.phases = vec![phase(10_000, 5, 0), phase(10, 0, 0)];
    event.phases[0].records = Some(11_982);
    event.phases[1].records = Some(11_977);
    close(mu_noisy_gd(&event, World::Retraining).unwrap(), 0.157_306_601_391_967_48);
    event.setting.group = 5;
    let deletion = World::DeletionPrivacy(Adjacency::Remove);
    close(mu_noisy_gd(&event, deletion).unwrap(), 0.157_306_601_391_967_48 * 11_982.0 / 5_000.0);
    event.setting.normalizer = Normalizer::Mean { minimum: 0 };
    let refused = mu_noisy_gd(&event, deletion).unwrap_err();
    assert!(matches!(refused, AccountantError::Unsupported { .. }), "{refused}");
    event.phases[0].records = None;
    let refused = mu_noisy_gd(&event, World::Retraining).unwrap_err();
    assert!(refused.to_string().contains("needs `records` in every phase"), "{refused}");
}

#[test]
fn releases_of_noisy_gd_compose() {
    let mut event = noisy_gd();
    event.phases = vec![phase(300, 0, 0); 4];
    (event.learning, event.longest, event.releases) = (300, 300, 4);
    let adjacency = Adjacency::Remove;
    let one = mu_noisy_gd(&event, World::DifferentialPrivacyOneRelease(adjacency)).unwrap().get();
    let all = mu_noisy_gd(&event, World::DifferentialPrivacyAllReleases(adjacency)).unwrap().get();
    assert!((all / one - 2.0).abs() < 1e-12);
    // The same history with its first three phases merged bounds each by the longest.
    let merged = Phase { releases: 3, ..phase(900, 0, 0) };
    event.phases = vec![merged, phase(300, 0, 0)];
    let again = World::DifferentialPrivacyAllReleases(adjacency);
    assert!((mu_noisy_gd(&event, again).unwrap().get() / all - 1.0).abs() < 1e-12);
}

#[test]
fn grid_and_rounding_enter_every_step() {
    let mut event = noisy_gd();
    event.phases = vec![phase(1, 0, 0)];
    (event.learning, event.longest, event.releases) = (1, 1, 1);
    event.grid = Decimal(2f64.powi(-24));
    event.rounding = Decimal(1e-9);
    let c = 1.0 - 3.817_056_133_627_501 * 0.011_982;
    let want = ((1.0 + c) * 2f64.powi(-24) * 28.0 + 2e-9) / event.noise.0;
    close(mu_noisy_gd(&event, World::Retraining).unwrap(), want);
}

#[test]
fn output_noise_follows_its_table() {
    let event = output_noise();
    let (tau, h) = (1e-3, 28.0 * 2f64.powi(-40));
    let close_to = |world, want: f64| close(mu_output_noise(&event, world).unwrap(), want / 0.01);
    close_to(World::Retraining, 2.0 * tau + h);
    close_to(World::DeletionPrivacy(Adjacency::Remove), tau + h);
    let moved = 100.0 / (0.011_982 * 11_982.0);
    let one = |times: f64| times * moved + 2.0 * tau + h;
    close_to(World::DifferentialPrivacyOneRelease(Adjacency::Remove), one(1.0));
    close_to(World::DifferentialPrivacyOneRelease(Adjacency::Replace), one(2.0));
    close_to(World::DifferentialPrivacyAllReleases(Adjacency::Remove), 2.0 * one(1.0));
}

#[test]
fn secret_state_counts_joint_releases() {
    let mut event = output_noise();
    let perfect = mu_output_noise(&event, World::Retraining).unwrap().get();
    (event.state, event.joint_releases) = (State::Secret, 9);
    let secret = mu_output_noise(&event, World::Retraining).unwrap().get();
    assert!((secret / perfect - 3.0).abs() < 1e-12);
    let all = World::DifferentialPrivacyAllReleases(Adjacency::Remove);
    let one = World::DifferentialPrivacyOneRelease(Adjacency::Remove);
    let ratio =
        mu_output_noise(&event, all).unwrap().get() / mu_output_noise(&event, one).unwrap().get();
    assert!((ratio - 3.0).abs() < 1e-12);
    let refused = mu_output_noise(&event, World::DeletionPrivacy(Adjacency::Remove)).unwrap_err();
    assert!(
        refused.to_string().contains("`secret` state depends on the deleted records"),
        "{refused}"
    );
}

proptest! {
    #[test]
    fn noisy_gd_is_monotone(
        t in 1_u64..3000, k in 1_u64..300, then in 0_u64..50, now in 0_u64..50, sigma in 0.01..1.0_f64,
    ) {
        let mut event = noisy_gd();
        event.noise = Decimal(sigma);
        event.phases = vec![phase(t, then, now), phase(k, 0, 0)];
        (event.learning, event.longest) = (t, t.max(k));
        let mu = |event: &NoisyGd| mu_noisy_gd(event, World::Retraining).unwrap().get();
        let here = mu(&event);
        let mut more = event.clone();
        more.phases[0].only_then += 1;
        prop_assert!(mu(&more) >= here);
        let mut louder = event.clone();
        louder.noise = Decimal(sigma * 1.5);
        prop_assert!(mu(&louder) <= here);
        let mut longer = event.clone();
        longer.phases[1].steps += 1;
        longer.longest += 1;
        prop_assert!(mu(&longer) <= here * (1.0 + 1e-9) + 1e-12);
        let mut worlds = [Adjacency::Remove, Adjacency::Replace].map(|adjacency| {
            mu_noisy_gd(&event, World::DifferentialPrivacyOneRelease(adjacency)).unwrap().get()
        });
        worlds.sort_by(f64::total_cmp);
        let all = World::DifferentialPrivacyAllReleases(Adjacency::Replace);
        prop_assert!(mu_noisy_gd(&event, all).unwrap().get() >= worlds[1]);
    }
}
