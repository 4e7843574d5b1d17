//! What another program changes in a vault is found by the next request, and so is a file that was
//! copied in the middle of a change.

use crate::planted::{Planted, assert_clean, genesis, keyring, unlocked};
use efface_vault::{
    Id, Keyring, OpenError, ReadError, Request, RowFault, StoreFault, Transaction, UnlockError,
    Vault, WriteError,
};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

const ROWS: u64 = 40;

fn vault(folder: &Path) -> PathBuf {
    let path = folder.join("m.efface");
    let mut creation = Vault::create(&path, &genesis(), &keyring()).unwrap();
    for seed in 0..ROWS {
        Planted::new(seed, 100, Some(seed / 3)).insert(&mut creation);
    }
    let request = |id: &str| Request {
        request_id: id.into(),
        kind: "delete".into(),
        body_digest: Some([7; 32]),
        version: Some(1),
        entry_index: 0,
    };
    creation.insert_request(&request("r1")).unwrap();
    creation.insert_request(&request("r2")).unwrap();
    creation.replace_model(1, &[7; 500], &[5; 32], &[7; 32]).unwrap();
    creation.set_caches(Some(&[9; 900])).unwrap();
    creation.append_ledger("certificate", "{}", &[1; 32]).unwrap();
    creation.set_tombstone([3; 32], 0).unwrap();
    creation.set_tombstone([4; 32], 0).unwrap();
    creation.commit().unwrap();
    path
}

/// Everything that can be checked.
fn examined(path: &Path) -> Result<(), ReadError> {
    let mut vault = Vault::open_read_only(path).unwrap();
    match vault.unlock(&keyring()) {
        Err(UnlockError::Read(error)) => return Err(error),
        other => other.unwrap(),
    }
    vault.checked_count()?;
    vault.check_rows()?;
    vault.check_notes()?;
    vault.caches().map(drop)
}

fn fault(error: ReadError) -> RowFault {
    match error {
        ReadError::Store(StoreFault::Rows(fault)) => fault,
        other => panic!("{other}"),
    }
}

fn range(first: i64, last: i64) -> RowFault {
    let [first, last] = [first, last].map(efface_vault::RecordId::new);
    RowFault::Rows { first, last }
}

