//! Unfinished vaults in the folder of a vault, left there with their rows by trainings, copies and moves that
//! were killed.
//!
//! While a vault is made, copied or moved it is called `NAME.partial`, and the lock next to it says whose
//! rows it has. Opening a vault for writing overwrites and removes its own unfinished files that no process
//! works on, so that a deletion finds none. Those of other vaults are left to them, or to the next vault of
//! that name.

use crate::Vault;
use crate::lock::{Lock, beside};
use crate::wipe::{discard, open_plain};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a file in which a vault has its identifier.
const START: u64 = 1 << 16;

/// Returns the text that the lock next to an unfinished vault states.
pub(crate) fn purpose(vault_id: &str) -> String {
    format!("making or moving vault {vault_id}")
}

impl Vault {
    /// Returns the unfinished files in the vault's folder, of this vault or of others. They may hold rows: a
    /// training, a copy or a move was killed while writing them, or is writing them now.
    #[must_use]
    pub fn left_over(&self) -> Vec<PathBuf> {
        let filled = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| found.len() > 0);
        self.unfinished_beside().into_iter().filter(filled).collect()
    }

    /// Overwrites and removes this vault's unfinished files that no process works on. What cannot be removed
    /// stays [left over](Vault::left_over).
    pub(crate) fn discard_left_over(&self) {
        let own = beside(&self.path, ".partial");
        let genesis = "SELECT vault_id FROM genesis";
        let id: Option<String> = self.connection.query_row(genesis, [], |row| row.get(0)).ok();
        for partial in self.unfinished_beside() {
            let target = partial.with_extension("");
            let ours = id.as_ref().is_some_and(|id| is_of(id, &partial, &target));
            // The lock of this one is held already.
            let lock = (partial != own && ours).then(|| Lock::acquire(&target, "clearing up"));
            if partial == own || matches!(lock, Some(Ok(_))) {
                // A failure leaves it to the next opening.
                let _ = discard(&partial);
            }
        }
    }

    fn unfinished_beside(&self) -> Vec<PathBuf> {
        let entries = self.path.parent().map(fs::read_dir).into_iter().flatten().flatten();
        let plain = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|t| t.is_file()));
        let named =
            |path: &PathBuf| path.extension() == Some(OsStr::new("partial")) && *path != self.path;
        let mut list: Vec<PathBuf> = plain.map(|entry| entry.path()).filter(named).collect();
        list.sort_unstable();
        list
    }
}

/// Returns whether an unfinished file has rows of a vault: its lock says so, or it is a copy.
fn is_of(vault_id: &str, partial: &Path, target: &Path) -> bool {
    let start = |path: &Path| {
        let mut start = Vec::new();
        let file = open_plain(path, false).ok().flatten()?;
        file.take(START).read_to_end(&mut start).ok().map(|_| start)
    };
    let has = |start: &[u8], words: &str| {
        start.windows(words.len().max(1)).any(|part| part == words.as_bytes())
    };
    start(&beside(target, ".lock")).is_some_and(|lock| has(&lock, &purpose(vault_id)))
        || start(partial)
            .is_some_and(|copy| copy.starts_with(b"SQLite format 3\0") && has(&copy, vault_id))
}
