//! Erasures from vaults whose rows are damaged: they are served, and leave no row of those named.

use std::fs;
use std::path::{Path, PathBuf};

use efface::{
    CheckOutcome, Code, Delete, Error, Selector, Settings, delete, delete_dry_run, doctor, entries,
    erase, erase_dry_run, refresh, show, status, verify, verify_ledger,
};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::foreign::Alteration::{self, Features, Name, Remove, Target};
use crate::foreign::alter;
use crate::world::{World, bytes, holds};

/// A vault of 117 rows, those of `who-1` (`id-3` to `id-5`) deleted, and a copy from before.
fn aged(settings: Settings) -> (World, PathBuf) {
    let world = World::new();
    let (vault, _) = world.trained(settings).unwrap();
    fs::remove_file(world.path("train.csv")).unwrap();
    fs::create_dir(world.path("before")).unwrap();
    fs::copy(&vault, world.path("before/model.efface")).unwrap();
    world.run(|s| delete(&vault, &people("who-1"), s)).unwrap();
    (world, vault)
}

fn people(name: &str) -> Delete {
    Delete { what: Selector::Subjects(vec![name.into()]), request_id: None }
}

fn ids(names: &[&str]) -> Delete {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Delete { what: Selector::Ids(names), request_id: None }
}

fn sql(world: &World, vault: &Path, statements: &str) {
    let connection = Connection::open(vault).unwrap();
    let before = world.path("before/model.efface");
    let attach = format!("ATTACH '{}' AS before", before.display());
    connection.execute_batch(&format!("{attach}; {statements}")).unwrap();
}

fn has(world: &World, name: &[u8]) -> bool {
    holds(&bytes(&world.path(".")), name)
}

fn damage(certificate: &str) -> Value {
    serde_json::from_str::<Value>(certificate).unwrap()["damage"].clone()
}

