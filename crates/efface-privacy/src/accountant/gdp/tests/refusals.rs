use super::super::*;
use super::events::{noisy_gd, output_noise, phase};
use crate::event::{Adjacency, NoisyGd, Normalizer, OutputNoise, State};
use crate::quantity::Decimal;

/// Each change makes a good event bad; the message names the field.
#[test]
fn malformed_noisy_gd_events_are_refused() {
    type Change = fn(&mut NoisyGd);
    let dp = World::DifferentialPrivacyOneRelease(Adjacency::Remove);
    let cases: Vec<(&str, World, Change)> = vec![
        ("parameters", World::Retraining, |e| e.setting.parameters = 0),
        ("parameters", World::Retraining, |e| e.setting.parameters = u64::MAX),
        ("lipschitz", World::Retraining, |e| e.setting.lipschitz = Decimal(0.0)),
        ("smoothness", World::Retraining, |e| e.setting.smoothness = Decimal(-1.0)),
        ("strong_convexity", World::Retraining, |e| {
            e.setting.strong_convexity = Decimal(f64::INFINITY);
        }),
        ("n", World::Retraining, |e| {
            e.setting.normalizer = Normalizer::Fixed { n: 0, capacity: 20_000 };
        }),
        ("records", World::Retraining, |e| e.phases[0].records = Some(20_000)),
        ("only_then", World::Retraining, |e| e.phases[0].only_then = 20_000),
        ("only_now", World::Retraining, |e| e.phases[0].only_now = u64::MAX),
        ("step", World::Retraining, |e| e.step = Decimal(0.0)),
        ("step", World::Retraining, |e| e.step = Decimal(7.7)),
        ("step", World::Retraining, |e| e.step = Decimal(f64::NAN)),
        ("noise", World::Retraining, |e| e.noise = Decimal(0.0)),
        ("noise", World::Retraining, |e| e.noise = Decimal(1e-310)),
        ("grid", World::Retraining, |e| e.grid = Decimal(1e-6)),
        ("grid", World::Retraining, |e| e.grid = Decimal(0.0)),
        ("rounding", World::Retraining, |e| e.rounding = Decimal(-1e-9)),
        ("phases", World::Retraining, |e| e.phases.clear()),
        ("phases", World::Retraining, |e| e.phases = vec![phase(1, 0, 0); 100_001]),
        ("steps", World::Retraining, |e| e.phases[1].steps = 0),
        ("steps", World::Retraining, |e| e.phases[1].steps = 10_001),
        ("releases", World::Retraining, |e| e.releases = 3),
        ("releases", World::Retraining, |e| e.phases[0].releases = 0),
        ("learning", World::Retraining, |e| e.learning = 10_001),
        ("longest", World::Retraining, |e| e.longest = 0),
        ("only_then + only_now of the last phase", World::Retraining, |e| {
            e.phases[1].only_then = 1;
        }),
        ("group", dp, |e| e.setting.group = 0),
        ("group", dp, |e| e.setting.group = 12_000),
    ];
    for (field, world, change) in cases {
        let mut event = noisy_gd();
        assert!(mu_noisy_gd(&event, world).is_ok());
        change(&mut event);
        match mu_noisy_gd(&event, world) {
            Err(AccountantError::Malformed { name, .. }) => assert_eq!(name, field),
            other => panic!("`{field}`: {other:?}"),
        }
    }
}

#[test]
fn malformed_output_noise_events_are_refused() {
    type Change = fn(&mut OutputNoise);
    let cases: Vec<(&str, Change)> = vec![
        ("strong_convexity", |e| e.setting.strong_convexity = Decimal(0.0)),
        ("distance", |e| e.distance = Decimal(-1.0)),
        ("distance", |e| e.distance = Decimal(f64::NAN)),
        ("noise", |e| e.noise = Decimal(f64::INFINITY)),
        ("grid", |e| e.grid = Decimal(1e-3)),
        ("records", |e| e.records = Some(12_000)),
        ("releases", |e| e.releases = 0),
        ("joint_releases", |e| e.joint_releases = 2),
        ("joint_releases", |e| (e.joint_releases, e.state) = (0, State::Secret)),
    ];
    for (field, change) in cases {
        let mut event = output_noise();
        change(&mut event);
        match mu_output_noise(&event, World::Retraining) {
            Err(AccountantError::Malformed { name, .. }) => assert_eq!(name, field),
            other => panic!("`{field}`: {other:?}"),
        }
    }
}

#[test]
fn deletion_privacy_needs_a_deletion() {
    let mut event = noisy_gd();
    event.phases.truncate(1);
    event.phases[0].only_then = 0;
    event.releases = 1;
    let refused = mu_noisy_gd(&event, World::DeletionPrivacy(Adjacency::Remove)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "deletion privacy cannot be bounded: nothing was deleted: the event has only the training \
         phase"
    );
}

#[test]
fn messages_name_the_field_the_rule_and_the_value() {
    let mut event = noisy_gd();
    event.noise = Decimal(-3.0);
    let refused = mu_noisy_gd(&event, World::Retraining).unwrap_err();
    assert_eq!(refused.to_string(), "`noise` must be in [1e-100, 1e100], got -3");
}
