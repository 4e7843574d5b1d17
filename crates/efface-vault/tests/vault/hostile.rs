//! Files that are no vault, are damaged, crafted or out of reach give a typed error, never a panic.

use crate::child;
use crate::planted::{Planted, genesis, keyring, unlocked};
use efface_vault::{CreateError, LockError, OpenError, ReadError, StoreFault, Vault, WriteError};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn small_vault(folder: &Path) -> PathBuf {
    let path = folder.join("m.efface");
    let mut creation = Vault::create(&path, &genesis(), &keyring()).unwrap();
    for seed in 0..60 {
        let size = [40, 900, 9000][seed as usize % 3];
        Planted::new(seed, size, Some(seed % 7)).insert(&mut creation);
    }
    creation.replace_model(1, &[7; 5000], &[7; 32], &[7; 32]).unwrap();
    creation.append_ledger("certificate", "{}", &[1; 32]).unwrap();
    let mut vault = creation.commit().unwrap();
    let rows = vault.find_subject(Planted::new(3, 40, Some(3)).subject.as_deref().unwrap());
    let mut change = vault.begin().unwrap();
    change.delete_records(&rows.unwrap()).unwrap();
    change.commit().unwrap();
    path
}

/// Uses everything a vault offers; any error ends it.
fn use_all(path: &Path) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let reader = Vault::open_read_only(path).map_err(|e| text(&e))?;
    reader.scan(|_, _| Ok::<_, ReadError>(())).map_err(|e| text(&e))?;
    drop(reader);
    let mut vault = Vault::open(path).map_err(|e| text(&e))?;
    vault.unlock(&keyring()).map_err(|e| text(&e))?;
    let mut rows = Vec::new();
    let mut read = |id, _: efface_vault::StoredRecord<'_>| {
        rows.push(id);
        Ok::<_, ReadError>(())
    };
    vault.scan(&mut read).map_err(|e| text(&e))?;
    vault.genesis().map_err(|e| text(&e))?;
    vault.counts().map_err(|e| text(&e))?;
    vault.model().map_err(|e| text(&e))?;
    vault.head().map_err(|e| text(&e))?;
    let examination = vault.examine().map_err(|e| text(&e))?;
    if !examination.complaints.is_empty() || examination.residue > 0 {
        return Err(format!("{examination:?}"));
    }
    let mut change = vault.begin().map_err(|e| text(&e))?;
    change.delete_records(&rows).map_err(|e| text(&e))?;
    change.commit().map_err(|e| text(&e))?;
    vault.erase_traces().map_err(|e| text(&e))?;
    Ok(())
}

fn both(path: &Path) -> [OpenError; 2] {
    [Vault::open(path).unwrap_err(), Vault::open_read_only(path).unwrap_err()]
}

