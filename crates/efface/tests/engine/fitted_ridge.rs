//! `ridge` with fitted preprocessing: what is published is a function of the records at hand, bit for
//! bit, and of nothing else.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use efface::{
    CheckOutcome, Code, Delete, Selector, Settings, Source, add, certificate, delete, erase,
    evaluate, refresh, status, train, update, verify, verify_ledger, weights,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::world::{World, bytes, holds};

/// The label of a table, by the names that tests use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Number,
    /// A number, of a record with a weight.
    Weighted,
    /// One of so many words, one of them of a few records alone.
    Word(usize),
}

/// A record's cells, by its id: numbers of all sizes, words, dates and missing cells.
fn cells(id: usize, label: Label) -> String {
    let wave = (id as f64 * 0.7).sin();
    let work =
        ["office", "field", "", "012", "ferry"][id % if id.is_multiple_of(9) { 5 } else { 4 }];
    let age = if id % 11 == 3 { "NA".to_owned() } else { format!("{}", 20 + id % 50) };
    let income = 4e4 + 3e4 * wave;
    let target = match label {
        Label::Number => format!("{:.3}", 1e5 + 40.0 * (id % 50) as f64 + 300.0 * wave),
        Label::Weighted => format!("{:.3},{}", 1e3 * wave + (id % 50) as f64, id % 4),
        Label::Word(words) if id.is_multiple_of(9) => format!("rare{}", words + id % 2),
        Label::Word(words) => format!("word{}", (id % 50) * words / 50),
    };
    format!("{age},{work},2021-{:02}-{:02},{income:.2},{target}", 1 + id % 12, 1 + id % 28)
}

/// A table of records, in this order.
fn table<'a>(
    world: &World,
    name: &str,
    records: impl IntoIterator<Item = (&'a usize, &'a String)>,
) -> Source<'static> {
    let (mut text, mut weight) = (String::new(), None);
    for (id, cells) in records {
        if cells.matches(',').count() == 5 {
            weight = Some("w".to_owned());
        }
        writeln!(text, "id-{id},{cells}").unwrap();
    }
    let header = "id,age,work,joined,income,label";
    let text =
        if weight.is_some() { format!("{header},w\n{text}") } else { format!("{header}\n{text}") };
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    let (label, id) = (Some("label".into()), Some("id".into()));
    Source { path: Some(path), label, id, weight, ..Source::default() }
}

fn settings() -> Settings {
    Settings { loss: Some("squared".into()), ..bare() }
}

/// Nothing but the mechanism.
fn bare() -> Settings {
    Settings { mechanism: Some("ridge".into()), ..Settings::default() }
}

fn ids(names: impl IntoIterator<Item = usize>) -> Delete {
    let names = names.into_iter().map(|id| format!("id-{id}")).collect();
    Delete { what: Selector::Ids(names), request_id: None }
}

/// What a vault publishes: statistics, and the bits of the weights.
fn published(vault: &Path) -> (Option<String>, Option<Vec<String>>, Vec<u64>) {
    let model = weights(vault).unwrap();
    let bits = model.coef.iter().chain(&model.intercept).map(|w| w.to_bits()).collect();
    (model.preprocessing, model.classes, bits)
}

