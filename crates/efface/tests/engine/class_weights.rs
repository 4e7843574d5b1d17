//! Records that count by their class: balanced, counted again with every request, or as listed.

use std::fmt::Write;

use efface::{
    CheckOutcome, Code, Delete, Selector, Settings, Source, add, certificate, delete, train,
    verify, verify_ledger, weights,
};
use serde_json::Value;

use crate::world::World;

/// Rows of two classes that overlap, `rare` of them of the rarer one, as a CSV file.
fn table(world: &World, name: &str, rows: impl IntoIterator<Item = usize>) -> Source<'static> {
    let mut text = String::from("id,a,b,count,label\n");
    for row in rows {
        let wave = (row as f64 * 0.7).sin();
        let (label, count) = if row % 8 == 0 { ("rare", 4.5) } else { ("often", 0.5) };
        let a = wave + if label == "rare" { 0.6 } else { 0.0 };
        writeln!(text, "id-{row},{a},{},{count},{label}", row % 5).unwrap();
    }
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    Source {
        path: Some(path),
        label: Some("label".into()),
        id: Some("id".into()),
        ignore: vec!["count".into()],
        ..Source::default()
    }
}

fn weighted(lines: &[&str]) -> Settings {
    Settings {
        class_weight: lines.iter().map(|&line| line.to_owned()).collect(),
        lambda: Some(0.05),
        noise: Some(1e-7),
        ..Settings::default()
    }
}

fn ids(rows: impl IntoIterator<Item = usize>) -> Delete {
    let ids = rows.into_iter().map(|row| format!("id-{row}")).collect();
    Delete { what: Selector::Ids(ids), request_id: None }
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn constant<'a>(document: &'a Value, name: &str) -> Option<(&'a str, &'a str)> {
    let listed = document["constants"].as_array().unwrap();
    let found = listed.iter().find(|constant| constant["name"] == name)?;
    Some((found["value"].as_str().unwrap(), found["origin"].as_str().unwrap()))
}

fn near(one: &[f64], other: &[f64]) -> bool {
    let squares = one.iter().zip(other).map(|(a, b)| (a - b).powi(2));
    one.len() == other.len() && squares.sum::<f64>().sqrt() < 1e-4
}

/// After any requests the model is that of a training on what remains, whose classes have other numbers
/// of records; certificates state neither these nor the weights, and hold.
#[test]
fn balanced_weights_are_those_of_what_remains() {
    let world = World::new();
    let vault = world.path("model.efface");
    let all = table(&world, "all.csv", 0..160);
    let first = world.run(|s| train(&all, weighted(&["balanced"]), &vault, s)).unwrap();
    let before = weights(&vault).unwrap();
    let gone: Vec<usize> = (0..120).filter(|row| row % 8 == 0).collect();
    world.run(|s| delete(&vault, &ids(gone.iter().copied()), s)).unwrap();
    world.run(|s| add(&vault, &table(&world, "more.csv", 161..170), None, s)).unwrap();

    let remain = (0..160).chain(161..170).filter(|row| !gone.contains(row));
    let anew = world.path("anew.efface");
    let rest = table(&world, "rest.csv", remain);
    world.run(|s| train(&rest, weighted(&["balanced"]), &anew, s)).unwrap();
    let (one, other) = (weights(&vault).unwrap(), weights(&anew).unwrap());
    assert_eq!(one.preprocessing, other.preprocessing);
    assert!(near(&one.coef, &other.coef), "{:?} {:?}", one.coef, other.coef);
    assert!(!near(&before.coef, &one.coef));
    // A model in which records count alike is another one.
    let alike = world.path("alike.efface");
    world.run(|s| train(&rest, weighted(&[]), &alike, s)).unwrap();
    assert!(!near(&weights(&alike).unwrap().coef, &other.coef));

    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    let latest = certificate(&vault, "latest").unwrap();
    for text in [&first.certificate, &latest] {
        let verdict = verify(text, Some(&key), None, None).unwrap();
        assert!(!verdict.checks.iter().any(|c| c.outcome == CheckOutcome::Fails), "{verdict:?}");
        let document = document(text);
        assert_eq!(constant(&document, "class-weight"), Some(("balanced", "user")));
        assert_eq!(constant(&document, "max-weight"), None);
        let stated = document["assumptions"].as_array().unwrap();
        assert!(stated.iter().any(|assumption| assumption["name"] == "class-weight"));
    }
    // The bound on a record follows from the number of records, and smoothness from no weight at all.
    let told = |text: &str, name: &str| -> f64 {
        constant(&document(text), name).unwrap().0.parse().unwrap()
    };
    let plain = certificate(&alike, "latest").unwrap();
    let heaviest = 0.5 * (160 - gone.len() + 9) as f64;
    let ratio = told(&latest, "lipschitz") / told(&plain, "lipschitz");
    assert!((ratio / heaviest - 1.0).abs() < 1e-9, "{ratio} {heaviest}");
    let ratio = told(&latest, "smoothness") / told(&plain, "smoothness");
    assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
}

