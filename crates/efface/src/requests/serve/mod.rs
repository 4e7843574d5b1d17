//! Serves one request in one transaction: names it, changes the rows, then learns, certifies and stores a
//! model, and returns the answer.

mod before;
mod certify;
mod name;
mod prepared;

pub(crate) use before::{replay, served_before};
pub(crate) use certify::{Certified, FIRST, MOVED, Release, certify, store};
pub(crate) use name::{Named, check_request_id, name_request};

use std::collections::BTreeSet;

use efface_learn::mechanism::{Change, Released};
use efface_privacy::certificate::RequestKind;
use efface_privacy::claim::Notion;
use efface_privacy::event::State;
use efface_vault::{Transaction, Vault};

use crate::context::{Context, Progress, Watched};
use crate::error::{Code, Error, Result};
use crate::mechanism::{NextRequest, Request, Start, by_name, run, stated};
use crate::outcome::Served;
use crate::outcome::notice::{Notice, NoticeCode, alike, left_over, of_columns};
use crate::plan::Plan;
use crate::requests::random::generator;
use crate::rows::residue::ResidueCheck;
use crate::rows::{Access, CHUNK, InVault, Keyed, OnBlock, Policy, Resident, RowStore, Rows};
use crate::store::{Current, kept};

/// What a request did to the rows in its transaction.
#[derive(Default)]
pub(crate) struct RowChange {
    /// Number of records touched, as the certificate counts them.
    pub(crate) records: u64,
    /// The root over the named subjects, for the certificate.
    pub(crate) subjects: Option<String>,
    /// For each deleted record, the release whose data first held it.
    pub(crate) deleted_since: Vec<u64>,
    /// Number of records added.
    pub(crate) added: u64,
    /// Keyed HMACs that record the deletions.
    pub(crate) tombstones: Vec<[u8; 32]>,
    /// The records taken out and added, if the plan asks for them.
    pub(crate) removed: Option<Keyed>,
    pub(crate) inserted: Option<Keyed>,
    /// The shards of these records, for models that have shards.
    pub(crate) touched: BTreeSet<u64>,
    /// Names that must have no row left.
    pub(crate) leaving: ResidueCheck,
    /// Number of rows scaled down to the bound; reported once.
    pub(crate) clipped: Option<u64>,
    pub(crate) notices: Vec<Notice>,
}

/// What a certificate states about a release besides the event.
#[derive(Default)]
pub(crate) struct Circumstances {
    /// Number of records after the request.
    pub(crate) remaining: u64,
    /// Number of records erased since the model before, if this model is the first without them.
    pub(crate) erased: Option<u64>,
    /// How many processes held the rows, if they are outside the vault.
    pub(crate) holders: Option<u64>,
    /// Whether the vault was ever found in a place other than where it last served.
    pub(crate) moved: bool,
    /// Whether no vault exists yet.
    pub(crate) unsaved: bool,
}

/// Refuses a release that no claim would cover.
pub(crate) fn check_releases(
    plan: &Plan,
    current: &Current,
    refresh: bool,
    kept: Option<u64>,
) -> Result<()> {
    if plan.target.notion == Notion::DifferentialPrivacy && current.releases() >= plan.releases {
        return Err(Error::refused(
            Code::ReleasesExhausted,
            format!(
                "{} of {} releases that differential privacy covers are used up, and this request \
                 needs one more",
                current.releases(),
                plan.releases
            ),
        )
        .hint("train a new model, with more `§releases`"));
    }
    if let (Notion::DeletionPrivacy, Some(seen)) = (plan.target.notion, plan.target.interactions)
        && current.releases() > seen
    {
        return Err(Error::refused(
            Code::ReleasesExhausted,
            format!(
                "{} releases were made, but deletion-privacy holds only for requesters who saw at \
                 most {seen} (`§interactions`)",
                current.releases()
            ),
        )
        .hint("train a new model with more `§interactions`"));
    }
    if let (false, Some(made)) = (refresh, kept)
        && plan.limits_releases()
        && made >= plan.releases
    {
        return Err(Error::refused(
            Code::ReleasesExhausted,
            format!(
                "{made} of {} releases since the last refresh are used up, and this request needs \
                 one more",
                plan.releases
            ),
        )
        .hint("run `§efface refresh` to start a new count"));
    }
    Ok(())
}

