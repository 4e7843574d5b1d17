//! What a vault keeps in `perfect` state: the published model, the remaining rows, public constants,
//! and nothing else that follows from a model that saw deleted records.
//!
//! Two worlds differ in the contents of one record, as long as a row may be or zero. Everything
//! random is the same in both, so that whatever still differs after the record's deletion follows
//! from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use efface::{
    Delete, ExportFormat, Selector, Served, Settings, Source, add, delete, export, train, update,
};
use efface_privacy::certificate::Certificate;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use crate::world::{World, bytes, holds};

/// Every value of every table by its place; the leaves of JSON texts one by one.
fn everything(vault: &Path) -> BTreeMap<String, String> {
    let connection = rusqlite::Connection::open(vault).unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let opened = efface_vault::Vault::open_read_only(vault).unwrap();
    let entry = |index| opened.ledger_entry(index, |entry| entry.json.to_owned()).unwrap().unwrap();
    let mut all = BTreeMap::new();
    for table in names("SELECT name FROM sqlite_schema WHERE type = 'table'") {
        let columns = names(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let mut rows = statement.query([]).unwrap();
        let mut count = 0;
        while let Some(row) = rows.next().unwrap() {
            for (at, column) in columns.iter().enumerate() {
                let name = format!("{table}[{count}].{column}");
                let stored = match row.get::<_, Value>(at).unwrap() {
                    // Compressed, which the hashes in it change as a whole.
                    Value::Blob(_) if table == "ledger" && column == "body" => {
                        Value::Text(entry(count))
                    }
                    other => other,
                };
                match stored {
                    Value::Text(text) => match serde_json::from_str(&text) {
                        Ok(json) => leaves(&name, &json, &mut all),
                        Err(_) => drop(all.insert(name, text)),
                    },
                    Value::Blob(blob) => drop(all.insert(name, hex::encode(blob))),
                    other => drop(all.insert(name, format!("{other:?}"))),
                }
            }
            count += 1;
        }
        all.insert(format!("{table}: rows"), count.to_string());
    }
    all.insert("size".to_owned(), std::fs::metadata(vault).unwrap().len().to_string());
    all
}

fn leaves(name: &str, json: &serde_json::Value, all: &mut BTreeMap<String, String>) {
    match json {
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| leaves(&format!("{name}/{key}"), value, all));
        }
        serde_json::Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                leaves(&format!("{name}/{at}"), value, all);
            }
        }
        leaf => drop(all.insert(name.to_owned(), leaf.to_string())),
    }
}

/// What may differ: the published weights, and what is hashed or signed over them.
fn follows_from_the_weights(name: &str) -> bool {
    let ends = [
        "model[0].weights",
        "model[0].digest",
        "/model/digest_before",
        "/model/digest_after",
        "/chain/hash",
        "/chain/previous",
        "/signature/value",
        ".hash",
        // Sums over the remaining rows, masked and sealed by the head of the ledger.
        "tally[0].rows",
        "tally[0].notes",
        "tally[0].mac",
    ];
    ends.iter().any(|end| name.ends_with(end))
}

/// A table whose record `id-7` has that row; numbers are learnt for 0 classes.
fn table(world: &World, classes: usize, row: &str) -> Source<'static> {
    let source = world.table("train.csv", 0, 60, classes);
    let target = if classes == 0 { "5.5" } else { "yes" };
    let path: &PathBuf = source.path.as_ref().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let changed: Vec<String> = text
        .lines()
        .map(|line| match line.starts_with("id-7,") {
            true => format!("id-7,who-2,{target},{row}"),
            false => line.to_owned(),
        })
        .collect();
    std::fs::write(path, changed.join("\n")).unwrap();
    source
}

/// What a request gives and the vault then holds.
struct Told {
    what: &'static str,
    served: Served,
    kept: BTreeMap<String, String>,
}

/// One world: trained, the record deleted, others added and updated.
fn life(settings: &Settings, row: &str) -> Vec<Told> {
    let world = World::new();
    let vault = world.path("model.efface");
    let classes = if settings.target_range.is_some() { 0 } else { 2 };
    let source = table(&world, classes, row);
    let mut all = Vec::new();
    let mut told = |what, served: efface::Result<Served>| {
        all.push(Told { what, served: served.unwrap(), kept: everything(&vault) });
    };
    told("train", world.run(|s| train(&source, settings.clone(), &vault, s)));
    let one = Delete { what: Selector::Ids(vec!["id-7".into()]), request_id: None };
    told("delete", world.run(|s| delete(&vault, &one, s)));
    let more = world.table("more.csv", 60, 2, classes);
    told("add", world.run(|s| add(&vault, &more, None, s)));
    let again = world.table("again.csv", 60, 1, classes);
    told("update", world.run(|s| update(&vault, &again, None, s)));
    all
}

