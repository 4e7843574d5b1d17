//! Additions and updates of records.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use efface_formats::{Origin, near_key};
use efface_page::number::counted;
use efface_privacy::certificate::RequestKind;
use efface_privacy::event::{Event, Unit};
use efface_vault::{Identity, Transaction, Vault};
use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::error::{Code, Error, Result, Stopped};
use crate::mechanism::{touched, touched_by};
use crate::outcome::Served;
use crate::outcome::notice::{
    Clipped, Notice, NoticeCode, left_out, listed, of_clipped, subjects_of_nobody,
};
use crate::plan::{Ids, Plan, Task};
use crate::requests::serve::{RowChange, since};
use crate::requests::verb::{Resolution, Verb, serve_request};
use crate::rows::bytes::encode;
use crate::rows::naming::{check_convention, row_id};
use crate::rows::residue::{ResidueCheck, unless_in_rows};
use crate::rows::source::Source;
use crate::rows::{Access, Batch, Keyed, Names, RowStore, Rows};
use crate::show::status::deletions_left;
use crate::store::{Current, needs_changed_rows};
use crate::table::{Table, check_ids, read_as_planned};

/// Adds the records of a table and certifies the new model.
///
/// Without an id column, record numbers continue: row K of this table is `row:` followed by K plus the number
/// of rows of all tables before.
///
/// # Errors
/// Fails if rows break the plan's rules, if ids are in use or were deleted, if there are more records than
/// the capacity, if the vault is in use, or if interrupted.
pub fn add(
    path: &Path,
    source: &Source<'_>,
    request_id: Option<&str>,
    context: &mut Context<'_>,
) -> Result<Served> {
    let kind = RequestKind::Add;
    serve_request(path, NewRows { source, kind, table: None }, request_id, context)
}

/// Replaces records by new contents under the same ids: one request deletes the old contents and adds the new
/// ones.
///
/// # Errors
/// Like [`add`]; also if the model does not have one of the ids.
pub fn update(
    path: &Path,
    source: &Source<'_>,
    request_id: Option<&str>,
    context: &mut Context<'_>,
) -> Result<Served> {
    let kind = RequestKind::Update;
    serve_request(path, NewRows { source, kind, table: None }, request_id, context)
}

/// Records that are added, or that replace others.
struct NewRows<'a, 's> {
    source: &'a Source<'s>,
    kind: RequestKind,
    /// The table read from the source; `None` before it is read.
    table: Option<Table>,
}

impl Verb for NewRows<'_, '_> {
    type Resolved = RowChange;

    fn kind(&self) -> RequestKind {
        self.kind
    }

