//! Networks whose units are subjects: a deletion takes whole ones, and counts each once.

use efface::{
    Code, Delete, NoticeCode, Selector, Settings, delete, delete_dry_run, erase, refresh, status,
    update, weights,
};
use efface_privacy::event::Unit;

use crate::networks::{self, event, holds};
use crate::world::World;

fn network() -> Settings {
    Settings { unit: None, ..networks::network() }
}

fn subjects(names: &[&str]) -> Delete {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Delete { what: Selector::Subjects(names), request_id: None }
}

fn ids(range: std::ops::Range<usize>) -> Delete {
    let names = range.map(|k| format!("id-{k}")).collect();
    Delete { what: Selector::Ids(names), request_id: None }
}

#[test]
fn a_subject_counts_once_however_many_records_it_has() {
    let world = World::new();
    let (vault, _) = world.trained(network()).unwrap();
    let left = || status(&vault).unwrap().deletions_left.unwrap();
    assert_eq!((left(), status(&vault).unwrap().deletions_of), (3, Some(Unit::Subject)));
    let first = weights(&vault).unwrap().coef;
    let served = world.run(|s| delete(&vault, &subjects(&["who-1"]), s)).unwrap();
    assert_eq!((left(), &weights(&vault).unwrap().coef), (2, &first));
    assert_eq!(served.claims[0].group, "1 subject");
    // All records of two subjects, by their ids.
    world.run(|s| delete(&vault, &ids(6..12), s)).unwrap();
    assert_eq!(left(), 0);
    let stated = event(&vault);
    assert_eq!((&stated["unit"], &stated["group"]), (&"subject".into(), &1.into()));
    assert_eq!(stated["segments"][0]["deleted"], 3);
    let error = world.run(|s| delete(&vault, &subjects(&["who-9"]), s)).unwrap_err();
    assert_eq!(error.code(), Code::BudgetExhausted);
    assert!(error.to_string().contains("4 subjects would"), "{error}");
    assert_eq!(status(&vault).unwrap().records, 111);
    world.run(|s| refresh(&vault, None, s)).unwrap();
    assert_eq!(left(), 3);
    holds(&world, &vault);
}

#[test]
fn a_part_of_a_subject_is_refused_and_can_be_erased() {
    let world = World::new();
    let (vault, _) = world.trained(network()).unwrap();
    let part = ids(3..5);
    let dry = delete_dry_run(&vault, &part, &world.keyring).unwrap_err();
    let error = world.run(|s| delete(&vault, &part, s)).unwrap_err();
    for error in [dry, error] {
        assert_eq!(error.code(), Code::Subjects);
        assert!(!error.to_string().contains("who-"), "{error}");
        assert!(error.what_to_do().unwrap().contains("--erase-only"), "{error}");
    }
    assert_eq!(status(&vault).unwrap().records, 120);
    world.run(|s| erase(&vault, &part, s)).unwrap();
    world.run(|s| refresh(&vault, None, s)).unwrap();
    assert_eq!(event(&vault)["earlier_steps"], 40);
    // What is left of the subject is all of it now.
    let dry = delete_dry_run(&vault, &ids(5..6), &world.keyring).unwrap();
    assert_eq!(dry.claims[0].group, "1 subject");
    world.run(|s| delete(&vault, &ids(5..6), s)).unwrap();
    holds(&world, &vault);
}

#[test]
fn an_update_leaves_records_with_their_subject() {
    let world = World::new();
    let (vault, _) = world.trained(network()).unwrap();
    let source = world.table("again.csv", 3, 2, 2);
    world.run(|s| update(&vault, &source, None, s)).unwrap();
    let text = std::fs::read_to_string(source.path.as_ref().unwrap()).unwrap();
    std::fs::write(source.path.as_ref().unwrap(), text.replace("who-1", "who-2")).unwrap();
    let error = world.run(|s| update(&vault, &source, None, s)).unwrap_err();
    assert_eq!(error.code(), Code::Subjects, "{error}");
    assert!(!error.to_string().contains("who-"), "{error}");
    holds(&world, &vault);
}

#[test]
fn whole_subjects_are_clipped_together() {
    let coef = |unit: &str| {
        let world = World::new();
        let settings = Settings { unit: Some(unit.into()), seed: Some(5), ..network() };
        let settings = Settings { noise: Some(40.0), deletions: Some(1), ..settings };
        let (vault, _) = world.trained(settings).unwrap();
        weights(&vault).unwrap().coef
    };
    assert_eq!(coef("subject"), coef("subject"));
    assert_ne!(coef("subject"), coef("record"));
}

#[test]
fn units_of_records_warn_of_subjects_that_could_never_leave() {
    let about = |deletions| {
        let world = World::new();
        let unit = Some("record".into());
        let settings = Settings { unit, deletions: Some(deletions), ..network() };
        let (_, served) = world.trained(settings).unwrap();
        let code = NoticeCode::SubjectsBeyondDeletions;
        served.notices.into_iter().filter(|notice| notice.code == code).count()
    };
    assert_eq!((about(2), about(3)), (1, 0));
}

#[test]
fn subjects_are_asked_for_where_there_are_none() {
    let world = World::new();
    let source = efface::Source { subject: None, ..world.table("train.csv", 0, 120, 2) };
    let source = efface::Source { ignore: vec!["who".into()], ..source };
    let settings = |unit: Option<&str>| Settings {
        unit: unit.map(str::to_owned),
        preprocess: Some("declared".into()),
        ..network()
    };
    let vault = world.path("model.efface");
    let error =
        world.run(|s| efface::train(&source, settings(Some("subject")), &vault, s)).unwrap_err();
    assert_eq!(error.code(), Code::Subjects, "{error}");
    let error =
        world.run(|s| efface::train(&source, settings(Some("person")), &vault, s)).unwrap_err();
    assert!(error.to_string().contains("record, subject"), "{error}");
    world.run(|s| efface::train(&source, settings(None), &vault, s)).unwrap();
    assert_eq!(event(&vault)["unit"], "record");
}
