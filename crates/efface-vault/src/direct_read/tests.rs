//! Against what SQLite shows, of files of every shape.

use super::*;
use crate::{Genesis, Keyring, RecordId, RowFault, StoreFault, StoredRecord, WriteError};
use std::os::unix::fs::FileExt;
use std::path::Path;

fn keyring(folder: &Path) -> Keyring {
    Keyring::create(&folder.join("key.toml"), &[1; 32], &[2; 32]).unwrap()
}

fn row(number: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (number * 31 + at * 7 + at / 251) as u8).collect()
}

/// A vault of so many rows of so many bytes each, whose blocks have `block_rows` rows.
fn vault(folder: &Path, keyring: &Keyring, rows: usize, bytes: usize, block_rows: u32) -> Vault {
    let genesis = Genesis {
        vault_id: "v".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        config_json: "{}".into(),
        public_key: keyring.public_key(),
        block_rows,
    };
    let mut creation = Vault::create(&folder.join("m.efface"), &genesis, keyring).unwrap();
    for number in 0..rows {
        insert(&mut creation, number, bytes);
    }
    creation.replace_model(1, b"weights", &[5; 32], &[7; 32]).unwrap();
    let mut vault = creation.commit().unwrap();
    vault.unlock(keyring).unwrap();
    vault
}

fn insert(transaction: &mut crate::Transaction<'_>, number: usize, bytes: usize) {
    let record = StoredRecord {
        id: &format!("id{number}"),
        subject: None,
        target: number as f64,
        features: &row(number, bytes),
        added_version: 1,
    };
    transaction.insert_record(&record).unwrap();
}

fn firsts(vault: &Vault) -> Vec<i64> {
    let mut statement = vault.connection.prepare("SELECT first FROM block ORDER BY first").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// How many blocks have features that were read straight and are those that SQLite has, of how many;
/// none may have others. And how many parts of them are those that were asked for, of how many.
fn read_directly(vault: &Vault) -> ((usize, usize), (usize, usize)) {
    let mut chains = vault.chains(Wanted::All).unwrap();
    let firsts = firsts(vault);
    let (mut found, mut parts) = (0, (0, 0));
    let mut in_any_order = vault.chains(Wanted::Few).unwrap();
    let back: Vec<_> = firsts.iter().rev().map(|&first| in_any_order.find(first)).collect();
    let mut in_order = vault.chains(Wanted::Few).unwrap();
    assert!(firsts.iter().map(|&first| in_order.find(first)).eq(back.into_iter().rev()));
    for &first in &firsts {
        let expected = vault.features_of(first).unwrap().unwrap();
        let Some(chain) = chains.find(first) else { continue };
        let (file, pages) = chains.file();
        let read = chain.last_column(&file, pages, expected.len(), &BufferPool::default());
        // Of some bytes it is known only where chains are one page after another.
        for range in [0..0, 0..1, 0..expected.len(), 5000..9000, expected.len() - 1..expected.len()]
        {
            let range = range.start.min(expected.len())..range.end.min(expected.len());
            let part = chain.part(&file, pages, expected.len(), &range);
            let right = part.is_some_and(|part| *part == expected[range.clone()]);
            parts.0 += usize::from(right);
            parts.1 += 1;
        }
        found += usize::from(read.unwrap() == expected);
    }
    ((found, firsts.len()), parts)
}

fn scanned(vault: &Vault) -> Vec<(i64, Vec<u8>)> {
    let mut rows = Vec::new();
    let take = |id: RecordId, row: StoredRecord<'_>| {
        rows.push((id.get(), row.features.to_vec()));
        Ok::<_, crate::ReadError>(())
    };
    vault.scan(take).unwrap();
    rows
}

#[test]
fn features_are_those_of_sqlite_wherever_they_begin() {
    // Heads that end on the leaf, on the first page of the chain and behind it; a last page that is full.
    for (rows, bytes, block_rows) in
        [(3000, 100, 1000), (300, 3136, 83), (90, 20_000, 13), (9000, 8, 4096), (1024, 1023, 512)]
    {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path(), &keyring(folder.path()), rows, bytes, block_rows);
        let ((found, all), _) = read_directly(&vault);
        assert_eq!(found, all, "{rows} rows of {bytes} bytes");
        let expected: Vec<_> = (0..rows).map(|at| (at as i64 + 1, row(at, bytes))).collect();
        assert_eq!(scanned(&vault), expected);
    }
}

