//! Regression on several targets by `ridge`: each is what it would be alone, and all of a record's go
//! together.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use efface::{
    CheckOutcome, Code, Delete, ExportFormat, MemoryRows, MemoryTable, Numbers, Selector, Settings,
    Source, Values, add, certificate, delete, erase, evaluate, export, predict, refresh, train,
    update, verify, verify_ledger, weights,
};

use crate::world::{World, bytes, holds};

const TARGETS: [&str; 3] = ["price", "rooms", "age of roof"];

/// The numbers of a record: features, then targets of very different sizes.
fn numbers(id: usize) -> ([f64; 3], [f64; 3]) {
    let (s, t) = ((id as f64 * 0.7).sin(), (id as f64 * 1.3).cos());
    ([s, t, s * t], [1e5 + 4e4 * s + 100.0 * t, 3.0 + t, 0.004 * s * t + 0.001 * t])
}

/// A table of records, with a weight of 0 to 3 each where `weighted`, and columns in another order than
/// the targets have.
fn table(
    world: &World,
    name: &str,
    ids: impl IntoIterator<Item = usize>,
    weighted: bool,
) -> Source<'static> {
    let mut text = String::from("id,rooms,a,b,price,c,age of roof,w\n");
    for id in ids {
        let ([a, b, c], [price, rooms, roof]) = numbers(id);
        writeln!(text, "id-{id},{rooms:.6},{a:.4},{b:.4},{price:.4},{c:.4},{roof:.6},{}", id % 4)
            .unwrap();
    }
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    Source {
        path: Some(path),
        label: Some(TARGETS[0].into()),
        more_labels: TARGETS[1..].iter().map(|name| (*name).to_owned()).collect(),
        id: Some("id".into()),
        weight: weighted.then(|| "w".into()),
        ignore: if weighted { Vec::new() } else { vec!["w".into()] },
        ..Source::default()
    }
}

/// The same table with one of the targets, without the others.
fn alone(source: &Source<'static>, target: usize) -> Source<'static> {
    let others = (0..3).filter(|at| *at != target).map(|at| TARGETS[at].to_owned());
    let ignore = source.ignore.iter().cloned().chain(others).collect();
    let label = Some(TARGETS[target].to_owned());
    Source { label, more_labels: Vec::new(), ignore, ..source.clone() }
}

fn fitted() -> Settings {
    Settings { mechanism: Some("ridge".into()), ..Settings::default() }
}

fn declared() -> Settings {
    Settings {
        preprocess: Some("declared".into()),
        target_range: Some((-2e5, 2e5)),
        row_norm: Some(2.0),
        lambda: Some(1e-3),
        public_n: Some(90),
        capacity: Some(200),
        ..fitted()
    }
}

fn ids(names: impl IntoIterator<Item = usize>) -> Delete {
    let names = names.into_iter().map(|id| format!("id-{id}")).collect();
    Delete { what: Selector::Ids(names), request_id: None }
}

/// Statistics and bits of the weights.
fn published(vault: &Path) -> (Option<String>, Vec<u64>) {
    let model = weights(vault).unwrap();
    let bits = model.coef.iter().chain(&model.intercept).map(|w| w.to_bits()).collect();
    (model.preprocessing, bits)
}

fn verified(world: &World, vault: &Path) {
    let key = world.keyring.public_key();
    let verdict = verify_ledger(vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    assert!(verdict.checks.iter().any(|check| check.name == "sums"), "{verdict:?}");
    let text = certificate(vault, "latest").unwrap();
    let verdict = verify(&text, Some(&key), Some(vault), None).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

fn predictions(vault: &Path, source: &Source<'_>) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    predict(vault, source, &mut |row| {
        assert!(row.prediction.is_empty() && row.probabilities.is_empty());
        let names: Vec<&str> = row.targets.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, TARGETS);
        all.push(row.targets.iter().map(|(_, number)| *number).collect());
        Ok(())
    })
    .unwrap();
    all
}

