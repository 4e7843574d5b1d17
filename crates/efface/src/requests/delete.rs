//! Deletion of records and of whole subjects.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use efface_learn::mechanism::Change;
use efface_privacy::certificate::{RequestKind, subjects_root};
use efface_privacy::claim::Claim;
use efface_privacy::event::Unit;
use efface_vault::{Identity, Keyring, RecordId, RowFault, StoreFault, Transaction, Vault};

use crate::context::{Context, Progress};
use crate::error::{Code, Error, Result};
use crate::mechanism::{NextRequest, claims, planned_event, steps_of, touched_by, within_target};
use crate::outcome::notice::{Notice, NoticeCode, trained_elsewhere};
use crate::outcome::{DryRun, Served};
use crate::plan::Plan;
use crate::requests::serve::{Named, RowChange, check_releases, check_request_id, serve, since};
use crate::requests::verb::{Resolution, Verb, serve_request};
use crate::requests::withdraw::{or_erase, withdraw};
use crate::rows::naming::{check_convention, hint_on_unknown};
use crate::rows::residue::{ResidueCheck, in_rows, unless_in_rows};
use crate::rows::{Access, CHUNK, InVault, OnRecords, Rows};
use crate::store::ledger::signed;
use crate::store::{Current, kept, needs_changed_rows, open_for_reading};

/// The records to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// Records named by their ids.
    Ids(Vec<String>),
    /// All records of these subjects.
    Subjects(Vec<String>),
}

impl Selector {
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Ids(names) | Self::Subjects(names) => names,
        }
    }

    /// Returns whether the names are subjects.
    fn are_people(&self) -> bool {
        matches!(self, Self::Subjects(_))
    }

    /// Returns the error code for an unknown name.
    pub(crate) fn unknown(&self) -> Code {
        match self {
            Self::Ids(_) => Code::UnknownRecord,
            Self::Subjects(_) => Code::UnknownSubject,
        }
    }

    /// Returns the check that nothing of it is left at this version of the model.
    pub(crate) fn leaving(&self, version: u64) -> ResidueCheck {
        match self {
            Self::Ids(names) => ResidueCheck::ids(names.iter().cloned(), version),
            Self::Subjects(names) => ResidueCheck::subjects(names.iter().cloned(), version),
        }
    }

    /// Returns the label under which its tombstones are made.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Ids(_) => "record",
            Self::Subjects(_) => "subject",
        }
    }
}

/// A deletion request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delete {
    /// The records or subjects to delete.
    pub what: Selector,
    /// The caller's name for the request; a fresh one if `None`.
    pub request_id: Option<String>,
}

/// What happens to the model after the rows are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterDeletion {
    /// A new model is learnt, certified and published.
    Release,
    /// The model is withdrawn, with everything kept besides it.
    Withdraw,
}

/// Names resolved against the vault.
struct Resolved {
    live: Vec<RecordId>,
    /// Names that were deleted before, with the index of their certificate.
    gone: Vec<(String, u64)>,
}

/// Deletes records and certifies the new model.
///
/// Refuses the whole request if an id is unknown. Skips ids that were deleted before; if there are no others,
/// returns the certificate of their deletion again.
///
/// # Errors
/// Fails if names are unknown, if a target or budget cannot be met, if the vault is in use, or if
/// interrupted.
pub fn delete(path: &Path, request: &Delete, context: &mut Context<'_>) -> Result<Served> {
    deleted(path, request, AfterDeletion::Release, context)
}

/// Deletes, then releases a new model or withdraws the old one.
pub(crate) fn deleted(
    path: &Path,
    request: &Delete,
    then: AfterDeletion,
    context: &mut Context<'_>,
) -> Result<Served> {
    check_names(&request.what).map_err(|error| error.of_vault(path))?;
    serve_request(path, Deletion { request, then }, request.request_id.as_deref(), context)
}

struct Deletion<'r> {
    request: &'r Delete,
    then: AfterDeletion,
}