    fn purpose(&self) -> &'static str {
        if self.kind == RequestKind::Add { "efface add" } else { "efface update" }
    }

    fn read<'a>(
        &'a mut self,
        current: &'a Current,
        context: &mut Context<'_>,
    ) -> Result<(String, Vec<&'a str>)> {
        let plan = &current.plan;
        // Checked before anything is read or taken out: rows outside the vault can be neither added nor
        // replaced.
        RowStore::Vault.check(plan)?;
        context.rows.check(plan)?;
        let table = read_as_planned(self.source, plan, &mut |progress| context.report(progress))?;
        if table.rows() == 0 {
            return Err(Error::input(
                Code::Data,
                "the table has no records of the model's classes",
            ));
        }
        check_ids(&table)?;
        check_subjects(plan, &table)?;
        check_classes(plan, &table, self.source.new_classes)?;
        let table = self.table.insert(table);
        let names = [&table.ids, &table.subjects].into_iter().flatten();
        let private = names.flat_map(|list| list.iter().map(AsRef::as_ref)).collect();
        Ok((body(table), private))
    }

    fn resolve(
        &self,
        vault: &Vault,
        current: &Current,
        context: &mut Context<'_>,
    ) -> Result<Resolution<RowChange>> {
        let plan = &current.plan;
        let table = self.table.as_ref().ok_or_else(unread)?;
        current.published()?;
        if self.kind == RequestKind::Add {
            check_can_go(plan, current)?;
        }
        check_naming(self.kind, plan, table.ids.is_some())?;
        check_convention(plan, table.ids.iter().flatten().map(AsRef::as_ref))?;
        let records = table.rows() as u64;
        let clipped = Clipped::of(&table.private, records);
        let mut notices: Vec<Notice> = of_clipped(plan, &clipped).into_iter().collect();
        notices.extend(left_out(table.left_out, table.unlabelled));
        notices.extend(subjects_of_nobody(&table.private));
        let (keyring, vault_id) = (context.keyring, &current.genesis.vault_id);
        let person = |name: &str| keyring.hmac(vault_id, "subject", name.as_bytes());
        notices.extend(back_again(vault, table.subjects.as_deref(), person)?);
        let clipped = Some(clipped.scaled);
        let change =
            RowChange { records, added: records, clipped, notices, ..RowChange::default() };
        Ok(Resolution::Apply(change))
    }

    fn apply(
        &mut self,
        mut change: RowChange,
        transaction: &mut Transaction<'_>,
        current: &Current,
        context: &mut Context<'_>,
    ) -> Result<RowChange> {
        let (plan, store, version) = (&current.plan, context.rows, current.version + 1);
        let mut table = self.table.take().ok_or_else(unread)?;
        let needed = needs_changed_rows(transaction, plan, store)?;
        let first = match table.ids {
            Some(_) => 0,
            None => transaction.take_positions(table.read)?,
        };
        table.name_nobody(first);
        let replaced = table.ids.iter().flatten().filter(|_| self.kind == RequestKind::Update);
        change.leaving = ResidueCheck::ids(replaced.map(|id| id.to_string()), version);
        match &table.ids {
            Some(ids) if self.kind == RequestKind::Update => {
                let people = table.subjects.as_deref();
                withdraw(transaction, plan, store, ids, people, needed, &mut change)
                    .map_err(|error| unless_in_rows(transaction, false, error))?;
            }
            Some(ids) => {
                let (keyring, vault_id) = (context.keyring, &current.genesis.vault_id);
                let hmac = |name: &str| keyring.hmac(vault_id, "record", name.as_bytes());
                let rows = store.open(Access::Reading(transaction), plan, &change.leaving)?;
                refuse_known(&*rows, transaction, ids, hmac)?;
            }
            None => {
                change.notices.extend(all_there(transaction, &table)?);
                let message =
                    format!("row 0 of this table is the record `{}`, and so on", row_id(first));
                change.notices.push(Notice::new(NoticeCode::NamedByPosition, message));
            }
        }
        let names = Names { positions: table.positions, ids: table.ids, subjects: table.subjects };
        let names = names.after(first);
        let named = (0..names.count()).map(|row| (names.id(row), names.subject(row)));
        change.touched.extend(touched(plan, named)?);
        let batch = Batch { data: &table.data, names: &names, raw: table.raw.as_ref() };
        let keys = store
            .open(Access::Changing(transaction), plan, &change.leaving)?
            .insert(&batch, version)?;
        if let Some(limit) = plan.group_limit() {
            let largest = transaction.largest_subject()?;
            if largest > limit {
                return Err(Error::refused(
                    Code::MaxGroup,
                    format!("a subject would have {largest} records, but `§max-group` is {limit}"),
                )
                .hint("add fewer rows per person"));
            }
        }
        change.inserted = needed.then_some(Keyed { keys, data: table.data });
        Ok(change)
    }
}

/// Returns the error for a request whose table was not read, which the order of a [`Verb`]'s steps excludes.
fn unread() -> Error {
    Error::input(Code::Data, "the table was not read")
}

/// Checks that rows name subjects exactly if the model's do.
fn check_subjects(plan: &Plan, table: &Table) -> Result<()> {
    if plan.subjects != table.subjects.is_some() {
        let (has, lacks) = if plan.subjects {
            ("have", "the table names none")
        } else {
            ("have no", "the table names some")
        };
        return Err(Error::refused(
            Code::Subjects,
            format!("this model's records {has} subjects, but {lacks}"),
        )
        .hint("name the subject column with `§subject` exactly when the first table had one"));
    }
    Ok(())
}

