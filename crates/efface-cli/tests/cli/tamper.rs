//! Tampering: with certificates, with the ledger, with the model, with the whole vault.

use std::fs;
use std::process::Command;

use efface::Keyring;
use efface_privacy::certificate::{document_hash, seal};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::table::{Label, table};
use crate::workshop::{Ran, Workshop};

/// A vault after training and two deletions, and the certificate of the first deletion.
fn vault(settings: &str) -> (Workshop, String, Value) {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 120));
    let line = "train data.csv --label y --id id --subject user --classes 0,1 -o m.efface";
    w.efface(&format!("{line} {settings}")).done();
    w.efface("delete m.efface --subject u1 --certificate c.json").done();
    w.efface("delete m.efface --record r99").done();
    let key = w.public_key();
    let certificate = serde_json::from_slice(&w.read("c.json")).unwrap();
    (w, key, certificate)
}

/// Every single change of one place in a document: each text, number, truth value and absence
/// altered, each element of a list and each field taken away, and one field too many.
fn altered(document: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for pointer in places(document, String::new()) {
        let mut copy = document.clone();
        let place = copy.pointer_mut(&pointer).unwrap();
        *place = match place.take() {
            Value::String(text) => Value::String(other_text(&text)),
            Value::Number(number) => json!(number.as_u64().unwrap() + 1),
            Value::Bool(truth) => Value::Bool(!truth),
            Value::Null => json!("1"),
            Value::Array(mut list) => {
                list.pop();
                Value::Array(list)
            }
            Value::Object(mut fields) => {
                fields.insert("extra".into(), json!("1"));
                Value::Object(fields)
            }
        };
        if copy != *document {
            all.push((format!("{pointer} altered"), copy));
        }
        let mut copy = document.clone();
        if let Some((parent, field)) = pointer.rsplit_once('/')
            && let Some(fields) = copy.pointer_mut(parent).and_then(Value::as_object_mut)
        {
            fields.remove(field);
            all.push((format!("{pointer} removed"), copy));
        }
    }
    all
}

fn places(value: &Value, at: String) -> Vec<String> {
    let mut all = vec![at.clone()];
    match value {
        Value::Object(fields) => {
            all.extend(fields.iter().flat_map(|(name, v)| places(v, format!("{at}/{name}"))));
        }
        Value::Array(list) => {
            all.extend(list.iter().enumerate().flat_map(|(i, v)| places(v, format!("{at}/{i}"))));
        }
        _ => {}
    }
    all
}

fn other_text(text: &str) -> String {
    match text.chars().last() {
        Some('0') => format!("{}1", &text[..text.len() - 1]),
        Some(c) if c.is_ascii_hexdigit() => format!("{}0", &text[..text.len() - 1]),
        _ => format!("{text}x"),
    }
}

/// The Python verifier, which is slow, sees every third of them; with `EFFACE_SOAK` it sees all.
#[test]
fn any_change_of_a_certificate_is_caught() {
    let each = if std::env::var_os("EFFACE_SOAK").is_some() { 1 } else { 3 };
    for settings in ["", "--mechanism noisy-gd --lambda 0.05"] {
        let (w, key, certificate) = vault(settings);
        let changes = altered(&certificate);
        assert!(changes.len() > 150, "{}", changes.len());
        let mut python = Command::new("python3");
        python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../verifier/efface_verify.py"));
        for (number, (what, document)) in changes.iter().enumerate() {
            let file = format!("t{number}.json");
            w.write(&file, document.to_string());
            let ran = w.run(&["certificate", "verify", &file, "--key", &key]);
            let caught = match ran.code {
                Some(1) => ran.stdout.contains("FAILS"),
                Some(2) => ran.stderr.starts_with("error: "),
                _ => false,
            };
            assert!(caught, "{what}: {ran:#?}");
            let resealed = what.starts_with("/signature");
            let caught = fails(&ran, "signature") && (resealed || fails(&ran, "hash"));
            assert!(ran.code == Some(2) || caught, "{what}: {ran:#?}");
            if number % each == 0 {
                python.arg(w.path(&file));
            }
        }
        let output = python.args(["--key", &key]).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        for (number, (what, _)) in changes.iter().enumerate().step_by(each) {
            let file = format!("/t{number}.json: ");
            let caught = lines.lines().filter(|line| line.contains(&file)).any(|line| {
                line.starts_with("fails")
                    || line.starts_with("undecided") && line.contains("certificate: ")
            });
            assert!(caught, "the Python verifier lets pass: {what}");
        }
    }
}