/// Everything about the vault and its entries holds.
fn all_holds(world: &World, vault: &Path, context: &str) {
    let key = world.keyring.public_key();
    let examined = doctor(vault, Some(&world.keyring)).unwrap();
    assert_eq!(examined.outcome(), CheckOutcome::Holds, "{context}: {examined:?}");
    let ledger = verify_ledger(vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(ledger.outcome(), CheckOutcome::Holds, "{context}: {ledger:?}");
    for entry in entries(vault).unwrap() {
        let text = efface::certificate(vault, &entry.index.to_string()).unwrap();
        let verdict = verify(&text, Some(&key), Some(vault), None).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{context}: {verdict:?}");
    }
}

/// What another program did: to rows, by number, and in SQL.
type Change = (&'static [(usize, Alteration)], &'static str);

/// All rows that share a checksum.
const GROUP: [(usize, Alteration); 8] = [
    (57, Remove),
    (58, Remove),
    (59, Remove),
    (60, Remove),
    (61, Remove),
    (62, Remove),
    (63, Remove),
    (64, Remove),
];

/// What another program did, and what of `who-7` (`id-21` to `id-23`) and others went by it: records
/// of the request, rows that share a checksum with a damaged one (eight do), missing rows.
const CHANGES: [(Change, [u64; 3]); 14] = [
    ((&[(61, Remove)], ""), [3, 7, 1]),
    ((&[(61, Remove)], "UPDATE main.tally SET records = 116"), [3, 7, 1]),
    ((&[(22, Remove), (23, Remove), (24, Remove)], ""), [0, 5, 3]),
    ((&GROUP, ""), [3, 0, 8]),
    ((&[(61, Target)], ""), [3, 8, 0]),
    ((&[(61, Features)], ""), [3, 8, 0]),
    ((&[(22, Name("who-7who-7", b"who-9who-7"))], ""), [0, 8, 0]),
    ((&[(22, Name("id-21id-22", b"xx-21id-22"))], ""), [0, 8, 0]),
    ((&[(61, Name("id-60", b"\xff\xff-60"))], ""), [3, 8, 0]),
    (
        (
            &[],
            "DELETE FROM main.block; INSERT INTO main.block SELECT * FROM before.block; \
             DELETE FROM main.content; INSERT INTO main.content SELECT * FROM before.content",
        ),
        [3, 3, 0],
    ),
    ((&[], "UPDATE main.tally SET mac = zeroblob(32)"), [3, 0, 0]),
    ((&[], "DELETE FROM main.tally"), [3, 0, 0]),
    ((&[], "DELETE FROM main.model"), [3, 0, 0]),
    ((&[], "UPDATE main.model SET weights = zeroblob(5)"), [3, 0, 0]),
];

fn apply(world: &World, vault: &Path, change: &Change) {
    change.0.iter().for_each(|(number, alteration)| alter(vault, *number, *alteration));
    sql(world, vault, change.1);
}

#[test]
fn a_damaged_vault_serves_an_erasure_and_is_sound_after_it() {
    let newton = Settings {
        state: Some("secret".into()),
        solver: Some("newton".into()),
        releases: Some(40),
        lambda: Some(0.05),
        ..Settings::default()
    };
    for (change, [records, erased, missing]) in CHANGES {
        for settings in [Settings::default(), newton.clone()] {
            let (world, vault) = aged(settings);
            apply(&world, &vault, &change);
            let statements = &*format!("{change:?}");
            let refused = world.run(|s| delete(&vault, &people("who-8"), s)).unwrap_err();
            assert_eq!(refused.code(), Code::Damaged, "{statements}: {refused}");
            let served = world.run(|s| erase(&vault, &people("who-7"), s)).unwrap();
            let remaining = status(&vault).unwrap().records;
            let put_back = if statements.contains("before.block") { 3 } else { 0 };
            assert_eq!(served.records, Some(records), "{statements}");
            assert_eq!(remaining + records + erased + missing, 117 + put_back, "{statements}");
            let expected = json!({
                "erased": erased.to_string(),
                "missing": missing.to_string(),
                "remaining": remaining.to_string(),
            });
            assert_eq!(damage(&served.certificate), expected, "{statements}");
            assert!(
                show(&served.certificate).unwrap().text().contains("was damaged"),
                "{statements}"
            );
            let told: Vec<&str> = served.notices.iter().map(|notice| notice.code.name()).collect();
            assert_eq!(told, ["damaged-rows"], "{statements}");
            fs::remove_dir_all(world.path("before")).unwrap();
            for name in [b"id-21".as_slice(), b"id-22", b"id-23", b"who-7"] {
                assert!(!has(&world, name), "{statements}: {name:?}");
            }
            all_holds(&world, &vault, statements);
            let again = world.run(|s| erase(&vault, &people("who-7"), s)).unwrap();
            assert!(again.replayed && again.certificate == served.certificate, "{statements}");
            let fresh = world.run(|s| refresh(&vault, None, s)).unwrap();
            assert_eq!(fresh.remaining, remaining, "{statements}");
            world.run(|s| delete(&vault, &people("who-8"), s)).unwrap();
            all_holds(&world, &vault, statements);
        }
    }
}

/// Tables that lead to rows hold nothing that the rows do not: whatever happened to them, nobody is called
/// unknown, `doctor` says so, and an erasure makes them anew.
#[test]
fn a_damaged_index_calls_nobody_unknown() {
    for statements in [
        "UPDATE main.named SET id = CAST(x'69642d32ff' AS TEXT) WHERE id = 'id-21'",
        "UPDATE main.named SET id = 'id-2I' WHERE id = 'id-21'",
        "DELETE FROM main.named",
        "UPDATE main.owned SET subject = CAST(x'77ff' AS TEXT) WHERE subject = 'who-7'",
        "DELETE FROM main.owned",
    ] {
        let (world, vault) = aged(Settings::default());
        sql(&world, &vault, statements);
        let examined = doctor(&vault, Some(&world.keyring)).unwrap();
        assert_eq!(examined.outcome(), CheckOutcome::Fails, "{statements}: {examined:?}");
        let request = if statements.contains("owned") { people("who-7") } else { ids(&["id-21"]) };
        let known = efface::split_known(&vault, &request.what, &world.keyring).unwrap_err();
        let refused = world.run(|s| delete(&vault, &request, s)).unwrap_err();
        let foreseen = delete_dry_run(&vault, &request, &world.keyring).unwrap_err();
        for error in [known, refused, foreseen] {
            assert_eq!(error.code(), Code::Damaged, "{statements}: {error}");
        }
        let served = world.run(|s| erase(&vault, &request, s)).unwrap();
        assert!(served.records.is_some_and(|records| records > 0), "{statements}");
        all_holds(&world, &vault, statements);
    }
}

/// What else follows from the rows, or from nothing, is made anew by an erasure, too.
#[test]
fn an_erasure_makes_place_counter_and_indexes_anew() {
    for statements in [
        "UPDATE main.place SET boot = CAST(x'ff' AS TEXT)",
        "UPDATE main.place SET moves = -1",
        "UPDATE main.counter SET record = -1",
        "UPDATE main.counter SET position = -1",
        "DELETE FROM main.counter",
    ] {
        let (world, vault) = aged(Settings::default());
        sql(&world, &vault, statements);
        let refused = world.run(|s| delete(&vault, &people("who-7"), s)).unwrap_err();
        assert_eq!(refused.code(), Code::Damaged, "{statements}: {refused}");
        if statements.contains("place") {
            let examined = doctor(&vault, Some(&world.keyring)).unwrap();
            assert_eq!(examined.outcome(), CheckOutcome::Fails, "{statements}: {examined:?}");
        }
        let served = world.run(|s| erase(&vault, &people("who-7"), s)).unwrap();
        assert_eq!(served.records, Some(3), "{statements}");
        let moved = served.notices.iter().any(|notice| notice.code.name() == "moved");
        assert_eq!(moved, statements.contains("place"), "{statements}");
        all_holds(&world, &vault, statements);
    }
    // The index of requests, where the id of the one that deleted `who-1` is a second time.
    let (world, vault) = aged(Settings::default());
    let mut bytes = fs::read(&vault).unwrap();
    let id = entries(&vault).unwrap().last().unwrap().request_id.clone().unwrap();
    let places: Vec<usize> =
        (0..bytes.len() - id.len()).filter(|&at| bytes[at..].starts_with(id.as_bytes())).collect();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_request_1'";
    let root: i64 =
        Connection::open(&vault).unwrap().query_row(root, [], |row| row.get(0)).unwrap();
    let at = places.into_iter().find(|at| (at / 8192 + 1) as i64 == root).unwrap();
    bytes[at] ^= 0x40;
    fs::write(&vault, &bytes).unwrap();
    let examined = doctor(&vault, Some(&world.keyring)).unwrap();
    assert_eq!(examined.outcome(), CheckOutcome::Fails, "{examined:?}");
    alter(&vault, 61, Target);
    world.run(|s| erase(&vault, &people("who-7"), s)).unwrap();
    all_holds(&world, &vault, "an index of requests");
}

/// Whichever byte of a name is changed, in its rows or in the index, an erasure leaves none of the
/// person's rows, also not the one that bears another name now.
#[test]
fn a_flipped_name_hides_no_row_from_an_erasure() {
    let (world, vault) = aged(Settings::default());
    let sound = fs::read(&vault).unwrap();
    let copy = world.path("copy.efface");
    let name = b"who-17";
    let places: Vec<usize> =
        (0..sound.len() - name.len()).filter(|&at| &sound[at..at + name.len()] == name).collect();
    assert!(places.len() >= 6, "three rows and their index: {places:?}");
    for at in places.into_iter().flat_map(|at| at..at + name.len()) {
        for bit in [1, 0x80] {
            let mut changed = sound.clone();
            changed[at] ^= bit;
            fs::write(&copy, &changed).unwrap();
            world.run(|s| erase(&copy, &people("who-17"), s)).unwrap();
            let left = status(&copy).unwrap().records;
            // Its rows, and those that share a checksum with the changed one.
            assert!((106..=114).contains(&left), "byte {at}: {left}");
            all_holds(&world, &copy, "a flip");
            let left = fs::read(&copy).unwrap();
            for id in [b"id-51", b"id-52", b"id-53"] {
                assert!(!left.windows(5).any(|part| part == id), "byte {at}");
            }
        }
    }
}

/// Only as many names as rows were damaged or are missing can have been theirs.
#[test]
fn unknown_names_are_refused_unless_a_damaged_row_may_have_had_them() {
    let (world, vault) = aged(Settings::default());
    let sound = fs::read(&vault).unwrap();
    let unknown =
        |request: &Delete| -> Error { world.run(|s| erase(&vault, request, s)).unwrap_err() };
    assert_eq!(unknown(&ids(&["nobody"])).code(), Code::UnknownRecord);
    assert_eq!(unknown(&people("nobody")).code(), Code::UnknownSubject);
    assert!(fs::read(&vault).unwrap() == sound, "a refusal changes nothing");
    alter(&vault, 61, Name("id-60", b"lost!"));
    // Eight rows share a checksum, so that eight names may have been theirs.
    let mut nine: Vec<String> = (0..8).map(|i| format!("nobody-{i}")).collect();
    nine.insert(0, "id-60".to_owned());
    let names: Vec<&str> = nine.iter().map(String::as_str).collect();
    let error = unknown(&ids(&names));
    assert_eq!((error.code(), error.names()), (Code::UnknownRecord, &nine[..]));
    let request = Delete { request_id: Some("t-1".into()), ..ids(&["id-60", "id-61"]) };
    let served = world.run(|s| erase(&vault, &request, s)).unwrap();
    // `id-61` is one of the eight.
    assert_eq!(served.records, Some(0));
    assert!(served.notices[0].message.contains("2 names of the request"), "{:?}", served.notices);
    let again = world.run(|s| erase(&vault, &request, s)).unwrap();
    assert!(again.replayed);
    all_holds(&world, &vault, "a name changed");
}

/// Where more than rows is damaged, the refusal says what is left to do.
#[test]
fn beyond_an_erasure_the_ways_that_are_left_are_named() {
    for statements in [
        "DROP TRIGGER main.ledger_is_append_only; UPDATE main.ledger SET body = '{' || body; \
         CREATE TRIGGER main.ledger_is_append_only BEFORE UPDATE ON ledger \
         BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
        "DELETE FROM main.ledger",
    ] {
        let (world, vault) = aged(Settings::default());
        sql(&world, &vault, statements);
        let error = world.run(|s| erase(&vault, &people("who-7"), s)).unwrap_err();
        let hint = error.what_to_do().unwrap();
        for way in ["efface doctor", "efface restore", "remove the vault's file"] {
            assert!(hint.contains(way), "{error}");
        }
        let rows = "SELECT COUNT(*) FROM owned WHERE subject = 'who-7'";
        let left: i64 =
            Connection::open(&vault).unwrap().query_row(rows, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 3, "{statements}: nothing was changed");
    }
}

/// A dry run reads no row, and says so by the refusal that names the way.
#[test]
fn a_dry_run_of_a_vault_with_other_rows_names_the_erasure() {
    let (world, vault) = aged(Settings::default());
    alter(&vault, 61, Remove);
    let error = erase_dry_run(&vault, &people("who-7"), &world.keyring).unwrap_err();
    assert!(error.what_to_do().unwrap().contains("--erase-only"), "{error}");
}
