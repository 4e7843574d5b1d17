//! After a deletion is committed, no file in the vault's folder holds bytes of what was deleted.

use crate::child;
use crate::planted::{Needles, Planted, assert_clean, genesis, keyring, unlocked};
use efface_vault::{Genesis, RecordId, StoredRecord, Vault};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// A vault of planted records, and what is known about them.
struct Field {
    folder: tempfile::TempDir,
    vault: Vault,
    present: Vec<(RecordId, Planted)>,
    gone: Needles,
    next_seed: u64,
    size: usize,
}

impl Field {
    /// Half of the records come with the creation, half in later batches, so that the id index
    /// splits its pages under live rows again and again. Every third record has its own subject;
    /// another third share 16 subjects; the rest have none.
    fn sown(records: usize, size: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let seeds = |from: usize, to: usize| {
            (from..to).map(move |i| {
                let seed = i as u64;
                let owner = [Some(1_000_000 + seed), Some(seed % 16), None][i % 3];
                Planted::new(seed, size, owner)
            })
        };
        let mut present = Vec::new();
        let mut creation =
            Vault::create(&folder.path().join("m.efface"), &genesis(), &keyring()).unwrap();
        for record in seeds(0, records / 2) {
            present.push((record.insert(&mut creation), record));
        }
        let mut vault = creation.commit().unwrap();
        for start in (records / 2..records).step_by(97) {
            let mut change = vault.begin().unwrap();
            for record in seeds(start, records.min(start + 97)) {
                present.push((record.insert(&mut change), record));
            }
            change.commit().unwrap();
        }
        let next_seed = records as u64;
        let field = Self { folder, vault, present, gone: Needles::new(), next_seed, size };
        field.assert_planted();
        field
    }

    /// The search finds every piece of what is present, so not finding one means something.
    fn assert_planted(&self) {
        let (_, record) = &self.present[self.present.len() / 2];
        let mut needles = Needles::new();
        needles.record(record, true);
        // A block that is split between two pages is not found whole.
        let expected = self.size / 8 - self.size / 4000 - 1;
        assert!(needles.find(self.folder.path()).len() >= expected + 2 * 9, "the search is blind");
    }

    /// Deletes the records at these places and adds new ones, in one change.
    fn change(&mut self, what: &str, mut places: Vec<usize>, added: usize) {
        places.sort_unstable();
        places.dedup();
        let mut change = self.vault.begin().unwrap();
        let rows: Vec<_> = places.iter().map(|&place| self.present[place].0).collect();
        change.delete_records(&rows).unwrap();
        let mut removed = Vec::new();
        for &place in places.iter().rev() {
            removed.push(self.present.remove(place).1);
        }
        for _ in 0..added {
            let record = Planted::new(self.next_seed, self.size, None);
            self.next_seed += 1;
            self.present.push((record.insert(&mut change), record));
        }
        change.commit().unwrap();
        self.bury(what, removed);
    }

    fn bury(&mut self, what: &str, removed: Vec<Planted>) {
        for record in removed {
            let alive = self.present.iter().any(|(_, other)| other.subject == record.subject);
            self.gone.record(&record, !alive);
        }
        self.gone.assert_gone(self.folder.path(), what);
        assert_clean(&mut self.vault, what);
    }

    fn subject(&mut self) {
        let subject = self.present.iter().find_map(|(_, r)| r.subject.clone()).unwrap();
        let rows = self.vault.find_subject(&subject).unwrap();
        let places: Vec<_> = (0..self.present.len())
            .filter(|&place| rows.contains(&self.present[place].0))
            .collect();
        assert_eq!(places.len(), rows.len());
        self.change("a subject", places, 0);
        assert_eq!(self.vault.find_subject(&subject).unwrap(), []);
    }

    /// The same id with new features: what an update is.
    fn update(&mut self, place: usize) {
        let (row, old) = self.present[place].clone();
        let mut new = Planted::new(self.next_seed, self.size, None);
        self.next_seed += 1;
        new.id = old.id.clone();
        let mut change = self.vault.begin().unwrap();
        change.delete_records(&[row]).unwrap();
        self.present[place] = (new.insert(&mut change), new);
        change.commit().unwrap();
        self.gone.bytes(&old.features);
        self.gone.assert_gone(self.folder.path(), "an update");
        assert_clean(&mut self.vault, "an update");
    }