/// Ledger, rows, preprocessing and weights agree.
fn verified(world: &World, vault: &Path) {
    let key = world.keyring.public_key();
    let verdict = verify_ledger(vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    for name in ["preprocessing", "sums"] {
        assert!(verdict.checks.iter().any(|check| check.name == name), "{verdict:?}");
    }
}

/// A random history of requests, then a training on what remains in another order: the same bits.
fn forgets(label: Label, settings: &Settings, seed: u64) {
    let world = World::new();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut pick = |most: usize| (rng.next_u64() % most as u64) as usize;
    let mut live: BTreeMap<usize, String> = (0..90).map(|id| (id, cells(id, label))).collect();
    let mut next = live.len();
    let vault = world.path("model.efface");
    let first = table(&world, "all.csv", &live);
    world.run(|s| train(&first, settings.clone(), &vault, s)).unwrap();
    for request in 0..4 {
        match pick(3) {
            0 => {
                let keys: Vec<usize> = live.keys().copied().collect();
                let gone: Vec<usize> =
                    (0..1 + pick(4)).map(|at| keys[(7 * at + pick(50)) % keys.len()]).collect();
                gone.iter().for_each(|id| drop(live.remove(id)));
                world.run(|s| delete(&vault, &ids(gone), s)).unwrap();
            }
            1 => {
                let fresh: BTreeMap<usize, String> =
                    (next..next + 1 + pick(5)).map(|id| (id, cells(id, label))).collect();
                next += fresh.len();
                let name = format!("more-{request}.csv");
                world.run(|s| add(&vault, &table(&world, &name, &fresh), None, s)).unwrap();
                live.extend(fresh);
            }
            _ => {
                let id = *live.keys().nth(pick(live.len())).unwrap();
                // A word where there were none, or a larger number than any: other columns.
                let changed = BTreeMap::from([(id, cells(9 * (id + 1000), label))]);
                let name = format!("changed-{request}.csv");
                world.run(|s| update(&vault, &table(&world, &name, &changed), None, s)).unwrap();
                live.extend(changed);
            }
        }
    }
    verified(&world, &vault);
    let anew = world.path("anew.efface");
    let rest = table(&world, "rest.csv", live.iter().rev());
    world.run(|s| train(&rest, settings.clone(), &anew, s)).unwrap();
    assert_eq!(published(&vault), published(&anew), "seed {seed}");
}

#[test]
fn any_history_gives_the_bits_of_training_on_what_remains() {
    for seed in 0..6 {
        forgets(Label::Number, &settings(), seed);
    }
    let heavy = Settings { max_weight: Some(3.0), ..settings() };
    for seed in 20..23 {
        forgets(Label::Weighted, &heavy, seed);
    }
    let other = Settings { lambda: Some(0.05), min_frequency: Some(2), ..settings() };
    forgets(Label::Number, &other, 6);
}

#[test]
fn any_history_of_classes_gives_the_bits_of_training_on_what_remains() {
    for seed in 0..5 {
        forgets(Label::Word(2), &bare(), seed);
        forgets(Label::Word(5), &bare(), 10 + seed);
    }
}

/// A class goes with its last record: its name, its weights, and its place among the classes.
#[test]
fn a_class_goes_with_its_last_record() {
    let world = World::new();
    let mut live: BTreeMap<usize, String> = (0..80)
        .filter(|id: &usize| !id.is_multiple_of(9) || *id == 27)
        .map(|id| (id, cells(id, Label::Word(3))))
        .collect();
    let vault = world.path("model.efface");
    world.run(|s| train(&table(&world, "a.csv", &live), bare(), &vault, s)).unwrap();
    std::fs::remove_file(world.path("a.csv")).unwrap();
    let before = weights(&vault).unwrap();
    assert_eq!((before.outputs, before.loss.as_str()), (4, "squared-classes"));
    assert_eq!(before.classes.unwrap()[0], "rare4");
    world.run(|s| delete(&vault, &ids([27]), s)).unwrap();
    live.remove(&27);
    let left = bytes(vault.parent().unwrap());
    let found = |needle: &[u8]| holds(&left, needle);
    assert!(!found(b"rare4") && !before.coef.iter().any(|weight| found(&weight.to_le_bytes())));
    let after = weights(&vault).unwrap();
    assert_eq!(after.classes.unwrap(), ["word0", "word1", "word2"]);
    let scores = evaluate(&vault, &table(&world, "rest.csv", &live)).unwrap();
    assert!(scores.accuracy.unwrap() > 0.8 && scores.log_loss.is_none(), "{scores:?}");
    verified(&world, &vault);
    let text = certificate(&vault, "latest").unwrap();
    let key = world.keyring.public_key();
    let verdict = verify(&text, Some(&key), Some(&vault), None).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["event"]["target_bound"], "1");
}