#[test]
fn what_is_kept_does_not_follow_from_the_model_that_saw_a_deleted_record() {
    let named = |mechanism: &str| Settings {
        mechanism: Some(mechanism.to_owned()),
        capacity: Some(80),
        ..Settings::default()
    };
    let ridge = Settings {
        loss: Some("squared".to_owned()),
        target_range: Some((0.0, 10.0)),
        ..named("ridge")
    };
    let perfect = Settings { variant: Some("perfect".to_owned()), ..named("descent-to-delete") };
    for settings in [named("solve"), named("retrain"), named("noisy-gd"), perfect, ridge] {
        let name = settings.mechanism.clone().unwrap();
        let (long, zero) = (life(&settings, "0.6,0.8,0.0"), life(&settings, "0.0,0.0,0.0"));
        let exact = matches!(name.as_str(), "ridge" | "retrain");
        let moved = long[0].kept["model[0].weights"] != zero[0].kept["model[0].weights"];
        assert!(moved, "{name}: the record had no influence");
        if name == "solve" {
            // What is told once does differ, or nothing would be shown here.
            let distances = [&long, &zero].map(|told| told[1].served.work.clone().unwrap());
            assert_ne!(distances[0], distances[1]);
        }
        for (long, zero) in long.iter().zip(&zero).skip(1) {
            let what = format!("{name} {}", long.what);
            assert_eq!(
                long.kept.keys().collect::<Vec<_>>(),
                zero.kept.keys().collect::<Vec<_>>(),
                "{what}"
            );
            for ((place, a), b) in long.kept.iter().zip(zero.kept.values()) {
                // The number of the vault's own file follows from no row.
                if place == "place[0].inode" {
                    continue;
                }
                // `ridge` and `retrain` start from the remaining rows alone.
                if follows_from_the_weights(place) && !(exact && place == "model[0].weights") {
                    assert_eq!(a.len(), b.len(), "{what}: length of {place}");
                } else {
                    assert_eq!(a, b, "{what}: {place}");
                }
            }
        }
    }
}

/// Digests outlive the weights they are of; without a salt, or with one that stays, they would
/// confirm a guess of them.
#[test]
fn what_is_kept_confirms_no_guess_of_earlier_weights() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let model = || {
        let all = everything(&vault);
        ["weights", "salt", "digest"]
            .map(|column| hex::decode(&all[&format!("model[0].{column}")]).unwrap())
    };
    let [weights, salt, digest] = model();
    let one = Delete { what: Selector::Ids(vec!["id-7".into()]), request_id: None };
    world.run(|s| delete(&vault, &one, s)).unwrap();
    let [_, new_salt, _] = model();
    assert!(salt.len() == 32 && salt != new_salt, "a salt is drawn for each release");
    let all = bytes(vault.parent().unwrap());
    let held = |needle: &[u8]| holds(&all, needle);
    let both = |needle: &[u8]| held(needle) || held(hex::encode(needle).as_bytes());
    assert!(held(hex::encode(&digest).as_bytes()), "the ledger keeps the digest");
    assert!(!both(&salt), "the salt is still there");
    assert!(!both(&weights), "the weights are still there");
    assert_eq!(hmac(&salt, &weights), digest, "the HMAC of the weights under the salt");
    let bare = Sha256::digest(&weights).to_vec();
    for known in [hmac(&[0; 32], &weights), hmac(&new_salt, &weights), bare] {
        assert!(!both(&known), "an earlier model can be guessed");
    }
}

/// HMAC-SHA256, written out.
fn hmac(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let pad = |with: u8| -> Vec<u8> {
        (0..64).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect()
    };
    let inner = Sha256::digest([&pad(0x36)[..], bytes].concat());
    Sha256::digest([&pad(0x5c)[..], &inner[..]].concat()).to_vec()
}

/// Whoever holds an export can see that it is the model of a certificate.
#[test]
fn an_export_can_be_held_against_its_certificate() {
    let world = World::new();
    let (vault, served) = world.trained(Settings::default()).unwrap();
    let stated = Certificate::parse(&served.certificate).unwrap().model.digest_after;
    let bytes = world.run(|s| export(&vault, ExportFormat::Json, s)).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let numbers = |at: &str| -> Vec<f64> {
        let list = document.pointer(at).unwrap().as_array().unwrap();
        list.iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let weights = [numbers("/coef/0"), numbers("/intercept")].concat();
    let stored: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    let salt = hex::decode(document["salt"].as_str().unwrap()).unwrap();
    assert_eq!(hex::encode(hmac(&salt, &stored)), stated);
    assert_eq!(document["digest"], stated);
    let bytes = world.run(|s| export(&vault, ExportFormat::Safetensors, s)).unwrap();
    let header = String::from_utf8_lossy(&bytes);
    assert!(header.contains(&stated) && header.contains(&hex::encode(&salt)));
}