#[test]
fn any_history_gives_the_bits_of_training_on_what_remains() {
    for (settings, weighted) in [
        (fitted(), false),
        (declared(), false),
        (Settings { max_weight: Some(3.0), ..fitted() }, true),
        (Settings { max_weight: Some(3.0), ..declared() }, true),
    ] {
        let world = World::new();
        let (vault, anew) = (world.path("model.efface"), world.path("anew.efface"));
        let source = |name: &str, ids: &[usize]| table(&world, name, ids.to_vec(), weighted);
        let mut live: BTreeMap<usize, ()> = (0..90).map(|id| (id, ())).collect();
        let all: Vec<usize> = live.keys().copied().collect();
        world.run(|s| train(&source("a.csv", &all), settings.clone(), &vault, s)).unwrap();
        for request in 0..3 {
            let gone: Vec<usize> = live.keys().copied().skip(7 * request).take(5).collect();
            world.run(|s| delete(&vault, &ids(gone.clone()), s)).unwrap();
            live.retain(|id, ()| !gone.contains(id));
            let fresh: Vec<usize> = (100 + 10 * request..104 + 10 * request).collect();
            // Neither the labels nor their order are said again.
            let more = Source { label: None, more_labels: Vec::new(), ..source("b.csv", &fresh) };
            world.run(|s| add(&vault, &more, None, s)).unwrap();
            live.extend(fresh.iter().map(|id| (*id, ())));
        }
        world.run(|s| update(&vault, &source("c.csv", &[50, 51]), None, s)).unwrap();
        world.run(|s| erase(&vault, &ids([60]), s)).unwrap();
        live.remove(&60);
        world.run(|s| refresh(&vault, None, s)).unwrap();
        verified(&world, &vault);
        let rest: Vec<usize> = live.keys().rev().copied().collect();
        let rest = source("rest.csv", &rest);
        world.run(|s| train(&rest, settings.clone(), &anew, s)).unwrap();
        assert_eq!(published(&vault), published(&anew));
        // Each target is what it would be alone: the same weights, in its own units.
        let model = weights(&vault).unwrap();
        assert_eq!(model.target_names.as_deref().unwrap(), TARGETS);
        assert_eq!((model.outputs, model.target_range), (3, None));
        for at in 0..3 {
            let path = world.path(&format!("alone{at}.efface"));
            let settings = Settings { loss: Some("squared".into()), ..settings.clone() };
            world.run(|s| train(&alone(&rest, at), settings, &path, s)).unwrap();
            let one = weights(&path).unwrap();
            assert_eq!(one.target_range.unwrap(), model.target_ranges.as_ref().unwrap()[at]);
            assert_eq!(one.coef[..], model.coef.chunks_exact(3).nth(at).unwrap()[..]);
            assert_eq!(one.intercept[0], model.intercept[at]);
        }
    }
}

#[test]
fn predictions_and_errors_are_in_units_of_each_target() {
    let world = World::new();
    let vault = world.path("model.efface");
    let source = table(&world, "a.csv", 0..90, false);
    world.run(|s| train(&source, fitted(), &vault, s)).unwrap();
    let found = predictions(&vault, &source);
    let scores = evaluate(&vault, &source).unwrap();
    assert_eq!((scores.rmse, scores.targets.len()), (None, 3));
    for (at, errors) in scores.targets.iter().enumerate() {
        assert_eq!(errors.name, TARGETS[at]);
        let squares =
            found.iter().enumerate().map(|(id, row)| (row[at] - numbers(id).1[at]).powi(2));
        let rmse = (squares.sum::<f64>() / 90.0).sqrt();
        // The table has fewer digits.
        assert!((errors.rmse / rmse - 1.0).abs() < 2e-3, "{errors:?} {rmse}");
        assert!(errors.rmse < 0.2 * errors.mean_rmse && errors.mae <= errors.rmse, "{errors:?}");
    }
    // Prediction needs no targets.
    let path = world.path("features.csv");
    std::fs::write(&path, "a,b,c\n0.5,0.25,0.125\n").unwrap();
    let bare = Source { path: Some(path), ..Source::default() };
    assert_eq!(predictions(&vault, &bare).len(), 1);
    let json = world.run(|s| export(&vault, ExportFormat::Json, s)).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(document["target_names"], serde_json::json!(TARGETS));
    assert_eq!(document["target_ranges"].as_array().unwrap().len(), 3);
    for format in [ExportFormat::Npz, ExportFormat::Safetensors] {
        let all = world.run(|s| export(&vault, format, s)).unwrap();
        assert!(all.windows(13).any(|part| part == b"target_ranges"));
    }
}