impl Verb for Deletion<'_> {
    type Resolved = (Vec<RecordId>, RowChange);

    fn kind(&self) -> RequestKind {
        RequestKind::Delete
    }

    fn purpose(&self) -> &'static str {
        "efface delete"
    }

    fn read<'a>(
        &'a mut self,
        current: &'a Current,
        context: &mut Context<'_>,
    ) -> Result<(String, Vec<&'a str>)> {
        context.rows.check(&current.plan)?;
        let what = &self.request.what;
        Ok((body(what, self.then), what.names().iter().map(String::as_str).collect()))
    }

    fn resolve(
        &self,
        vault: &Vault,
        current: &Current,
        context: &mut Context<'_>,
    ) -> Result<Resolution<Self::Resolved>> {
        let (what, plan) = (&self.request.what, &current.plan);
        let (keyring, store) = (context.keyring, context.rows);
        let mut found = 0;
        let mut on_records = |records: usize| {
            found += records as u64;
            context.report(Progress::Changing { records: found })
        };
        let leaving = what.leaving(current.version + 1);
        let rows = store.open(Access::Reading(vault), plan, &leaving)?;
        let resolved = resolve(&*rows, vault, current, what, keyring, &mut on_records)?;
        if resolved.live.is_empty() {
            // If nothing is to be done, check the rows themselves, as an index found none.
            rows.check_names()?;
            return before(vault, current, &resolved.gone);
        }
        let release = self.then == AfterDeletion::Release;
        if release {
            current.published().map_err(|error| or_erase(plan, error))?;
        }
        let mut identities = Vec::with_capacity(resolved.live.len());
        for some in resolved.live.chunks(CHUNK) {
            on_records(0)?;
            identities.extend(rows.identities(some)?);
        }
        leaving.only(&identities)?;
        // The names of a subject's records become known only now.
        check_private(self.request.request_id.as_deref(), &identities)?;
        let vault_id = &current.genesis.vault_id;
        let hmac = |label: &str, name: &str| keyring.hmac(vault_id, label, name.as_bytes());
        let mut tombstones: Vec<[u8; 32]> =
            identities.iter().map(|identity| hmac("record", &identity.id)).collect();
        let emptied = emptied(&*rows, &identities, &mut on_records)?;
        let deleted_since = if release {
            units(plan, &identities, &emptied).map_err(|error| or_erase(plan, error))?
        } else {
            Vec::new()
        };
        tombstones.extend(emptied.iter().map(|subject| hmac("subject", subject)));
        let mut notices: Vec<Notice> = trained_elsewhere(plan).into_iter().collect();
        if !resolved.gone.is_empty() {
            let requests = deleted_by(vault, current, &resolved.gone)?;
            let message = match resolved.gone.len() {
                1 => format!("1 of the names was deleted before, by {requests}"),
                count => format!("{count} of the names were deleted before, by {requests}"),
            };
            notices.push(Notice::new(NoticeCode::DeletedBefore, message));
        }
        let needs_rows = release && needs_changed_rows(vault, plan, store)?;
        let removed = needs_rows.then(|| rows.read(&resolved.live)).transpose()?;
        drop(rows);
        let change = RowChange {
            records: resolved.live.len() as u64,
            subjects: root_of_subjects(what, hmac),
            deleted_since,
            tombstones,
            removed,
            touched: touched_by(plan, &identities)?,
            leaving,
            notices,
            ..RowChange::default()
        };
        Ok(Resolution::Apply((resolved.live, change)))
    }

    fn apply(
        &mut self,
        (live, change): Self::Resolved,
        transaction: &mut Transaction<'_>,
        current: &Current,
        context: &mut Context<'_>,
    ) -> Result<RowChange> {
        let access = Access::Changing(transaction);
        let mut rows = context.rows.open(access, &current.plan, &change.leaving)?;
        let mut erased = 0;
        rows.erase(&live, &mut |records| {
            erased += records as u64;
            context.report(Progress::Changing { records: erased })
        })?;
        drop(rows);
        Ok(change)
    }

    fn release(
        &self,
        transaction: Transaction<'_>,
        current: &Current,
        named: &Named,
        change: RowChange,
        context: &mut Context<'_>,
    ) -> Result<Served> {
        match self.then {
            AfterDeletion::Release => serve(transaction, current, named, change, context)
                .map_err(|error| or_erase(&current.plan, error)),
            AfterDeletion::Withdraw => withdraw(transaction, current, named, change, None, context),
        }
    }
}

