//! A journal that is not as it was written is not played back: whatever was changed in it, the vault is
//! recovered whole or left as it is.

use crate::child;
use crate::planted::{Planted, assert_clean, genesis, keyring, unlocked};
use efface_vault::{OpenError, Vault};
use std::fs;
use std::path::{Path, PathBuf};

const ROWS: u64 = 60;

fn row(seed: u64) -> Planted {
    Planted::new(seed, 3000, Some(seed))
}

/// The vault and the journal of a process that was killed when its changes were in the file.
struct Interrupted {
    folder: tempfile::TempDir,
    vault: Vec<u8>,
    journal: Vec<u8>,
}

impl Interrupted {
    fn path(&self) -> PathBuf {
        self.folder.path().join("m.efface")
    }

    fn beside(&self) -> PathBuf {
        self.folder.path().join("m.efface-journal")
    }

    /// None in the process that is to be killed.
    fn in_the_commit(test: &str) -> Option<Self> {
        if let Some(path) = child::task() {
            let mut vault = unlocked(Path::new(&path));
            let rows = vault.find_subject(row(7).subject.as_deref().unwrap()).unwrap();
            let mut change = vault.begin().unwrap();
            change.delete_records(&rows).unwrap();
            for seed in ROWS..ROWS + 20 {
                row(seed).insert(&mut change);
            }
            let mut asked = 0;
            let killed = change.commit_unless(&mut || {
                asked += 1;
                if asked == 2 { std::process::abort() } else { false }
            });
            panic!("it was to be killed: {killed:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.efface");
        let mut creation = Vault::create(&path, &genesis(), &keyring()).unwrap();
        for seed in 0..ROWS {
            row(seed).insert(&mut creation);
        }
        drop(creation.commit().unwrap());
        assert!(!child::command(test, path.to_str().unwrap()).output().unwrap().status.success());
        let [vault, journal] = ["m.efface", "m.efface-journal"]
            .map(|name| fs::read(folder.path().join(name)).unwrap());
        assert!(journal.starts_with(&[0xd9, 0xd5, 0x05, 0xf9]), "the journal is void");
        Some(Self { folder, vault, journal })
    }

    /// Whether the vault is recovered beside this journal; where not, both files are as they were.
    fn recovers(&self, journal: &[u8], what: &str) -> bool {
        fs::write(self.path(), &self.vault).unwrap();
        fs::write(self.beside(), journal).unwrap();
        match Vault::open(&self.path()) {
            Ok(mut vault) => {
                assert_eq!(vault.counts().unwrap().records, ROWS, "{what}");
                assert_clean(&mut vault, what);
                true
            }
            Err(refused) => {
                let known =
                    matches!(refused, OpenError::DamagedJournal(_) | OpenError::WithoutJournal(_));
                assert!(known, "{what}: {refused}");
                assert!(refused.to_string().contains("efface restore"), "{what}: {refused}");
                assert!(fs::read(self.path()).unwrap() == self.vault, "{what}");
                assert!(fs::read(self.beside()).unwrap() == journal, "{what}");
                false
            }
        }
    }
}

#[test]
fn a_changed_journal_is_not_played_back() {
    const TEST: &str = "journal::a_changed_journal_is_not_played_back";
    let Some(interrupted) = Interrupted::in_the_commit(TEST) else { return };
    let whole = &interrupted.journal;
    assert!(interrupted.recovers(whole, "unchanged"));
    let (sector, record) = (512, 8192 + 8);
    let counted = u32::from_be_bytes(whole[8..12].try_into().unwrap()) as usize;
    let end = sector + counted * record;
    assert!(counted > 5 && whole.len() >= end, "{counted} records in {}", whole.len());
    // Its head, its seal, and bytes of all records, of which SQLite looks at one in 200.
    let places = (0..80).chain((sector..end).step_by(1237));
    for at in places {
        for bit in [1, 0x80] {
            let mut changed = whole.clone();
            changed[at] ^= bit;
            assert!(!interrupted.recovers(&changed, &format!("byte {at}")), "byte {at}");
        }
    }
    for length in [0, 1, 28, 511, 512, sector + record, end - record, end - 1] {
        assert!(!interrupted.recovers(&whole[..length], &format!("cut to {length}")));
    }
    // What follows the records that were sealed is none of the change.
    let longer = [whole, &[7; 5000][..]].concat();
    assert!(interrupted.recovers(&longer, "longer"));
}

#[test]
fn a_vault_that_was_cut_is_not_filled_with_nothing() {
    const TEST: &str = "journal::a_vault_that_was_cut_is_not_filled_with_nothing";
    let Some(mut interrupted) = Interrupted::in_the_commit(TEST) else { return };
    let pages = u32::from_be_bytes(interrupted.journal[16..20].try_into().unwrap()) as usize;
    interrupted.vault.truncate((pages - 1) * 8192);
    assert!(!interrupted.recovers(&interrupted.journal, "cut"));
}
