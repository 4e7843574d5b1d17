//! `solve` by Newton steps from a kept memory.

use efface::{
    CheckOutcome, Code, Delete, Selector, Settings, add, certificate, delete, entries, refresh,
    status, update, verify, verify_ledger,
};

use crate::world::World;

fn one(id: usize) -> Delete {
    Delete { what: Selector::Ids(vec![format!("id-{id}")]), request_id: None }
}

fn settings() -> Settings {
    Settings {
        state: Some("secret".into()),
        solver: Some("newton".into()),
        releases: Some(40),
        lambda: Some(0.05),
        delta: Some(5e-3),
        ..Settings::default()
    }
}

/// Whether a request made no pass over all rows.
fn remembered(served: &efface::Served) -> bool {
    served.work.as_ref().unwrap().passes == 0
}

#[test]
fn requests_are_served_from_the_changed_rows_until_the_bound_runs_out() {
    let world = World::new();
    let (vault, first) = world.trained(settings()).unwrap();
    assert!(!remembered(&first));
    let fresh = status(&vault).unwrap().memory.unwrap();
    assert!(fresh.margin > 0.5 && fresh.changes == 0, "{fresh:?}");
    let mut passes = Vec::new();
    for k in 0..30 {
        let served = world.run(|s| delete(&vault, &one(k), s)).unwrap();
        passes.push(served.work.unwrap().passes);
        let memory = status(&vault).unwrap().memory.unwrap();
        assert!(memory.distance <= memory.limit, "{memory:?}");
    }
    assert_eq!(passes[0], 0, "the first deletion needs no pass: {passes:?}");
    assert!(passes.iter().filter(|p| **p == 0).count() >= 10, "{passes:?}");
    let more = world.table("more.csv", 200, 4, 2);
    let served = world.run(|s| add(&vault, &more, None, s)).unwrap();
    assert_eq!((served.records, served.remaining), (Some(4), 94));
    let again = world.table("again.csv", 100, 2, 2);
    let served = world.run(|s| update(&vault, &again, None, s)).unwrap();
    assert_eq!((served.records, served.remaining), (Some(2), 94));

    let key = world.keyring.public_key();
    let verdict =
        verify_ledger(&vault, Some(&key), Some(&served.head), Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    let certificates = entries(&vault).unwrap().into_iter().filter(|e| e.kind == "certificate");
    for entry in certificates {
        let text = certificate(&vault, &entry.index.to_string()).unwrap();
        let verdict = verify(&text, Some(&key), Some(&vault), None).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    }
}

#[test]
fn certificates_tell_nothing_of_the_memory() {
    // A deletion served from the memory and one that needed a pass differ in what every two
    // certificates differ in, and in nothing else.
    let world = World::new();
    let (vault, _) = world.trained(settings()).unwrap();
    let (mut quiet, mut loud) = (None, None);
    for k in 0..39 {
        let served = world.run(|s| delete(&vault, &one(k), s)).unwrap();
        let slot = if remembered(&served) { &mut quiet } else { &mut loud };
        let mut text: serde_json::Value = serde_json::from_str(&served.certificate).unwrap();
        let document = text.as_object_mut().unwrap();
        for own in ["id", "chain", "signature", "request", "model"] {
            assert!(document.remove(own).is_some(), "{own}");
        }
        document["event"].as_object_mut().unwrap().remove("releases");
        slot.get_or_insert(text);
    }
    let quiet = quiet.expect("none was served from the memory");
    if let Some(loud) = loud {
        let claims = |text: &serde_json::Value| text["claims"].as_array().unwrap().len();
        assert_eq!(claims(&quiet), claims(&loud));
        assert_eq!(quiet["event"], loud["event"]);
        assert_eq!(quiet["constants"], loud["constants"]);
        assert_eq!(quiet["scope"], loud["scope"]);
    }
}

#[test]
fn releases_are_counted_and_a_refresh_erases_the_memory() {
    let world = World::new();
    let (vault, _) = world.trained(Settings { releases: Some(3), ..settings() }).unwrap();
    for k in 0..2 {
        world.run(|s| delete(&vault, &one(k), s)).unwrap();
    }
    let error = world.run(|s| delete(&vault, &one(2), s)).unwrap_err();
    assert_eq!(error.code(), Code::ReleasesExhausted);
    assert_eq!(status(&vault).unwrap().memory.unwrap().changes, 2);
    world.run(|s| refresh(&vault, None, s)).unwrap();
    let after = status(&vault).unwrap();
    assert_eq!((after.releases_left, after.memory.unwrap().changes), (Some(2), 0));
    let served = world.run(|s| delete(&vault, &one(2), s)).unwrap();
    assert_eq!(served.remaining, 117);
}

#[test]
fn only_the_named_solver_in_secret_state_keeps_a_memory() {
    for settings in [
        Settings { solver: None, ..settings() },
        Settings { state: None, releases: None, ..settings() },
    ] {
        let world = World::new();
        let (vault, _) = world.trained(settings).unwrap();
        assert_eq!(status(&vault).unwrap().memory, None);
        assert!(!remembered(&world.run(|s| delete(&vault, &one(1), s)).unwrap()));
    }
}

#[test]
fn the_squared_loss_without_a_clip_needs_no_pass() {
    let world = World::new();
    let squared = Settings {
        loss: Some("squared".into()),
        target_range: Some((0.0, 10.0)),
        clip: Some(f64::INFINITY),
        ..settings()
    };
    let (vault, _) = world.trained(squared.clone()).unwrap();
    for k in 0..20 {
        assert!(remembered(&world.run(|s| delete(&vault, &one(k), s)).unwrap()));
    }
    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");

    // A finite clip has a kink, and steps of noisy-gd may go anywhere.
    let clipped = Settings { clip: Some(1.0), ..squared.clone() };
    assert_eq!(World::new().trained(clipped).unwrap_err().code(), Code::Settings);
    let steps = Settings {
        mechanism: Some("noisy-gd".into()),
        state: None,
        solver: None,
        releases: None,
        ..squared
    };
    assert_eq!(World::new().trained(steps).unwrap_err().code(), Code::Range);
}

#[test]
fn losses_without_a_bound_are_refused() {
    for loss in ["softmax", "huber-hinge"] {
        let world = World::new();
        let error = world.trained(Settings { loss: Some(loss.into()), ..settings() }).unwrap_err();
        assert_eq!(error.code(), Code::Settings, "{error:?}");
        assert!(error.to_string().contains(loss), "{error}");
    }
}
