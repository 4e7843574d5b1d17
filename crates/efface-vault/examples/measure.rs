//! Measures a vault: what commits cost, what a scan and an examination cost, and how many traces
//! SQLite alone would leave. Prints a table; asserts nothing.
//!
//! `cargo run --release -p efface-vault --example measure [FOLDER]`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use efface_vault::{Genesis, Keyring, ReadError, RecordId, StoredRecord, Vault};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::path::Path;
use std::time::Instant;

fn main() {
    let place = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let place = Path::new(&place);
    println!(
        "records bytes/row | create s | scan GB/s | open ms | delete 1 / 10 / 100 ms | add 1 ms | examine s | file MB"
    );
    for (records, size) in [(100_000, 40), (60_000, 3136), (5_000, 40_000), (1_000_000, 80)] {
        costs(place, records, size);
    }
    println!("\nbytes of deleted ids and features that `secure_delete = ON` alone leaves behind");
    for (records, size) in [(3000, 40), (1200, 900), (600, 3136), (120, 25_000)] {
        traces(place, records, size);
    }
}

fn row(seed: u64, size: usize) -> (String, Vec<u8>) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut features = vec![0; size];
    rng.fill_bytes(&mut features);
    (format!("{:016x}", rng.next_u64()), features)
}

fn costs(place: &Path, records: u64, size: usize) {
    let folder = tempfile::tempdir_in(place).unwrap();
    let path = folder.path().join("m.efface");
    let keyring = Keyring::create(&folder.path().join("key.toml"), &[1; 32], &[2; 32]).unwrap();
    let genesis = Genesis {
        vault_id: "measured".into(),
        created_at: String::new(),
        config_json: "{}".into(),
        public_key: keyring.public_key(),
        block_rows: efface_vault::rows_per_block(size as u64),
    };
    let rows: Vec<_> = (0..records).map(|seed| row(seed, size)).collect();
    let clock = Instant::now();
    let mut creation = Vault::create(&path, &genesis, &keyring).unwrap();
    let record = |row: usize, show: &mut dyn FnMut(&StoredRecord<'_>)| {
        let (id, features) = &rows[row];
        let subject = Some(&id[..3]);
        show(&StoredRecord { id, subject, target: 1.0, features, added_version: 1 });
    };
    creation.insert_records(rows.len(), &record).unwrap();
    drop(creation.commit().unwrap());
    let create = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let mut vault = Vault::open(&path).unwrap();
    vault.unlock(&keyring).unwrap();
    let open = clock.elapsed().as_secs_f64() * 1e3;
    let mut bytes = 0;
    let clock = Instant::now();
    vault
        .scan(|_, row| {
            bytes += row.features.len();
            Ok::<_, ReadError>(())
        })
        .unwrap();
    let scan = bytes as f64 / clock.elapsed().as_secs_f64() / 1e9;

    let mut next = 1;
    let mut delete = |vault: &mut Vault, count: i64| {
        let mut times: Vec<f64> = (0..15)
            .map(|round| {
                let clock = Instant::now();
                let mut change = vault.begin().unwrap();
                let step = 7919 % records as i64;
                let rows: Vec<_> = (0..count)
                    .map(|_| {
                        next = (next + step) % records as i64;
                        RecordId::new(1 + next)
                    })
                    .collect();
                change.delete_records(&rows).unwrap();
                change.replace_model(round, &[1; 6272], &[1; 32], &[1; 32]).unwrap();
                change.append_ledger("certificate", &"x".repeat(4000), &[0; 32]).unwrap();
                change.commit().unwrap();
                clock.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[7]
    };
    let deletes = [1, 10, 100].map(|count| delete(&mut vault, count));
    let mut times: Vec<f64> = (0..15)
        .map(|round| {
            let (id, features) = row(records + round, size);
            let clock = Instant::now();
            let mut change = vault.begin().unwrap();
            let record = StoredRecord {
                id: &id,
                subject: None,
                target: 1.0,
                features: &features,
                added_version: 1,
            };
            change.insert_record(&record).unwrap();
            change.commit().unwrap();
            clock.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let clock = Instant::now();
    let examination = vault.examine().unwrap();
    let examine = clock.elapsed().as_secs_f64();
    println!(
        "{records:8} {size:6} | {create:6.2} | {scan:5.2} | {open:5.1} | {:5.1} {:5.1} {:5.1} | {:5.1} | {examine:5.2} | {:6.1}",
        deletes[0],
        deletes[1],
        deletes[2],
        times[7],
        f64::from(examination.pages) * 8192e-6,
    );
}

/// The same table and indexes in plain SQLite: inserts in batches, then deletes every second row.
fn traces(place: &Path, records: u64, size: usize) {
    let folder = tempfile::tempdir_in(place).unwrap();
    let path = folder.path().join("plain.db");
    let plain = rusqlite::Connection::open(&path).unwrap();
    plain
        .execute_batch(
            "PRAGMA secure_delete = ON; PRAGMA synchronous = OFF;
             CREATE TABLE record (sequence INTEGER PRIMARY KEY, id TEXT UNIQUE, features BLOB)",
        )
        .unwrap();
    let rows: Vec<_> = (0..records).map(|seed| row(seed, size)).collect();
    for batch in rows.chunks(97) {
        plain.execute_batch("BEGIN").unwrap();
        for (id, features) in batch {
            plain
                .execute("INSERT INTO record (id, features) VALUES (?1, ?2)", (id, features))
                .unwrap();
        }
        plain.execute_batch("COMMIT").unwrap();
    }
    for remainder in 1..7 {
        plain.execute("DELETE FROM record WHERE sequence % 7 = ?1", [remainder]).unwrap();
    }
    drop(plain);
    let file = std::fs::read(&path).unwrap();
    let gone: std::collections::HashSet<&[u8]> = rows
        .iter()
        .enumerate()
        .filter(|(place, _)| (place + 1) % 7 != 0)
        .flat_map(|(_, (id, features))| features.chunks_exact(16).chain([id.as_bytes()]))
        .collect();
    let left = file.windows(16).filter(|window| gone.contains(window)).count();
    println!("{records:8} {size:6} | {} of {} pieces of 16 bytes", left, gone.len());
}