/// Refuses classes that are probably known ones in another spelling, and those that turn a model of two
/// classes into one of several, unless they were asked for.
fn check_classes(plan: &Plan, table: &Table, asked_for: bool) -> Result<()> {
    let (Task::Classes(known), Some(table)) = (&plan.task, &table.classes) else { return Ok(()) };
    // After all records were erased, the classes have no names.
    let is_erased = known.iter().all(String::is_empty);
    if asked_for || is_erased || table.origin == Origin::User {
        return Ok(());
    }
    let keys: HashMap<String, &String> = known.iter().map(|name| (near_key(name), name)).collect();
    let new: Vec<String> =
        table.names.iter().filter(|name| !known.contains(name)).cloned().collect();
    let near = new.iter().find_map(|name| Some((name, keys.get(&near_key(name))?)));
    let what = match near {
        Some((name, known)) => {
            format!("the table has the class `{name}`, probably another spelling of `{known}`")
        }
        None if known.len() == 2 && !new.is_empty() => format!(
            "the model has the classes {}, and the table also has {}",
            listed(known),
            listed(&new)
        ),
        None => return Ok(()),
    };
    Err(Error::refused(Code::Classes, what)
        .hint("write the labels as the model has them, or add them as new ones: `§new-classes`"))
}

/// Checks that rows name their records if that is needed, and only if the model's records have ids.
fn check_naming(kind: RequestKind, plan: &Plan, named: bool) -> Result<()> {
    match (kind, named) {
        (RequestKind::Update, false) => {
            Err(Error::input(Code::Ids, "an update needs the ids of the records it replaces")
                .hint("name the id column with `§id`"))
        }
        (RequestKind::Add, true) if plan.ids == Ids::Position => Err(Error::refused(
            Code::Ids,
            "this model was trained without an id column, so additions cannot have one",
        )
        .hint("leave out `§id`")),
        (RequestKind::Add, false) if plan.ids == Ids::Column => {
            Err(Error::input(Code::Ids, "this model's records have ids, so additions need them")
                .hint("name the id column with `§id`"))
        }
        _ => Ok(()),
    }
}