/// Refuses a user's request id that reveals who these records are.
pub(crate) fn check_private(id: Option<&str>, identities: &[Identity]) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    let private: Vec<&str> = identities
        .iter()
        .flat_map(|who| [Some(who.id.as_str()), who.subject.as_deref()])
        .flatten()
        .collect();
    check_request_id(id, &private)
}

/// Everything named was deleted before: returns the newest certificate of that, which the request's id stands
/// for from now on.
fn before<R>(vault: &Vault, current: &Current, gone: &[(String, u64)]) -> Result<Resolution<R>> {
    let Some(newest) = gone.iter().map(|(_, index)| *index).max() else {
        return Err(Error::input(Code::Ids, "nothing to delete was named"));
    };
    let requests = deleted_by(vault, current, gone)?;
    let message = format!("all names were deleted before, by {requests}");
    Ok(Resolution::Before(newest, Notice::new(NoticeCode::DeletedBefore, message)))
}

/// Describes the requests that deleted these names, and where their certificates are.
fn deleted_by(vault: &Vault, current: &Current, gone: &[(String, u64)]) -> Result<String> {
    const SHOWN: usize = 10;
    let indices: BTreeSet<u64> = gone.iter().map(|(_, index)| *index).collect();
    let mut list = Vec::new();
    for &index in indices.iter().take(SHOWN) {
        let (_, entry) = signed(vault, index, &current.genesis.public_key)?;
        let id = entry.pointer("/request/id").and_then(serde_json::Value::as_str);
        list.push(format!("request `{}` (ledger entry {index})", id.unwrap_or_default()));
    }
    if indices.len() > SHOWN {
        list.push(format!("{} more", indices.len() - SHOWN));
    }
    Ok(list.join(", "))
}

/// Returns the subjects of whom a deletion leaves no record.
fn emptied(
    rows: &dyn Rows,
    identities: &[Identity],
    on_records: &mut OnRecords<'_>,
) -> Result<Vec<String>> {
    let mut leaving: BTreeMap<&str, usize> = BTreeMap::new();
    for subject in identities.iter().filter_map(|identity| identity.subject.as_deref()) {
        *leaving.entry(subject).or_default() += 1;
    }
    let mut list = Vec::new();
    for (number, (subject, count)) in leaving.into_iter().enumerate() {
        if number % CHUNK == 0 {
            on_records(0)?;
        }
        if rows.find_subject(subject)?.len() == count {
            list.push(subject.to_owned());
        }
    }
    Ok(list)
}

/// Returns, for each deleted record or subject (whichever the plan counts), the release whose data first held
/// it; refuses to delete only part of a subject.
fn units(plan: &Plan, leaving: &[Identity], emptied: &[String]) -> Result<Vec<u64>> {
    if plan.unit() == Unit::Record {
        return Ok(leaving.iter().map(|identity| since(identity.added_version)).collect());
    }
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    for identity in leaving {
        let subject = identity.subject.as_deref().unwrap_or_default();
        let added = since(identity.added_version);
        first.entry(subject).and_modify(|first| *first = added.min(*first)).or_insert(added);
    }
    // `emptied` is sorted.
    let whole = |subject: &str| emptied.binary_search_by(|gone| gone.as_str().cmp(subject)).is_ok();
    if first.keys().all(|subject| whole(subject)) {
        return Ok(first.into_values().collect());
    }
    Err(Error::refused(
        Code::Subjects,
        "this would delete some records of a subject and leave others, but gradients were \
         clipped by subject, and the promise counts whole subjects",
    )
    .hint("delete the whole subject with `§subject`"))
}

/// Describes what a deletion would do, without doing it.
///
/// # Errors
/// Those of [`delete`] that can be known beforehand.
pub fn delete_dry_run(path: &Path, request: &Delete, keyring: &Keyring) -> Result<DryRun> {
    dry_run(path, request, AfterDeletion::Release, keyring)
}

/// Describes what an erasure would do, without doing it.
///
/// # Errors
/// Like [`erase`](fn@crate::erase).
pub fn erase_dry_run(path: &Path, request: &Delete, keyring: &Keyring) -> Result<DryRun> {
    dry_run(path, request, AfterDeletion::Withdraw, keyring)
}

