//! A ledger of thousands of entries: which of them are read, and what its checkpoints state.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::PathBuf;

use efface_formats::{MemoryRows, MemoryTable, Numbers, Values};
use efface_privacy::certificate::{CheckOutcome, Verdict};
use efface_vault::{Keyring, LedgerEntry, LedgerHead, Transaction, Vault};
use serde_json::{Value, json};

use super::{CHECKPOINT, CHECKPOINT_SCHEMA, EVERY, Tally, append};
use crate::outcome::notice::NoticeCode;
use crate::store::ledger::{EXPORT, EXPORT_SCHEMA};
use crate::store::seal::{hash_bytes, sealed};
use crate::{
    Code, Context, Delete, Selector, Settings, Source, verify_ledger, verify_whole_ledger,
};

/// A folder with a small trained vault, a key, and a clock that can be set.
struct Shop {
    folder: tempfile::TempDir,
    keyring: Keyring,
    now: RefCell<String>,
    draws: Cell<u8>,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("keys").join("key.toml");
        let keyring = Keyring::create(&key, &[7; 32], &[9; 32]).unwrap();
        let shop = Self { folder, keyring, now: RefCell::new(String::new()), draws: Cell::new(0) };
        shop.set("2030-01-02T03:04:05Z");
        let cells: Vec<f64> = (0..80).map(|k| (f64::from(k) * 0.7).sin() * 0.3).collect();
        let labels: Vec<i64> = (0..40).map(|k| k % 2).collect();
        let ids: Vec<i64> = (1..=40).collect();
        let rows = MemoryRows::Dense { numbers: Numbers::Double(&cells), width: 2 };
        let table = MemoryTable {
            rows,
            labels: Some(Values::Integers(&labels)),
            ids: Some(Values::Integers(&ids)),
            subjects: None,
            weights: None,
            names: None,
        };
        let source = Source { memory: Some(table), ..Source::default() };
        shop.run(|s| crate::train(&source, Settings::default(), &shop.vault(), s)).unwrap();
        shop
    }

    fn vault(&self) -> PathBuf {
        self.folder.path().join("m.efface")
    }

    fn open(&self) -> Vault {
        let mut vault = Vault::open(&self.vault()).unwrap();
        vault.unlock(&self.keyring).unwrap();
        vault
    }

    fn set(&self, now: &str) {
        now.clone_into(&mut self.now.borrow_mut());
    }

    fn run<T>(&self, work: impl FnOnce(&mut Context<'_>) -> crate::Result<T>) -> crate::Result<T> {
        work(&mut Context {
            clock: &|| self.now.borrow().clone(),
            entropy: &mut |bytes| {
                self.draws.set(self.draws.get().wrapping_add(1));
                bytes.fill(self.draws.get());
                Ok(())
            },
            keyring: &self.keyring,
            watch: &mut |_| ControlFlow::Continue(()),
            wait: std::time::Duration::ZERO,
            rows: crate::RowStore::Vault,
        })
    }

    fn delete(&self, id: &str) -> crate::Served {
        let request = Delete { what: Selector::Ids(vec![id.to_owned()]), request_id: None };
        self.run(|s| crate::delete(&self.vault(), &request, s)).unwrap()
    }

    /// Notes `count` exports in one change, as `efface export` would in as many.
    fn export(&self, count: u64) {
        let mut vault = self.open();
        let mut transaction = vault.begin().unwrap();
        for _ in 0..count {
            self.note(&mut transaction).unwrap();
        }
        transaction.commit().unwrap();
    }

    /// Replaces the text of an entry, as a program without the key could: its stored hash stays.
    fn change(&self, index: u64, change: impl FnOnce(String) -> String) {
        let read = |entry: LedgerEntry<'_>| {
            (entry.kind.to_owned(), entry.json.to_owned(), entry.hash.to_vec())
        };
        let (kind, text, hash) = self.open().ledger_entry(index, read).unwrap().unwrap();
        let changed = change(text.clone());
        assert_ne!(text, changed);
        let database = rusqlite::Connection::open(self.vault()).unwrap();
        let index = i64::try_from(index).unwrap();
        database.execute("DELETE FROM ledger WHERE entry = ?1", [index]).unwrap();
        let sql = "INSERT INTO ledger (entry, kind, hash, body) VALUES (?1, ?2, ?3, ?4)";
        database.execute(sql, (index, kind, hash, changed)).unwrap();
    }

    fn note(&self, transaction: &mut Transaction<'_>) -> crate::Result<LedgerHead> {
        let head = transaction.head().unwrap().unwrap();
        let note = json!({
            "schema": EXPORT_SCHEMA,
            "vault": transaction.genesis().unwrap().vault_id,
            "at": *self.now.borrow(),
            "format": "npz",
            "model": { "version": 1, "digest": "" },
            "chain": { "index": head.index + 1, "previous": hex::encode(head.hash), "hash": "" },
        });
        let (text, hash) = sealed(note, &self.keyring).unwrap();
        append(transaction, EXPORT, &text, &hash, &self.keyring)
    }

    fn verify(&self, whole: bool, head: Option<&str>) -> Verdict {
        let check = if whole { verify_whole_ledger } else { verify_ledger };
        check(&self.vault(), Some(&self.keyring.public_key()), head, Some(&self.keyring)).unwrap()
    }
}