/// With declared classes sums are kept, one right-hand side for each, and updated.
#[test]
fn declared_classes_are_kept_sums() {
    let world = World::new();
    let classes = Some(vec!["no".to_owned(), "yes".to_owned(), "maybe".to_owned()]);
    let settings = Settings {
        preprocess: Some("declared".into()),
        public_n: Some(90),
        capacity: Some(120),
        ..bare()
    };
    let source = |name: &str, rows: &[usize]| {
        let mut text = String::from("id,y,a,b\n");
        for row in rows {
            let (s, t) = ((*row as f64 * 0.7).sin(), (*row as f64 * 1.3).cos());
            let y = if s > 0.4 { "yes" } else { "no" };
            writeln!(text, "id-{row},{y},{s:.4},{t:.4}").unwrap();
        }
        let path = world.path(name);
        std::fs::write(&path, text).unwrap();
        let (label, id) = (Some("y".into()), Some("id".into()));
        Source { path: Some(path), label, id, classes: classes.clone(), ..Source::default() }
    };
    let (vault, anew) = (world.path("model.efface"), world.path("anew.efface"));
    let all: Vec<usize> = (0..90).collect();
    world.run(|s| train(&source("a.csv", &all), settings.clone(), &vault, s)).unwrap();
    world.run(|s| delete(&vault, &ids([3, 4, 50]), s)).unwrap();
    world.run(|s| add(&vault, &source("b.csv", &[100, 101]), None, s)).unwrap();
    let rest: Vec<usize> =
        (0..102).rev().filter(|id| ![3, 4, 50].contains(id) && !(90..100).contains(id)).collect();
    world.run(|s| train(&source("c.csv", &rest), settings, &anew, s)).unwrap();
    assert_eq!(published(&vault), published(&anew));
    let scores = evaluate(&vault, &source("d.csv", &all)).unwrap();
    assert!(scores.accuracy.unwrap() > 0.85, "{scores:?}");
    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

/// What a certificate says, and that its verifier agrees.
#[test]
fn the_certificate_says_exact_removal_and_what_it_leaves_open() {
    let world = World::new();
    let live: BTreeMap<usize, String> = (0..80).map(|id| (id, cells(id, Label::Number))).collect();
    let vault = world.path("model.efface");
    // Labels that are numbers, and columns that are fitted: neither is asked for.
    let first = Source { infers_task: true, ..table(&world, "a.csv", &live) };
    world.run(|s| train(&first, bare(), &vault, s)).unwrap();
    world.run(|s| delete(&vault, &ids([3, 4]), s)).unwrap();
    let text = certificate(&vault, "latest").unwrap();
    let key = world.keyring.public_key();
    let verdict = verify(&text, Some(&key), Some(&vault), None).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["claims"].as_array().unwrap().len(), 1);
    assert_eq!(document["claims"][0]["notion"], "exact-removal");
    let reference = document["claims"][0]["reference"].as_str().unwrap();
    assert!(reference.contains("fits its preprocessing again"), "{reference}");
    assert_eq!(document["event"]["records"], 78);
    let constant = |name: &str| {
        let listed = document["constants"].as_array().unwrap();
        listed.iter().find(|constant| constant["name"] == name).unwrap().clone()
    };
    assert_eq!(constant("lambda")["value"], (1.0 / 78.0).to_string());
    assert_eq!(constant("target-bound")["origin"], "data");
    let scope = document["scope"].to_string();
    assert!(scope.contains("exact means, scales and counts"), "{scope}");
    assert!(scope.contains("the remaining records, which no noise hides"), "{scope}");
    assert!(!scope.contains("kept sums"), "{scope}");

    let scores = evaluate(&vault, &table(&world, "a.csv", &live)).unwrap();
    assert!(scores.rmse.unwrap() < 0.4 * scores.mean_rmse.unwrap(), "{scores:?}");
    assert!(status(&vault).unwrap().preprocessing.iter().any(|line| line.starts_with("work")));
    verified(&world, &vault);
}

/// Rows that were changed are noticed, as is a weight.
#[test]
fn weights_that_are_not_of_the_rows_are_noticed() {
    let world = World::new();
    let live: BTreeMap<usize, String> = (0..60).map(|id| (id, cells(id, Label::Number))).collect();
    for (query, check) in [
        (
            // A byte of the first row's target.
            "UPDATE content SET features = CAST(substr(features, 1, 6) || x'3f' || \
             substr(features, 8) AS BLOB)",
            "preprocessing",
        ),
        (
            "UPDATE model SET weights = CAST(substr(weights, 1, length(weights) - 2) || x'7f40' AS BLOB)",
            "sums",
        ),
    ] {
        let vault = world.path(&format!("{check}.efface"));
        world.run(|s| train(&table(&world, "a.csv", &live), settings(), &vault, s)).unwrap();
        verified(&world, &vault);
        let database = rusqlite::Connection::open(&vault).unwrap();
        assert_eq!(database.execute(query, []).unwrap(), 1);
        drop(database);
        let key = world.keyring.public_key();
        let verdict = verify_ledger(&vault, Some(&key), None, None).unwrap();
        let failed = |name| {
            verdict.checks.iter().any(|c| c.name == name && c.outcome == CheckOutcome::Fails)
        };
        assert!(failed(check) && failed("sums"), "{verdict:?}");
    }
}