/// Neither the cells nor the numbers of a deleted record's targets are in any file, nor weights and
/// statistics that it was in.
#[test]
fn nothing_of_a_deleted_records_targets_stays() {
    for settings in [fitted(), declared()] {
        let world = World::new();
        let vault = world.path("model.efface");
        let source = table(&world, "a.csv", 0..60, false);
        let path = world.path("a.csv");
        let planted = "id-777,12345.678,0.5,0.25,98765.432,0.125,31415.926,1\n";
        let text = std::fs::read_to_string(&path).unwrap() + planted;
        std::fs::write(&path, text).unwrap();
        world.run(|s| train(&source, settings.clone(), &vault, s)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let before = published(&vault);
        let map = |y: f64| (y + 2e5) / 4e5 * 2.0 - 1.0;
        let mut needles: Vec<Vec<u8>> = Vec::new();
        for y in [12345.678_f64, 98765.432, 31415.926] {
            needles.extend([y, map(y)].map(|y| y.to_le_bytes().to_vec()));
            // As SQLite has numbers.
            needles.push(map(y).to_be_bytes().to_vec());
        }
        let found = |needle: &[u8]| holds(&bytes(vault.parent().unwrap()), needle);
        let there = needles.iter().filter(|needle| found(needle)).count();
        assert!(there >= 3, "{there}");
        world.run(|s| delete(&vault, &ids([777]), s)).unwrap();
        needles.extend(["12345.678", "98765.43", "31415.9"].map(|text| text.as_bytes().to_vec()));
        needles.extend(before.1.iter().map(|bits| bits.to_le_bytes().to_vec()));
        needles.extend(before.0.map(String::into_bytes));
        for needle in needles {
            assert!(!found(&needle), "{needle:?} ({})", String::from_utf8_lossy(&needle));
        }
    }
}

/// The further targets are covered by the checksum of their record.
#[test]
fn a_changed_target_is_noticed() {
    let world = World::new();
    for (name, settings) in [("fitted", fitted()), ("declared", declared())] {
        let vault = world.path(&format!("{name}.efface"));
        let source = table(&world, "a.csv", 0..60, false);
        world.run(|s| train(&source, settings, &vault, s)).unwrap();
        verified(&world, &vault);
        let database = rusqlite::Connection::open(&vault).unwrap();
        // The last byte of a row with declared preprocessing; one of the second target of a raw one.
        let place = if name == "declared" { "length(features)" } else { "12" };
        let query = format!(
            "UPDATE content SET features = CAST(substr(features, 1, {place} - 1) || x'3d' || \
             substr(features, {place} + 1) AS BLOB)"
        );
        assert_eq!(database.execute(&query, []).unwrap(), 1);
        drop(database);
        let key = world.keyring.public_key();
        let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Fails, "{verdict:?}");
        let refused = world.run(|s| delete(&vault, &ids([8]), s)).unwrap_err();
        assert_eq!(refused.code(), Code::Damaged, "{refused}");
    }
}

#[test]
fn the_certificate_lists_how_many_targets_there_are() {
    let world = World::new();
    for (name, settings) in [("fitted", fitted()), ("declared", declared())] {
        let vault = world.path(&format!("{name}.efface"));
        let source = table(&world, "a.csv", 0..60, false);
        let served = world.run(|s| train(&source, settings, &vault, s)).unwrap();
        assert_eq!(served.claims[0].epsilon.0, 0.0);
        let text = certificate(&vault, "latest").unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let constant = |name: &str| {
            let listed = document["constants"].as_array().unwrap();
            listed.iter().find(|constant| constant["name"] == name).unwrap()["value"].clone()
        };
        assert_eq!((constant("targets"), constant("loss")), ("3".into(), "squared".into()));
        let parameters = document["event"]["setting"]["parameters"].as_u64().unwrap();
        assert!(parameters.is_multiple_of(3) && parameters >= 12, "{parameters}");
        // Names of targets are nobody's to publish.
        assert!(!text.contains("price"), "{text}");
    }
}

