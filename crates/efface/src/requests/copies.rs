//! Copies of a whole vault: backups, restoring them, and moves.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use efface_page::number::counted;
use efface_privacy::certificate::CheckOutcome;
use efface_vault::{Copied, Existing, Id, Keyring, Vault, row_id};
use serde::Serialize;
use serde_json::Value;

use crate::checks::verify_ledger::verify_open;
use crate::context::{Context, Progress, Watch};
use crate::error::{Code, Error, Kind, Result};
use crate::requests::delete::{Delete, Selector, delete};
use crate::requests::erase::erase;
use crate::store::head::Head;
use crate::store::ledger::{CERTIFICATE, ERASURE};
use crate::store::{Current, open_for_reading, wait_for};

/// A backup, or a vault restored from one.
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
    /// Warnings and notes for the user.
    pub notices: Vec<String>,
}

/// Copies a vault, as the last request left it, to a file that must not exist yet. It works while others read
/// or write the vault: a request in progress commits after the copy is made.
///
/// # Errors
/// Fails if the vault cannot be read, the name is taken, the disk is full, or if interrupted.
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
        "deletions do not reach this copy: remove it when records in it must be deleted; only \
         restoring it over the vault that served the deletions serves them again"
            .to_owned(),
    );
    Ok(told)
}

/// How to restore a backup.
#[derive(Debug, Clone, Copy)]
pub struct Restore<'a> {
    /// The backup, which stays unchanged.
    pub backup: &'a Path,
    /// Path of the restored vault.
    pub destination: &'a Path,
    /// Whether to replace a vault of that name.
    pub replace: bool,
    /// A ledger head that was kept: an older backup is refused.
    pub head: Option<&'a str>,
}

/// Restores a vault from a backup after checking its whole ledger, and serves again the deletions that the
/// replaced vault served since the backup: as one request, before the vault has its name. If no release is
/// left for it, the records are erased and the model is withdrawn.
///
/// # Errors
/// Fails if the backup is damaged or does not reach the head, if the name is taken, if a vault is in use, or
/// if a journal of an interrupted request lies beside the name. Also fails if it is unknown which deletions
/// to serve again: because there is no vault to replace, or none that this key can read, and no head was
/// given.
pub fn restore(how: &Restore<'_>, context: &mut Context<'_>) -> Result<Backup> {
    let (copied, mut told) = copied(how, context.wait, context.watch)?;
    match copied.replaced().map_err(|error| unknown_whom(&Error::from(error)))? {
        Some(mut replaced) => {
            told.notices.extend(undone(&replaced, &told, true).map_err(|e| unknown_whom(&e))?);
            let again = deleted_since(&mut replaced, copied.path(), context.keyring)
                .map_err(|error| unknown_whom(&error))?;
            drop(replaced);
            if !again.is_empty() {
                let notice = delete_again(copied.path(), again, context)?;
                let notices = std::mem::replace(&mut told.notices, vec![notice]);
                told = Backup {
                    notices: [told.notices, notices].concat(),
                    ..summary_of(copied.path())?
                };
            }
        }
        None if how.head.is_some() => {}
        None => {
            let path = how.destination.display();
            let message = format!(
                "the backup was not restored: there is no vault at `{path}` to say which \
                 deletions were served after the backup, so the deleted records would come back"
            );
            return Err(Error::refused(Code::Backup, message).hint(
                "restore over the vault that served them, with `--force`; or give the ledger head \
                 that you kept, with `--head`; or accept that deletions may be undone, with \
                 `--undo-deletions`",
            ));
        }
    }
    told.path = copied.place()?;
    Ok(told)
}

/// Like [`restore`], but undoes the deletions that were served after the backup.
///
/// # Errors
/// Like [`restore`], except for those about deletions to serve again.
pub fn restore_undoing_deletions(
    how: &Restore<'_>,
    wait: Duration,
    watch: &mut Watch<'_>,
) -> Result<Backup> {
    let (copied, mut told) = copied(how, wait, watch)?;
    let unread = || {
        "deletions that were served after the backup are undone; their number is not known"
            .to_owned()
    };
    let notices = match copied.replaced() {
        Ok(Some(replaced)) => undone(&replaced, &told, false).unwrap_or_else(|_| vec![unread()]),
        Ok(None) | Err(_) => vec![unread()],
    };
    told.notices.extend(notices);
    told.path = copied.place()?;
    Ok(told)
}

