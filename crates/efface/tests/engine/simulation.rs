//! The engine in memory does what it does on a vault.

use efface::{
    Claim, Code, Delete, Selector, Settings, Simulation, World as Side, audit_sample, certificate,
    delete,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::world::{World, unwatched};

fn named(mechanism: &str) -> Settings {
    Settings { mechanism: Some(mechanism.into()), lambda: Some(0.1), ..Settings::default() }
}

/// A simulated deletion has the claims, word for word, that the certificate of the real one has: the
/// same plan, steps, event and accountants.
#[test]
fn rehearsed_claims_are_those_of_the_certificate() {
    for settings in [
        named("solve"),
        named("retrain"),
        named("noisy-gd"),
        Settings { loss: Some("softmax".into()), ..named("noisy-gd") },
        Settings { normalizer: Some("mean".into()), ..named("noisy-gd") },
        Settings {
            loss: Some("squared".into()),
            target_range: Some((0.0, 10.0)),
            ..named("solve")
        },
        named("descent-to-delete"),
        Settings {
            variant: Some("secret".into()),
            releases: Some(4),
            ..named("descent-to-delete")
        },
        Settings { releases: Some(4), ..named("distributed-descent") },
        Settings { state: Some("secret".into()), releases: Some(4), ..named("solve") },
    ] {
        let world = World::new();
        let (vault, _) = world.trained(settings.clone()).unwrap();
        let ids = vec!["id-7".to_owned(), "id-91".to_owned()];
        let found = audit_sample(&vault, &ids).unwrap();
        assert_eq!((found.records.rows(), &found.named), (120, &vec![7, 91]));
        let simulation = Simulation::new(&found.plan, &found.records, &found.named).unwrap();
        assert_eq!(simulation.records(Side::After).rows(), 118);
        let rng = &mut ChaCha20Rng::seed_from_u64(1);
        let learnt = simulation.learn(Side::Before, rng, &mut unwatched).unwrap();
        let deleted = simulation.delete(&learnt, rng, &mut unwatched).unwrap();
        let reference = simulation.reference(&deleted.event, rng, &mut unwatched).unwrap();
        assert_eq!(reference.weights.len(), deleted.weights.len());

        let request = Delete { what: Selector::Ids(ids), request_id: None };
        let served = world.run(|s| delete(&vault, &request, s)).unwrap();
        let simulated: Vec<Claim> = simulation.claims(&deleted).unwrap();
        assert_eq!(simulated, served.claims, "{settings:?}");
        let closeness = simulation.closeness(&deleted).unwrap();
        assert!(!closeness.is_empty() && closeness.iter().all(|c| served.claims.contains(c)));
        assert!(certificate(&vault, "latest").is_ok());
    }
}

/// `ridge` draws no random numbers: a simulated deletion and its reference are the same bits.
#[test]
fn exact_removal_is_rehearsed_exactly() {
    let world = World::new();
    let settings = Settings {
        loss: Some("squared".into()),
        target_range: Some((0.0, 10.0)),
        ..named("ridge")
    };
    let (vault, _) = world.trained(settings).unwrap();
    let found = audit_sample(&vault, &["id-3".to_owned()]).unwrap();
    let simulation = Simulation::new(&found.plan, &found.records, &found.named).unwrap();
    let rng = &mut ChaCha20Rng::seed_from_u64(2);
    let learnt = simulation.learn(Side::Before, rng, &mut unwatched).unwrap();
    let deleted = simulation.delete(&learnt, rng, &mut unwatched).unwrap();
    let reference = simulation.reference(&deleted.event, rng, &mut unwatched).unwrap();
    assert_eq!(deleted.weights, reference.weights);
    assert_ne!(deleted.weights, learnt.weights);
}

#[test]
fn what_cannot_be_rehearsed_is_refused() {
    let world = World::new();
    let (vault, _) = world.trained(named("solve")).unwrap();
    let error = audit_sample(&vault, &["nobody".to_owned()]).unwrap_err();
    assert_eq!(error.code(), Code::UnknownRecord);
    let found = audit_sample(&vault, &[]).unwrap();
    for positions in [&[][..], &[5, 4], &[4, 4], &[120]] {
        let error = Simulation::new(&found.plan, &found.records, positions).unwrap_err();
        assert_eq!(error.code(), Code::Positions, "{positions:?}");
    }
}
