//! The lock of a vault: one writer at a time; a second one learns who holds it.
//!
//! The lock is an operating-system lock on a side file, `NAME.efface.lock`. It is not taken on the
//! vault itself, because closing any handle of a file drops the POSIX locks that SQLite holds on
//! it. The system releases the lock when the process ends, however it ends. The name of a file can
//! change, so the vault's file is locked as well (`range_lock`); the side file says who has it.

use crate::wipe::{names, no_links};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Why a lock was not given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process, or another handle of this process, holds it: process number and, in
    /// parentheses, what it is doing; `unknown` if not yet written.
    #[error("vault is in use by process {0}")]
    InUse(String),
    /// The side file cannot be written or locked.
    #[error("{0}")]
    Refused(String),
}

/// Builds the error for a side file that cannot be created or written.
fn unwritable(path: &Path, source: &io::Error) -> LockError {
    LockError::Refused(format!("lock file {} cannot be written: {source}", path.display()))
}

/// Builds the error for a side file whose name is taken by something else, or whose file system has no locks.
fn unlockable(path: &Path, reason: impl std::fmt::Display) -> LockError {
    LockError::Refused(format!("lock file {} cannot be locked: {reason}", path.display()))
}

/// A held lock; dropping it releases it and removes the side file.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock of the vault at `vault`, writing this process and `purpose` into it.
    pub(crate) fn acquire(vault: &Path, purpose: &str) -> Result<Self, LockError> {
        let path = beside(vault, ".lock");
        let unwritable = |source| unwritable(&path, &source);
        loop {
            match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_file() => {
                    return Err(unlockable(&path, "it is not a regular file"));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unwritable(error)),
            }
            let mut file = no_links(&mut private()).open(&path).map_err(unwritable)?;
            if !file.metadata().is_ok_and(|found| names(&found) <= 1 && found.is_file()) {
                let reason = "it is not a plain file with one name";
                return Err(unlockable(&path, reason));
            }
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::InUse(holder(&mut file)));
                }
                Err(TryLockError::Error(error)) => {
                    return Err(unlockable(&path, error));
                }
            }
            // The holder before us may have removed the file between our open and our lock.
            if !still_there(&file, &path).map_err(unwritable)? {
                continue;
            }
            // From here on the side file is removed with the lock, even if the disk is full.
            let lock = Self { path: path.clone(), file };
            lock.say(purpose)?;
            return Ok(lock);
        }
    }

    /// Writes another purpose into it.
    pub(crate) fn say(&self, purpose: &str) -> Result<(), LockError> {
        let line = format!("{} ({})\n", std::process::id(), one_line(purpose));
        let mut file = &self.file;
        let written = file.set_len(0).and_then(|()| file.rewind());
        written
            .and_then(|()| file.write_all(line.as_bytes()))
            .map_err(|source| unwritable(&self.path, &source))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If an open file has no identity to compare, the side file stays: removing it could remove the file
        // another process has just locked.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        } else {
            let _ = self.file.set_len(0);
        }
    }
}

/// Appends `suffix` to the file name of `path`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns options that create a file only its owner may read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns what the side file says of its writer.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(256).read_to_string(&mut text));
    match (read, text.trim()) {
        (Ok(_), line) if !line.is_empty() => line.into(),
        _ => "unknown".into(),
    }
}

/// Returns `purpose` without line breaks or control characters, and shortened.
fn one_line(purpose: &str) -> String {
    purpose.chars().filter(|c| !c.is_control()).take(64).collect()
}

#[cfg(unix)]
pub(crate) fn still_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(theirs) => Ok((ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
pub(crate) fn still_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_taker_is_told_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("m.efface");
        let lock = Lock::acquire(&vault, "efface\ndelete").unwrap();
        let refused = Lock::acquire(&vault, "efface add").unwrap_err();
        let expected = format!("vault is in use by process {} (effacedelete)", std::process::id());
        assert_eq!(refused.to_string(), expected);
        drop(lock);
        assert!(!beside(&vault, ".lock").exists());
        Lock::acquire(&vault, "efface add").unwrap();
    }

    #[test]
    fn lock_left_by_a_dead_process_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("m.efface");
        fs::write(beside(&vault, ".lock"), "999999 (efface delete)\n").unwrap();
        Lock::acquire(&vault, "efface add").unwrap();
    }

    /// Neither is followed or written through.
    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_the_side_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (vault, precious) = (folder.path().join("m.efface"), folder.path().join("precious"));
        fs::write(&precious, "precious").unwrap();
        let place = beside(&vault, ".lock");
        for link in [std::os::unix::fs::symlink::<&Path, &Path>, |from, to| fs::hard_link(from, to)]
        {
            link(&precious, &place).unwrap();
            let refused = Lock::acquire(&vault, "efface add").unwrap_err();
            assert!(refused.to_string().contains("cannot be locked"), "{refused}");
            assert_eq!(fs::read(&precious).unwrap(), b"precious");
            fs::remove_file(&place).unwrap();
        }
    }

    #[test]
    fn folder_in_the_place_of_the_side_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("m.efface");
        fs::create_dir(beside(&vault, ".lock")).unwrap();
        let refused = Lock::acquire(&vault, "efface add").unwrap_err();
        assert!(refused.to_string().contains("cannot be locked"), "{refused}");
    }
}