#[test]
fn nothing_there() {
    let folder = tempfile::tempdir().unwrap();
    for error in both(&folder.path().join("m.efface")) {
        assert!(matches!(error, OpenError::NotFound(_)), "{error}");
        assert!(error.to_string().ends_with("m.efface does not exist"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for error in both(folder.path()) {
        assert!(error.to_string().contains("is not a file"), "{error}");
    }
    let refused = Vault::create(folder.path(), &genesis(), &keyring()).unwrap_err();
    assert!(matches!(refused, CreateError::AlreadyExists(_)), "{refused}");
}

#[test]
fn an_empty_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    fs::write(&path, "").unwrap();
    for error in both(&path) {
        assert!(error.to_string().ends_with("is not a vault: the file is empty"), "{error}");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn random_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    for length in [1, 15, 16, 99, 100, 512, 4096, 100_000] {
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        for error in both(&path) {
            assert!(matches!(error, OpenError::NotAVault(_)), "{length} bytes: {error}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "the file must be left alone");
    }
}

#[test]
fn a_database_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    for error in both(&path) {
        assert!(error.to_string().contains("database of another program"), "{error}");
    }
}

#[test]
fn a_vault_of_a_newer_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign.pragma_update(None, "user_version", 12).unwrap();
    drop(foreign);
    for error in both(&path) {
        assert!(
            error.to_string().contains("has format 12; this program reads formats up to 11"),
            "{error}"
        );
    }
}

#[test]
fn a_vault_of_an_earlier_development_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign.pragma_update(None, "user_version", 2).unwrap();
    drop(foreign);
    for error in both(&path) {
        assert!(error.to_string().contains("this version reads only format 11"), "{error}");
        assert!(error.to_string().contains("earlier development version"), "{error}");
    }
}

#[test]
fn tables_that_are_missing_changed_or_added() {
    for (sql, word) in [
        ("DROP TABLE caches", "a table is missing"),
        ("ALTER TABLE caches ADD COLUMN more TEXT", "`caches` is not as this format has it"),
        ("CREATE TABLE copy AS SELECT * FROM block", "`copy` is not part of a vault"),
        ("ANALYZE", "`sqlite_stat1` is not part of a vault"),
        (
            "CREATE TRIGGER t AFTER DELETE ON block BEGIN DELETE FROM ledger; END",
            "`t` is not part of a vault",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = small_vault(folder.path());
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        for error in both(&path) {
            assert!(matches!(error, OpenError::Store(StoreFault::Damaged(_))), "{sql}: {error}");
            assert!(error.to_string().contains(word), "{sql}: {error}");
        }
    }
}

#[test]
fn write_ahead_logging_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let foreign = rusqlite::Connection::open(&path).unwrap();
    let mode: String =
        foreign.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    drop(foreign);
    for error in both(&path) {
        assert!(error.to_string().contains("write-ahead logging"), "{error}");
    }
}

#[test]
fn cut_short_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let whole = fs::read(&path).unwrap();
    for length in (1..whole.len()).step_by(1021) {
        fs::write(&path, &whole[..length]).unwrap();
        for error in both(&path) {
            let typed =
                matches!(error, OpenError::NotAVault(_) | OpenError::Store(StoreFault::Damaged(_)));
            assert!(typed, "{length} bytes: {error}");
        }
    }
}

#[test]
fn overwritten_anywhere_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let whole = fs::read(&path).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut noticed = 0;
    for round in 0..400 {
        let mut bytes = whole.clone();
        let page = rng.next_u64() as usize % (bytes.len() / 8192);
        for _ in 0..1 + round % 20 {
            // Mostly in the heads of pages, where the structure is.
            let reach = if round % 3 == 0 { 8192 } else { 100 };
            let at = page * 8192 + rng.next_u64() as usize % reach;
            bytes[at] = rng.next_u64() as u8;
        }
        fs::write(&path, &bytes).unwrap();
        noticed += u32::from(use_all(&path).is_err());
        let _ = fs::remove_file(folder.path().join("m.efface-journal"));
    }
    // Changed content that keeps the structure whole cannot be noticed here.
    assert!(noticed > 100, "only {noticed} of 400 damages were noticed");
}

#[test]
fn a_second_writer_is_told_who_is_first_and_a_reader_is_not_kept_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let first = Vault::open_for(&path, "efface delete").unwrap();
    let refused = Vault::open_for(&path, "efface add").unwrap_err();
    let expected = format!("vault is in use by process {} (efface delete)", std::process::id());
    assert_eq!(refused.to_string(), expected);
    let reader = Vault::open_read_only(&path).unwrap();
    assert_eq!(reader.counts().unwrap(), first.counts().unwrap());
    drop(first);
    Vault::open_for(&path, "efface add").unwrap();
}