/// One statement of another program each, and what it is found by.
fn changes() -> Vec<(&'static str, RowFault)> {
    let count = |present| RowFault::Count { certified: ROWS, present };
    let [whole, group] = [16, 8].map(|rows| move |first| range(first, first + rows - 1));
    vec![
        ("DELETE FROM block WHERE first = 1", count(24)),
        ("DELETE FROM block WHERE first = 33", count(32)),
        ("UPDATE block SET rows = rows - 1 WHERE first = 1", count(39)),
        // The target of row 7, in the first of the groups.
        (
            "UPDATE block SET head = CAST(substr(head, 1, 62) || zeroblob(8) || substr(head, 71) \
             AS BLOB) WHERE first = 1",
            group(1),
        ),
        ("UPDATE block SET head = zeroblob(length(head)) WHERE first = 17", whole(17)),
        ("UPDATE block SET head = substr(head, 1, 90) WHERE first = 17", whole(17)),
        ("UPDATE block SET head = CAST(head || x'00' AS BLOB) WHERE first = 17", whole(17)),
        ("UPDATE content SET features = zeroblob(length(features)) WHERE first = 17", group(17)),
        (
            "UPDATE content SET features = CAST(substr(features, 1, 1500) || x'3f' || \
             substr(features, 1502) AS BLOB) WHERE first = 17",
            group(25),
        ),
        ("UPDATE content SET features = x'' WHERE first = 17", whole(17)),
        ("DELETE FROM content WHERE first = 17", whole(17)),
        ("UPDATE content SET first = 65 WHERE first = 17", whole(17)),
        ("UPDATE block SET bytes = bytes - 1 WHERE first = 17", whole(17)),
        ("UPDATE block SET checksum = zeroblob(16) WHERE first = 17", whole(17)),
        ("UPDATE block SET checksum = zeroblob(15) WHERE first = 17", whole(17)),
        ("UPDATE block SET first = 65 WHERE first = 33", group(65)),
        (
            "UPDATE block SET first = 65 WHERE first = 33; \
             UPDATE content SET first = 65 WHERE first = 33",
            group(65),
        ),
        (
            "INSERT INTO block SELECT 65, rows, bytes, checksum, head FROM block WHERE first = 33",
            count(48),
        ),
        (
            "INSERT INTO block SELECT 65, rows, bytes, checksum, head FROM block \
             WHERE first = 33; \
             INSERT INTO content SELECT 65, features FROM content WHERE first = 33",
            count(48),
        ),
        (
            "UPDATE block SET (checksum, head) = \
             (SELECT checksum, head FROM block WHERE first = 1) WHERE first = 17; \
             UPDATE content SET features = \
             (SELECT features FROM content WHERE first = 1) WHERE first = 17",
            group(17),
        ),
        ("UPDATE tally SET records = 41", RowFault::Tally),
        ("UPDATE tally SET rows = zeroblob(16)", RowFault::Tally),
        ("UPDATE tally SET notes = zeroblob(16)", RowFault::Tally),
        ("UPDATE tally SET mac = zeroblob(32)", RowFault::Tally),
        ("DELETE FROM tally", RowFault::Tally),
        ("DELETE FROM block WHERE first = 33; UPDATE tally SET records = 32", RowFault::Tally),
        ("UPDATE model SET version = 2", RowFault::Tally),
        ("DELETE FROM ledger", RowFault::Tally),
        ("UPDATE counter SET record = 39", RowFault::Tally),
        ("UPDATE counter SET position = 5", RowFault::Tally),
        ("DELETE FROM caches", RowFault::Tally),
        ("UPDATE caches SET state = zeroblob(900)", RowFault::Kept),
        ("DELETE FROM request WHERE request_id = 'r1'", RowFault::Notes),
        ("UPDATE request SET body_digest = NULL WHERE request_id = 'r1'", RowFault::Notes),
        ("UPDATE request SET entry = 3 WHERE request_id = 'r1'", RowFault::Notes),
        ("DELETE FROM tombstone WHERE mac = zeroblob(32) OR entry = 0", RowFault::Notes),
        ("UPDATE tombstone SET entry = 5", RowFault::Notes),
    ]
}

/// The tables of names are held against the rows by an examination, and before anything is added.
#[test]
fn changed_tables_of_names_are_found() {
    for sql in [
        "DELETE FROM named WHERE number = 7",
        "UPDATE named SET number = 8 WHERE number = 7",
        "UPDATE named SET id = id || 'x' WHERE number = 7",
        "INSERT INTO named VALUES ('new', 7)",
        "DELETE FROM owned WHERE number = 7",
        "INSERT INTO owned VALUES ('new', 7)",
        "INSERT INTO run VALUES (5, 1, 7)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = vault(folder.path());
        assert!(unlocked(&path).examine().unwrap().complaints.is_empty());
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let mut writer = unlocked(&path);
        assert_eq!(writer.examine().unwrap().complaints.len(), 1, "{sql}");
        let mut change = writer.begin().unwrap();
        let row = Planted::new(900, 100, None);
        let refused = change.insert_record(&row.stored()).unwrap_err();
        let index = WriteError::Store(StoreFault::Rows(RowFault::Index));
        assert_eq!(refused.to_string(), index.to_string(), "{sql}");
    }
}

/// Features without a head are nobody's rows, and go with the next erasure from a damaged vault.
#[test]
fn features_that_no_block_has_are_found_and_erased() {
    let folder = tempfile::tempdir().unwrap();
    let path = vault(folder.path());
    let loose = "INSERT INTO content SELECT 65, features FROM content WHERE first = 17";
    Connection::open(&path).unwrap().execute_batch(loose).unwrap();
    let mut writer = unlocked(&path);
    let complaints = writer.examine().unwrap().complaints;
    assert_eq!(complaints, ["there are features of rows that no block has"]);
    assert_eq!(fault(writer.check_rows().unwrap_err()), RowFault::Loose);
    drop(writer);
    let mut writer = Vault::open(&path).unwrap();
    writer.unlock_damaged(&keyring()).unwrap();
    let survey = writer.survey(|_, _| Ok::<_, ReadError>(())).unwrap();
    assert!(survey.damaged.is_empty() && !survey.as_left);
    writer.begin_without(&[]).unwrap().commit().unwrap();
    assert_clean(&mut writer, loose);
}