/// What is shown of a changed certificate says so before anything else.
#[test]
fn a_changed_certificate_is_shown_as_one() {
    let (w, _, certificate) = vault("");
    let shown = |document: &Value| {
        w.write("t.json", document.to_string());
        w.efface("certificate show t.json").done().stdout
    };
    assert!(shown(&certificate).starts_with("Certificate "));
    let mut better = certificate.clone();
    better["claims"][0]["epsilon"] = json!("0.001");
    let changed = shown(&better);
    assert!(changed.starts_with("NOT VALID: ") && changed.contains("The certificate was changed"));
    let mut signed = certificate.clone();
    let value = certificate["signature"]["value"].as_str().unwrap();
    let other = if value.starts_with('0') { '1' } else { '0' };
    signed["signature"]["value"] = json!(format!("{other}{}", &value[1..]));
    assert!(shown(&signed).contains("Its signature is not by the stated key"));
    // Sealed again by another key it is a certificate of that key.
    w.efface("key create --key other.toml").done();
    let other = Keyring::load(&w.path("other.toml")).unwrap();
    w.write("t.json", sealed(better, &other));
    assert!(w.efface("certificate show t.json").done().stdout.starts_with("Certificate "));
}

/// Certificates of earlier development versions are refused in words.
#[test]
fn a_certificate_of_an_earlier_version_is_named_as_one() {
    let (w, key, mut certificate) = vault("");
    certificate["schema"] = json!("efface.certificate/0");
    w.write("t.json", certificate.to_string());
    let told = ["made by an earlier development version", "reads `efface.certificate/0.3`"];
    w.run(&["certificate", "verify", "t.json", "--key", &key]).fails(2, &told);
    w.efface("certificate show t.json").fails(2, &told);
}

/// Whether a check of this name fails.
fn fails(ran: &Ran, name: &str) -> bool {
    ran.stdout.lines().any(|line| {
        line.strip_prefix("FAILS").is_some_and(|rest| rest.trim_start().starts_with(name))
    })
}

/// Sealed again, as only the owner of a key can.
fn sealed(mut document: Value, keyring: &Keyring) -> String {
    document.as_object_mut().unwrap().remove("signature");
    seal(document, &keyring.public_key(), |bytes| keyring.sign(bytes)).unwrap().0
}

#[test]
fn another_signer_is_not_trusted() {
    let (w, key, certificate) = vault("");
    w.efface("key create --key other.toml").done();
    let other = Keyring::load(&w.path("other.toml")).unwrap();
    w.write("t.json", sealed(certificate, &other));
    let ran = w.run(&["certificate", "verify", "t.json", "--key", &key]).exits(1);
    assert!(fails(&ran, "signature") && !fails(&ran, "hash"), "{ran:#?}");
    w.efface("certificate verify t.json").exits(2);
}

