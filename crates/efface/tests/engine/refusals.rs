//! What is refused, by which code, and that nothing changes then.

use efface::{
    CheckOutcome, Code, Context, Delete, Error, Keyring, Kind, MechanismName, Selector, Settings,
    Source, add, delete, refresh, train, verify,
};

use crate::world::{World, bytes, holds};

fn ids(names: &[&str]) -> Selector {
    Selector::Ids(names.iter().map(|name| (*name).to_owned()).collect())
}

fn refused(settings: Settings) -> Error {
    let world = World::new();
    let error = world.trained(settings).unwrap_err();
    assert!(!world.path("model.efface").exists(), "nothing is left of a refused training");
    error
}

#[test]
fn settings_out_of_range_or_at_odds() {
    let text = |name: &str| Some(name.to_owned());
    let cases: Vec<(Settings, &str)> = vec![
        (Settings { loss: text("logit"), ..Settings::default() }, "loss"),
        (Settings { mechanism: text("sgd"), ..Settings::default() }, "mechanism"),
        (Settings { notion: text("dp"), ..Settings::default() }, "notion"),
        (Settings { lambda: Some(0.0), ..Settings::default() }, "lambda"),
        (Settings { lambda: Some(f64::NAN), ..Settings::default() }, "range"),
        (Settings { epsilon: Some(-1.0), ..Settings::default() }, "range"),
        (Settings { epsilon: Some(f64::INFINITY), ..Settings::default() }, "range"),
        (Settings { delta: Some(1.5), ..Settings::default() }, "range"),
        (Settings { noise: Some(1e-300), ..Settings::default() }, "noise"),
        (Settings { eta: Some(0.1), ..Settings::default() }, "settings"),
        (Settings { clip: Some(0.1), ..Settings::default() }, "settings"),
        (
            Settings {
                mechanism: text("noisy-gd"),
                clip: Some(f64::INFINITY),
                ..Settings::default()
            },
            "range",
        ),
        (Settings { capacity: Some(60), ..Settings::default() }, "capacity"),
        (Settings { loss: text("squared"), ..Settings::default() }, "target-range"),
        (Settings { mechanism: text("noisy-gd"), eta: Some(1e9), ..Settings::default() }, "eta"),
        (
            Settings {
                notion: text("deletion-privacy"),
                state: text("secret"),
                ..Settings::default()
            },
            "settings",
        ),
        (
            Settings {
                notion: text("differential-privacy"),
                max_group: Some(2),
                ..Settings::default()
            },
            "max-group",
        ),
    ];
    for (settings, code) in cases {
        let shown = format!("{settings:?}");
        let error = refused(settings);
        assert_eq!(error.code().as_str(), code, "{shown}: {error}");
    }
}

#[test]
fn tiny_noise_is_refused_as_unattainable() {
    let error = refused(Settings { noise: Some(1e-14), ..Settings::default() });
    assert_eq!(error.code(), Code::By(MechanismName::Solve));
    let hint = error.what_to_do().unwrap();
    assert!(hint.contains("`§lambda`") && hint.contains("`§noise` to "), "{error}");
}

#[test]
fn unknown_ids_refuse_the_whole_batch() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let before = std::fs::read(&vault).unwrap();
    let request = Delete { what: ids(&["id-1", "nobody", "id-2"]), request_id: None };
    let error = world.run(|s| delete(&vault, &request, s)).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::Refused, Code::UnknownRecord));
    assert!(error.message().contains("`nobody`") && !error.message().contains("id-1"));
    assert_eq!(std::fs::read(&vault).unwrap(), before);
}

#[test]
fn a_request_id_stands_for_one_request() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let ask = |names: &[&str], id: &str| {
        let request = Delete { what: ids(names), request_id: Some(id.to_owned()) };
        world.run(|s| delete(&vault, &request, s))
    };
    let first = ask(&["id-1"], "ticket-A").unwrap();
    assert!(ask(&["id-1"], "ticket-A").unwrap().replayed);
    assert_eq!(ask(&["id-2"], "ticket-A").unwrap_err().code(), Code::RequestConflict);
    assert_eq!(ask(&["id-2"], "about-id-2").unwrap_err().code(), Code::RequestId);
    assert_eq!(ask(&["id-2"], "").unwrap_err().code(), Code::RequestId);
    let already = ask(&["id-1"], "ticket-B").unwrap();
    assert_eq!(already.certificate, first.certificate);
}

#[test]
fn ids_are_never_used_again() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let known = world.table("known.csv", 5, 2, 2);
    assert_eq!(world.run(|s| add(&vault, &known, None, s)).unwrap_err().code(), Code::DuplicateId);
    let request = Delete { what: ids(&["id-5", "id-6"]), request_id: None };
    world.run(|s| delete(&vault, &request, s)).unwrap();
    let error = world.run(|s| add(&vault, &known, None, s)).unwrap_err();
    assert_eq!(error.code(), Code::DuplicateId);
}

