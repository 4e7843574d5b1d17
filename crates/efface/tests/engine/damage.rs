//! Vaults that a disk or another program has changed: refused in words, or harmless.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::{
    CheckOutcome, Code, Context, Delete, Progress, Selector, Settings, Verdict, delete, doctor,
    predict, refresh, status, verify_ledger, verify_whole_ledger, weights,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rusqlite::Connection;

use efface_privacy::certificate::seal;
use efface_vault::{ReadError, Vault};
use serde_json::Value;

use crate::foreign::{Alteration, alter};
use crate::world::World;

/// A vault with subjects after a deletion, so that there are unused pages and tombstones.
fn aged(settings: Settings) -> (World, PathBuf) {
    let world = World::new();
    let (vault, _) = world.trained(settings).unwrap();
    let what = Selector::Subjects(vec!["who-1".into()]);
    world.run(|s| delete(&vault, &Delete { what, request_id: None }, s)).unwrap();
    (world, vault)
}

/// Deletes a subject with the same noise each time.
fn forget(world: &World, vault: &Path, subject: &str) -> efface::Result<efface::Served> {
    let mut rng = ChaCha20Rng::seed_from_u64(99);
    let mut entropy = |bytes: &mut [u8]| {
        rng.fill_bytes(bytes);
        Ok(())
    };
    let what = Selector::Subjects(vec![subject.into()]);
    let watch = &mut |_: &Progress| ControlFlow::Continue(());
    let clock = &|| "2030-01-02T03:04:05Z".to_owned();
    let keyring = &world.keyring;
    let (wait, rows) = (std::time::Duration::ZERO, efface::RowStore::Vault);
    let mut context = Context { clock, entropy: &mut entropy, keyring, watch, wait, rows };
    delete(vault, &Delete { what, request_id: None }, &mut context)
}

fn failing(verdict: &Verdict) -> Vec<&str> {
    let fails = verdict.checks.iter().filter(|check| check.outcome == CheckOutcome::Fails);
    fails.map(|check| check.name.as_str()).collect()
}

fn sql(vault: &Path, statements: &str) {
    Connection::open(vault).unwrap().execute_batch(statements).unwrap();
}

/// Whoever an index hides could not be deleted.
#[test]
fn names_that_lead_nowhere_fail_the_whole_ledger() {
    let (world, vault) = aged(Settings::default());
    let (key, keys) = (world.keyring.public_key(), Some(&world.keyring));
    let whole = || verify_whole_ledger(&vault, Some(&key), None, keys).unwrap();
    assert_eq!(whole().outcome(), CheckOutcome::Holds);
    for change in [
        "UPDATE owned SET subject = 'other' WHERE subject = 'who-2'",
        "UPDATE named SET id = 'other' WHERE id = 'id-30'",
        "DELETE FROM named WHERE id = 'id-31'",
    ] {
        let before = fs::read(&vault).unwrap();
        sql(&vault, change);
        assert!(failing(&whole()).contains(&"names"), "{change}");
        fs::write(&vault, before).unwrap();
    }
    assert_eq!(whole().outcome(), CheckOutcome::Holds);
}

/// Whether every command that only reads takes the vault for sound.
fn passes(world: &World, vault: &Path) -> bool {
    let keys = Some(&world.keyring);
    let key = world.keyring.public_key();
    let holds = |verdict: efface::Result<Verdict>| {
        verdict.is_ok_and(|verdict| verdict.outcome() == CheckOutcome::Holds)
    };
    holds(doctor(vault, keys))
        && status(vault).is_ok()
        && holds(verify_ledger(vault, Some(&key), None, keys))
        && predict(vault, &world.table("asked.csv", 500, 5, 2), &mut |_| Ok(())).is_ok()
}

/// Rows of a subject, by a scan that no index takes part in.
fn rows_of(vault: &Path, subject: &str) -> i64 {
    let mut rows = 0;
    let count = |_, row: efface_vault::StoredRecord<'_>| -> Result<(), ReadError> {
        rows += i64::from(row.subject == Some(subject));
        Ok(())
    };
    Vault::open_read_only(vault).unwrap().scan(count).unwrap();
    rows
}

/// 500 flips of one bit each, spread over the file: at most 2 % are accepted by everything, and
/// none of those changes the release or leaves a row of the deleted subject.
#[test]
fn flipped_bits_are_refused_or_harmless() {
    const FLIPS: usize = 500;
    let (world, vault) = aged(Settings::default());
    let sound = fs::read(&vault).unwrap();
    assert!(passes(&world, &vault));
    let copy = world.path("copy.efface");
    fs::write(&copy, &sound).unwrap();
    forget(&world, &copy, "who-7").unwrap();
    let release = weights(&copy).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(500);
    let mut accepted = Vec::new();
    for flip in 0..FLIPS {
        let region = sound.len() / FLIPS;
        let at = flip * region + rng.next_u64() as usize % region;
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (rng.next_u64() % 8);
        fs::write(&copy, &bytes).unwrap();
        if !passes(&world, &copy) || forget(&world, &copy, "who-7").is_err() {
            continue;
        }
        accepted.push(at);
        let now = weights(&copy).unwrap();
        assert_eq!((&now.coef, &now.intercept), (&release.coef, &release.intercept), "byte {at}");
        assert_eq!(rows_of(&copy, "who-7"), 0, "byte {at}");
    }
    println!("accepted: {} of {FLIPS}, at {accepted:?}", accepted.len());
    assert!(accepted.len() <= FLIPS / 50, "{} of {FLIPS}: {accepted:?}", accepted.len());
}