#[test]
fn what_learns_one_target_refuses_several() {
    let world = World::new();
    let source = table(&world, "a.csv", 0..60, false);
    let path = world.path("x.efface");
    for (mechanism, loss) in [
        (None, None),
        (Some("retrain"), None),
        (Some("noisy-gd"), Some("squared")),
        (Some("ridge"), Some("squared-classes")),
    ] {
        let settings = Settings {
            mechanism: mechanism.map(str::to_owned),
            loss: loss.map(str::to_owned),
            target_range: mechanism.filter(|name| *name == "noisy-gd").map(|_| (0.0, 1.0)),
            ..Settings::default()
        };
        let error = world.run(|s| train(&source, settings, &path, s)).unwrap_err();
        assert_eq!(error.code(), Code::Settings, "{error}");
        let words = ["got 3 (`price`, `rooms`, `age of roof`)", "`mechanism ridge`"];
        assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
    }
    assert!(!path.exists());
}

#[test]
fn targets_that_are_none_are_refused() {
    let world = World::new();
    let vault = world.path("model.efface");
    world.run(|s| train(&table(&world, "a.csv", 0..60, false), fitted(), &vault, s)).unwrap();
    let with = |name: &str, cells: &str, labels: &[&str]| {
        let path = world.path(name);
        let text = format!("id,rooms,a,b,price,c,age of roof\nid-900,{cells}\n");
        std::fs::write(&path, text).unwrap();
        let mut labels = labels.iter().map(|label| (*label).to_owned());
        Source {
            path: Some(path),
            label: labels.next(),
            more_labels: labels.collect(),
            ..Source::default()
        }
    };
    for (cells, labels, words) in [
        ("3,1,1,,1,0.1", &[][..], "1 of 1 rows has no label, the first is"),
        ("3,1,1,5,1,inf", &[], "column `age of roof`: the label must be finite"),
        ("many,1,1,5,1,1", &[], "column `rooms`: the label must be a number"),
        ("3,1,1,5,1,1e39", &[], "3.4e38"),
        ("3,1,1,5,1,1", &["price"], "the targets `price`, `rooms`, `age of roof`"),
        ("3,1,1,5,1,1", &["rooms", "price", "age of roof"], "the targets `rooms`, `price`"),
        ("3,1,1,5,1,1", &["price", "price", "rooms"], "`label` names `price` twice"),
    ] {
        let source = with("more.csv", cells, labels);
        let error = world.run(|s| add(&vault, &source, None, s)).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn tables_in_memory_may_have_several_targets() {
    let world = World::new();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for id in 0..90 {
        let (features, targets) = numbers(id);
        x.extend(features);
        y.extend(targets);
    }
    let names = TARGETS.map(str::to_owned);
    let of = |rows: std::ops::Range<usize>, names: &[String]| -> Vec<u64> {
        let vault = world.path(&format!("{}.efface", names.len()));
        let table = MemoryTable {
            rows: MemoryRows::Dense {
                numbers: Numbers::Double(&x[3 * rows.start..3 * rows.end]),
                width: 3,
            },
            labels: Some(Values::Several { numbers: &y[3 * rows.start..3 * rows.end], names }),
            ids: None,
            subjects: None,
            weights: None,
            names: None,
        };
        let source = Source { memory: Some(table), ..Source::default() };
        world.run(|s| train(&source, fitted(), &vault, s)).unwrap();
        let found = published(&vault).1;
        std::fs::remove_file(vault).unwrap();
        found
    };
    assert_ne!(of(0..90, &names), of(1..90, &names));
    // Numbers that do not make whole rows, and names of records in their place.
    let table = |numbers, ids| MemoryTable {
        rows: MemoryRows::Dense { numbers: Numbers::Double(&x[..9]), width: 3 },
        labels: Some(Values::Several { numbers, names: &names }),
        ids,
        subjects: None,
        weights: None,
        names: None,
    };
    let several = Some(Values::Several { numbers: &y[..9], names: &names });
    for (table, words) in [
        (table(&y[..8], None), "3"),
        (table(&y[..6], None), "2"),
        (table(&y[..9], several), "`ids` must have one value for each row, got 3"),
    ] {
        let source = Source { memory: Some(table), ..Source::default() };
        let path = world.path("x.efface");
        let error = world.run(|s| train(&source, fitted(), &path, s)).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}