#[test]
fn another_size_of_blocks_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = vault(folder.path());
    let sql = "UPDATE genesis SET block_rows = 32";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    assert_eq!(fault(examined(&path).unwrap_err()), RowFault::Tally);
}

#[test]
fn whatever_another_program_changes_is_found() {
    for (sql, expected) in changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = vault(folder.path());
        examined(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert_eq!(fault(examined(&path).unwrap_err()), expected, "{sql}");
    }
}

/// Who each row is by the heads of blocks.
fn by_heads(vault: &Vault) -> Result<Vec<(i64, String, Option<String>)>, ReadError> {
    let mut all = Vec::new();
    vault.scan_heads(
        |head| {
            let rows = head.rows().map(|(number, row)| {
                let id = match row.id {
                    Id::Text(id) => id.to_owned(),
                    Id::Position(position) => efface_vault::row_id(position),
                };
                (number.get(), id, row.subject.map(String::from))
            });
            let rows: Vec<_> = rows.collect();
            assert_eq!((rows.len(), rows.is_empty()), (head.len(), head.is_empty()));
            rows
        },
        |rows| -> Result<(), ReadError> {
            all.extend(rows);
            Ok(())
        },
    )?;
    Ok(all)
}

/// The heads have all that is said of a row but its features, which are not read.
#[test]
fn heads_show_what_is_changed_but_features() {
    for (sql, expected) in changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = vault(folder.path());
        let mut sound = Vec::new();
        let rows = unlocked(&path).scan(|number, row| -> Result<(), ReadError> {
            sound.push((number.get(), row.id.to_owned(), row.subject.map(String::from)));
            Ok(())
        });
        rows.unwrap();
        assert_eq!(by_heads(&unlocked(&path)).unwrap(), sound);
        if !matches!(expected, RowFault::Count { .. } | RowFault::Rows { .. }) {
            continue;
        }
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let contents = sql.contains("content") && !sql.contains("block");
        match by_heads(&unlocked(&path)) {
            Ok(rows) => assert!(contents && rows == sound, "{sql}"),
            Err(error) => assert!(
                !contents && matches!(fault(error), RowFault::Count { .. } | RowFault::Rows { .. }),
                "{sql}"
            ),
        }
    }
}

/// Whatever was changed, a change without the damaged rows leaves those that were stored, and a
/// tally that holds; what is not about rows stays found.
#[test]
fn without_its_damaged_rows_a_vault_is_sound_again() {
    for (sql, fault_before) in changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = vault(folder.path());
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let mut writer = Vault::open(&path).unwrap();
        writer.unlock_damaged(&keyring()).unwrap();
        let mut shown = 0;
        let survey = writer.survey(|_, _| -> Result<(), ReadError> {
            shown += 1;
            Ok(())
        });
        let survey = survey.unwrap();
        assert_eq!(survey.present, shown + survey.damaged.len() as u64, "{sql}");
        let rows = !matches!(fault_before, RowFault::Notes | RowFault::Kept);
        assert_eq!(survey.as_left, !rows, "{sql}");
        if !survey.damaged.is_empty() {
            let refused = writer.begin_without(&[]).unwrap_err();
            let first = survey.damaged[0].get();
            let fault = range(first, first);
            assert_eq!(refused.to_string(), fault.to_string(), "{sql}");
        }
        writer.begin_without(&survey.damaged).unwrap().commit().unwrap();
        drop(writer);
        match examined(&path) {
            Ok(()) => assert!(rows, "{sql}"),
            Err(error) => assert_eq!((fault(error), rows), (fault_before, false), "{sql}"),
        }
        assert_eq!(unlocked(&path).checked_count().unwrap(), shown, "{sql}");
        // Numbers go on where they were.
        let mut writer = unlocked(&path);
        let mut change = writer.begin().unwrap();
        let number = Planted::new(900, 100, None).insert(&mut change);
        assert!(number.get() > ROWS as i64, "{sql}: {number}");
        change.commit().unwrap();
    }
}