/// A vault of rows that were added at once.
fn at_once(folder: &Path, keyring: &Keyring, rows: usize, bytes: usize, block_rows: u32) -> Vault {
    let mut vault = vault(folder, keyring, 0, bytes, block_rows);
    let mut transaction = vault.begin().unwrap();
    let record = |at: usize, show: &mut dyn FnMut(&StoredRecord<'_>)| {
        let (id, features) = (format!("id{at}"), row(at, bytes));
        let (target, added_version) = (at as f64, 1);
        let (id, features) = (id.as_str(), features.as_slice());
        show(&StoredRecord { id, subject: None, target, features, added_version });
    };
    transaction.insert_records(rows, &record).unwrap();
    transaction.commit().unwrap();
    vault
}

fn opened(folder: &Path, keyring: &Keyring) -> Vault {
    let mut vault = Vault::open(&folder.join("m.efface")).unwrap();
    vault.unlock(keyring).unwrap();
    vault
}

fn refused(vault: &mut Vault, records: impl Iterator<Item = i64>) -> bool {
    let records: Vec<RecordId> = records.map(RecordId::new).collect();
    let refused = vault.begin().unwrap().delete_records(&records).unwrap_err();
    // SQLite itself finds some chains damaged.
    let rows = |fault: &StoreFault| matches!(fault, StoreFault::Rows(RowFault::Rows { .. }));
    matches!(refused, WriteError::Store(fault) if rows(&fault) || matches!(fault, StoreFault::Damaged(_)))
}

/// Bytes that are right where they are read are none that a change may overwrite where SQLite is led elsewhere.
#[test]
fn no_row_leaves_by_a_damaged_way() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = keyring(folder.path());
    let vault = at_once(folder.path(), &keyring, 300, 3136, 83);
    let chain = vault.chains(Wanted::Few).unwrap().find(1).unwrap();
    drop(vault);
    let file =
        std::fs::OpenOptions::new().write(true).open(folder.path().join("m.efface")).unwrap();
    let (second, sixth) = (chain.overflow + 1, chain.overflow + 5);
    let link = |page: u32| {
        file.write_all_at(&page.to_be_bytes(), offset(second).unwrap()).unwrap();
    };
    link(sixth);
    // Behind the link, but all that is read straight is as it was stored.
    assert!(refused(&mut opened(folder.path(), &keyring), std::iter::once(12)));
    assert!(refused(&mut opened(folder.path(), &keyring), 1..=83));
    link(second + 1);
    let mut vault = opened(folder.path(), &keyring);
    let mut transaction = vault.begin().unwrap();
    transaction.delete_records(&[RecordId::new(12)]).unwrap();
    transaction.commit().unwrap();
    assert_eq!(scanned(&vault).len(), 299);
}

/// Whoever takes all rows out of a block has looked at their features.
#[test]
fn no_block_leaves_with_the_features_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = keyring(folder.path());
    drop(at_once(folder.path(), &keyring, 300, 3136, 83));
    let foreign = rusqlite::Connection::open(folder.path().join("m.efface")).unwrap();
    let swap = "UPDATE content SET first = 3 WHERE first = 1; \
                UPDATE content SET first = 1 WHERE first = 84; \
                UPDATE content SET first = 84 WHERE first = 3";
    foreign.execute_batch(swap).unwrap();
    drop(foreign);
    assert!(refused(&mut opened(folder.path(), &keyring), 1..=83));
    assert!(refused(&mut opened(folder.path(), &keyring), std::iter::once(12)));
}

/// Rows that are added at once lie in chains of one page after another.
#[test]
fn parts_of_features_are_read_from_blocks_that_were_written_at_once() {
    for (rows, bytes, block_rows) in [(3000, 100, 1000), (300, 3136, 83), (1024, 1023, 512)] {
        let folder = tempfile::tempdir().unwrap();
        let vault = at_once(folder.path(), &keyring(folder.path()), rows, bytes, block_rows);
        let ((found, all), (parts, of)) = read_directly(&vault);
        assert_eq!((found, parts), (all, of), "{rows} rows of {bytes} bytes");
    }
}