/// Returns the entries that a verdict names.
fn entries(verdict: &Verdict) -> Vec<u64> {
    let number = |name: &str| name.strip_prefix("entry ").map(|number| number.parse().unwrap());
    verdict.checks.iter().filter_map(|check| number(&check.name)).collect()
}

/// Returns what a request says about the clock.
fn clock(served: &crate::Served) -> Option<String> {
    let about = |notice: &&crate::outcome::notice::Notice| notice.code == NoticeCode::ClockSetBack;
    served.notices.iter().find(about).map(|notice| notice.message.clone())
}

fn reason<'v>(verdict: &'v Verdict, name: &str) -> &'v str {
    &verdict.checks.iter().find(|check| check.name == name).unwrap().reason
}

#[test]
fn what_is_read_does_not_grow_with_the_ledger() {
    let shop = Shop::new();
    let first = shop.delete("3");
    let all = shop.verify(false, None);
    assert_eq!(entries(&all), [0, 1]);
    assert_eq!(reason(&all, "extent"), "every entry was verified (2)");
    for exports in [100, 2900] {
        shop.export(exports);
    }
    let last = shop.delete("5");
    assert!(last.head_index > 3000, "{}", last.head_index);
    let status = crate::status(&shop.vault()).unwrap();
    assert_eq!(status.exports.count, 3000);
    assert_eq!(status.requests, [("delete".to_owned(), 2), ("train".to_owned(), 1)]);
    assert_eq!((status.records, status.version), (38, 3));

    let verdict = shop.verify(false, None);
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    // The first entry, the newest certificate before the checkpoint, and those since.
    let read = entries(&verdict);
    assert_eq!(read[..2], [0, 1]);
    assert!(
        read.len() as u64 <= 2 + 1 + EVERY && read.last() == Some(&last.head_index),
        "{read:?}"
    );
    assert!(reason(&verdict, "extent").contains("--all"), "{verdict:?}");

    let whole = shop.verify(true, None);
    assert_eq!(whole.outcome(), CheckOutcome::Holds);
    assert_eq!(entries(&whole), (0..=last.head_index).collect::<Vec<_>>());
    let checkpoints = whole.checks.iter().filter(|c| c.reason.starts_with("checkpoint")).count();
    assert_eq!(checkpoints as u64, last.head_index / (EVERY + 1));

    // From the checkpoint before a head that was kept.
    let head = format!("{} {}", first.head_index, first.head);
    assert_eq!(entries(&shop.verify(false, Some(&head))).len() as u64, last.head_index + 1);
    let vault = Vault::open_read_only(&shop.vault()).unwrap();
    let hash = vault.ledger_entry(1000, |entry| hex::encode(entry.hash)).unwrap().unwrap();
    let kept = shop.verify(false, Some(&hash));
    assert_eq!(kept.outcome(), CheckOutcome::Holds);
    let read = entries(&kept);
    let since = last.head_index - 1000;
    let few = since..=since + EVERY + 3;
    assert!(read.contains(&1000) && few.contains(&(read.len() as u64)), "{}", read.len());
}