/// Returns a digest of the whole table, so that a request id is never reused for other rows.
fn body(table: &Table) -> String {
    let mut hasher = Sha256::new();
    let mut bytes = Vec::new();
    for row in 0..table.rows() {
        match &table.raw {
            Some(raw) => {
                bytes.clear();
                bytes.extend_from_slice(raw.rows.row(row));
                bytes.extend(table.weights().get(row).copied().unwrap_or(1.0).to_le_bytes());
            }
            None => {
                encode(&table.data, row, table.weighted, &mut bytes);
                // The other targets are among the bytes.
                let target = table.data.targets_of(row).first();
                bytes.extend(target.copied().unwrap_or_default().to_le_bytes());
            }
        }
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(&bytes);
        for list in [&table.ids, &table.subjects] {
            let text = list.as_ref().map_or("", |list| list[row].as_ref());
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    }
    hex::encode(hasher.finalize())
}

/// Takes out the records that an update replaces, and notes since when each was there. Notes their contents
/// if they are `needed`.
fn withdraw(
    transaction: &mut Transaction<'_>,
    plan: &Plan,
    store: RowStore<'_>,
    ids: &[Box<str>],
    subjects: Option<&[Box<str>]>,
    needed: bool,
    change: &mut RowChange,
) -> Result<()> {
    let mut rows = store.open(Access::Changing(transaction), plan, &change.leaving)?;
    let names: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    let lookup = rows.find_ids(&names)?;
    if let Some(id) = lookup.missing.first() {
        return Err(Error::refused(
            Code::UnknownRecord,
            format!(
                "{} of {} unknown, such as `{id}`; nothing was changed",
                lookup.missing.len(),
                are(ids.len(), lookup.missing.len())
            ),
        )
        .hint("add new records with `§efface add`")
        .about(lookup.missing));
    }
    let identities = rows.identities(&lookup.found)?;
    change.leaving.only(&identities)?;
    if plan.unit() == Unit::Subject {
        stay_theirs(&identities, ids, subjects)?;
    }
    change.touched.extend(touched_by(plan, &identities)?);
    change.removed = needed.then(|| rows.read(&lookup.found)).transpose()?;
    rows.erase(&lookup.found, &mut |_| Ok(()))?;
    change.deleted_since =
        identities.iter().map(|identity| since(identity.added_version)).collect();
    Ok(())
}

/// Refuses to give a record to another subject: a subject's influence is accounted over all trainings by its
/// own records.
fn stay_theirs(
    identities: &[Identity],
    ids: &[Box<str>],
    subjects: Option<&[Box<str>]>,
) -> Result<()> {
    let given: HashMap<&str, &str> = ids
        .iter()
        .zip(subjects.unwrap_or_default())
        .map(|(id, subject)| (id.as_ref(), subject.as_ref()))
        .collect();
    let stays = |who: &Identity| who.subject.as_deref() == given.get(who.id.as_str()).copied();
    if identities.iter().all(stays) {
        return Ok(());
    }
    Err(Error::refused(
        Code::Subjects,
        "this would give a record to another subject, but gradients were clipped by subject, and \
         the promise follows each subject through all trainings",
    )
    .hint("delete the subject, and add the record under another id"))
}

/// Warns about records of people who were deleted before: the table may still contain what was to be
/// forgotten.
fn back_again(
    vault: &Vault,
    subjects: Option<&[Box<str>]>,
    hmac: impl Fn(&str) -> [u8; 32],
) -> Result<Option<Notice>> {
    let mut records: BTreeMap<&str, u64> = BTreeMap::new();
    for name in subjects.unwrap_or_default().iter().filter(|name| !name.is_empty()) {
        *records.entry(name.as_ref()).or_default() += 1;
    }
    let (mut people, mut count) = (Vec::new(), 0);
    for (name, records) in records {
        if vault.tombstone(&hmac(name))?.is_some() {
            people.push(name.to_owned());
            count += records;
        }
    }
    let message = format!(
        "{} to people who were deleted before: {}; if that is a mistake, delete them again",
        if count == 1 { "1 record belongs".to_owned() } else { format!("{count} records belong") },
        listed(&people)
    );
    Ok((count > 0).then(|| Notice::new(NoticeCode::DeletedBefore, message)))
}

/// Fewer rows than this may equal stored rows by chance.
const CHANCE: usize = 5;

/// Warns if all rows of a table without ids equal stored rows: it was probably added before.
fn all_there(vault: &Vault, table: &Table) -> Result<Option<Notice>> {
    let Some(raw) = table.raw.as_ref().filter(|raw| raw.rows.len() >= CHANCE) else {
        return Ok(None);
    };
    let mut new: HashMap<&[u8], usize> = HashMap::new();
    raw.rows.iter().for_each(|row| *new.entry(row).or_default() += 1);
    let scanned = vault.scan(|_, record| {
        if let Some(count) = new.get_mut(record.features) {
            *count = count.saturating_sub(1);
        }
        Ok::<_, Stopped>(())
    });
    scanned.map_err(|Stopped(error)| error)?;
    let message = format!(
        "{} are there already, with the same values in all columns, and are now in the model \
         twice; if this table was added before, delete its rows again, and name rows by ids \
         (`§id`), which are refused the second time",
        counted(raw.rows.len() as u64, "row")
    );
    let is_all = new.values().all(|count| *count == 0);
    Ok(is_all.then(|| Notice::new(NoticeCode::RowsRepeated, message)))
}

/// Returns `3 ids are` or `3 ids is`, depending on whether several or one of them are meant.
fn are(ids: usize, some: usize) -> String {
    format!("{} {}", counted(ids as u64, "id"), if some == 1 { "is" } else { "are" })
}

/// Refuses ids that were ever used: ids are never reused, not even after a deletion.
fn refuse_known(
    rows: &dyn Rows,
    vault: &Vault,
    ids: &[Box<str>],
    hmac: impl Fn(&str) -> [u8; 32],
) -> Result<()> {
    let names: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    let lookup = rows.find_ids(&names)?;
    if !lookup.found.is_empty() {
        return Err(Error::refused(
            Code::DuplicateId,
            format!(
                "{} of {} in the model already; nothing was added",
                lookup.found.len(),
                are(ids.len(), lookup.found.len())
            ),
        )
        .hint("use `§efface update` to replace records"));
    }
    for id in &lookup.missing {
        if vault.tombstone(&hmac(id))?.is_some() {
            return Err(Error::refused(
                Code::DuplicateId,
                format!("`{id}` was deleted before, and ids are never reused; nothing was added"),
            )
            .hint("give the record a new id"));
        }
    }
    Ok(())
}

/// Refuses records that could never be deleted: if a network's or a declared training's features allow no
/// more deletions, and an erasure without a release is impossible too.
fn check_can_go(plan: &Plan, current: &Current) -> Result<()> {
    let spent = matches!(&current.latest.event, Event::Composed(_))
        && deletions_left(plan, &current.latest) == Some(0);
    if !spent {
        return Ok(());
    }
    let message = "no deletion is left, so records added now could not be deleted";
    Err(Error::refused(Code::BudgetExhausted, message)
        .hint("train a new model, on features of a network that was trained for more `§deletions`"))
}