#[test]
fn duplicate_ids_one_class_and_empty_tables() {
    let world = World::new();
    let vault = world.path("model.efface");
    let train_on = |text: &str, preprocess: Option<&str>| {
        let path = world.path("t.csv");
        std::fs::write(&path, text).unwrap();
        let source = Source {
            path: Some(path),
            label: Some("y".into()),
            id: Some("id".into()),
            ..Source::default()
        };
        let settings =
            Settings { preprocess: preprocess.map(str::to_owned), ..Settings::default() };
        world.run(|s| train(&source, settings, &vault, s)).unwrap_err()
    };
    let try_text = |text: &str| train_on(text, None);
    assert_eq!(try_text("id,y,a\n1,0,0.5\n1,1,0.2\n").code(), Code::DuplicateId);
    assert_eq!(try_text("id,y,a\n1,0,0.5\n2,0,0.2\n").code(), Code::Classes);
    let missing = train_on("id,y,a\n1,0,0.5\n2,1,NaN\n", Some("declared"));
    assert_eq!(missing.kind(), Kind::Input);
    for empty in ["", "id,y,a\n"] {
        try_text(empty);
    }
    assert!(!vault.exists());
}

#[test]
fn capacity_is_kept() {
    let world = World::new();
    let settings = Settings { capacity: Some(121), ..Settings::default() };
    let (vault, _) = world.trained(settings).unwrap();
    let one = world.table("one.csv", 500, 1, 2);
    world.run(|s| add(&vault, &one, None, s)).unwrap();
    let two = world.table("two.csv", 600, 1, 2);
    assert_eq!(world.run(|s| add(&vault, &two, None, s)).unwrap_err().code(), Code::Capacity);
}

#[test]
fn another_key_is_refused_and_perfect_state_has_nothing_to_refresh() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    assert_eq!(world.run(|s| refresh(&vault, None, s)).unwrap_err().code(), Code::NothingToRefresh);
    let other =
        Keyring::create(&world.path("keys").join("other.toml"), &[1; 32], &[2; 32]).unwrap();
    let request = Delete { what: ids(&["id-1"]), request_id: None };
    let error = world
        .run(|s| {
            let mut with_other = Context {
                clock: s.clock,
                entropy: &mut *s.entropy,
                keyring: &other,
                watch: &mut *s.watch,
                wait: s.wait,
                rows: efface::RowStore::Vault,
            };
            delete(&vault, &request, &mut with_other)
        })
        .unwrap_err();
    assert_eq!(error.code(), Code::Key);
}

/// A time that documents have no room for refuses a request before anything is changed.
#[test]
fn a_clock_outside_of_four_digits_is_refused() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let before = std::fs::read(&vault).unwrap();
    let source = world.table("again.csv", 0, 120, 2);
    let request = Delete { what: ids(&["id-1"]), request_id: None };
    for time in ["-000009-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "out of range"] {
        let at = |work: &dyn Fn(&mut Context<'_>) -> efface::Result<()>| {
            let refused = world.run(|s| {
                work(&mut Context {
                    clock: &|| time.to_owned(),
                    entropy: &mut *s.entropy,
                    keyring: s.keyring,
                    watch: &mut *s.watch,
                    wait: s.wait,
                    rows: efface::RowStore::Vault,
                })
            });
            let error = refused.unwrap_err();
            assert_eq!(error.code(), Code::Clock);
            assert!(error.to_string().contains(time), "{error}");
        };
        at(&|s| delete(&vault, &request, s).map(drop));
        at(&|s| efface::erase(&vault, &request, s).map(drop));
        at(&|s| refresh(&vault, None, s).map(drop));
        let other = world.path("other.efface");
        at(&|s| efface::train(&source, Settings::default(), &other, s).map(drop));
        assert!(!other.exists() && std::fs::read(&vault).unwrap() == before);
    }
}

#[test]
fn a_seed_marks_everything_not_for_release() {
    let world = World::new();
    let (vault, served) = world.trained(Settings { seed: Some(1), ..Settings::default() }).unwrap();
    let key = world.keyring.public_key();
    let outcome = |text: &str| verify(text, Some(&key), None, None).unwrap().outcome();
    assert_eq!(outcome(&served.certificate), CheckOutcome::Fails);
    let request = Delete { what: ids(&["id-1"]), request_id: None };
    let later = world.run(|s| delete(&vault, &request, s)).unwrap();
    assert_eq!(outcome(&later.certificate), CheckOutcome::Fails);
}

#[test]
fn deletion_leaves_no_trace_in_the_folder() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let folder = world.path("apart");
    std::fs::create_dir(&folder).unwrap();
    let vault = {
        let apart = folder.join("model.efface");
        std::fs::rename(vault, &apart).unwrap();
        apart
    };
    let find = |text: &str| holds(&bytes(&folder), text.as_bytes());
    assert!(find("id-101") && find("who-33"));
    let request =
        Delete { what: Selector::Subjects(vec!["who-33".into()]), request_id: Some("r1".into()) };
    world.run(|s| delete(&vault, &request, s)).unwrap();
    for gone in ["who-33", "id-99", "id-100", "id-101"] {
        assert!(!find(gone), "{gone}");
    }
}