/// A checkpoint that its owner signed although it does not add up passes if it is relied on, and is named if
/// everything is verified.
#[test]
fn a_checkpoint_must_say_what_its_entries_add_up_to() {
    for (at, value) in [
        ("/tally/exports/count", json!(6)),
        ("/tally/records", json!(41)),
        ("/tally/releases", json!(2)),
        ("/tally/since_refresh", json!(0)),
        ("/tally/requests/delete", json!(1)),
        ("/tally/latest", json!("2031-01-02T03:04:05Z")),
        ("/tally/certificate/hash", json!("0".repeat(64))),
    ] {
        let shop = Shop::new();
        shop.export(5);
        let mut vault = shop.open();
        let head = vault.head().unwrap().unwrap();
        let tally = Tally::of(&vault, &shop.keyring.public_key()).unwrap();
        let mut document = json!({
            "schema": CHECKPOINT_SCHEMA,
            "vault": vault.genesis().unwrap().vault_id,
            "at": "2030-01-02T03:04:05Z",
            "tally": tally,
            "chain": { "index": head.index + 1, "previous": hex::encode(head.hash), "hash": "" },
        });
        if let Some(place) = document.pointer_mut(at) {
            *place = value;
        } else {
            document["tally"]["requests"]["delete"] = value;
        }
        let (text, hash) = sealed(document, &shop.keyring).unwrap();
        let mut transaction = vault.begin().unwrap();
        transaction.append_ledger(CHECKPOINT, &text, &hash_bytes(&hash).unwrap()).unwrap();
        transaction.commit().unwrap();
        drop(vault);
        let whole = shop.verify(true, None);
        assert_eq!(whole.outcome(), CheckOutcome::Fails, "{at}");
        assert!(reason(&whole, "entry 6").contains("does not agree"), "{at}: {whole:?}");
        let short = shop.verify(false, None);
        // Rows are counted and the latest certificate is read in any case.
        let noticed = at.contains("hash") || at == "/tally/records";
        let expected = if noticed { CheckOutcome::Fails } else { CheckOutcome::Holds };
        assert_eq!(short.outcome(), expected, "{at}: {short:?}");
    }
}

/// Only the owner of the key can write a checkpoint.
#[test]
fn a_checkpoint_by_another_key_is_not_relied_on() {
    let shop = Shop::new();
    shop.export(5);
    let other =
        Keyring::create(&shop.folder.path().join("other").join("key.toml"), &[1; 32], &[2; 32])
            .unwrap();
    let mut vault = shop.open();
    let head = vault.head().unwrap().unwrap();
    let document = json!({
        "schema": CHECKPOINT_SCHEMA,
        "vault": vault.genesis().unwrap().vault_id,
        "at": "2030-01-02T03:04:05Z",
        "tally": Tally::of(&vault, &shop.keyring.public_key()).unwrap(),
        "chain": { "index": head.index + 1, "previous": hex::encode(head.hash), "hash": "" },
    });
    let (text, hash) = sealed(document, &other).unwrap();
    let mut transaction = vault.begin().unwrap();
    transaction.append_ledger(CHECKPOINT, &text, &hash_bytes(&hash).unwrap()).unwrap();
    transaction.commit().unwrap();
    drop(vault);
    let verdict = shop.verify(false, None);
    assert_eq!(verdict.outcome(), CheckOutcome::Fails);
    assert!(entries(&verdict).contains(&3), "all is verified then: {verdict:?}");
    let error = crate::status(&shop.vault()).unwrap_err();
    assert!(error.message().contains("entry 6") && error.message().contains("changed"), "{error}");
}

/// An entry that was changed behind the owner's back must not be summed up under the owner's signature:
/// readers that rely on the checkpoint would never see it.
#[test]
fn no_checkpoint_is_signed_over_an_entry_that_was_changed() {
    let shop = Shop::new();
    shop.export(5);
    shop.change(3, |text| text.replace("npz", "json"));
    let mut vault = shop.open();
    let mut transaction = vault.begin().unwrap();
    let refused = (0..EVERY).find_map(|_| shop.note(&mut transaction).err()).unwrap();
    assert!(refused.message().contains("entry 3") && refused.message().contains("changed"));
    drop(transaction);
    drop(vault);
    let request = Delete { what: Selector::Ids(vec!["1".to_owned()]), request_id: None };
    let refused = shop.run(|s| crate::delete(&shop.vault(), &request, s)).unwrap_err();
    assert!(refused.message().contains("entry 3"), "{refused}");
    assert_eq!(shop.verify(false, None).outcome(), CheckOutcome::Fails);
}

/// A repeated request is answered with the entry that was signed, even if a checkpoint came since.
#[test]
fn an_answer_that_was_changed_is_not_given_again() {
    let shop = Shop::new();
    let first = shop.delete("3");
    shop.export(2 * EVERY);
    let again = shop.delete("3");
    assert!(again.replayed && again.certificate == first.certificate);
    shop.change(first.index, |text| text.replacen("\"epsilon\":\"", "\"epsilon\":\"0.", 1));
    let request = Delete { what: Selector::Ids(vec!["3".to_owned()]), request_id: None };
    let refused = shop.run(|s| crate::delete(&shop.vault(), &request, s)).unwrap_err();
    assert!(refused.message().contains("entry 1") && refused.message().contains("changed"));
}