/// What even the owner of the key cannot make up: numbers that do not follow from the event.
#[test]
fn a_dishonest_owner_is_caught_by_the_numbers() {
    for settings in ["--preprocess declared", "--mechanism noisy-gd --lambda 0.05"] {
        let (w, key, certificate) = vault(settings);
        let keyring = Keyring::load(&w.key_file()).unwrap();
        let noisy = settings.contains("noisy");
        let mut cases: Vec<(&str, &str, Value)> = vec![
            ("/claims/0/epsilon", "claim 1", json!("0.0001")),
            ("/claims/0/mu", "claim 1", json!("0.0001")),
            ("/claims/0/advantage", "claim 1", json!("0")),
            ("/claims/0/delta", "claim 1", json!("0.5")),
            ("/claims/0/words", "claim 1", json!("nothing can go wrong")),
            ("/claims/0/group", "claim 1", json!("1000000")),
            ("/claims/0/theorem", "claim 1", json!("because we say so")),
            ("/claims/0/accountant", "claim 1", json!("descent")),
            ("/claims/0/reference", "claim 1", json!("a better world")),
            ("/claims/0/releases", "claim 1", json!(1000)),
            ("/claims", "claims", json!([])),
            ("/event/noise", "constants", json!("123")),
            ("/event/setting/lipschitz", "constants", json!("0.001")),
            ("/constants", "constants", json!([])),
            ("/scope/does_not_cover", "scope", json!([])),
            ("/noise/sampler", "noise", json!("continuous-float64")),
            ("/not_for_release", "release", json!(true)),
        ];
        if noisy {
            cases.push(("/event/phases/0/only_then", "claim 1", json!(4000)));
            cases.push(("/event/releases", "claim", json!(1000)));
        } else {
            cases.push(("/event/distance", "constants", json!("0.5")));
            cases.push(("/event/releases", "claim", json!(1000)));
        }
        for (pointer, check, value) in cases {
            let mut document = certificate.clone();
            *document.pointer_mut(pointer).unwrap() = value;
            w.write("t.json", sealed(document, &keyring));
            let ran = w.run(&["certificate", "verify", "t.json", "--key", &key]);
            assert_eq!(ran.code, Some(1), "{pointer}: {ran:#?}");
            assert!(!fails(&ran, "hash") && !fails(&ran, "signature"), "{pointer}: {ran:#?}");
            assert!(fails(&ran, check), "{pointer}: {ran:#?}");
            let (code, lines) = crate::verifier::python(&w.path("t.json"), Some(&key));
            assert_eq!(code, Some(1), "{pointer}: {lines}");
        }
    }
}

/// An event of a kind that this program does not know is refused.
#[test]
fn unknown_events_are_refused() {
    let (w, key, mut certificate) = vault("");
    let keyring = Keyring::load(&w.key_file()).unwrap();
    certificate["event"]["kind"] = json!("coin-toss");
    w.write("t.json", sealed(certificate, &keyring));
    let ran = w.run(&["certificate", "verify", "t.json", "--key", &key]);
    ran.fails(2, &["not a certificate", "coin-toss"]);
    let (code, lines) = crate::verifier::python(&w.path("t.json"), Some(&key));
    assert_eq!(code, Some(2), "{lines}");
}

/// Runs statements on the vault's file behind the program's back.
pub(crate) fn sql(w: &Workshop, statements: &str) {
    behind(w, "m.efface", |connection| connection.execute_batch(statements).unwrap());
}