/// Learns on the rows as the transaction has them now, certifies and commits. Rows outside the vault no
/// longer contain those that the request deletes.
pub(crate) fn serve(
    mut transaction: Transaction<'_>,
    current: &Current,
    named: &Named,
    mut change: RowChange,
    context: &mut Context<'_>,
) -> Result<Served> {
    let moved = note_place(&mut transaction, &mut change.notices)?;
    let refresh = named.kind == RequestKind::Refresh;
    let anew = refresh && current.is_withdrawn();
    let mut rng = generator(None, current.version + 1, context)?;
    let (place, watched) = (context.rows, Watched::by(context.watch));
    let on_block = |rows: u64| watched.read(rows);
    let on_block: Option<&OnBlock<'_>> = Some(&on_block);
    let (anew_plan, found) =
        refitted(&transaction, current, named.kind, &change.leaving, place, on_block)?;
    let plan = anew_plan.as_ref().unwrap_or(&current.plan);
    if let Some(now) = anew_plan.as_ref().map(Plan::statistics).transpose()?.flatten() {
        let before = current.plan.fitting.as_ref().and_then(|fitting| fitting.found.as_ref());
        change.notices.extend(of_columns(before, now));
        let known = before.map(alike).unwrap_or_default();
        change.notices.extend(alike(now).into_iter().filter(|notice| !known.contains(notice)));
    }
    let before = kept(&transaction, plan);
    // A refresh ignores what was kept, so it may be unreadable.
    let before = if refresh { None } else { before? };
    let counted = before.as_ref().filter(|_| plan.state == State::Secret);
    check_releases(plan, current, refresh, counted.map(|kept| kept.releases))?;
    let rows: Box<dyn Rows + '_> = match found {
        Some(read) => {
            let access = Access::Reading(&transaction);
            Box::new(InVault::filled(access, plan, &change.leaving, read))
        }
        None => {
            place.open_watched(Access::Reading(&transaction), plan, &change.leaving, on_block)?
        }
    };
    let remaining = rows.count()?;
    if let Some(capacity) = plan.capacity()
        && remaining as u64 > capacity
    {
        return Err(Error::refused(
            Code::Capacity,
            format!("the model would have {remaining} records, but `capacity` is {capacity}"),
        )
        .hint("delete records first, or train a new model with a larger `§capacity`"));
    }
    let numbers = Change { deleted_since: &change.deleted_since, added: change.added };
    let next = NextRequest { plan, change: numbers, records: remaining };
    let steps = next.removal_steps(&current.latest.event)?;
    let start = if anew {
        vec![0.0; plan.parameters()]
    } else {
        plan.carried(&current.plan, &current.published()?.weights)?
    };
    let none = Keyed::none(plan)?;
    let (removed, added) = (change.removed.as_ref(), change.inserted.as_ref());
    let (removed, added) = (removed.unwrap_or(&none), added.unwrap_or(&none));
    let count = |rows: &Keyed| rows.data.rows() as u64;
    let known = (remaining as u64 + count(removed)).saturating_sub(count(added));
    let held = context.rows.held();
    let prepared =
        prepared::for_request(&transaction, current, plan, held, known, &mut change.notices)?;
    let request = Request {
        weights: &start,
        event: &current.latest.event,
        kept: before.as_ref(),
        prepared: prepared.as_ref(),
        change: numbers,
        removed,
        added,
        touched: &change.touched,
        steps,
    };
    let start = if anew && !by_name(plan.mechanism).profile().continues_history {
        Start::Nothing
    } else {
        Start::Request(request)
    };
    let releases = current.releases() + 1;
    let released = run(plan, &*rows, &start, releases, &mut rng, &mut |told| watched.tell(told))?;
    // They are still in memory if a mechanism asked for them.
    change.removed.take().map_or(Ok(()), |mut removed| removed.wipe_all())?;
    let circumstances = Circumstances {
        remaining: remaining as u64,
        erased: anew.then_some(current.tally.withdrawn.unwrap_or(0)),
        holders: rows.holders()?,
        moved,
        unsaved: false,
    };
    rows.check_names()?;
    drop(rows);
    let deleted = circumstances.erased.unwrap_or(change.deleted_since.len() as u64);
    let event = stated(plan, released.event, Some(&current.latest.event), deleted)?;
    let released = Released { event, ..released };
    let vault_id = &current.genesis.vault_id;
    let release = Release { plan, vault_id, current: Some(current), named, change: &change };
    let certified = certify(&release, &circumstances, released, context)?;
    if plan.fitting.is_some() {
        transaction.replace_config(&plan.written()?)?;
    }
    let mut served = store(&mut transaction, named, &certified, context.keyring)?;
    mark(&mut transaction, &change.tombstones, served.index, context)?;
    let path = transaction.path().to_owned();
    let head = transaction.head()?;
    transaction.commit_unless(&mut || context.report(Progress::Storing).is_err())?;
    head.inspect(|head| context.rows.end(&path, vault_id, *head));
    served.notices.extend(clock_set_back(current, named));
    Ok(served)
}