/// A request that was stored by another program would answer the owner's own of that name, and
/// nothing would be deleted.
#[test]
fn a_request_put_in_by_another_program_answers_nothing() {
    let (world, vault) = aged(Settings::default());
    for row in ["'delete', NULL", "'delete', (SELECT body_digest FROM request LIMIT 1)"] {
        sql(&vault, &format!("INSERT INTO request VALUES ('mine', {row}, 2, 1)"));
        let what = Selector::Subjects(vec!["who-7".into()]);
        let request = Delete { what, request_id: Some("mine".to_owned()) };
        let refused = world.run(|s| delete(&vault, &request, s)).unwrap_err();
        assert_eq!(rows_of(&vault, "who-7"), 3);
        let expected = if row.contains("NULL") { "requests" } else { "used before" };
        assert!(refused.message().contains(expected), "{refused}");
        sql(&vault, "DELETE FROM request WHERE request_id = 'mine'");
    }
    let what = Selector::Subjects(vec!["who-7".into()]);
    let request = Delete { what, request_id: Some("mine".to_owned()) };
    world.run(|s| delete(&vault, &request, s)).unwrap();
    assert_eq!(rows_of(&vault, "who-7"), 0);
}

/// Without the help of a doctor: whatever byte of the index is changed, a deletion by subject
/// leaves no row or does nothing, also where the mechanism reads no row.
#[test]
fn a_damaged_index_leaves_no_row_of_a_deleted_subject() {
    for settings in [Settings::default(), newton()] {
        damaged_index(settings);
    }
}

fn damaged_index(settings: Settings) {
    let (world, vault) = aged(settings);
    let sound = fs::read(&vault).unwrap();
    let copy = world.path("copy.efface");
    let name = b"who-17";
    let places: Vec<usize> =
        (0..sound.len() - name.len()).filter(|&at| &sound[at..at + name.len()] == name).collect();
    assert!(places.len() >= 6, "three rows and their index: {places:?}");
    let mut by_index = 0;
    for at in places.into_iter().flat_map(|at| at..at + name.len()) {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        fs::write(&copy, &bytes).unwrap();
        let before = rows_of(&copy, "who-17");
        match forget(&world, &copy, "who-17") {
            Ok(_) => assert_eq!(rows_of(&copy, "who-17"), 0, "byte {at}"),
            Err(error) => {
                assert_eq!(rows_of(&copy, "who-17"), before, "byte {at}");
                by_index += u32::from(error.message().contains("index"));
            }
        }
    }
    assert!(by_index >= 3, "the index was hit {by_index} times");
}

fn newton() -> Settings {
    Settings {
        state: Some("secret".into()),
        solver: Some("newton".into()),
        releases: Some(40),
        lambda: Some(0.05),
        ..Settings::default()
    }
}

/// Whichever byte of a Newton memory is changed, a request refuses it, and a refresh goes on.
#[test]
fn flips_in_a_newton_memory_are_refused() {
    let (world, vault) = aged(newton());
    let sound = fs::read(&vault).unwrap();
    let copy = world.path("copy.efface");
    let state: Vec<u8> = Connection::open(&vault)
        .unwrap()
        .query_row("SELECT state FROM caches", [], |row| row.get(0))
        .unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(60);
    for _ in 0..60 {
        let mut changed = state.clone();
        let at = rng.next_u64() as usize % changed.len();
        changed[at] ^= 1 << (rng.next_u64() % 8);
        fs::write(&copy, &sound).unwrap();
        Connection::open(&copy)
            .unwrap()
            .execute("UPDATE caches SET state = ?1", [changed])
            .unwrap();
        let refused = forget(&world, &copy, "who-7").unwrap_err();
        assert_eq!(refused.code(), Code::Damaged, "byte {at}: {refused}");
        assert!(refused.message().contains("kept state was changed"), "byte {at}: {refused}");
        assert!(refused.what_to_do().unwrap().contains("efface refresh"), "{refused}");
        assert_eq!(failing(&doctor(&copy, Some(&world.keyring)).unwrap()), ["state"], "byte {at}");
    }
    world.run(|s| refresh(&copy, None, s)).unwrap();
    assert_eq!(doctor(&copy, Some(&world.keyring)).unwrap().outcome(), CheckOutcome::Holds);
}

