//! Erasures, also from a vault whose rows differ from what its last request left.
//!
//! Every other request refuses such a vault. There an erasure reads all rows itself: it removes those named,
//! every row whose checksum fails, since its owner cannot be determined, and every row of an id that was
//! deleted before. The remaining rows are exactly those that were stored; only missing rows cannot be brought
//! back, and the entry states them.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use efface_privacy::certificate::RequestKind;
use efface_vault::{Identity, RecordId, Survey, Vault};

use crate::context::{Context, Progress};
use crate::error::{Code, Error, Result, Stopped};
use crate::outcome::Served;
use crate::outcome::notice::{Notice, NoticeCode};
use crate::requests::delete::{
    AfterDeletion, Delete, Selector, body, check_private, deleted, root_of_subjects, unknown_names,
};
use crate::requests::serve::{RowChange, in_line, name_request, served_before};
use crate::requests::withdraw::{Lost, withdraw};
use crate::rows::{CHUNK, RowStore};
use crate::store::{Current, open_damaged};

/// Erases records and withdraws the model, with everything kept besides it, until a
/// [`refresh`](crate::refresh()). Nothing is released, so nothing that can refuse a release refuses this; the
/// ledger entry says so, and claims nothing about any model.
///
/// Names are resolved as by [`delete`](crate::delete()). A vault whose rows are damaged also serves this:
/// rows whose checksum fails are removed with those that are named, since their owners cannot be determined,
/// and names that only such a row can have had count as theirs. The entry and a notice state how many were
/// removed.
///
/// # Errors
/// Fails if names are unknown, if the vault is in use, or if interrupted; also if more of the vault is
/// damaged than its rows, their indexes, the model and what is kept besides it.
pub fn erase(path: &Path, request: &Delete, context: &mut Context<'_>) -> Result<Served> {
    let in_vault = !matches!(context.rows, RowStore::Parts(_));
    match deleted(path, request, AfterDeletion::Withdraw, context) {
        Err(error) if in_vault && may_be_damage(&error) => {
            erase_damaged(path, request, error, context)
        }
        done => done,
    }
}

/// Returns whether an erasure may have failed because the vault is damaged: the error says so, or a name is
/// unknown that a damaged row may have had.
fn may_be_damage(error: &Error) -> bool {
    matches!(error.code(), Code::Damaged | Code::UnknownRecord | Code::UnknownSubject)
}

/// Serves an erasure that was `refused` if the vault is damaged; otherwise it stays refused.
fn erase_damaged(
    path: &Path,
    request: &Delete,
    refused: Error,
    context: &mut Context<'_>,
) -> Result<Served> {
    let damaged = refused.code() == Code::Damaged;
    context.rows.held().inspect(|resident| resident.wipe());
    let opened = open_damaged(path, context);
    let served =
        opened.and_then(|(vault, current)| erased(vault, &current, request, &refused, context));
    served.map_err(|error| beyond(error, damaged).of_vault(path))
}

/// Adds to an error what is left to do if the vault is damaged beyond what an erasure can repair.
fn beyond(error: Error, damaged: bool) -> Error {
    if !damaged || error.code() != Code::Damaged {
        return error;
    }
    error.hint(
        "`§efface doctor` says what is damaged; `§efface restore` puts a backup in the vault's \
         place, from which the records can be erased; without a backup, remove the vault's file \
         and train a new model: its rows cannot be told apart",
    )
}

/// What the rows of a damaged vault show about a request.
struct Found {
    survey: Survey,
    /// Rows that the request names.
    named: Vec<Identity>,
    /// Rows of ids that were deleted before.
    put_back: Vec<RecordId>,
}

impl Found {
    fn of(
        vault: &Vault,
        current: &Current,
        which: &Selector,
        around: &mut Context<'_>,
    ) -> Result<Self> {
        let leaving = which.leaving(current.version + 1);
        let (mut named, mut put_back, mut read) = (Vec::new(), Vec::new(), 0u64);
        let survey = vault.survey(|record, row| -> std::result::Result<(), Stopped> {
            read += 1;
            if read.is_multiple_of(CHUNK as u64) {
                around.report(Progress::Changing { records: 0 }).map_err(Stopped)?;
            }
            if leaving.has_row(&row) {
                named.push(Identity {
                    record,
                    id: row.id.to_owned(),
                    subject: row.subject.map(str::to_owned),
                    added_version: row.added_version,
                });
                return Ok(());
            }
            let id = row.id.as_bytes();
            let mark = around.keyring.hmac(&current.genesis.vault_id, "record", id);
            if vault.tombstone(&mark)?.is_some() {
                put_back.push(record);
            }
            Ok(())
        });
        let survey = survey.map_err(|Stopped(error)| error)?;
        Ok(Self { survey, named, put_back })
    }