/// Returns, if preprocessing is fitted, the plan fitted to the records as the transaction has them now, and
/// these records encoded if they fit into memory.
fn refitted(
    transaction: &Transaction<'_>,
    current: &Current,
    kind: RequestKind,
    leaving: &ResidueCheck,
    place: RowStore<'_>,
    on_block: Option<&OnBlock<'_>>,
) -> Result<(Option<Plan>, Option<Keyed>)> {
    if current.plan.fitting.is_none() {
        return Ok((None, None));
    }
    place.check(&current.plan)?;
    let access = Access::Reading(transaction);
    let between = Resident::new();
    let policy = match place.policy() {
        Policy::Once => Policy::KeepStored(&between),
        other => other,
    };
    let stored = InVault::of(access, &current.plan, leaving).read_by(policy).watched_by(on_block);
    let (found, weights) = stored.fit()?;
    let plan = current.plan.with_fitted(found, weights).map_err(|error| match error.code() {
        Code::Classes => Error::refused(
            Code::Classes,
            "a classifier needs at least 2 classes, and the records that remain have fewer",
        )
        .hint(match kind {
            RequestKind::Refresh => "train a new model, on records of at least 2 classes",
            _ => "add records of another class first",
        }),
        _ => error,
    })?;
    // Under the new plan, since the number of columns may have changed.
    let access = Access::Reading(transaction);
    let streamed = InVault::of(access, &plan, leaving).within(place.memory());
    let rows = if streamed.is_streamed()? { None } else { Some(stored.encoded(&plan)?) };
    drop(streamed);
    Ok((Some(plan), rows))
}

/// Records what the request deleted, under the entry at `index`.
pub(crate) fn mark(
    transaction: &mut Transaction<'_>,
    tombstones: &[[u8; 32]],
    index: u64,
    context: &mut Context<'_>,
) -> Result<()> {
    for (number, tombstone) in tombstones.iter().enumerate() {
        if number % CHUNK == 0 {
            context.report(Progress::Storing)?;
        }
        transaction.set_tombstone(*tombstone, index)?;
    }
    Ok(())
}

/// Returns a notice if the request's time is before that of an earlier ledger entry.
pub(crate) fn clock_set_back(current: &Current, named: &Named) -> Option<Notice> {
    let (now, latest) = (&named.received_at, &current.tally.latest);
    (now < latest).then(|| {
        let said = format!(
            "the clock says {now}, but an earlier ledger entry says {latest}: the certificate \
             states the clock's time; check this machine's clock"
        );
        Notice::new(NoticeCode::ClockSetBack, said)
    })
}

/// Begins a transaction, in which nobody else can write, and checks there that the ledger still ends where
/// the request began.
pub(crate) fn begin<'v>(vault: &'v mut Vault, current: &Current) -> Result<Transaction<'v>> {
    let transaction = vault.begin()?;
    in_line(&transaction, current)?;
    Ok(transaction)
}

/// Checks in a transaction that the ledger still ends where the request began.
pub(crate) fn in_line(transaction: &Transaction<'_>, current: &Current) -> Result<()> {
    if transaction.head()? == Some(current.head) {
        return Ok(());
    }
    Err(Error::busy("another program has changed the vault since it was opened"))
}

/// Notes where the vault is. Returns whether it was ever found in a place other than where it last served.
pub(crate) fn note_place(
    transaction: &mut Transaction<'_>,
    notices: &mut Vec<Notice>,
) -> Result<bool> {
    let placed = transaction.note_place()?;
    if placed.moved_now {
        notices.push(Notice::new(NoticeCode::Moved, MOVED));
    }
    notices.extend(left_over(transaction));
    Ok(placed.moves > 0)
}

/// Returns the first release that a record took part in, from the version that added it.
pub(crate) fn since(added_version: u64) -> u64 {
    added_version.saturating_sub(1)
}