#[test]
fn times_that_run_backwards_are_named_and_are_no_forgery() {
    let shop = Shop::new();
    assert_eq!(clock(&shop.delete("1")), None);
    shop.set("2031-01-01T00:00:00Z");
    shop.export(1);
    shop.set("2029-12-31T23:59:59Z");
    let early = shop.delete("2");
    let said = clock(&early).unwrap();
    assert!(
        said.contains("2029-12-31T23:59:59Z") && said.contains("2031-01-01T00:00:00Z"),
        "{said}"
    );
    // Later than the entry before it, and still before the one of 2031.
    shop.set("2030-06-01T00:00:00Z");
    assert!(clock(&shop.delete("3")).is_some());
    shop.set("2031-01-01T00:00:00Z");
    assert_eq!(clock(&shop.delete("4")), None);
    shop.set("2030-12-31T00:00:00Z");
    shop.export(1);
    for whole in [false, true] {
        let verdict = shop.verify(whole, None);
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
        let clock = verdict.checks.iter().find(|check| check.name == "clock").unwrap();
        assert_eq!(clock.outcome, CheckOutcome::Notice);
        assert!(clock.reason.contains(": 3 to 4, 6;"), "{}", clock.reason);
    }
    let marked: Vec<u64> = crate::entries(&shop.vault())
        .unwrap()
        .into_iter()
        .filter(|entry| entry.backwards)
        .map(|entry| entry.index)
        .collect();
    assert_eq!(marked, [3, 4, 6]);
    // The latest time is kept across checkpoints.
    shop.export(2 * EVERY);
    let verdict = shop.verify(false, None);
    assert!(reason(&verdict, "clock").contains(" to "), "{verdict:?}");
    assert!(clock(&shop.delete("6")).is_some());
}

#[test]
fn heads_are_accepted_in_every_form_in_which_they_are_shown() {
    let shop = Shop::new();
    let served = shop.delete("3");
    shop.export(70);
    let (index, hash) = crate::status(&shop.vault()).unwrap().head;
    for head in [
        format!("{index} {hash}"),
        hash.to_uppercase(),
        served.head.clone(),
        format!("{} {}", served.head_index, served.head),
    ] {
        let verdict = shop.verify(false, Some(&head));
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{head}: {verdict:?}");
    }
    for (head, says) in [
        (format!("{} {hash}", index - 1), "but the hash is that of entry"),
        (format!("{index} {}", served.head), "but the hash is that of entry 1"),
        ("0".repeat(64), "no entry has the given hash"),
        (format!("3 {}", "0".repeat(64)), "entry 3 does not have the given hash"),
        (format!("5000 {}", "0".repeat(64)), "the ledger has no entry 5000"),
    ] {
        let verdict = shop.verify(false, Some(&head));
        assert_eq!(verdict.outcome(), CheckOutcome::Fails, "{head}");
        assert!(reason(&verdict, "head").contains(says), "{head}: {verdict:?}");
    }
    for head in [&hash[..60], "abc", "x y", ""] {
        let error = verify_ledger(&shop.vault(), None, Some(head), None).unwrap_err();
        assert_eq!((error.kind(), error.code()), (crate::Kind::Input, Code::Head), "{head}");
        let error = crate::verify(&served.certificate, None, None, Some(head)).unwrap_err();
        assert_eq!(error.code(), Code::Head);
    }
}

/// The newest checkpoint agrees with what certificates and notes state about a vault.
#[test]
fn a_tally_from_a_checkpoint_is_that_of_all_entries() {
    let shop = Shop::new();
    shop.export(200);
    shop.delete("7");
    let vault = Vault::open_read_only(&shop.vault()).unwrap();
    let mut all = Tally::default();
    vault
        .scan_ledger(0, |entry| -> crate::Result<()> {
            let document: Value = serde_json::from_str(entry.json).unwrap();
            if entry.kind == CHECKPOINT {
                assert_eq!(Tally::stated(&document).as_ref(), Some(&all));
            }
            all.add(entry.kind, &document);
            Ok(())
        })
        .unwrap();
    assert_eq!(Tally::of(&vault, &shop.keyring.public_key()).unwrap(), all);
    assert_eq!((all.records, all.releases, all.exports.count), (Some(39), 2, 200));
}