    fn pick(&self, step: usize, offset: usize) -> Vec<usize> {
        (offset % self.present.len()..self.present.len()).step_by(step).collect()
    }
}

/// Deletes in every pattern and searches after each.
fn plough(records: usize, size: usize) {
    let mut field = Field::sown(records, size);
    let middle = field.present.len() / 2;
    field.change("one in the middle", vec![middle], 0);
    field.change("the first", vec![0], 0);
    let last = field.present.len() - 1;
    field.change("the last", vec![last], 0);
    for place in field.pick(records / 5, 7) {
        field.change("one at a time", vec![place.min(field.present.len() - 1)], 0);
    }
    field.change("every seventh", field.pick(7, 3), 0);
    field.subject();
    field.update(field.present.len() / 3);
    field.change("some, and others added", field.pick(11, 2), records / 10);
    field.change("a run", (10..10 + records / 6).collect(), 0);
    field.change("delete then add", vec![5], 1);
    field.subject();
    field.change("every second", field.pick(2, 0), 0);
    field.change("some again, and others added", field.pick(3, 1), records / 4);
    field.change("all but one", (1..field.present.len()).collect(), 0);
    field.change("all", vec![0], 0);
    assert_eq!(field.vault.counts().unwrap().records, 0);
    field.change("none, and others added", vec![], records / 8);
    field.change("all again", (0..records / 8).collect(), 0);
    let (folder, gone) = (field.folder, field.gone);
    drop(field.vault);
    gone.assert_gone(folder.path(), "closing");
    let mut vault = unlocked(&folder.path().join("m.efface"));
    assert_clean(&mut vault, "opening again");
}

#[test]
fn rows_far_smaller_than_a_page() {
    plough(3000, 40);
}

#[test]
fn rows_a_few_to_a_page() {
    plough(1200, 900);
}

#[test]
fn rows_almost_as_large_as_a_page() {
    plough(600, 3136);
}

#[test]
fn rows_just_larger_than_a_page() {
    plough(400, 4200);
}

#[test]
fn rows_on_overflow_chains() {
    plough(120, 25_000);
}

#[test]
fn replaced_models_salts_and_caches_are_erased_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut vault = Vault::create(&folder.path().join("m.efface"), &genesis(), &keyring())
        .unwrap()
        .commit()
        .unwrap();
    let mut gone = Needles::new();
    let mut earlier: Option<([Planted; 2], [u8; 32])> = None;
    for round in 0..30u64 {
        // Sizes go up and down, within a page and over many.
        let size = [64, 9000, 700, 30_000, 3000][round as usize % 5];
        let now = [0, 1].map(|part| Planted::new(round * 2 + part, size, None));
        let mut salt = [0; 32];
        salt.copy_from_slice(&Planted::new(1000 + round, 32, None).features[..32]);
        let mut change = vault.begin().unwrap();
        change.replace_model(round, &now[0].features, &salt, &[0; 32]).unwrap();
        change.set_caches(Some(&now[1].features)).unwrap();
        change.append_ledger("certificate", "{}", &[0; 32]).unwrap();
        change.commit().unwrap();
        if let Some(([model, caches], salt)) = earlier.replace((now, salt)) {
            gone.bytes(&model.features);
            gone.bytes(&caches.features);
            gone.bytes(&salt);
        }
        gone.assert_gone(folder.path(), &format!("round {round}"));
        assert_clean(&mut vault, &format!("round {round}"));
    }
}

#[test]
fn a_change_that_is_dropped_leaves_no_trace_of_what_it_added() {
    let mut field = Field::sown(400, 3000);
    // Leaves many unused pages, on which the next change may be written before it is dropped.
    field.change("half", field.pick(2, 0), 0);
    let mut never = Needles::new();
    let mut change = field.vault.begin().unwrap();
    for seed in 0..3000 {
        let record = Planted::new(50_000 + seed, 3000, Some(60_000 + seed));
        record.insert(&mut change);
        never.record(&record, true);
    }
    drop(change);
    never.assert_gone(field.folder.path(), "dropping a change");
    assert_clean(&mut field.vault, "dropping a change");
    assert_eq!(field.vault.counts().unwrap().records, 200);
}

