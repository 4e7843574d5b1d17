//! The ledger gives back what was put in, whatever it stores of it, and reads little for it.

use efface_vault::{ReadError, Vault};
use rusqlite::Connection;

use crate::contents::fresh;
use crate::planted::keyring;

/// An entry that repeats most of the one before it, with a history that every entry changes.
fn entry(number: u64) -> String {
    let first = number.saturating_sub(255);
    let phases: Vec<String> = (first..=number)
        .map(|k| format!("{{\"gone\":{},\"steps\":{}}}", number - k, 10 + k % 3))
        .collect();
    let text = "what every entry says, ".repeat(200);
    format!("{{\"number\":{number},\"phases\":[{}],\"text\":\"{text}\"}}", phases.join(","))
}

fn hash(number: u64) -> [u8; 32] {
    let mut hash = [7; 32];
    hash[..8].copy_from_slice(&number.to_le_bytes());
    hash
}

/// A vault whose ledger has so many entries of two kinds; every tenth is a note.
fn filled(entries: u64) -> (tempfile::TempDir, std::path::PathBuf, Vault) {
    let (folder, path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    for number in 0..entries {
        let kind = if number % 10 == 9 { "note" } else { "certificate" };
        change.append_ledger(kind, &entry(number), &hash(number)).unwrap();
    }
    change.commit().unwrap();
    (folder, path, vault)
}

fn read(vault: &Vault, number: u64) -> String {
    vault.ledger_entry(number, |entry| entry.json.to_owned()).unwrap().unwrap()
}

#[test]
fn three_thousand_entries_are_given_back_and_take_little_room() {
    let (_folder, path, vault) = filled(3000);
    for number in [0, 1, 9, 62, 63, 64, 65, 127, 128, 700, 701, 2998, 2999] {
        assert_eq!(read(&vault, number), entry(number), "{number}");
    }
    let mut number = 1500;
    vault
        .scan_ledger(number, |seen| {
            assert_eq!((seen.index, seen.json), (number, entry(number).as_str()));
            number += 1;
            Ok::<_, ReadError>(())
        })
        .unwrap();
    assert_eq!(number, 3000);
    assert_eq!(vault.last_of_kind("certificate", u64::MAX).unwrap(), Some(2998));
    assert_eq!(vault.last_of_kind("note", 2998).unwrap(), Some(2989));
    assert_eq!(vault.last_of_kind("other", 5).unwrap(), None);
    assert_eq!(vault.ledger_index(&hash(1234)).unwrap(), Some(1234));
    assert_eq!(vault.ledger_index(&[7; 32]).unwrap(), None);
    drop(vault);
    let sql = Connection::open(path).unwrap();
    let most: i64 = sql
        .query_row(
            "SELECT MAX(LENGTH(body)) FROM ledger WHERE entry <> 0 AND entry <> 9",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let whole: i64 = sql.query_row("SELECT COUNT(*) FROM whole", [], |row| row.get(0)).unwrap();
    assert!(most < 400, "{most}");
    assert_eq!(whole, 2700 / 16 + 300 / 16);
}

/// Reading an entry looks at no more than those of its kind since the last one stored whole.
#[test]
fn entries_stored_long_ago_are_not_read() {
    let (_folder, path, vault) = filled(3000);
    drop(vault);
    let sql = Connection::open(&path).unwrap();
    let trigger: String = sql
        .query_row("SELECT sql FROM sqlite_schema WHERE type = 'trigger'", [], |row| row.get(0))
        .unwrap();
    sql.execute_batch(
        "DROP TRIGGER ledger_is_append_only;
         UPDATE ledger SET body = 'damaged' WHERE entry < 2400;
         UPDATE whole SET body = 'damaged' WHERE entry < 2400;",
    )
    .unwrap();
    sql.execute_batch(&trigger).unwrap();
    drop(sql);
    let mut vault = Vault::open(&path).unwrap();
    vault.unlock(&keyring()).unwrap();
    assert_eq!(read(&vault, 2998), entry(2998));
    assert_eq!(read(&vault, 2999), entry(2999));
    let mut change = vault.begin().unwrap();
    change.append_ledger("certificate", &entry(3000), &hash(3000)).unwrap();
    change.commit().unwrap();
    assert_eq!(read(&vault, 3000), entry(3000));
    // What is damaged is shown as it is stored, and hides nothing behind it for long.
    assert_eq!(read(&vault, 2300), "damaged");
    let mut readable = 0;
    vault
        .scan_ledger(2300, |seen| {
            readable += u64::from(seen.json == entry(seen.index));
            Ok::<_, ReadError>(())
        })
        .unwrap();
    assert!(readable > 450, "{readable}");
}

/// The limit that readers have is asked when an entry is written: nobody could open the vault again.
#[test]
fn an_entry_that_nobody_could_read_is_not_written() {
    let (_folder, path, mut vault) = fresh();
    let longest = "a".repeat(efface_vault::MOST_BYTES);
    let mut change = vault.begin().unwrap();
    change.append_ledger("note", &longest, &hash(0)).unwrap();
    change.append_ledger("note", &longest, &hash(1)).unwrap();
    change.commit().unwrap();
    let mut change = vault.begin().unwrap();
    let refused = change.append_ledger("note", &(longest.clone() + "a"), &hash(2)).unwrap_err();
    assert!(refused.to_string().contains("an entry of the ledger has at most"), "{refused}");
    drop(change);
    assert!(read(&vault, 0) == longest && read(&vault, 1) == longest);
    drop(vault);
    // One that another program made longer is shown as none, and not read.
    let sql = Connection::open(&path).unwrap();
    sql.execute_batch(
        "INSERT INTO ledger VALUES (2, 'note', zeroblob(32), NULL, printf('%.*c', 5000000, 'a'))",
    )
    .unwrap();
    drop(sql);
    assert_eq!(read(&Vault::open(&path).unwrap(), 2), "");
}

/// Differences that each make a little more of the one before are followed for a few entries, and no few
/// bytes become many.
#[test]
fn differences_that_grow_are_not_followed() {
    let (_folder, path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    change.append_ledger("note", &"what is repeated ".repeat(100), &hash(0)).unwrap();
    change.commit().unwrap();
    drop(vault);
    let sql = Connection::open(&path).unwrap();
    let mut text = "what is repeated ".repeat(100);
    for number in 1..400_u32 {
        let longer = if text.len() < 4 << 20 { text.repeat(2) } else { text.clone() };
        let change = zstd::bulk::Compressor::with_dictionary(3, text.as_bytes())
            .and_then(|mut compressor| compressor.compress(longer.as_bytes()));
        let row = (number, change.unwrap(), number - 1);
        sql.execute("INSERT INTO ledger (entry, kind, hash, body, base) VALUES (?1, 'note', zeroblob(32), ?2, ?3)", row)
            .unwrap();
        text = longer;
    }
    drop(sql);
    let vault = Vault::open(&path).unwrap();
    let (mut seen, mut bytes) = (0, 0);
    vault
        .scan_ledger(0, |entry| {
            (seen, bytes) = (seen + 1, bytes + entry.json.len());
            Ok::<_, ReadError>(())
        })
        .unwrap();
    assert!(seen == 400 && bytes < 100_000, "{seen} {bytes}");
    assert_eq!(read(&vault, 399), "");
}

/// What the ledger cannot store as a difference it stores whole.
#[test]
fn any_text_is_given_back() {
    let (_folder, _path, mut vault) = fresh();
    let long = "long enough to be stored as a difference ".repeat(50);
    let texts = [
        "{\"b\":1,\"a\":\"LONG\"}",
        "no JSON at all LONG",
        "{\"a\": [1, 2, \"LONG\"]}",
        "{\"a\":[1,2,\"LONG\"]}",
        "{\"a\":[1,2,\"LONG\",3]}",
        "{\"a\":{\"~\":[2]},\"b\":\"LONG\"}",
        "{\"-\":[\"a\"],\"b\":\"LONG\"}",
        "{\"b\":\"LONG\"}",
        "{}",
        "",
        "{\"b\":\"LONG and more\"}",
        "{\"a\":1e400,\"b\":\"LONG\"}",
        "null",
    ]
    .map(|text| text.replace("LONG", &long));
    let mut change = vault.begin().unwrap();
    for (number, text) in (0..).zip(&texts) {
        change.append_ledger("note", text, &hash(number)).unwrap();
    }
    change.commit().unwrap();
    for (number, text) in (0..).zip(&texts) {
        assert_eq!(&read(&vault, number), text);
    }
    let mut seen = Vec::new();
    vault
        .scan_ledger(0, |entry| {
            seen.push(entry.json.to_owned());
            Ok::<_, ReadError>(())
        })
        .unwrap();
    assert_eq!(seen, texts);
}