/// Rows removed, added or exchanged by another program: refused by requests, named by every check.
#[test]
fn rows_changed_by_another_program_are_named() {
    for (alteration, then, counted, words) in [
        (Alteration::Remove, "", true, "117 rows certified, 116 present"),
        (Alteration::Remove, "UPDATE tally SET records = 116", true, "count of its rows"),
        (Alteration::Target, "", false, "were changed"),
        (Alteration::Features, "", false, "were changed"),
        (Alteration::Name("who-20", b"who-21"), "", false, "were changed"),
    ] {
        let (world, vault) = aged(Settings::default());
        alter(&vault, 61, alteration);
        sql(&vault, then);
        let statements = format!("{alteration:?}; {then}");
        let refused = forget(&world, &vault, "who-7").unwrap_err();
        assert_eq!(refused.code(), Code::Damaged, "{statements}: {refused}");
        assert!(refused.message().contains(words), "{statements}: {refused}");
        assert!(refused.what_to_do().unwrap().contains("-journal"), "{statements}: {refused}");
        let keyed = verify_ledger(&vault, None, None, Some(&world.keyring)).unwrap();
        let counts = verify_ledger(&vault, None, None, None).unwrap();
        let examined = doctor(&vault, Some(&world.keyring)).unwrap();
        for verdict in [&keyed, &examined] {
            let names = failing(verdict);
            assert!(names.contains(&"rows") || names.contains(&"key"), "{statements}: {names:?}");
        }
        assert_eq!(failing(&counts).contains(&"rows"), counted, "{statements}: {counts:?}");
    }
}

/// The same vault as an earlier development version would have made it, its first certificate of
/// this schema.
fn earlier(world: &World, vault: &Path, schema: &str) -> PathBuf {
    let made = world.path("earlier.efface");
    let from = Vault::open_read_only(vault).unwrap();
    let mut new = Vault::create(&made, &from.genesis().unwrap(), &world.keyring).unwrap();
    from.scan(|_, row| -> Result<(), ReadError> {
        new.insert_record(&row).unwrap();
        Ok(())
    })
    .unwrap();
    let model = from.model().unwrap().unwrap();
    new.replace_model(1, &model.weights, &model.salt, &model.digest).unwrap();
    let text = from.ledger_entry(0, |entry| entry.json.to_owned()).unwrap().unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document.as_object_mut().unwrap().remove("signature");
    document["schema"] = schema.into();
    let keyring = &world.keyring;
    let (text, hash) = seal(document, &keyring.public_key(), |bytes| keyring.sign(bytes)).unwrap();
    let mut bytes = [0; 32];
    hex::decode_to_slice(hash, &mut bytes).unwrap();
    new.append_ledger("certificate", &text, &bytes).unwrap();
    new.commit().unwrap();
    made
}

/// Ledgers with certificates of earlier schemas are refused by name of the version, by requests and
/// by what only reads.
#[test]
fn a_vault_of_an_earlier_version_is_refused_in_words() {
    for schema in ["efface.certificate/0", "efface.certificate/0.1"] {
        let world = World::new();
        let (now, _) = world.trained(Settings::default()).unwrap();
        let vault = earlier(&world, &now, schema);
        let keys = Some(&world.keyring);
        let what = Delete { what: Selector::Ids(vec!["id-7".into()]), request_id: None };
        let table = world.table("asked.csv", 500, 5, 2);
        for error in [
            world.run(|s| delete(&vault, &what, s)).map(drop),
            world.run(|s| efface::erase(&vault, &what, s)).map(drop),
            status(&vault).map(drop),
            predict(&vault, &table, &mut |_| Ok(())).map(drop),
        ]
        .map(Result::unwrap_err)
        {
            assert_eq!(error.code(), Code::Older, "{schema}: {error}");
            assert!(error.message().contains(&format!("`schema` is `{schema}`")), "{error}");
            assert!(error.what_to_do().unwrap().contains("efface train"), "{error}");
        }
        let key = world.keyring.public_key();
        for verdict in [doctor(&vault, keys), verify_ledger(&vault, Some(&key), None, keys)] {
            let verdict = verdict.unwrap();
            let check = verdict.checks.iter().find(|check| check.name == "entry 0").unwrap();
            assert_eq!(check.outcome, CheckOutcome::Fails);
            assert!(check.reason.contains("earlier development version"), "{}", check.reason);
        }
    }
}

#[test]
fn a_sound_vault_passes_and_without_keys_is_undecided() {
    for settings in [Settings::default(), newton()] {
        let (world, vault) = aged(settings);
        let examined = doctor(&vault, Some(&world.keyring)).unwrap();
        assert_eq!(examined.outcome(), CheckOutcome::Holds, "{examined:?}");
        let before = fs::read(&vault).unwrap();
        let examined = doctor(&vault, None).unwrap();
        assert_eq!(examined.outcome(), CheckOutcome::Undecided, "{examined:?}");
        assert!(fs::read(&vault).unwrap() == before, "an examination changes nothing");
    }
}