#[test]
fn a_writer_in_another_process_is_named() {
    const TEST: &str = "hostile::a_writer_in_another_process_is_named";
    if let Some(path) = child::task() {
        let refused = Vault::open(Path::new(&path)).unwrap_err();
        assert!(matches!(refused, OpenError::Lock(LockError::InUse(_))), "{refused}");
        println!("\nrefused: {refused}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let first = Vault::open_for(&path, "efface delete").unwrap();
    let output = child::command(TEST, path.to_str().unwrap()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let expected = format!("in use by process {} (efface delete)", std::process::id());
    assert!(output.status.success() && text.contains(&expected), "{text}");
    drop(first);
}

#[test]
fn a_reader_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let mut reader = Vault::open_read_only(&path).unwrap();
    assert!(reader.begin().unwrap_err().to_string().contains("vault was opened for reading only"));
    assert!(
        reader
            .erase_traces()
            .unwrap_err()
            .to_string()
            .contains("vault was opened for reading only")
    );
}

#[test]
fn a_reader_sees_one_state_for_as_long_as_it_looks() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    let mut writer = unlocked(&path);
    writer.set_patience(Duration::from_millis(20)).unwrap();
    let reader = Vault::open_read_only(&path).unwrap();
    let before = reader.counts().unwrap().records;
    let mut change = writer.begin().unwrap();
    Planted::new(900, 10, None).insert(&mut change);
    assert_eq!(Vault::open_read_only(&path).unwrap().counts().unwrap().records, before);
    let refused = change.commit().unwrap_err();
    assert!(matches!(refused, WriteError::Store(StoreFault::Busy)), "{refused}");
    assert_eq!(reader.counts().unwrap().records, before);
    drop(reader);
    let mut change = writer.begin().unwrap();
    Planted::new(900, 10, None).insert(&mut change);
    change.commit().unwrap();
    assert_eq!(Vault::open_read_only(&path).unwrap().counts().unwrap().records, before + 1);
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    fs::write(&path, "precious").unwrap();
    let refused = Vault::create(&path, &genesis(), &keyring()).unwrap_err();
    assert!(matches!(refused, CreateError::AlreadyExists(_)), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    fs::remove_file(&path).unwrap();
    let creation = Vault::create(&path, &genesis(), &keyring()).unwrap();
    fs::write(&path, "precious").unwrap();
    let refused = creation.commit().unwrap_err();
    assert!(matches!(refused, CreateError::AlreadyExists(_)), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn two_creations_of_one_name_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    let first = Vault::create(&path, &genesis(), &keyring()).unwrap();
    let refused = Vault::create(&path, &genesis(), &keyring()).unwrap_err();
    assert!(matches!(refused, CreateError::Lock(LockError::InUse(_))), "{refused}");
    first.commit().unwrap();
}

#[test]
fn a_name_in_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["none/m.efface", ".."] {
        let refused = Vault::create(&folder.path().join(name), &genesis(), &keyring()).unwrap_err();
        assert!(
            refused.to_string().contains("must be a file name in an existing folder"),
            "{name}: {refused}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_partial_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let precious = folder.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let partial = folder.path().join("m.efface.partial");
    std::os::unix::fs::symlink(&precious, &partial).unwrap();
    let refused =
        Vault::create(&folder.path().join("m.efface"), &genesis(), &keyring()).unwrap_err();
    assert!(refused.to_string().contains("exists and is not a regular file"), "{refused}");
    fs::remove_file(&partial).unwrap();
    fs::hard_link(&precious, &partial).unwrap();
    let refused =
        Vault::create(&folder.path().join("m.efface"), &genesis(), &keyring()).unwrap_err();
    assert!(refused.to_string().contains("exists and is not a regular file"), "{refused}");
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
}

#[cfg(unix)]
#[test]
fn a_vault_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = small_vault(folder.path());
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// A privileged user may write anywhere, so the child runs as another user if this one is.
#[cfg(unix)]
#[test]
fn files_and_folders_that_cannot_be_written() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    const TEST: &str = "hostile::files_and_folders_that_cannot_be_written";
    const NOBODY: u32 = 65534;
    if let Some(folder) = child::task() {
        return unwritable(Path::new(&folder));
    }
    let outer = tempfile::tempdir().unwrap();
    fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let privileged = fs::metadata(outer.path()).unwrap().uid() == 0;
    let folder = outer.path().join("vaults");
    fs::create_dir(&folder).unwrap();
    let program = outer.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    let inner = child::command(TEST, folder.to_str().unwrap());
    command.args(inner.get_args());
    inner.get_envs().for_each(|(name, value)| {
        command.env(name, value.unwrap());
    });
    if privileged {
        std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{complaint}");
}

#[cfg(unix)]
fn unwritable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let chmod = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let path = small_vault(folder);
    chmod(&path, 0o400);
    let refused = Vault::open(&path).unwrap_err();
    assert!(
        refused.to_string().contains("cannot be written; it can only be opened for reading"),
        "{refused}"
    );
    chmod(folder, 0o500);
    let refused = Vault::open(&path).unwrap_err();
    assert!(refused.to_string().contains("cannot be written"), "{refused}");
    let refused = Vault::create(&folder.join("n.efface"), &genesis(), &keyring()).unwrap_err();
    assert!(refused.to_string().contains("cannot be written"), "{refused}");
    assert!(Vault::open_read_only(&path).unwrap().counts().unwrap().records > 0);
    chmod(&path, 0o000);
    let refused = Vault::open_read_only(&path).unwrap_err();
    assert!(matches!(refused, OpenError::Store(StoreFault::Io(_))), "{refused}");
    chmod(folder, 0o700);
}