    /// Returns the names that no row has and that were not deleted before.
    fn unknown(
        &self,
        vault: &Vault,
        current: &Current,
        which: &Selector,
        around: &Context<'_>,
    ) -> Result<Vec<String>> {
        let found: HashSet<&str> = self
            .named
            .iter()
            .filter_map(|row| match which {
                Selector::Ids(_) => Some(row.id.as_str()),
                Selector::Subjects(_) => row.subject.as_deref(),
            })
            .collect();
        let mut asked = HashSet::new();
        let mut unknown = Vec::new();
        for name in which.names() {
            let mark =
                around.keyring.hmac(&current.genesis.vault_id, which.label(), name.as_bytes());
            if !found.contains(name.as_str())
                && asked.insert(name)
                && vault.tombstone(&mark)?.is_none()
            {
                unknown.push(name.clone());
            }
        }
        Ok(unknown)
    }
}

fn erased(
    mut vault: Vault,
    current: &Current,
    request: &Delete,
    refused: &Error,
    context: &mut Context<'_>,
) -> Result<Served> {
    // Only the vault can tell names in parts apart.
    context.rows.check(&current.plan)?;
    let (kind, what) = (RequestKind::Delete, &request.what);
    let private: Vec<&str> = what.names().iter().map(String::as_str).collect();
    let vault_id = &current.genesis.vault_id;
    let body = body(what, AfterDeletion::Withdraw);
    let named =
        name_request(request.request_id.as_deref(), kind, vault_id, &body, &private, context)?;
    match served_before(&vault, current, &named) {
        // The index of requests is rebuilt: a request that was served is found when this one is noted.
        Err(error) if error.code() == Code::Damaged => {}
        Ok(None) => {}
        done => return done.and_then(|served| served.ok_or_else(|| refused.clone())),
    }
    let found = Found::of(&vault, current, what, context)?;
    let unknown = found.unknown(&vault, current, what, context)?;
    let sound = found.survey.as_left && found.put_back.is_empty();
    // If a row has a name that the index did not lead to, the index is damaged.
    if sound
        && refused.code() != Code::Damaged
        && refused.names().iter().all(|n| unknown.contains(n))
    {
        return Err(refused.clone());
    }
    let left = current.tally.records.or(found.survey.certified);
    let lost = Lost {
        erased: (found.survey.damaged.len() + found.put_back.len()) as u64,
        missing: left.map_or(0, |all| all.saturating_sub(found.survey.present)),
    };
    // Each of them had a row, if it was ever known.
    if unknown.len() as u64 > lost.erased.saturating_add(lost.missing) {
        return Err(unknown_names(current, what, unknown));
    }
    check_private(request.request_id.as_deref(), &found.named)?;
    let mut going: Vec<RecordId> = found.named.iter().map(|row| row.record).collect();
    going.extend(&found.survey.damaged);
    going.extend(&found.put_back);
    context.report(Progress::Changing { records: going.len() as u64 })?;
    let transaction = vault.begin_without(&going)?;
    in_line(&transaction, current)?;
    let keyring = context.keyring;
    let hmac = |label: &str, name: &str| keyring.hmac(vault_id, label, name.as_bytes());
    let mut tombstones: BTreeSet<[u8; 32]> =
        found.named.iter().map(|row| hmac("record", &row.id)).collect();
    tombstones.extend(what.names().iter().map(|name| hmac(what.label(), name)));
    for subject in found.named.iter().filter_map(|row| row.subject.as_deref()) {
        if transaction.find_subject(subject)?.is_empty() {
            tombstones.insert(hmac("subject", subject));
        }
    }
    let change = RowChange {
        records: found.named.len() as u64,
        tombstones: tombstones.into_iter().collect(),
        subjects: root_of_subjects(what, hmac),
        notices: vec![notice(lost, unknown.len())],
        leaving: what.leaving(current.version + 1),
        ..RowChange::default()
    };
    withdraw(transaction, current, &named, change, Some(lost), context)
}

fn notice(lost: Lost, unknown: usize) -> Notice {
    let rows = |count: u64| if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
    let mut said = format!(
        "the vault was damaged: the request also erased {} whose checksum failed or whose id was \
         deleted before, since their owners cannot be determined; {} missing; the remaining rows \
         are as they were stored",
        rows(lost.erased),
        match lost.missing {
            1 => "1 row was".to_owned(),
            count => format!("{count} rows were"),
        }
    );
    if unknown > 0 {
        let names = if unknown == 1 { "1 name".to_owned() } else { format!("{unknown} names") };
        said += &format!("; {names} of the request can only have been those of such rows");
    }
    Notice::new(NoticeCode::DamagedRows, said)
}