/// Listed weights are those of records: of the first ones, and of those that are added.
#[test]
fn listed_weights_count_as_those_of_records() {
    let world = World::new();
    for preprocess in ["declared", "fitted"] {
        let with =
            |settings: Settings| Settings { preprocess: Some(preprocess.into()), ..settings };
        let by_class = with(weighted(&["rare=4.5", "often=0.5"]));
        let by_record = with(Settings { max_weight: Some(4.5), ..weighted(&[]) });
        let source = |name: &str, rows| {
            let listed = table(&world, name, rows);
            let ignore = Vec::new();
            let own = Source { weight: Some("count".into()), ignore, ..listed.clone() };
            (listed, own)
        };
        let (listed, own) = source("all.csv", 0..160);
        let (more_listed, more_own) = source("more.csv", 160..180);
        let vaults =
            ["listed", "own"].map(|name| world.path(&format!("{name}-{preprocess}.efface")));
        world.run(|s| train(&listed, by_class, &vaults[0], s)).unwrap();
        world.run(|s| train(&own, by_record, &vaults[1], s)).unwrap();
        for (vault, more) in vaults.iter().zip([more_listed, more_own]) {
            world.run(|s| add(vault, &more, None, s)).unwrap();
            world.run(|s| delete(vault, &ids([0, 3, 168]), s)).unwrap();
        }
        let [one, other] = vaults.each_ref().map(|vault| weights(vault).unwrap());
        assert!(near(&one.coef, &other.coef), "{:?} {:?}", one.coef, other.coef);
        let [one, other] =
            vaults.each_ref().map(|vault| document(&certificate(vault, "latest").unwrap()));
        assert_eq!(constant(&one, "max-weight"), Some(("4.5", "user")));
        assert_eq!(constant(&one, "lipschitz"), constant(&other, "lipschitz"));
    }
}

/// `ridge` sums each class by itself: after any requests the bits are those of a training on what remains.
#[test]
fn exact_sums_of_balanced_classes_are_those_of_what_remains() {
    let world = World::new();
    let settings = Settings {
        mechanism: Some("ridge".into()),
        class_weight: vec!["balanced".into()],
        ..Settings::default()
    };
    let vault = world.path("model.efface");
    let all = table(&world, "all.csv", 0..160);
    world.run(|s| train(&all, settings.clone(), &vault, s)).unwrap();
    let plain = world.path("plain.efface");
    let same = Settings { class_weight: Vec::new(), ..settings.clone() };
    world.run(|s| train(&all, same, &plain, s)).unwrap();
    assert_ne!(weights(&vault).unwrap().coef, weights(&plain).unwrap().coef);

    world.run(|s| delete(&vault, &ids((0..96).step_by(8)), s)).unwrap();
    world.run(|s| add(&vault, &table(&world, "more.csv", 160..181), None, s)).unwrap();
    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    let text = certificate(&vault, "latest").unwrap();
    let verdict = verify(&text, Some(&key), None, None).unwrap();
    assert!(!verdict.checks.iter().any(|c| c.outcome == CheckOutcome::Fails), "{verdict:?}");
    assert_eq!(constant(&document(&text), "class-weight"), Some(("balanced", "user")));

    let anew = world.path("anew.efface");
    let left = (96..181).rev().chain((0..96).filter(|row| row % 8 != 0));
    let rest = table(&world, "rest.csv", left);
    world.run(|s| train(&rest, settings.clone(), &anew, s)).unwrap();
    let [one, other] = [&vault, &anew].map(|vault| weights(vault).unwrap());
    let bits = |weights: &[f64]| weights.iter().map(|w| w.to_bits()).collect::<Vec<u64>>();
    assert_eq!(bits(&one.coef), bits(&other.coef));
    assert_eq!(bits(&one.intercept), bits(&other.intercept));
    assert_eq!(one.preprocessing, other.preprocessing);

    // Listed weights are those of records, which whole-number sums count: whole ones.
    let listed = |line: &str| Settings { class_weight: vec![line.into()], ..settings.clone() };
    let vault = world.path("listed.efface");
    let third = world.run(|s| train(&all, listed("rare=2.5"), &vault, s)).unwrap_err();
    assert!(third.to_string().contains("whole numbers"), "{third}");
    world.run(|s| train(&all, listed("rare=3"), &vault, s)).unwrap();
    assert_eq!(
        constant(&document(&certificate(&vault, "latest").unwrap()), "max-weight"),
        Some(("3", "user"))
    );
}

#[test]
fn what_breaks_a_rule_about_classes_is_refused() {
    let world = World::new();
    let all = table(&world, "all.csv", 0..160);
    let refused = |source: &Source<'_>, settings: Settings| {
        let vault = world.path("none.efface");
        let error = world.run(|s| train(source, settings, &vault, s)).unwrap_err();
        assert!(!vault.exists());
        (error.code(), error.to_string())
    };
    let own = Source { weight: Some("count".into()), ignore: Vec::new(), ..all.clone() };
    let declared =
        |lines: &[&str]| Settings { preprocess: Some("declared".into()), ..weighted(lines) };
    let most = Settings { max_weight: Some(2.0), ..weighted(&["rare=2"]) };
    let number = Settings { loss: Some("squared".into()), ..weighted(&["balanced"]) };
    for ((code, text), (expected, words)) in [
        (refused(&all, declared(&["balanced"])), (Code::Settings, "needs `preprocess fitted`")),
        (
            refused(&all, weighted(&["Rare=2"])),
            (Code::Classes, "the class `Rare`, which is none of `often`, `rare`"),
        ),
        (refused(&own, weighted(&["balanced"])), (Code::Settings, "with weights of records")),
        (refused(&own, weighted(&["rare=2"])), (Code::Weights, "with weights of records")),
        (refused(&all, most), (Code::Settings, "the largest weight is that of a class")),
        (refused(&all, number), (Code::Settings, "`class-weight` is a setting of")),
        (refused(&all, weighted(&["rare:2"])), (Code::Weights, "of the form CLASS=WEIGHT")),
    ] {
        assert_eq!(code, expected, "{text}");
        assert!(text.contains(words), "{text}");
    }
}
