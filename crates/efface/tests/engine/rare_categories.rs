//! How many records a category needs: as many as the user says, or as follow from the number of records.

use std::fmt::Write;

use efface::{
    CheckOutcome, Delete, Selector, Settings, Source, certificate, delete, status, train, verify,
    verify_ledger, weights,
};

use crate::world::World;

/// Records of three words, but for two of which each has one of its own.
fn words(world: &World, name: &str, ids: impl Iterator<Item = usize>) -> Source<'static> {
    let mut text = String::from("id,word,label\n");
    for id in ids {
        let word = match id {
            7 => "lonely",
            8 => "only",
            _ => ["red", "green", "blue"][id % 3],
        };
        writeln!(text, "id-{id},{word},{}", ["no", "yes"][id % 2]).unwrap();
    }
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    Source {
        path: Some(path),
        label: Some("label".into()),
        id: Some("id".into()),
        ..Source::default()
    }
}

/// The constant as the latest certificate lists it: its value and where it comes from.
fn listed(vault: &std::path::Path) -> (String, String) {
    let text = certificate(vault, "latest").unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let constants = document["constants"].as_array().unwrap();
    let constant = constants.iter().find(|c| c["name"] == "min-frequency").unwrap();
    assert_eq!(
        document["event"]["preprocessing"]["min_frequency"].to_string(),
        constant["value"].as_str().unwrap()
    );
    (constant["value"].as_str().unwrap().into(), constant["origin"].as_str().unwrap().into())
}

/// Of 10,000 records a category needs two, of 9,999 one: a deletion, of whichever record, gives what a
/// training on the rest does.
#[test]
fn it_follows_the_number_of_records_at_hand() {
    const RECORDS: usize = 10_000;
    let world = World::new();
    let settings = || Settings { excess_risk: Some(0.05), ..Settings::default() };
    let gone = || Delete { what: Selector::Ids(vec!["id-8".into()]), request_id: None };
    let (vault, anew) = (world.path("model.efface"), world.path("anew.efface"));
    world.run(|s| train(&words(&world, "all.csv", 0..RECORDS), settings(), &vault, s)).unwrap();
    assert_eq!(status(&vault).unwrap().preprocessing[0], "word: 5 categories, 2 rare merged");
    assert_eq!(listed(&vault), ("2".into(), "data".into()));

    world.run(|s| delete(&vault, &gone(), s)).unwrap();
    assert_eq!(status(&vault).unwrap().preprocessing[0], "word: 4 categories");
    assert_eq!(listed(&vault), ("1".into(), "data".into()));
    let rest = words(&world, "rest.csv", (0..RECORDS).filter(|id| *id != 8).rev());
    world.run(|s| train(&rest, settings(), &anew, s)).unwrap();
    assert_eq!(weights(&vault).unwrap().preprocessing, weights(&anew).unwrap().preprocessing);

    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    for entry in ["0", "1"] {
        let text = certificate(&vault, entry).unwrap();
        let verdict = verify(&text, Some(&key), Some(&vault), None).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
        // Another number is one that somebody made up.
        let least = if entry == "0" { "2" } else { "1" };
        let lie = text
            .replace(
                &format!(r#""name":"min-frequency","origin":"data","value":"{least}""#),
                r#""name":"min-frequency","origin":"data","value":"4""#,
            )
            .replace(&format!(r#""min_frequency":{least}"#), r#""min_frequency":4"#);
        assert_ne!(lie, text);
        let verdict = verify(&lie, Some(&key), None, None).unwrap();
        let failed = |name: &str| {
            verdict.checks.iter().any(|c| c.name == name && c.outcome == CheckOutcome::Fails)
        };
        assert!(failed("objective") && !failed("constants"), "{verdict:?}");
    }
}

/// What the user says holds for any number of records, and certificates say whose it is.
#[test]
fn what_the_user_says_does_not_move() {
    let world = World::new();
    let vault = world.path("model.efface");
    let settings =
        Settings { excess_risk: Some(0.05), min_frequency: Some(2), ..Settings::default() };
    world.run(|s| train(&words(&world, "all.csv", 0..60), settings, &vault, s)).unwrap();
    assert_eq!(status(&vault).unwrap().preprocessing[0], "word: 5 categories, 2 rare merged");
    assert_eq!(listed(&vault), ("2".into(), "user".into()));
}
