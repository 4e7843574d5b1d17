//! Networks on rows in parts: the model of one vault, whatever holds the rows and however it answers.

use efface::{
    CheckOutcome, Code, Error, NoticeCode, PartSum, Result, RowStore, Served, Settings, Source,
    certificate, delete, erase, refresh, status, train, verify, weights,
};
use serde_json::Value;

use crate::networks::{event, holds, network};
use crate::partitioned::{Cluster, Model, Rows, ids, subject};
use crate::world::World;

fn seeded(unit: &str) -> Settings {
    Settings {
        seed: Some(7),
        unit: Some(unit.into()),
        preprocess: Some("declared".into()),
        ..network()
    }
}

/// The same rows in a vault.
fn in_one_vault(rows: usize, settings: Settings) -> Result<(World, std::path::PathBuf)> {
    let (world, rows) = (World::new(), Rows::new(0, rows));
    let vault = world.path("m.efface");
    let source = Source { classes: Some(vec!["0".into(), "1".into()]), ..rows.source() };
    world.run(|s| train(&source, settings, &vault, s))?;
    Ok((world, vault))
}

/// The latest certificate without what says where the rows were, and the digests of what says so.
fn but_for_parts(vault: &std::path::Path) -> Value {
    let mut stated: Value = serde_json::from_str(&certificate(vault, "latest").unwrap()).unwrap();
    let drop = |list: &mut Value, says: &dyn Fn(&Value) -> bool| {
        list.as_array_mut().unwrap().retain(|item| !says(item));
    };
    for own in ["chain", "signature"] {
        stated.as_object_mut().unwrap().remove(own);
    }
    drop(&mut stated["assumptions"], &|item| item["name"] == "parts");
    drop(&mut stated["constants"], &|item| item["name"] == "plan");
    let outside = |item: &Value| item.as_str().unwrap().starts_with("rows outside the vault");
    drop(&mut stated["scope"]["does_not_cover"], &outside);
    stated
}

#[test]
fn any_parts_give_the_network_and_the_certificates_of_one_vault() {
    for (unit, sizes) in [
        ("record", vec![90]),
        ("record", vec![40, 0, 23, 27]),
        ("record", vec![1; 90]),
        ("subject", vec![90]),
        ("subject", vec![39, 0, 24, 27]),
        ("subject", vec![3; 30]),
    ] {
        let (there, vault) = in_one_vault(90, seeded(unit)).unwrap();
        let model = Model::trained(Cluster::of(&sizes), seeded(unit)).unwrap();
        let same = |what: &str| {
            let (one, other) = (weights(&vault).unwrap(), weights(&model.vault).unwrap());
            assert_eq!(one.digest, other.digest, "{unit} {sizes:?} {what}");
            assert_eq!(one.coef, other.coef);
            let stated = [&vault, &model.vault].map(|vault| but_for_parts(vault));
            assert_eq!(stated[0], stated[1], "{unit} {what}");
            assert_eq!(status(&vault).unwrap().records, status(&model.vault).unwrap().records);
        };
        same("trained");
        let passes = model.cluster.kept(|kept| kept.passes);
        assert_eq!(passes, 40, "one for each step");
        let who = subject("who-4");
        model.delete(&who).unwrap();
        there.run(|s| delete(&vault, &who, s)).unwrap();
        same("deleted");
        assert_eq!(model.cluster.kept(|kept| kept.passes), passes, "a deletion computes nothing");
        model.run(|s| refresh(&model.vault, None, s)).unwrap();
        there.run(|s| refresh(&vault, None, s)).unwrap();
        same("trained anew");
    }
}

#[test]
fn parts_that_are_lost_are_asked_for_the_same_again() {
    let calm = Model::trained(Cluster::of(&[39, 0, 24, 27]), seeded("subject")).unwrap();
    let mut stormy = Cluster::of(&[39, 0, 24, 27]);
    stormy.lost_at = vec![1, 2, 17, 40];
    let stormy = Model::trained(stormy, seeded("subject")).unwrap();
    assert_eq!(weights(&calm.vault).unwrap().digest, weights(&stormy.vault).unwrap().digest);
}

/// The refusal of a training, which leaves no vault.
fn refused(cluster: Cluster, settings: Settings) -> Error {
    let world = World::new();
    let vault = world.path("m.efface");
    let trained =
        world.run_on(RowStore::Parts(&cluster), |s| train(&cluster.source(), settings, &vault, s));
    assert!(!vault.exists());
    trained.map(|_: Served| ()).unwrap_err()
}

fn again(told: &PartSum) -> PartSum {
    PartSum { step: told.step, part: told.part, units: told.units, sums: told.sums.clone() }
}