/// Blocks that were written into pages that others left, in any order.
#[test]
fn chains_may_be_scattered() {
    let folder = tempfile::tempdir().unwrap();
    let mut vault = vault(folder.path(), &keyring(folder.path()), 400, 2000, 40);
    for round in 0..6 {
        let mut transaction = vault.begin().unwrap();
        let ids: Vec<String> = (round..400).step_by(9).map(|at| format!("id{at}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let found = transaction.find_ids(&ids).unwrap();
        transaction.delete_records(&found.found).unwrap();
        // What the change has is read, although the file has what was before.
        let within = scanned(&transaction);
        for number in 0..30 {
            insert(&mut transaction, 1000 + 100 * round + number, 3000 + 37 * round);
        }
        assert_eq!(scanned(&transaction).len(), within.len() + 30);
        transaction.commit().unwrap();
        let ((found, all), _) = read_directly(&vault);
        assert_eq!(found, all, "round {round}");
    }
}

#[test]
fn which_blocks_a_change_has_written_is_known_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut vault = vault(folder.path(), &keyring(folder.path()), 400, 2000, 40);
    assert_eq!(vault.rewritten.len(), 0);
    for (records, blocks, commits) in [([1, 170], [1, 161], true), ([50, 171], [41, 161], false)] {
        let mut transaction = vault.begin().unwrap();
        transaction.delete_records(&records.map(RecordId::new)).unwrap();
        assert!(transaction.rewritten.iter().eq(&blocks));
        if commits {
            transaction.commit().unwrap();
        } else {
            drop(transaction);
        }
        assert_eq!(vault.rewritten.len(), 0);
        assert_eq!(scanned(&vault).len(), 398);
    }
}

/// What a change takes out of blocks that are read straight: what it has already written is SQLite's, and a
/// row that is not as it was stored is not stored again as if it were.
#[test]
fn rows_leave_blocks_that_are_as_they_were_stored() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = keyring(folder.path());
    let (rows, bytes, block_rows) = (200, 1500, 40);
    assert!(bytes * block_rows > 16 << 10);
    let mut vault = vault(folder.path(), &keyring, rows, bytes, block_rows as u32);
    let mut transaction = vault.begin().unwrap();
    for gone in [[1, 50], [2, 51]] {
        transaction.delete_records(&gone.map(RecordId::new)).unwrap();
    }
    transaction.commit().unwrap();
    let rest = (0..rows).map(|at| (at as i64 + 1, row(at, bytes)));
    let rest: Vec<_> = rest.filter(|(number, _)| ![1, 2, 50, 51].contains(number)).collect();
    assert_eq!(scanned(&vault), rest);
    drop(vault);

    // A byte of row 100, which stays.
    let path = folder.path().join("m.efface");
    let contents = std::fs::read(&path).unwrap();
    let whole = row(99, bytes);
    // Where no page ends within it, and long enough that no other row has the same.
    let (at, byte) = whole
        .windows(1100)
        .find_map(|part| {
            let at = contents.windows(part.len()).position(|window| window == part)?;
            Some((at as u64, part[0]))
        })
        .unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[byte ^ 1], at).unwrap();
    let mut vault = Vault::open(&path).unwrap();
    vault.unlock(&keyring).unwrap();
    let refused = vault.begin().unwrap().delete_records(&[RecordId::new(85)]).unwrap_err();
    // Eleven rows of 1500 bytes share a checksum, and the block begins with row 81.
    let (first, last) = (RecordId::new(92), RecordId::new(102));
    let expected = StoreFault::from(RowFault::Rows { first, last }).to_string();
    assert_eq!(refused.to_string(), expected);
    file.write_all_at(&[byte], at).unwrap();
    drop(vault);
    let mut vault = Vault::open(&path).unwrap();
    vault.unlock(&keyring).unwrap();
    let mut transaction = vault.begin().unwrap();
    transaction.delete_records(&[RecordId::new(85)]).unwrap();
    transaction.commit().unwrap();
    assert_eq!(scanned(&vault).len(), rest.len() - 1);
}

/// Whatever a byte of the file is: what is read is right, or refused.
#[test]
fn changed_files_are_refused_or_read_right() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = keyring(folder.path());
    let before = scanned(&vault(folder.path(), &keyring, 200, 1500, 40));
    let path = folder.path().join("m.efface");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    let (mut refused, mut right) = (0, 0);
    for at in (8192..length).step_by(1361).chain((8192..length).step_by(8192)) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x41], at).unwrap();
        let mut rows = Vec::new();
        let read = Vault::open_read_only(&path).map(|mut vault| {
            vault.unlock(&keyring).map_err(|error| error.to_string())?;
            vault
                .scan(|id, row| {
                    rows.push((id.get(), row.features.to_vec()));
                    Ok::<_, crate::ReadError>(())
                })
                .map_err(|error| error.to_string())
        });
        match read {
            Ok(Ok(())) => {
                assert_eq!(rows, before, "byte {at}");
                right += 1;
            }
            _ => refused += 1,
        }
        file.write_all_at(&byte, at).unwrap();
    }
    assert!(refused > 100 && right > 0, "{refused} refused, {right} right");
}
