//! Copies of a whole vault: backups, their way back, and moves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use efface_privacy::certificate::CheckOutcome;
use efface_vault::{Copied, Existing, Vault};
use serde::Serialize;

use crate::context::{Progress, Watch};
use crate::error::{Code, Error, Result};
use crate::head::Head;
use crate::store::{Current, open_for_reading, wait_for};
use crate::verify_ledger::verify_open;

/// A backup, or a vault made of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Backup {
    /// Path of the copy.
    pub path: PathBuf,
    /// Identifier of the vault.
    pub vault: String,
    /// Version of its model.
    pub version: u64,
    /// Number of records in the copy.
    pub records: u64,
    /// Index and hash of its ledger's head.
    pub head: (u64, String),
    /// Things the user should know.
    pub notices: Vec<String>,
}

/// Copies a vault, as the last request left it, to a file that must not exist yet. It works while
/// others read or write the vault: a request that is being served commits when the copy is made.
///
/// # Errors
/// A vault that cannot be read, a name that is taken, a full disk, an interruption.
pub fn backup(
    path: &Path,
    destination: &Path,
    wait: Duration,
    watch: &mut Watch<'_>,
) -> Result<Backup> {
    let vault = wait_for(wait, watch, || open_for_reading(path))?;
    let mut told = summary(&vault)?;
    let copied = vault.copy_to(destination, Existing::Keep, &mut stop(watch))?;
    drop(vault);
    told.path = copied.place()?;
    told.notices.push(
        "deletions do not reach this copy: delete it when records in it must go, and after a \
         restore repeat the deletions made since the backup"
            .to_owned(),
    );
    Ok(told)
}

/// Makes a vault of a backup, once all of its ledger has been checked, and that it reaches `head`
/// if one is given. With `replace`, a vault of that name is overwritten.
///
/// # Errors
/// A backup that is damaged or does not reach `head`, a name that is taken, a vault in use, a
/// journal of an interrupted request beside the name.
pub fn restore(
    backup: &Path,
    destination: &Path,
    replace: bool,
    head: Option<&str>,
    wait: Duration,
    watch: &mut Watch<'_>,
) -> Result<Backup> {
    let head = head.map(Head::parse).transpose()?;
    let existing = if replace { Existing::Replace } else { Existing::Keep };
    let copied: Copied = {
        let from = open_for_reading(backup)?;
        let mut copy = None;
        wait_for(wait, watch, || {
            copy = Some(from.copy_to(destination, existing, &mut || false)?);
            Ok(())
        })?;
        copy.ok_or_else(|| Error::storage(Code::Vault, "nothing was copied"))?
    };
    // What is checked is the copy itself: nothing comes between the check and the use.
    let mut told = check(copied.path(), head, watch)?;
    told.path = copied.place()?;
    told.notices.push(format!(
        "the vault is back at ledger entry {}: deletions served later are undone, so repeat them",
        told.head.0
    ));
    Ok(told)
}

/// Moves a vault to a name that must be free. The old file is overwritten with zeros and removed
/// once the new one is on the disk.
///
/// # Errors
/// A vault in use, a name that is taken, a full disk, an interruption.
pub fn relocate(
    path: &Path,
    destination: &Path,
    wait: Duration,
    watch: &mut Watch<'_>,
) -> Result<PathBuf> {
    let vault = wait_for(wait, watch, || Ok(Vault::open_for(path, "efface move")?))?;
    Ok(vault.move_to(destination, &mut stop(watch))?)
}

fn stop<'w>(watch: &'w mut Watch<'_>) -> impl FnMut() -> bool + 'w {
    || watch(&Progress::Copying).is_break()
}

fn summary(vault: &Vault) -> Result<Backup> {
    let current = Current::of(vault)?;
    Ok(Backup {
        path: PathBuf::new(),
        vault: current.genesis.vault_id,
        version: current.version,
        records: vault.record_count()?,
        head: (current.head.index, hex::encode(current.head.hash)),
        notices: Vec::new(),
    })
}

/// Checks a whole vault: every page, every entry of the ledger, and the head that was kept.
fn check(path: &Path, head: Option<Head>, watch: &mut Watch<'_>) -> Result<Backup> {
    if watch(&Progress::Copying).is_break() {
        return Err(Error::interrupted());
    }
    let mut vault = open_for_reading(path)?;
    if let Some(complaint) = vault.complaints()?.into_iter().next() {
        return Err(Error::storage(Code::Damaged, format!("the backup is damaged: {complaint}")));
    }
    let told = summary(&vault)?;
    let key = vault.genesis()?.public_key;
    let verdict = verify_open(&mut vault, Some(&key), head)?;
    match verdict.checks.iter().find(|check| check.outcome == CheckOutcome::Fails) {
        None => Ok(told),
        Some(check) => Err(Error::refused(
            Code::Backup,
            format!("the backup was not restored: {}: {}", check.name, check.reason),
        )
        .hint("take another backup")),
    }
}
