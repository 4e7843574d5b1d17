//! When the disk or a limit is full, the answer is a typed error and the vault is unchanged.

use crate::child;
use crate::planted::{Needles, Planted, assert_clean, genesis, keyring, unlocked};
use efface_vault::{CreateError, ReadError, StoreFault, Vault, WriteError};
use std::path::Path;
use std::process::{Command, Output};

const ROWS: u64 = 100;

fn rows(from: u64, count: u64) -> impl Iterator<Item = Planted> {
    (from..from + count).map(|seed| Planted::new(seed, 3000, Some(seed)))
}

fn create(folder: &Path) -> Vault {
    let mut creation = Vault::create(&folder.join("m.efface"), &genesis(), &keyring()).unwrap();
    for row in rows(0, ROWS) {
        row.insert(&mut creation);
    }
    creation.commit().unwrap()
}

/// Adds rows until a write or the commit fails, and returns that failure.
fn overfill(vault: &mut Vault, records: u64) -> WriteError {
    let mut change = vault.begin().unwrap();
    for row in rows(1_000, records) {
        if let Err(error) = change.insert_record(&row.stored()) {
            let later = change.commit().unwrap_err();
            assert!(later.to_string().contains("an earlier step of it failed"), "{later}");
            return error;
        }
    }
    change.commit().unwrap_err()
}

fn assert_unchanged(vault: &mut Vault, folder: &Path) {
    let mut expected = rows(0, ROWS);
    let read = vault.scan(|_, row| {
        assert!(row == expected.next().unwrap().stored());
        Ok::<_, ReadError>(())
    });
    read.unwrap();
    assert!(expected.next().is_none());
    assert_clean(vault, "running out of space");
    let mut never = Needles::new();
    rows(1_000, 2_000).for_each(|row| never.record(&row, true));
    never.assert_gone(folder, "running out of space");
}

fn assert_still_usable(vault: &mut Vault) {
    let rows = vault.find_subject(rows(3, 1).next().unwrap().subject.as_deref().unwrap()).unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&rows).unwrap();
    change.commit().unwrap();
    assert_eq!(vault.counts().unwrap().records, ROWS - 1);
}

#[test]
fn beyond_the_size_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut vault = create(folder.path());
    let size = std::fs::metadata(vault.path()).unwrap().len();
    let limit = vault.limit_size(size + 1_000_000).unwrap();
    assert!(limit > size && limit <= size + 1_000_000);
    let refused = overfill(&mut vault, 2_000);
    assert!(matches!(refused, WriteError::Store(StoreFault::Full)), "{refused}");
    assert_unchanged(&mut vault, folder.path());
    assert_still_usable(&mut vault);
}

#[test]
fn files_may_grow_no_further() {
    const TEST: &str = "no_space::files_may_grow_no_further";
    if let Some(folder) = child::task() {
        let mut vault = unlocked(&Path::new(&folder).join("m.efface"));
        let refused = overfill(&mut vault, 2_000);
        assert!(
            matches!(&refused, WriteError::Store(StoreFault::Full | StoreFault::Io(_))),
            "{refused}"
        );
        assert_unchanged(&mut vault, Path::new(&folder));
        return assert_still_usable(&mut vault);
    }
    let folder = tempfile::tempdir().unwrap();
    drop(create(folder.path()));
    // The shell's unit is 512 or 1024 bytes: the vault may grow by a factor of 1.5 to 4.
    let size = std::fs::metadata(folder.path().join("m.efface")).unwrap().len();
    let limit = size * 2 / 1024 + 512;
    let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"");
    let mut inner = child::command(TEST, folder.path().to_str().unwrap());
    assert_success(shell(&script, &mut inner));
    let mut vault = unlocked(&folder.path().join("m.efface"));
    assert_eq!(vault.counts().unwrap().records, ROWS - 1);
    assert_clean(&mut vault, "running out of space");
}

/// Runs on a file system of 2 MiB where the system lets this process mount one; the other tests of
/// this file need no privilege.
#[test]
fn the_disk_is_full() {
    const TEST: &str = "no_space::the_disk_is_full";
    if let Some(folder) = child::task() {
        let folder = Path::new(&folder);
        let mut vault = create(folder);
        let refused = overfill(&mut vault, 2_000);
        assert!(matches!(refused, WriteError::Store(StoreFault::Full)), "{refused}");
        assert_unchanged(&mut vault, folder);
        assert_still_usable(&mut vault);
        let mut creation = Vault::create(&folder.join("n.efface"), &genesis(), &keyring()).unwrap();
        let full = rows(5_000, 2_000).find_map(|row| creation.insert_record(&row.stored()).err());
        let error = match full {
            Some(error) => CreateError::Write(error),
            None => creation.commit().unwrap_err(),
        };
        assert!(
            matches!(error, CreateError::Write(WriteError::Store(StoreFault::Full))),
            "{error}"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=2m none '{}'", folder.path().display());
    let possible = Command::new("unshare").args(["-m", "sh", "-c", &mount]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        println!("not run: this process may not mount a small file system");
        return;
    }
    let script = format!("{mount} && exec \"$0\" \"$@\"");
    let mut inner = child::command(TEST, folder.path().to_str().unwrap());
    let mut outer = Command::new("unshare");
    outer.args(["-m", "sh", "-c", &script]).arg(inner.get_program()).args(inner.get_args());
    inherit(&mut outer, &mut inner);
    assert_success(outer.output().unwrap());
}

fn shell(script: &str, inner: &mut Command) -> Output {
    let mut outer = Command::new("sh");
    outer.args(["-c", script]).arg(inner.get_program()).args(inner.get_args());
    inherit(&mut outer, inner);
    outer.output().unwrap()
}

fn inherit(outer: &mut Command, inner: &mut Command) {
    for (name, value) in inner.get_envs() {
        outer.env(name, value.unwrap());
    }
}

fn assert_success(output: Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
}
