//! What happens to the file between a commit and the end of it.

use crate::{Genesis, Keyring, StoredRecord, Vault, WriteError};
use std::cell::RefCell;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

type Action = Box<dyn FnOnce()>;

thread_local! {
    static AFTER: RefCell<Option<Action>> = const { RefCell::new(None) };
}

/// Called where a change has just become durable.
pub(super) fn after_commit() {
    if let Some(action) = AFTER.take() {
        action();
    }
}

fn keyring(folder: &Path) -> Keyring {
    Keyring::create(&folder.join("key.toml"), &[1; 32], &[2; 32]).unwrap()
}

/// A vault with two records, of which the first is deleted and the commit followed by an action; what
/// came of it, and the bytes that its journal had left.
fn deleted(folder: &Path, then: impl FnOnce(&Path) + 'static) -> (WriteError, Vec<u8>) {
    let keyring = keyring(folder);
    let path = folder.join("in").join("m.efface");
    fs::create_dir(folder.join("in")).unwrap();
    let genesis = Genesis {
        vault_id: "after".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        config_json: "{}".into(),
        public_key: keyring.public_key(),
        block_rows: 16,
    };
    let mut creation = Vault::create(&path, &genesis, &keyring).unwrap();
    for id in ["a", "b"] {
        let (subject, target, features) = (Some(id), 1.0, &[3; 4000]);
        let record = StoredRecord { id, subject, target, features, added_version: 1 };
        creation.insert_record(&record).unwrap();
    }
    let mut vault = creation.commit().unwrap();
    let rows = vault.find_subject("a").unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&rows).unwrap();
    let mut journal = fs::File::open(crate::connection::journal_of(&path)).unwrap();
    let there = path.clone();
    AFTER.set(Some(Box::new(move || then(&there))));
    let error = change.commit().unwrap_err();
    let mut left = Vec::new();
    journal.read_to_end(&mut left).unwrap();
    assert!(left.len() > 4096);
    (error, left)
}

fn count(path: &Path) -> u64 {
    Vault::open_read_only(path).unwrap().counts().unwrap().records
}

/// The file, or its folder with its journal, goes elsewhere right after the commit: the change is where it
/// went, and nothing of the record is left in the journal that went along.
#[cfg(unix)]
#[test]
fn a_file_that_goes_after_the_commit_has_the_change() {
    for whole_folder in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = match whole_folder {
            true => ("in", "out"),
            false => ("in/m.efface", "m.efface"),
        };
        let (from, to) = (folder.path().join(from), folder.path().join(to));
        let aside: PathBuf = if whole_folder { to.join("m.efface") } else { to.clone() };
        let (error, left) = deleted(folder.path(), move |_| fs::rename(from, to).unwrap());
        assert!(
            error.to_string().ends_with("in its place; the change is in the file that was there"),
            "{error}"
        );
        assert!(error.to_string().contains("the change is in the file that was there"), "{error}");
        assert!(left.iter().all(|byte| *byte == 0));
        assert_eq!(count(&aside), 1);
    }
}

#[test]
fn bytes_written_over_a_change_that_was_made_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (error, left) = deleted(folder.path(), |path| fs::write(path, "other").unwrap());
    assert!(error.to_string().ends_with("and is not known to have forgotten anything"), "{error}");
    assert!(left.iter().all(|byte| *byte == 0));
}

/// What cannot be looked at after a commit is no failure of the change.
#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_looked_at_is_told_as_moved() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    let loops = inside.clone();
    let (error, _) = deleted(folder.path(), move |_| {
        fs::rename(&loops, loops.with_file_name("out")).unwrap();
        std::os::unix::fs::symlink("in", &loops).unwrap();
    });
    assert!(fs::metadata(&inside).is_err_and(|error| error.kind() != std::io::ErrorKind::NotFound));
    assert!(
        error.to_string().ends_with("in its place; the change is in the file that was there"),
        "{error}"
    );
}

/// Pages come and go: whatever is unused after a commit holds nothing, so that no later opening writes.
#[test]
fn what_a_commit_leaves_unused_is_zero() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = keyring(folder.path());
    let path = folder.path().join("m.efface");
    let genesis = Genesis {
        vault_id: "unused".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        config_json: "{}".into(),
        public_key: keyring.public_key(),
        block_rows: 16,
    };
    let insert = |change: &mut crate::Transaction<'_>, round: usize| {
        for number in 0..40 {
            let id = &format!("{round}-{number}");
            let features = &vec![number as u8; 600 * (1 + (round + number) % 7)];
            let (subject, target) = (Some(id.as_str()), 1.0);
            let record = StoredRecord { id, subject, target, features, added_version: 1 };
            change.insert_record(&record).unwrap();
        }
    };
    let mut creation = Vault::create(&path, &genesis, &keyring).unwrap();
    insert(&mut creation, 0);
    drop(creation.commit().unwrap());
    let mut shortened = false;
    for round in 1..12 {
        let mut vault = Vault::open(&path).unwrap();
        vault.unlock(&keyring).unwrap();
        let mut change = vault.begin().unwrap();
        if round % 3 == 0 {
            insert(&mut change, round);
        } else {
            let ids: Vec<String> = (0..40).map(|n| format!("{}-{n}", round / 3 * 3)).collect();
            let ids: Vec<&str> =
                ids.iter().map(String::as_str).skip(round % 3 - 1).step_by(2).collect();
            let found = change.find_ids(&ids).unwrap().found;
            change.delete_records(&found).unwrap();
        }
        // As large as a Hessian, kept and dropped in turn.
        let kept = vec![7; 300_000];
        change.set_caches((round % 2 == 0).then_some(&kept[..])).unwrap();
        change.commit().unwrap();
        vault
            .undisturbed(|file| {
                let pages = crate::sweep::Pages::of(file)?;
                assert!(pages.unused_are_zero()?, "round {round}");
                shortened |= !pages.unused_pages()?.is_empty();
                Ok(())
            })
            .unwrap();
    }
    assert!(shortened);
}