/// Copies the backup and checks the copy from end to end.
fn copied(how: &Restore<'_>, wait: Duration, watch: &mut Watch<'_>) -> Result<(Copied, Backup)> {
    let head = how.head.map(Head::parse).transpose()?;
    if !how.replace && std::fs::symlink_metadata(how.destination).is_ok() {
        let message = format!("`{}` already exists", how.destination.display());
        return Err(Error::input(Code::Exists, message).hint(
            "`--force` replaces it, and serves again the deletions that it served since the backup",
        ));
    }
    let existing = if how.replace { Existing::Replace } else { Existing::Keep };
    let copied = {
        let from = open_for_reading(how.backup)?;
        let mut copy = None;
        wait_for(wait, watch, || {
            copy = Some(from.copy_to(how.destination, existing, &mut || false)?);
            Ok(())
        })?;
        copy.ok_or_else(|| Error::storage(Code::Vault, "nothing was copied"))?
    };
    // The check reads the copy itself: nothing comes between check and use.
    let told = check(copied.path(), head, watch)?;
    Ok((copied, told))
}

/// Returns the error if the replaced vault cannot state which records it deleted.
fn unknown_whom(error: &Error) -> Error {
    let message = format!(
        "the backup was not restored: only the vault that it replaces knows which deletions were \
         served after it, and that vault cannot be read: {}",
        error.message()
    );
    Error::refused(Code::Backup, message).hint(
        "give the key of that vault; or accept that deletions are undone, with `--undo-deletions`",
    )
}

/// Describes what the replaced vault served after the backup.
fn undone(replaced: &Vault, backup: &Backup, again: bool) -> Result<Vec<String>> {
    if replaced.genesis()?.vault_id != backup.vault {
        let what = "the vault that it replaces is a different one, made by another training";
        return Err(Error::input(Code::Backup, what));
    }
    let (mut deletions, mut records, mut others) = (0, Some(0), 0);
    replaced.scan_ledger(backup.head.0 + 1, |entry| -> Result<()> {
        let document = serde_json::from_str::<Value>(entry.json).unwrap_or_default();
        let said = |at: &str| document.pointer(at).and_then(Value::as_str);
        match (entry.kind, said("/request/kind")) {
            (ERASURE, _) | (CERTIFICATE, Some("delete")) => {
                deletions += 1;
                let stated = said("/request/records").and_then(|count| count.parse::<u64>().ok());
                records = records.zip(stated).map(|(all, more)| all + more);
            }
            (CERTIFICATE, Some("add" | "update")) => others += 1,
            _ => {}
        }
        Ok(())
    })?;
    let mut list = Vec::new();
    if deletions > 0 && !again {
        let (requests, records) = (
            counted(deletions, "deletion request"),
            records.map_or_else(
                || "records whose number is private".to_owned(),
                |records| counted(records, "record"),
            ),
        );
        list.push(format!("undone: {requests} served after the backup, of {records}"));
    }
    if others > 0 {
        let requests = counted(others, "addition or update");
        list.push(format!("undone, so repeat it: {requests} served after the backup"));
    }
    Ok(list)
}

/// Returns the records of the copy that the replaced vault deleted, by the keyed hashes of their ids that it
/// keeps.
fn deleted_since(replaced: &mut Vault, copy: &Path, keyring: &Keyring) -> Result<Vec<String>> {
    // Its rows may be damaged, which may be why it is replaced.
    replaced.unlock_damaged(keyring)?;
    replaced.check_notes()?;
    let mut gone = HashSet::new();
    replaced.scan_tombstones(|hash, _| -> Result<()> {
        gone.insert(hash);
        Ok(())
    })?;
    let mut vault = open_for_reading(copy)?;
    vault.unlock(keyring)?;
    let id = vault.genesis()?.vault_id;
    let mut names = Vec::new();
    vault.scan_heads(
        |head| -> Vec<String> {
            let hash = |name: &String| keyring.hmac(&id, "record", name.as_bytes());
            let names = head.rows().map(|(_, row)| match row.id {
                Id::Position(position) => row_id(position),
                Id::Text(id) => id.to_owned(),
            });
            names.filter(|name| gone.contains(&hash(name))).collect()
        },
        |some| -> Result<()> {
            names.extend(some);
            Ok(())
        },
    )?;
    Ok(names)
}

/// Deletes these records from the copy, with a release if one is left for it. Describes what was done.
fn delete_again(copy: &Path, names: Vec<String>, context: &mut Context<'_>) -> Result<String> {
    let count = names.len();
    let request = Delete { what: Selector::Ids(names), request_id: None };
    let (served, how) = match delete(copy, &request, context) {
        Err(error) if error.kind() == Kind::Refused => {
            let why = format!("erased without a release ({})", error.message());
            (erase(copy, &request, context)?, why)
        }
        served => (served?, "deleted again".to_owned()),
    };
    Ok(format!(
        "{how}: {} that left after the backup; request `{}`, ledger entry {}",
        counted(count as u64, "record"),
        served.request_id,
        served.index
    ))
}

/// Moves a vault to a name that must be free. The old file is overwritten with zeros and removed once the new
/// one is on disk.
///
/// # Errors
/// Fails if the vault is in use, the name is taken, the disk is full, or if interrupted.
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

fn summary_of(path: &Path) -> Result<Backup> {
    summary(&open_for_reading(path)?)
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

/// Checks a whole vault: every page, every ledger entry, and the head that was kept.
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
