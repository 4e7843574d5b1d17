use super::super::*;
use super::events::setting;
use crate::event::{Adjacency, DistributedDescent, Normalizer, State};
use crate::quantity::{Decimal, Delta};

type Change = fn(&mut DistributedDescent);

fn event() -> DistributedDescent {
    let mut setting = setting();
    setting.normalizer = Normalizer::Mean { minimum: 6_000 };
    DistributedDescent {
        setting,
        sample: 12_000,
        parts: 110,
        copies: 1,
        distance: Decimal(1e-4),
        iterations: Some(5),
        noise: Decimal(0.01),
        grid: Decimal(2f64.powi(-40)),
        state: State::Secret,
        joint_releases: 1,
        releases: 4,
        records: 11_000,
    }
}

fn mu(change: Change) -> Result<f64, AccountantError> {
    let mut event = event();
    change(&mut event);
    mu_distributed_descent(&event, World::Retraining).map(|mu| mu.get())
}

#[test]
fn averages_are_two_distances_apart() {
    // (2e-4 + 28 * 2^-40)/0.01, times the root of copies and joint releases.
    let one = (2e-4 + 28.0 * 2f64.powi(-40)) / 0.01;
    for (change, factor) in [
        ((|_| {}) as Change, 1.0),
        (|e| e.copies = 4, 2.0),
        (|e| e.joint_releases = 9, 3.0),
        (|e| (e.copies, e.joint_releases) = (4, 9), 6.0),
        (|e| e.iterations = None, 1.0),
    ] {
        let (got, want) = (mu(change).unwrap(), factor * one);
        assert!(got >= want && got <= want * (1.0 + 1e-8), "{got} {want}");
    }
}

#[test]
fn the_published_conversion_is_above_the_exact_one() {
    for delta in [0.1, 1e-5, 1e-12] {
        let delta = Delta::new(delta).unwrap();
        for distance in [1e-5, 1e-3, 0.1] {
            let event = DistributedDescent { distance: Decimal(distance), ..event() };
            let (mu, published) = published_epsilon(&event, delta).unwrap();
            let exact = crate::gaussian::epsilon(mu, delta).unwrap();
            assert!(published > exact, "{published} {exact}");
            // Lemma A.3 of neel2020 for Delta = 2 tau + g sqrt(P) and delta/2.
            let x = (2.0 * distance + 28.0 * 2f64.powi(-40)) / 0.01;
            let want = x * x / 2.0 + x * (2.0 * (2.0 / delta.get()).ln()).sqrt();
            assert!((published.get() / want - 1.0).abs() < 1e-8, "{published} {want}");
        }
    }
    let measured = DistributedDescent { iterations: None, ..event() };
    let refused = published_epsilon(&measured, Delta::new(0.1).unwrap()).unwrap_err();
    assert!(matches!(refused, AccountantError::Unsupported { notion: "descent", .. }));
}

#[test]
fn only_closeness_to_retraining_is_bounded() {
    for world in [
        World::DeletionPrivacy(Adjacency::Replace),
        World::DifferentialPrivacyOneRelease(Adjacency::Replace),
        World::DifferentialPrivacyAllReleases(Adjacency::Remove),
    ] {
        let refused = mu_distributed_descent(&event(), world).unwrap_err();
        assert!(matches!(refused, AccountantError::Unsupported { .. }), "{refused}");
    }
}

#[test]
fn malformed_events_are_refused() {
    let cases: [(&str, Change); 15] = [
        ("parts", |e| e.parts = 0),
        ("parts", |e| e.parts = 12_001),
        ("sample", |e| e.sample = 0),
        ("copies", |e| e.copies = 0),
        ("iterations", |e| e.iterations = Some(0)),
        ("distance", |e| e.distance = Decimal(f64::NAN)),
        ("distance", |e| e.distance = Decimal(-1.0)),
        ("noise", |e| e.noise = Decimal(0.0)),
        ("grid", |e| e.grid = Decimal(1e-6)),
        ("joint_releases", |e| e.joint_releases = 0),
        ("releases", |e| e.releases = 0),
        ("records", |e| e.records = 5_999),
        ("state", |e| e.state = State::Perfect),
        ("strong_convexity", |e| e.setting.strong_convexity = Decimal(0.0)),
        ("normalizer", |e| {
            e.setting.normalizer = Normalizer::Fixed { n: 12_000, capacity: 15_000 };
        }),
    ];
    for (name, change) in cases {
        match mu(change) {
            Err(AccountantError::Malformed { name: found, .. }) => assert_eq!(found, name),
            other => panic!("{name}: {other:?}"),
        }
    }
}