/// Changes a vault's file behind the program's back, the append-only trigger out of the way.
pub(crate) fn behind(w: &Workshop, vault: &str, change: impl FnOnce(&Connection)) {
    let connection = Connection::open(w.path(vault)).unwrap();
    let trigger: String = connection
        .query_row(
            "SELECT sql FROM sqlite_master WHERE name = 'ledger_is_append_only'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    connection.execute_batch("DROP TRIGGER ledger_is_append_only").unwrap();
    change(&connection);
    connection.execute_batch(&trigger).unwrap();
}

fn ledger(w: &Workshop, key: &str) -> Ran {
    w.run(&["ledger", "verify", "m.efface", "--key", key])
}

#[test]
fn changes_behind_the_programs_back_are_caught() {
    for (name, statements) in [
        (
            "entry 1",
            "UPDATE ledger SET body = replace(body, '\"delete\"', '\"add\"') WHERE entry = 1",
        ),
        (
            "entry 1",
            "UPDATE ledger SET body = replace(body, '\"records\":\"5\"', '\"records\":\"4\"') WHERE entry = 1",
        ),
        ("entry 2", "UPDATE ledger SET hash = zeroblob(32) WHERE entry = 2"),
        ("entry 2", "DELETE FROM ledger WHERE entry = 1"),
        (
            "entry 1",
            "UPDATE ledger SET body = (SELECT body FROM ledger WHERE entry = 0), \
                     hash = (SELECT hash FROM ledger WHERE entry = 0) WHERE entry = 1",
        ),
        ("model", "DELETE FROM ledger WHERE entry = 2"),
        ("model", "UPDATE model SET weights = zeroblob(length(weights))"),
        ("plan", "UPDATE genesis SET config = replace(config, '\"releases\":1', '\"releases\":9')"),
        ("key", "UPDATE genesis SET public_key = zeroblob(32)"),
    ] {
        let (w, key, _) = vault("");
        ledger(&w, &key).done();
        sql(&w, statements);
        let ran = ledger(&w, &key);
        assert!(ran.code == Some(1) && fails(&ran, name), "{statements}: {ran:#?}");
    }
}

/// A changed event whose hash is made to fit breaks the signature; signed by another key, the key.
#[test]
fn a_ledger_entry_forged_with_its_hash_is_caught() {
    let (w, key, mut certificate) = vault("");
    certificate["event"]["noise"] = json!("77");
    let hash = document_hash(&certificate).unwrap();
    certificate["chain"]["hash"] = json!(hash);
    let connection = Connection::open(w.path("m.efface")).unwrap();
    let trigger = "CREATE TEMP TABLE t AS SELECT sql FROM sqlite_master \
                   WHERE name = 'ledger_is_append_only'; DROP TRIGGER ledger_is_append_only";
    connection.execute_batch(trigger).unwrap();
    connection
        .execute(
            "UPDATE ledger SET body = ?1, hash = ?2 WHERE entry = 1",
            rusqlite::params![certificate.to_string(), hex::decode(&hash).unwrap()],
        )
        .unwrap();
    let sql: String = connection.query_row("SELECT sql FROM t", [], |row| row.get(0)).unwrap();
    connection.execute_batch(&sql).unwrap();
    drop(connection);
    let ran = ledger(&w, &key).exits(1);
    assert!(fails(&ran, "entry 1") && fails(&ran, "entry 2"), "{ran:#?}");
    assert!(ran.stdout.contains("not signed by the vault's key"), "{ran:#?}");
}

/// An older copy of the vault is consistent in itself: only a head kept elsewhere shows it.
#[test]
fn a_restored_vault_is_caught_by_a_head_kept_elsewhere() {
    let (w, key, _) = vault("");
    let old = w.read("m.efface");
    let served = w.efface("delete m.efface --subject u2 --certificate new.json --json").done();
    let head = served.json()["head"].as_str().unwrap().to_owned();
    let line = ["ledger", "verify", "m.efface", "--key", &key, "--head", &head];
    w.run(&line).done();
    fs::write(w.path("m.efface"), old).unwrap();
    ledger(&w, &key).done();
    let ran = w.run(&line).exits(1);
    assert!(fails(&ran, "head"), "{ran:#?}");
    let line = ["certificate", "verify", "new.json", "--key", &key, "--vault", "m.efface"];
    let ran = w.run(&line).exits(1);
    assert!(fails(&ran, "ledger"), "{ran:#?}");
}

#[test]
fn texts_that_are_no_certificates() {
    let (w, key, certificate) = vault("");
    let text = certificate.to_string();
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("half", text.as_bytes()[..text.len() / 2].to_vec()),
        ("twice", format!("{text}{text}").into_bytes()),
        ("list", b"[]".to_vec()),
        ("number", b"1e999".to_vec()),
        ("deep", [vec![b'['; 100_000], vec![b']'; 100_000]].concat()),
        ("binary", vec![0xff, 0xfe, 0x00, 0x01]),
        ("large", vec![b' '; 20 << 20]),
        ("repeated", text.replacen('{', "{\"schema\":\"efface.certificate/0\",", 1).into_bytes()),
        ("newer", text.replace("efface.certificate/0", "efface.certificate/9").into_bytes()),
    ] {
        w.write("t.json", bytes);
        let ran = w.run(&["certificate", "verify", "t.json", "--key", &key]);
        assert_eq!(ran.code, Some(2), "{name}: {ran:#?}");
        assert!(ran.stderr.starts_with("error: "), "{name}: {ran:#?}");
        w.efface("certificate show t.json").exits(2);
    }
    w.efface("certificate verify nothing.json").fails(2, &["cannot read `nothing.json`"]);
    w.efface("certificate verify .").fails(2, &["cannot read `.`"]);
}