/// Runs this on a vault whose index of sizes hears nothing of it.
fn behind_the_index(path: &Path, sql: &str) {
    let open = || {
        let connection = Connection::open(path).unwrap();
        let settings = "PRAGMA writable_schema = ON; PRAGMA secure_delete = ON";
        connection.execute_batch(settings).unwrap();
        connection
    };
    let entry = "SELECT rootpage, sql FROM sqlite_schema WHERE name = 'block_size'";
    let (root, text): (i64, String) =
        open().query_row(entry, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    open().execute("DELETE FROM sqlite_schema WHERE name = 'block_size'", []).unwrap();
    open().execute_batch(sql).unwrap();
    let back = "INSERT INTO sqlite_schema VALUES ('index', 'block_size', 'block', ?1, ?2)";
    open().execute(back, (root, text)).unwrap();
}

/// Rows are counted by an index, which another program may have left behind.
#[test]
fn an_index_that_counts_other_rows_is_found_and_made_anew() {
    let last = "first = (SELECT MAX(first) FROM block)";
    for (sql, left) in [
        (format!("DELETE FROM block WHERE {last}"), 32),
        (format!("UPDATE block SET bytes = 5 WHERE {last}"), 32),
        (format!("UPDATE block SET rows = rows + 1 WHERE {last}"), ROWS),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = vault(folder.path());
        behind_the_index(&path, &sql);
        let mut writer = Vault::open(&path).unwrap();
        writer.unlock_damaged(&keyring()).unwrap();
        assert_eq!(writer.checked_count().unwrap(), ROWS, "{sql}: nothing else was counted");
        assert!(!writer.examine().unwrap().complaints.is_empty(), "{sql}");
        let survey = writer.survey(|_, _| Ok::<_, ReadError>(())).unwrap();
        writer.begin_without(&survey.damaged).unwrap().commit().unwrap();
        assert_clean(&mut writer, &sql);
        drop(writer);
        examined(&path).unwrap();
        assert_eq!(unlocked(&path).checked_count().unwrap(), left, "{sql}");
    }
}

/// A name changed in a row, and not in the indexes, keeps neither row nor index from going.
#[test]
fn a_damaged_row_goes_also_where_an_index_names_it_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = vault(folder.path());
    let id = Planted::new(7, 100, Some(2)).id;
    let sound = std::fs::read(&path).unwrap();
    let places: Vec<usize> = (0..sound.len() - id.len())
        .filter(|&at| &sound[at..at + id.len()] == id.as_bytes())
        .collect();
    assert_eq!(places.len(), 2, "its row and its index");
    for at in places {
        let mut bytes = sound.clone();
        bytes[at] = b'~';
        std::fs::write(&path, &bytes).unwrap();
        let mut writer = Vault::open(&path).unwrap();
        writer.unlock_damaged(&keyring()).unwrap();
        let survey = writer.survey(|_, _| Ok::<_, ReadError>(())).unwrap();
        // Its checksum is that of eight rows.
        let going: Vec<_> = (1..=8).map(efface_vault::RecordId::new).collect();
        assert!(survey.damaged.is_empty() || survey.damaged == going);
        writer.begin_without(&going).unwrap().commit().unwrap();
        assert_clean(&mut writer, "a damaged row");
        drop(writer);
        examined(&path).unwrap();
        let left = std::fs::read(&path).unwrap();
        for name in [id.as_bytes(), &bytes[at..at + id.len()]] {
            assert!(!left.windows(name.len()).any(|part| part == name));
        }
    }
}

/// A vault after a change, and a copy of it from before.
fn changed_since(
    folder: &Path,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<(), WriteError>,
) -> (PathBuf, PathBuf) {
    let path = vault(folder);
    let old = folder.join("old.efface");
    std::fs::copy(&path, &old).unwrap();
    let mut writer = unlocked(&path);
    let mut change = writer.begin().unwrap();
    work(&mut change).unwrap();
    change.commit().unwrap();
    (path, old)
}

