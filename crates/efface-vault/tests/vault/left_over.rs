//! What killed trainings, copies and moves leave beside a vault goes with the next opening for writing, as
//! far as it is the vault's own; what is somebody else's stays and is named.

use crate::child;
use crate::planted::{Needles, Planted, genesis, keyring, unlocked};
use efface_vault::{Existing, Genesis, Vault};
use std::fs;
use std::path::{Path, PathBuf};

fn row(seed: u64) -> Planted {
    Planted::new(seed, 3000, Some(seed))
}

fn create(path: &Path, genesis: &Genesis) {
    let mut creation = Vault::create(path, genesis, &keyring()).unwrap();
    for seed in 0..40 {
        row(seed).insert(&mut creation);
    }
    drop(creation.commit().unwrap());
}

fn vault() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    create(&path, &genesis());
    (folder, path)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn what_a_killed_copy_left_is_gone_before_a_deletion() {
    const TEST: &str = "left_over::what_a_killed_copy_left_is_gone_before_a_deletion";
    if let Some(path) = child::task() {
        let reader = Vault::open_read_only(Path::new(&path)).unwrap();
        let copy = Path::new(&path).with_file_name("b.efface");
        let copied = reader.copy_to(&copy, Existing::Keep, &mut || false);
        assert!(copied.is_ok());
        std::process::abort();
    }
    // Whole, begun, and begun so that its first page is not yet there.
    for (kept, lock) in [(usize::MAX, true), (usize::MAX, false), (0, true), (1, true)] {
        let (folder, path) = vault();
        let killed = child::command(TEST, path.to_str().unwrap()).output().unwrap();
        assert!(!killed.status.success());
        let partial = folder.path().join("b.efface.partial");
        let mut bytes = fs::read(&partial).unwrap();
        match kept {
            0 => bytes.clear(),
            1 => bytes[..8192].fill(0),
            _ => {}
        }
        fs::write(&partial, bytes).unwrap();
        if !lock {
            fs::remove_file(folder.path().join("b.efface.lock")).unwrap();
        }
        assert!(unlocked(&path).left_over().is_empty(), "{kept} {lock}");
        assert_eq!(names(folder.path()), ["m.efface"], "{kept} {lock}");
    }
}

/// What a killed training left under the name that a vault was given later.
#[test]
fn what_has_the_vault_s_own_name_goes_whatever_it_is() {
    let (folder, path) = vault();
    fs::write(folder.path().join("m.efface.partial"), &row(7).features).unwrap();
    let mut vault = unlocked(&path);
    let rows = vault.find_subject(row(7).subject.as_deref().unwrap()).unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&rows).unwrap();
    change.commit().unwrap();
    let mut gone = Needles::new();
    gone.record(&row(7), true);
    gone.assert_gone(folder.path(), "after a deletion");
}

#[test]
fn what_somebody_works_on_and_what_is_another_vault_s_stays_and_is_named() {
    let (folder, path) = vault();
    let at = |name: &str| folder.path().join(name);
    // Another vault's, of which no process has the lock.
    let other = Genesis { vault_id: "other".into(), ..genesis() };
    create(&at("other.efface"), &other);
    fs::rename(at("other.efface"), at("n.efface.partial")).unwrap();
    fs::write(at("noise.partial"), "neither").unwrap();
    fs::write(at("empty.partial"), "").unwrap();
    // A copy and a vault that are being made.
    let reader = Vault::open_read_only(&path).unwrap();
    let copied = reader.copy_to(&at("b.efface"), Existing::Keep, &mut || false).unwrap();
    drop(reader);
    let creation = Vault::create(&at("c.efface"), &genesis(), &keyring()).unwrap();
    let vault = unlocked(&path);
    let named = ["b.efface.partial", "n.efface.partial", "noise.partial"].map(at);
    let left = vault.left_over();
    assert!(left.iter().filter(|file| **file != at("c.efface.partial")).eq(&named), "{left:?}");
    drop(vault);
    copied.place().unwrap();
    drop(creation.commit().unwrap());
    assert_eq!(unlocked(&at("b.efface")).counts().unwrap().records, 40);
    assert_eq!(unlocked(&path).left_over(), named[1..]);
}
