//! What certificates claim: the target is met and not wasted, and nothing is claimed that the
//! origins of constants forbid.

use efface::{
    CheckOutcome, Claim, Code, Delete, Notion, Requests, Selector, Settings, Source, delete,
    status, verify,
};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{Certificate, Origin};
use efface_privacy::claim::{Question, evaluate};
use efface_privacy::event::{Adjacency, Event};

use crate::world::World;

fn claim(claims: &[Claim], notion: Notion) -> Option<&Claim> {
    claims.iter().find(|claim| claim.notion == notion)
}

fn delete_one(id: &str) -> Delete {
    Delete { what: Selector::Ids(vec![id.to_owned()]), request_id: None }
}

#[test]
fn every_notion_is_met_and_not_wasted() {
    let public = || Settings {
        public_n: Some(120),
        capacity: Some(150),
        delta: Some(1e-5),
        lambda: Some(0.05),
        epsilon: Some(2.0),
        ..Settings::default()
    };
    let cases = [
        ("solve", "indistinguishable-from-retraining"),
        ("solve", "renyi-unlearning"),
        ("solve", "deletion-privacy"),
        ("solve", "differential-privacy"),
        ("retrain", "indistinguishable-from-retraining"),
        ("noisy-gd", "indistinguishable-from-retraining"),
        ("noisy-gd", "renyi-unlearning"),
        ("noisy-gd", "deletion-privacy"),
        ("noisy-gd", "differential-privacy"),
    ];
    for (mechanism, name) in cases {
        let world = World::new();
        let notion = Notion::from_name(name).unwrap();
        let settings = Settings {
            mechanism: Some(mechanism.into()),
            notion: Some(name.into()),
            releases: (notion == Notion::DifferentialPrivacy).then_some(2),
            max_group: Some(3),
            ..public()
        };
        let (vault, _) = world.trained(settings).unwrap();
        let served = world.run(|s| delete(&vault, &delete_one("id-7"), s)).unwrap();
        let wanted = claim(&served.claims, notion).unwrap();
        assert!(wanted.epsilon.0 <= 2.0, "{mechanism} {name}: {}", wanted.epsilon);
        // noisy-gd under `indistinguishable` and `renyi` is planned for the whole group of 3.
        let one_of_three = mechanism == "noisy-gd"
            && matches!(notion, Notion::IndistinguishableFromRetraining | Notion::RenyiUnlearning);
        if !one_of_three {
            assert!(wanted.epsilon.0 > 1.98, "{mechanism} {name}: {}", wanted.epsilon);
        }
        assert_eq!(served.claims[0].notion, notion, "the claim asked for comes first");
    }
}

#[test]
fn p_adaptive_deletion_privacy_pays_for_what_was_seen() {
    let world = World::new();
    let settings = Settings {
        notion: Some("deletion-privacy".into()),
        interactions: Some(3),
        epsilon: Some(4.0),
        max_group: Some(3),
        ..Settings::default()
    };
    let (vault, _) = world.trained(settings).unwrap();
    let served = world.run(|s| delete(&vault, &delete_one("id-7"), s)).unwrap();
    let wanted = claim(&served.claims, Notion::DeletionPrivacy).unwrap();
    assert!(wanted.epsilon.0 <= 4.0 && wanted.epsilon.0 > 3.9);
    assert!(served.certificate.contains("p-adaptive"));
    // Three releases seen cost three times one release's divergence, whose mu is that of all
    // releases over the root of their number.
    let event = Certificate::parse(&served.certificate).unwrap().event;
    let order = wanted.order.unwrap().0;
    let (adjacency, requests) = (wanted.adjacency.unwrap(), Requests::NonAdaptive);
    let question = Question::Deletion { order, adjacency, requests };
    let fixed = evaluate(&event, &question, Accountant::Gdp).unwrap().epsilon.0;
    let all = claim(&served.claims, Notion::DifferentialPrivacy).unwrap();
    assert_eq!((all.group.as_str(), all.releases), (wanted.group.as_str(), 2));
    let one = order * all.mu.unwrap().0.powi(2) / 2.0 / 2.0;
    let expected = fixed + 3.0 * one;
    assert!((wanted.epsilon.0 / expected - 1.0).abs() < 1e-6, "{expected}: {wanted:?}");
    assert!(3.0 * one > fixed, "{fixed}: what was seen is no small part");
}

/// What earlier updates leave of their starts adds up, and noise is found for all of them.
#[test]
fn descent_keeps_deletion_privacy_for_one_deletion_after_another() {
    for interactions in [None, Some(4)] {
        let world = World::new();
        let settings = Settings {
            mechanism: Some("descent-to-delete".into()),
            notion: Some("deletion-privacy".into()),
            iterations: Some(60),
            interactions,
            public_n: Some(120),
            capacity: Some(150),
            lambda: Some(0.05),
            max_group: Some(3),
            ..Settings::default()
        };
        let (vault, _) = world.trained(settings).unwrap();
        for id in ["id-7", "id-8", "id-9", "id-30"] {
            let served = world.run(|s| delete(&vault, &delete_one(id), s)).unwrap();
            let wanted = claim(&served.claims, Notion::DeletionPrivacy).unwrap();
            assert!(wanted.epsilon.0 <= 1.0 && wanted.epsilon.0 > 0.1, "{id}: {}", wanted.epsilon);
        }
    }
}