/// A row that was deleted, with its checksum, is no row of the vault any more.
#[test]
fn a_deleted_row_cannot_be_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = changed_since(folder.path(), |change| {
        change.delete_records(&[7, 8].map(efface_vault::RecordId::new))?;
        Planted::new(100, 100, None).insert(change);
        Planted::new(101, 100, None).insert(change);
        Ok(())
    });
    examined(&path).unwrap();
    let put_back = |first: u64| {
        let sql = format!(
            "ATTACH '{}' AS old; DELETE FROM block WHERE first = {first}; \
             INSERT INTO block SELECT * FROM old.block WHERE first = {first}; \
             INSERT OR REPLACE INTO content SELECT * FROM old.content WHERE first = {first}",
            old.display()
        );
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
    };
    put_back(1);
    let expected = RowFault::Count { certified: ROWS, present: ROWS + 2 };
    assert_eq!(fault(examined(&path).unwrap_err()), expected);
    put_back(33);
    assert_eq!(fault(examined(&path).unwrap_err()), RowFault::Sum { records: ROWS });
    assert_eq!(fault(by_heads(&unlocked(&path)).unwrap_err()), RowFault::Sum { records: ROWS });
}

/// Kept state of an earlier request does not fit a later one.
#[test]
fn earlier_kept_state_cannot_be_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = changed_since(folder.path(), |change| change.set_caches(Some(&[8; 900])));
    let sql = format!(
        "ATTACH '{}' AS old; DELETE FROM caches; INSERT INTO caches SELECT * FROM old.caches",
        old.display()
    );
    Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
    assert_eq!(fault(examined(&path).unwrap_err()), RowFault::Tally);
}

/// What was written to a file before its change was committed: the file alone, without the journal
/// that undoes it, is refused before its rows are even counted.
#[test]
fn a_file_copied_without_its_journal_is_refused() {
    const MANY: u64 = 9_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    let mut creation = Vault::create(&path, &genesis(), &keyring()).unwrap();
    for seed in 0..MANY {
        Planted::new(seed, 8_000, None).insert(&mut creation);
    }
    let mut writer = creation.commit().unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut change = writer.begin().unwrap();
    let rows: Vec<_> = (1..8_900).map(efface_vault::RecordId::new).collect();
    change.delete_records(&rows).unwrap();
    let copy = folder.path().join("copy.efface");
    std::fs::copy(&path, &copy).unwrap();
    drop(change);
    assert!(std::fs::read(&copy).unwrap() != before, "nothing was written before the commit");
    let refused = Vault::open_read_only(&copy).unwrap_err();
    assert!(matches!(refused, OpenError::WithoutJournal(_)), "{refused}");
    drop(writer);
    unlocked(&path).check_rows().unwrap();
}

#[test]
fn other_keys_are_refused_before_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = vault(folder.path());
    let key = |name: &str, seed, secret| {
        Keyring::create(&folder.path().join(name), &[seed; 32], &[secret; 32]).unwrap()
    };
    let mut vault = Vault::open(&path).unwrap();
    let refused = vault.unlock(&key("a", 5, 2)).unwrap_err();
    assert!(matches!(refused, UnlockError::OtherKey), "{refused}");
    let refused = vault.unlock(&key("b", 1, 5)).unwrap_err();
    assert!(matches!(refused, UnlockError::OtherSecret), "{refused}");
    assert!(matches!(vault.check_rows().unwrap_err(), ReadError::Locked));
    let mut change = vault.begin().unwrap();
    let refused = change.append_ledger("export", "{}", &[2; 32]).unwrap_err();
    assert!(
        refused.to_string().contains("the vault can only be changed with its keys"),
        "{refused}"
    );
    drop(change);
    vault.unlock(&keyring()).unwrap();
    vault.check_rows().unwrap();
}

/// After each request the tally is what it would be had the deleted rows never been there: of
/// two vaults whose rows differed only in one that is gone, not a byte differs.
#[test]
fn nothing_of_a_deleted_row_stays_in_the_tally() {
    let world = |features: u64| {
        let folder = tempfile::tempdir().unwrap();
        let path = vault(folder.path());
        let mut writer = unlocked(&path);
        let mut change = writer.begin().unwrap();
        let row = Planted { id: "x".into(), ..Planted::new(features, 60, None) };
        let added = row.insert(&mut change);
        change.commit().unwrap();
        let mut change = writer.begin().unwrap();
        change.delete_records(&[added]).unwrap();
        change.commit().unwrap();
        drop(writer);
        // Where the file is, and the mark of its last change, follow from no row.
        let sql = "PRAGMA secure_delete = ON; \
                   UPDATE place SET device = 0, inode = 0, boot = NULL; PRAGMA schema_version = 1";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        std::fs::read(&path).unwrap()
    };
    assert!(world(700) == world(800), "the deleted row's contents left a trace");
}
