//! Models that are in no vault: what they say, what they leave on the disk, and what saving makes of them.

use std::fs::{create_dir, read_dir, write};

use efface::{
    CheckOutcome, Code, Context, Delete, Keyring, MemoryBudget, Result, RowStore, Selector, Served,
    Settings, Source, Unsaved, certificate, delete, entries, train, train_unsaved,
    verify_whole_ledger, weights,
};

use crate::world::World;

/// What certificates of such models have in their list of what they do not cover.
const LIMIT: &str = "the memory of the process that trained";

fn settings(mechanism: &str, preprocess: &str) -> Settings {
    let secret = (mechanism, preprocess) == ("solve", "declared");
    Settings {
        mechanism: Some(mechanism.into()),
        preprocess: Some(preprocess.into()),
        state: secret.then(|| "secret".into()),
        releases: secret.then_some(20),
        noise: (mechanism == "noisy-gd").then_some(0.05),
        lambda: (mechanism == "noisy-gd").then_some(0.01),
        ..Settings::default()
    }
}

fn unsaved(world: &World, settings: Settings) -> Unsaved {
    let source = world.table("train.csv", 0, 120, 2);
    let source = Source { classes: Some(vec!["no".into(), "yes".into()]), ..source };
    world.run(|context| train_unsaved(&source, settings, context)).unwrap()
}

fn forget(context: &mut Context<'_>, world: &World, vault: &str) -> Result<Served> {
    let request = Delete { what: Selector::Subjects(vec!["who-3".into()]), request_id: None };
    delete(&world.path(vault), &request, context)
}

#[test]
fn a_model_that_is_saved_later_is_the_one_that_was_saved_at_once() {
    for (mechanism, preprocess) in [
        ("solve", "declared"),
        ("solve", "fitted"),
        ("retrain", "fitted"),
        ("noisy-gd", "declared"),
        ("ridge", "declared"),
    ] {
        let what = format!("{mechanism} {preprocess}");
        let given = settings(mechanism, preprocess);
        let (world, other) = (World::new(), World::new());
        let source = other.table("train.csv", 0, 120, 2);
        let source = Source { classes: Some(vec!["no".into(), "yes".into()]), ..source };
        let at_once = other.path("model.efface");
        let first = other.run(|c| train(&source, given.clone(), &at_once, c)).unwrap();

        let mut model = unsaved(&world, given);
        let before = model.served().weights.clone().unwrap();
        let vault = world.path("model.efface");
        assert_eq!(model.served().preprocessing, first.preprocessing, "{what}");
        assert_eq!(model.served().notices, first.notices, "{what}");
        let saved = model.save(&vault, &world.keyring).unwrap();
        assert_eq!(&saved, model.served(), "{what}");
        assert_eq!(weights(&vault).unwrap(), before, "{what}");
        assert_eq!(before, weights(&at_once).unwrap(), "{what}");
        assert_eq!(first.weights.as_ref(), Some(&before), "{what}");
        assert_eq!(certificate(&vault, "latest").unwrap(), saved.certificate, "{what}");
        assert!(saved.certificate.contains(LIMIT), "{what}");
        assert!(!first.certificate.contains(LIMIT), "{what}");

        let second = world.run(|c| forget(c, &world, "model.efface")).unwrap();
        other.run(|c| forget(c, &other, "model.efface")).unwrap();
        assert!(!second.certificate.contains(LIMIT), "{what}");
        assert_eq!(second.remaining, 117, "{what}");
        assert_eq!(second.weights, weights(&vault).ok(), "{what}");
        assert_eq!(weights(&vault).unwrap(), weights(&at_once).unwrap(), "{what}");
        let key = world.keyring.public_key();
        let verdict = verify_whole_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{what}: {:?}", verdict.checks);
        assert_eq!(entries(&vault).unwrap().len(), entries(&at_once).unwrap().len(), "{what}");
    }
}

#[test]
fn nothing_is_written_before_it_is_saved() {
    let world = World::new();
    let listed = || {
        let mut names: Vec<_> =
            read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    world.table("train.csv", 0, 120, 2);
    let before = listed();
    let model = unsaved(&world, settings("solve", "fitted"));
    let published = model.served().weights.as_ref().unwrap();
    assert!(published.coef.iter().any(|weight| *weight != 0.0));
    drop(model);
    assert_eq!(listed(), before);
}

#[test]
fn what_cannot_be_saved_there_can_be_saved_elsewhere() {
    let world = World::new();
    let mut model = unsaved(&world, settings("retrain", "declared"));
    write(world.path("taken.efface"), "mine").unwrap();
    let refused = model.save(&world.path("taken.efface"), &world.keyring).unwrap_err();
    assert_eq!(refused.code(), Code::Exists);
    let refused = model.save(&world.path("none/model.efface"), &world.keyring).unwrap_err();
    assert_eq!(refused.code(), Code::NoFolder);
    let others = Keyring::in_memory(&[8; 32], &[9; 32]);
    let refused = model.save(&world.path("model.efface"), &others).unwrap_err();
    assert_eq!(refused.code(), Code::Key);
    create_dir(world.path("there")).unwrap();
    let vault = world.path("there/model.efface");
    assert!(!model.is_saved());
    model.save(&vault, &world.keyring).unwrap();
    assert!(model.is_saved());
    let again = model.save(&world.path("again.efface"), &world.keyring).unwrap_err();
    assert_eq!(again.code(), Code::Exists);
    assert!(!world.path("again.efface").exists());
    assert_eq!(world.run(|c| forget(c, &world, "there/model.efface")).unwrap().remaining, 117);
}

#[test]
fn rows_that_are_elsewhere_are_refused() {
    let world = World::new();
    let source = world.table("train.csv", 0, 120, 2);
    let source = Source { classes: Some(vec!["no".into(), "yes".into()]), ..source };
    let memory = RowStore::Within(MemoryBudget::parse("64MiB").unwrap());
    let refused = world
        .run_on(memory, |context| train_unsaved(&source, settings("solve", "fitted"), context))
        .unwrap_err();
    assert_eq!(refused.code(), Code::Memory);
}