fn dry_run(
    path: &Path,
    request: &Delete,
    then: AfterDeletion,
    keyring: &Keyring,
) -> Result<DryRun> {
    check_names(&request.what)?;
    let mut vault = open_for_reading(path)?;
    vault.unlock(keyring)?;
    let current = Current::of(&vault)?;
    let remaining = current.tally.count_rows(&vault).map_err(|error| error.of_vault(path))?;
    let rows = InVault::at_rest(&vault, &current.plan);
    let resolved = resolve(&rows, &vault, &current, &request.what, keyring, &mut |_| Ok(()))?;
    let records = resolved.live.len() as u64;
    let remaining = remaining.saturating_sub(records);
    let already_deleted = resolved.gone.into_iter().map(|(name, _)| name).collect();
    let identities = rows.identities(&resolved.live)?;
    let dry = DryRun {
        named_by: current.plan.ids,
        records,
        ids: identities.iter().map(|identity| identity.id.clone()).collect(),
        remaining,
        already_deleted,
        steps: None,
        claims: Vec::new(),
    };
    if records == 0 || then == AfterDeletion::Withdraw {
        return Ok(dry);
    }
    let (steps, claims) = foreseen(&vault, &current, &rows, &identities, remaining)
        .map_err(|error| or_erase(&current.plan, error))?;
    Ok(DryRun { steps, claims, ..dry })
}

/// Returns the steps and claims that a deletion with a release would have.
fn foreseen(
    vault: &Vault,
    current: &Current,
    rows: &dyn Rows,
    leaving: &[Identity],
    remaining: u64,
) -> Result<(Option<u64>, Vec<Claim>)> {
    current.published()?;
    let classes = current.plan.task.class_names().to_vec();
    // If preprocessing is fitted, constants depend on the number of records; whether a class leaves with its
    // last record is seen only when the request is served.
    let plan = &current.plan.resolved_again(remaining, classes, 0.0)?;
    check_releases(plan, current, false, kept(vault, plan)?.map(|kept| kept.releases))?;
    let deleted_since = units(plan, leaving, &emptied(rows, leaving, &mut |_| Ok(()))?)?;
    let change = Change { deleted_since: &deleted_since, added: 0 };
    let next = NextRequest { plan, change, records: remaining as usize };
    let steps = next.removal_steps(&current.latest.event)?;
    let event = planned_event(&current.latest.event, &next, steps)?;
    let claims = claims(plan, &event, RequestKind::Delete, leaving.len() as u64)?;
    within_target(plan, &claims)?;
    Ok((steps_of(&event), claims))
}

/// Returns what a ledger entry states instead of the named subjects.
pub(crate) fn root_of_subjects(
    which: &Selector,
    hmac: impl Fn(&str, &str) -> [u8; 32],
) -> Option<String> {
    let Selector::Subjects(names) = which else { return None };
    Some(subjects_root(names.iter().map(|name| hmac("subject", name)).collect()))
}

fn check_names(which: &Selector) -> Result<()> {
    if which.names().is_empty() {
        return Err(Error::input(Code::Ids, "nothing to delete was named")
            .hint("name records with `§record`, or people with `§subject`"));
    }
    if which.names().iter().any(String::is_empty) {
        return Err(Error::input(Code::Ids, "an id or subject must not be empty"));
    }
    Ok(())
}

/// Returns the request in a form that does not depend on the order of names.
pub(crate) fn body(which: &Selector, then: AfterDeletion) -> String {
    let how = match then {
        AfterDeletion::Release => "",
        AfterDeletion::Withdraw => "erase only\n",
    };
    let mut names: Vec<&str> = which.names().iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let list: Vec<String> = names.iter().map(|name| format!("{}:{name}", name.len())).collect();
    format!("{how}{}\n{}", which.label(), list.join("\n"))
}