#[test]
fn traces_left_by_another_program_are_found_and_erased() {
    let mut field = Field::sown(1000, 500);
    let path = field.folder.path().join("m.efface");
    drop(field.vault);
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign.pragma_update(None, "secure_delete", "OFF").unwrap();
    foreign
        .execute_batch(
            "DELETE FROM block WHERE first % 3 = 0;
             DELETE FROM content WHERE first % 3 = 0;
             DELETE FROM named WHERE ((number - 1) / 16 * 16 + 1) % 3 = 0;
             DELETE FROM owned WHERE ((number - 1) / 16 * 16 + 1) % 3 = 0",
        )
        .unwrap();
    drop(foreign);
    for (row, record) in &field.present {
        // Blocks have 16 rows each, from number 1 on.
        if ((row.get() - 1) / 16 * 16 + 1) % 3 == 0 {
            field.gone.text(&record.id);
            field.gone.bytes(&record.features);
        }
    }
    assert!(field.gone.find(field.folder.path()).len() > 1000, "nothing to erase");
    let mut vault = Vault::open(&path).unwrap();
    assert!(vault.examine().unwrap().residue > 0);
    assert!(vault.erase_traces().unwrap() > 0);
    field.gone.assert_gone(field.folder.path(), "erasing");
    assert_clean(&mut vault, "erasing");
    assert_eq!(vault.erase_traces().unwrap(), 0, "nothing is left to erase");
}

#[test]
fn nothing_is_written_to_the_temporary_folder() {
    if child::task().is_some() {
        let folder = tempfile::tempdir_in(child::task().unwrap()).unwrap();
        let _ = folder;
        return plough(600, 900);
    }
    let temporary = tempfile::tempdir().unwrap();
    let place = temporary.path().join("sqlite");
    std::fs::create_dir(&place).unwrap();
    let vaults = temporary.path().join("vaults");
    std::fs::create_dir(&vaults).unwrap();
    let output = child::command(
        "erasure::nothing_is_written_to_the_temporary_folder",
        vaults.to_str().unwrap(),
    )
    .env("TMPDIR", &vaults)
    .env("SQLITE_TMPDIR", &place)
    .output()
    .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(is_empty(&place), "SQLite wrote to the temporary folder");
    assert!(is_empty(&vaults), "the vault's folder was left behind");
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// SQLite locks bytes of the page at 2^30 and keeps nothing on it: a vault that reaches so far is sound, and what
/// another program left there is found and erased like anything else.
#[test]
fn the_page_that_sqlite_locks_is_part_of_a_large_vault() {
    const LOCKED: u64 = 1 << 30;
    const LONG: usize = 30 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    let genesis = Genesis { block_rows: 1, ..genesis() };
    let mut creation = Vault::create(&path, &genesis, &keyring()).unwrap();
    for row in 0..36_u8 {
        let features = vec![row; LONG];
        let id = format!("row {row}");
        let (id, features) = (id.as_str(), features.as_slice());
        let record = StoredRecord { id, subject: None, target: 0.0, features, added_version: 1 };
        creation.insert_record(&record).unwrap();
    }
    let mut vault = creation.commit().unwrap();
    assert!(fs::metadata(&path).unwrap().len() > LOCKED);
    assert_clean(&mut vault, "a new vault");
    // A program that knows nothing of locks.
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(LOCKED + 600)).unwrap();
    file.write_all(b"a copy").unwrap();
    assert_eq!(vault.examine().unwrap().residue, 6);
    vault.erase_traces().unwrap();
    assert_clean(&mut vault, "erased");
    vault.unlock(&keyring()).unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&[RecordId::new(35), RecordId::new(2)]).unwrap();
    change.commit().unwrap();
    assert_clean(&mut vault, "rows on both sides of it deleted");
}