/// Nothing of a deleted record is in any file: not its cells, not the weights and statistics it was in,
/// and no sums at all.
#[test]
fn nothing_of_a_deleted_record_stays() {
    let world = World::new();
    let mut all: BTreeMap<usize, String> =
        (0..90).map(|id| (id, cells(id, Label::Number))).collect();
    all.insert(777, "97531.25,lighthouse-keeper,1777-07-07,86420864.5,123456.75".to_owned());
    // Alone it would be merged with nothing, and named nowhere.
    let settings = Settings { min_frequency: Some(1), ..settings() };
    let vault = world.path("model.efface");
    world.run(|s| train(&table(&world, "all.csv", &all), settings, &vault, s)).unwrap();
    let (statistics, _, before) = published(&vault);
    let statistics = statistics.unwrap();
    assert!(statistics.contains("lighthouse-keeper"));
    std::fs::remove_file(world.path("all.csv")).unwrap();
    world.run(|s| delete(&vault, &ids([777]), s)).unwrap();
    let left = bytes(vault.parent().unwrap());
    let found = |needle: &[u8]| holds(&left, needle);
    let mut needles: Vec<Vec<u8>> =
        ["lighthouse", "id-777", "1777-07", "97531", "86420864", "123456.75", statistics.as_str()]
            .map(|text| text.as_bytes().to_vec())
            .into();
    for number in [97531.25_f64, 86_420_864.5, 123_456.75] {
        needles.extend([number.to_le_bytes().to_vec(), (number as f32).to_le_bytes().to_vec()]);
    }
    needles.extend(before.iter().map(|bits| bits.to_le_bytes().to_vec()));
    for needle in needles {
        assert!(!found(&needle), "{needle:?} ({})", String::from_utf8_lossy(&needle));
    }
    let database = rusqlite::Connection::open(&vault).unwrap();
    let kept: i64 =
        database.query_row("SELECT count(*) FROM caches", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 0);
}

/// An erasure withdraws the model; a refresh is a training on what remains.
#[test]
fn a_refresh_after_an_erasure_is_a_training_on_what_remains() {
    let world = World::new();
    let mut live: BTreeMap<usize, String> =
        (0..70).map(|id| (id, cells(id, Label::Number))).collect();
    let vault = world.path("model.efface");
    world.run(|s| train(&table(&world, "a.csv", &live), settings(), &vault, s)).unwrap();
    world.run(|s| erase(&vault, &ids([5, 6, 7]), s)).unwrap();
    live.retain(|id, _| !(5..8).contains(id));
    world.run(|s| refresh(&vault, None, s)).unwrap();
    verified(&world, &vault);
    let anew = world.path("anew.efface");
    let rest = table(&world, "rest.csv", live.iter().rev());
    world.run(|s| train(&rest, settings(), &anew, s)).unwrap();
    assert_eq!(published(&vault), published(&anew));
}

#[test]
fn what_it_has_no_use_for_is_refused() {
    let world = World::new();
    let live: BTreeMap<usize, String> = (0..40).map(|id| (id, cells(id, Label::Number))).collect();
    let with = |change: fn(&mut Settings)| {
        let mut settings = Settings { preprocess: Some("fitted".into()), ..settings() };
        change(&mut settings);
        let source = table(&world, "a.csv", &live);
        world.run(|s| train(&source, settings, &world.path("x.efface"), s)).unwrap_err()
    };
    for (change, code, words) in [
        ((|s| s.epsilon = Some(1.0)) as fn(&mut Settings), Code::Settings, "epsilon is 0"),
        (|s| s.state = Some("secret".into()), Code::Settings, "secret"),
        (|s| s.normalizer = Some("fixed".into()), Code::Settings, "current number"),
        (|s| s.target_range = Some((0.0, 1.0)), Code::Settings, "scaled by the mean"),
        (|s| s.seed = Some(1), Code::Settings, "no random numbers"),
        (
            |s| {
                s.mechanism = Some("solve".into());
                s.loss = Some("squared-classes".into());
            },
            Code::Settings,
            "no bound",
        ),
        (|s| s.loss = Some("logistic".into()), Code::Settings, "squared"),
        // Enough for the few columns of this table, but not for the most that records can give.
        (|s| s.lambda = Some(1e-11), Code::By(efface::MechanismName::Ridge), "`lambda`"),
    ] {
        let error = with(change);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(!world.path("x.efface").exists());
}