#[test]
fn a_private_row_count_is_neither_claimed_about_nor_told() {
    // N from the data: DP only in the replace sense, with the count as an assumption.
    let world = World::new();
    let settings = Settings {
        notion: Some("differential-privacy".into()),
        max_group: Some(3),
        releases: Some(2),
        ..Settings::default()
    };
    let (_, served) = world.trained(settings).unwrap();
    assert!(served.certificate.contains("\"adjacency\":\"replace\""));
    assert!(!served.certificate.contains("\"adjacency\":\"remove\""));
    assert!(served.certificate.contains("the number of records is public"));

    // All constants given: the remove sense, and no count anywhere in the certificate.
    let world = World::new();
    let mut source = world.table("train.csv", 0, 113, 2);
    source.classes = Some(vec!["no".into(), "yes".into()]);
    let settings = Settings {
        notion: Some("differential-privacy".into()),
        public_n: Some(100),
        capacity: Some(150),
        delta: Some(1e-6),
        max_group: Some(3),
        releases: Some(2),
        ..Settings::default()
    };
    let vault = world.path("model.efface");
    let served = world.run(|s| efface::train(&source, settings, &vault, s)).unwrap();
    assert!(served.certificate.contains("\"adjacency\":\"remove\""));
    assert!(served.certificate.contains("\"records\":\"not stated\""));
    assert!(!served.certificate.contains("\"113\""));
    let html = efface::report(&vault, &[]).unwrap();
    assert!(html.contains("is now trained on a private number of records"));
    assert!(html.contains("not stated: it is private") && !html.contains("113 records"));
}

/// One size that was taken from the data is enough, and the certificate says which.
#[test]
fn what_the_data_decide_makes_the_row_count_public() {
    let world = World::new();
    for (public_n, told) in [(None, "n"), (Some(100), "")] {
        let classes = Some(vec!["no".to_owned(), "yes".to_owned()]);
        let source = Source { classes, ..world.table("train.csv", 0, 113, 2) };
        let settings = Settings {
            notion: Some("differential-privacy".into()),
            public_n,
            capacity: Some(150),
            delta: Some(1e-6),
            max_group: Some(3),
            releases: Some(2),
            ..Settings::default()
        };
        let vault = world.path(&format!("model{told}.efface"));
        let served = world.run(|s| efface::train(&source, settings, &vault, s)).unwrap();
        let certificate = Certificate::parse(&served.certificate).unwrap();
        let expected = if told.is_empty() { Adjacency::Remove } else { Adjacency::Replace };
        assert_eq!(certificate.claims[0].adjacency, Some(expected), "{told}");
        let from_data = certificate.constants.iter().filter(|c| c.origin == Origin::Data);
        let names: Vec<&str> = from_data.map(|c| c.name.as_str()).collect();
        assert_eq!(names.contains(&told), !told.is_empty(), "{told}: {names:?}");
        assert_eq!(names.is_empty(), told.is_empty(), "{told}: {names:?}");
    }
}

#[test]
fn releases_under_dp_end() {
    let world = World::new();
    let settings = Settings {
        notion: Some("differential-privacy".into()),
        releases: Some(2),
        max_group: Some(3),
        ..Settings::default()
    };
    let (vault, _) = world.trained(settings).unwrap();
    world.run(|s| delete(&vault, &delete_one("id-1"), s)).unwrap();
    let error = world.run(|s| delete(&vault, &delete_one("id-2"), s)).unwrap_err();
    assert_eq!(error.code(), Code::ReleasesExhausted);
    assert_eq!(status(&vault).unwrap().releases_left, Some(0));
}

#[test]
fn noisy_gd_takes_the_fewest_steps_that_meet_the_target() {
    let world = World::new();
    let settings = Settings {
        mechanism: Some("noisy-gd".into()),
        lambda: Some(0.05),
        noise: Some(0.3),
        max_group: Some(20),
        ..Settings::default()
    };
    let (vault, _) = world.trained(settings).unwrap();
    let few = world.run(|s| delete(&vault, &delete_one("id-1"), s)).unwrap();
    let ids = (10..30).map(|k| format!("id-{k}")).collect();
    let request = Delete { what: Selector::Ids(ids), request_id: None };
    let many = world.run(|s| delete(&vault, &request, s)).unwrap();
    let steps = |served: &efface::Served| served.work.as_ref().unwrap().steps;
    assert!(steps(&few) < steps(&many), "{} {}", steps(&few), steps(&many));
    assert!(many.claims[0].epsilon.0 <= 1.0);
}

#[test]
fn large_weights_beside_small_noise_get_a_coarser_grid() {
    // Noise for a million records: weights up to G/lambda are 10^9 of it and more.
    let world = World::new();
    let settings = Settings {
        mechanism: Some("noisy-gd".into()),
        public_n: Some(1_000_000),
        capacity: Some(1_250_000),
        lambda: Some(1e-3),
        ..Settings::default()
    };
    let (vault, _) = world.trained(settings).unwrap();
    let served = world.run(|s| delete(&vault, &delete_one("id-7"), s)).unwrap();
    let Event::NoisyGd(event) = Certificate::parse(&served.certificate).unwrap().event else {
        panic!("another event")
    };
    let fineness = (event.noise.0 / event.grid.0).log2();
    assert!((20.0..29.0).contains(&fineness), "{fineness}");
    // All the weights there may be are on it.
    assert!(
        event.setting.lipschitz.0 / event.setting.strong_convexity.0 / event.grid.0
            < 2.0_f64.powi(51)
    );
    let key = world.keyring.public_key();
    let verdict = verify(&served.certificate, Some(&key), Some(&vault), None).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}