/// Splits names into those that the vault knows (present or deleted records) and those it does not. A request
/// with unknown names is refused; one with known names only is not refused for that reason.
///
/// # Errors
/// Like [`delete_dry_run`], except for unknown names.
pub fn split_known(
    path: &Path,
    what: &Selector,
    keyring: &Keyring,
) -> Result<(Option<Selector>, Vec<String>)> {
    check_names(what)?;
    let mut vault = open_for_reading(path)?;
    vault.unlock(keyring)?;
    let current = Current::of(&vault)?;
    let rows = InVault::at_rest(&vault, &current.plan);
    let (_, unknown) = looked_up(&rows, &vault, &current, what, keyring, &mut |_| Ok(()))?;
    if !in_rows(&vault, what.are_people(), &unknown)?.is_empty() {
        return Err(StoreFault::Rows(RowFault::Index).into());
    }
    let gone: HashSet<&str> = unknown.iter().map(String::as_str).collect();
    let rest = |names: &[String]| -> Vec<String> {
        names.iter().filter(|name| !gone.contains(name.as_str())).cloned().collect()
    };
    let known = match what {
        Selector::Ids(names) => Selector::Ids(rest(names)),
        Selector::Subjects(names) => Selector::Subjects(rest(names)),
    };
    Ok((Some(known).filter(|known| !known.names().is_empty()), unknown))
}

/// Resolves names; refuses all if one is unknown.
fn resolve(
    rows: &dyn Rows,
    vault: &Vault,
    current: &Current,
    which: &Selector,
    keyring: &Keyring,
    on_records: &mut OnRecords<'_>,
) -> Result<Resolved> {
    let (resolved, unknown) = looked_up(rows, vault, current, which, keyring, on_records)?;
    if unknown.is_empty() {
        return Ok(resolved);
    }
    Err(unless_in_rows(vault, which.are_people(), unknown_names(current, which, unknown)))
}

/// Returns the error for names that the vault never had.
pub(crate) fn unknown_names(current: &Current, which: &Selector, unknown: Vec<String>) -> Error {
    let count = unknown.len();
    let shown: Vec<String> = unknown.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = if count > 20 { format!(" and {} more", count - 20) } else { String::new() };
    let message = format!(
        "{count} of {} {}s {} unknown: {}{more}; nothing was deleted",
        which.names().len(),
        which.label(),
        if count == 1 { "is" } else { "are" },
        shown.join(", ")
    );
    let hint = match which {
        Selector::Subjects(_) if !current.plan.subjects => {
            "the records of this model have no subjects: delete by id"
        }
        _ => hint_on_unknown(&current.plan, &unknown)
            .unwrap_or("correct or leave out the unknown ones and repeat the request"),
    };
    Error::refused(which.unknown(), message).hint(hint).about(unknown)
}

/// Looks these names up; returns what the vault has of them, and those it never had.
fn looked_up(
    rows: &dyn Rows,
    vault: &Vault,
    current: &Current,
    which: &Selector,
    keyring: &Keyring,
    on_records: &mut OnRecords<'_>,
) -> Result<(Resolved, Vec<String>)> {
    let (live, missing) = match which {
        Selector::Ids(names) => {
            let mut asked = HashSet::with_capacity(names.len());
            let names: Vec<&str> =
                names.iter().map(String::as_str).filter(|name| asked.insert(*name)).collect();
            check_convention(&current.plan, names.iter().copied())?;
            let (mut live, mut missing) = (Vec::new(), Vec::new());
            for some in names.chunks(CHUNK) {
                let lookup = rows.find_ids(some)?;
                on_records(lookup.found.len())?;
                live.extend(lookup.found);
                missing.extend(lookup.missing);
            }
            (live, missing)
        }
        Selector::Subjects(names) => {
            let (mut live, mut missing) = (Vec::new(), Vec::new());
            let mut asked: Vec<&String> = names.iter().collect();
            asked.sort_unstable();
            asked.dedup();
            for name in asked {
                let owned = rows.find_subject(name)?;
                on_records(owned.len())?;
                if owned.is_empty() {
                    missing.push(name.clone());
                }
                live.extend(owned);
            }
            (live, missing)
        }
    };
    let (mut gone, mut unknown) = (Vec::new(), Vec::new());
    for name in missing {
        let hmac = keyring.hmac(&current.genesis.vault_id, which.label(), name.as_bytes());
        match vault.tombstone(&hmac)? {
            Some(index) => gone.push((name, index)),
            None => unknown.push(name),
        }
    }
    Ok((Resolved { live, gone }, unknown))
}