#[test]
fn what_is_no_answer_ends_the_training_with_nothing_released() {
    type Spoilt = fn(u64, &mut Vec<PartSum>);
    let cases: [(Spoilt, &str); 6] = [
        (|_, told| told[1].sums[3] = i64::MAX, "longer than its clipped gradients"),
        (|step, told| told[0].step = step.max(1) - 1 + u64::from(step == 0), "but was asked for"),
        (|_, told| told[1].units += 1, "another number of units"),
        (|_, told| drop(told.pop()), "has not answered for step 0"),
        (|_, told| told[0].sums.truncate(3), "tells 3 sums for"),
        (|_, told| told.insert(1, again(&told[0])), "answers twice"),
    ];
    for (spoilt, words) in cases {
        let mut cluster = Cluster::of(&[40, 50]);
        cluster.spoilt = Some(spoilt);
        let error = refused(cluster, seeded("record"));
        assert_eq!(error.code(), Code::Parts, "{words}");
        assert!(error.message().contains(words), "{}", error.message());
    }
    let mut cluster = Cluster::of(&[40, 50]);
    cluster.fails_at = Some(7);
    let error = refused(cluster, seeded("record"));
    assert!(error.message().contains("out of reach"), "{}", error.message());
}

#[test]
fn subjects_in_two_parts_are_refused_unless_records_are_the_units() {
    let error = refused(Cluster::of(&[40, 50]), seeded("subject"));
    assert_eq!(error.code(), Code::Subjects);
    assert!(error.message().contains("partitions 0 and 1 both have"), "{}", error.message());
    assert!(!error.message().contains("who-"), "{}", error.message());
    assert!(error.what_to_do().unwrap().contains("unit record"), "{error}");
    let (world, cluster) = (World::new(), Cluster::of(&[40, 50]));
    let vault = world.path("m.efface");
    let settings = Settings { deletions: Some(2), ..seeded("record") };
    let trained =
        world.run_on(RowStore::Parts(&cluster), |s| train(&cluster.source(), settings, &vault, s));
    assert_eq!(event(&vault)["unit"], "record");
    // Nobody, of three records each, could be deleted without a training.
    let told: Vec<NoticeCode> = trained.unwrap().notices.iter().map(|notice| notice.code).collect();
    assert!(told.contains(&NoticeCode::SubjectsBeyondDeletions), "{told:?}");
}

#[test]
fn weights_that_grow_beyond_every_bound_are_refused_as_in_one_vault() {
    let wild = || Settings { eta: Some(1e6), ..seeded("record") };
    let here = in_one_vault(90, wild()).map(|_| ());
    let there = Model::trained(Cluster::of(&[40, 50]), wild()).map(|_| ());
    match (here, there) {
        (Err(here), Err(there)) => assert_eq!(here.message(), there.message()),
        (here, there) => assert_eq!(here.is_ok(), there.is_ok()),
    }
}

#[test]
fn deletions_are_counted_until_the_capacity_is_spent() {
    let settings = Settings { seed: None, ..seeded("subject") };
    let model = Model::trained(Cluster::of(&[39, 51]), settings).unwrap();
    let left = || status(&model.vault).unwrap().deletions_left.unwrap();
    for (who, then) in [("who-1", 2), ("who-2", 1), ("who-20", 0)] {
        let served = model.delete(&subject(who)).unwrap();
        assert_eq!(left(), then);
        let verdict = verify(&served.certificate, None, Some(&model.vault), None).unwrap();
        assert!(verdict.checks.iter().all(|check| check.outcome != CheckOutcome::Fails));
        let words = "keeps secret which of them a step draws";
        assert!(served.certificate.contains(words), "{}", served.certificate);
    }
    let error = model.delete(&subject("who-9")).unwrap_err();
    assert_eq!(error.code(), Code::BudgetExhausted);
    // A part of a subject is refused as in a vault.
    assert_eq!(model.delete(&ids(&["id-12"])).unwrap_err().code(), Code::Subjects);
    assert_eq!(model.cluster.kept(|kept| kept.passes), 40);
    // Beyond the capacity rows can go without a release, and the model is trained anew.
    let erased = model.run(|s| erase(&model.vault, &subject("who-9"), s));
    model.cluster.end(erased.is_ok());
    erased.unwrap();
    model.run(|s| refresh(&model.vault, None, s)).unwrap();
    assert_eq!((left(), status(&model.vault).unwrap().records), (3, 78));
    holds(&model.world, &model.vault);
}

#[test]
fn declared_subjects_are_counted() {
    let world = World::new();
    let cluster = Cluster::of(&[39, 51]);
    let vault = world.path("m.efface");
    for (people, words) in [(None, "must be declared"), (Some(31), "the parts name 30")] {
        let mut source = cluster.source();
        source.parts.as_mut().unwrap().people = people;
        let trained = world
            .run_on(RowStore::Parts(&cluster), |s| train(&source, seeded("subject"), &vault, s));
        let error = trained.map(|_: Served| ()).unwrap_err();
        assert!(error.message().contains(words), "{}", error.message());
    }
}
