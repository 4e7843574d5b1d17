//! Serving one request in one transaction: change the rows, learn, certify, store.

use efface_learn::mechanism::{Change, Released};
use efface_privacy::certificate::{Certificate, Erasure, RequestKind};
use efface_privacy::claim::Notion;
use efface_privacy::event::State;
use efface_vault::{Transaction, Vault};

use crate::certify::{self, MOVED};
use crate::context::{Context, Progress};
use crate::error::{Error, Result};
use crate::issue::{Issued, Named};
use crate::leaving::Leaving;
use crate::ledger::signed;
use crate::mechanism::{Request, Start, of, run, stated};
use crate::notice::{Notice, NoticeCode};
use crate::outcome::{ERASE, Served};
use crate::plan::Plan;
use crate::random::{generator, identifier};
use crate::rows::{Access, CHUNK, Keyed};
use crate::store::{Current, kept, open_to_serve};

/// What a request does to the rows, already done in the transaction.
pub(crate) struct Effect {
    pub(crate) kind: RequestKind,
    /// Records touched, as the certificate counts them.
    pub(crate) records: u64,
    /// For each deleted record, the release whose data first held it.
    pub(crate) deleted_since: Vec<u64>,
    /// Number of records added.
    pub(crate) added: u64,
    /// Keyed HMACs to remember deletions by.
    pub(crate) tombstones: Vec<[u8; 32]>,
    /// Keyed HMAC of the subjects, for the certificate.
    pub(crate) subject: Option<String>,
    /// Rows shortened; told once.
    pub(crate) clipped: Option<u64>,
    pub(crate) notices: Vec<Notice>,
    /// The records taken out and put in, where the plan asks for them.
    pub(crate) removed: Keyed,
    pub(crate) inserted: Keyed,
    /// Whatever must not be left.
    pub(crate) leaving: Leaving,
    /// What an erasure found in a damaged vault.
    pub(crate) lost: Option<Lost>,
}

/// Rows of a damaged vault that no request named.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost {
    /// Damaged ones that an erasure takes out.
    pub(crate) erased: u64,
    /// Those that are not there.
    pub(crate) missing: u64,
}

impl Effect {
    /// A request that touches so many records, all else empty.
    pub(crate) fn of(kind: RequestKind, records: u64, plan: &Plan) -> Result<Self> {
        Ok(Self {
            kind,
            records,
            deleted_since: Vec::new(),
            added: 0,
            tombstones: Vec::new(),
            subject: None,
            clipped: None,
            notices: Vec::new(),
            removed: Keyed::none(plan)?,
            inserted: Keyed::none(plan)?,
            leaving: Leaving::default(),
            lost: None,
        })
    }
}

/// Names a request: the user's id, checked, or a fresh one. `body` is what was asked; `private`
/// are ids and subjects that the request id must not contain.
pub(crate) fn name_request(
    id: Option<&str>,
    kind: RequestKind,
    vault_id: &str,
    body: &str,
    private: &[&str],
    context: &mut Context<'_>,
) -> Result<Named> {
    let received_at = context.now();
    let digest = context.keyring.hmac(vault_id, kind.name(), body.as_bytes());
    let id = match id {
        None => format!("{}-{}", kind.name(), identifier(context)?),
        Some(id) => {
            check_request_id(id, private)?;
            id.to_owned()
        }
    };
    Ok(Named { id, digest, received_at })
}

/// Refuses a request id that gives an id or subject away: one that is equal to it, or has it in it as a
/// whole where it is long enough to say whose it is. A short number, as dates are made of, is not.
pub(crate) fn check_request_id(id: &str, private: &[&str]) -> Result<()> {
    let plain = !id.is_empty()
        && id.len() <= 128
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
    if !plain {
        return Err(Error::input(
            "request-id",
            "a request id must have 1 to 128 letters, digits, `-`, `_`, `.` or `:`",
        ));
    }
    match private.iter().find(|secret| gives_away(id, secret)) {
        None => Ok(()),
        Some(secret) => Err(named_after(id, secret)),
    }
}

fn named_after(id: &str, secret: &str) -> Error {
    let clash = if id.eq_ignore_ascii_case(secret) {
        "is the id or subject of a record".to_owned()
    } else {
        format!("contains `{secret}`, the id or subject of a record")
    };
    let rule = "request ids are kept after a record is deleted and must not identify it";
    Error::input("request-id", format!("request id `{id}` {clash}; {rule}"))
        .hint("use a ticket number or a date")
}

/// Letters make a name of three characters telling; of digits alone it takes more than a year, a
/// month and a day have.
fn gives_away(id: &str, secret: &str) -> bool {
    const NAME: usize = 3;
    const NUMBER: usize = 6;
    const ANYWHERE: usize = 8;
    let (id, secret) = (id.to_lowercase(), secret.to_lowercase());
    if id == secret {
        return true;
    }
    let number = secret.bytes().all(|b| b.is_ascii_digit());
    if secret.len() < if number { NUMBER } else { NAME } {
        return false;
    }
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    id.match_indices(&secret).any(|(at, _)| {
        let (before, after) = (&id[..at], &id[at + secret.len()..]);
        let whole = !inside(before.chars().next_back()) && !inside(after.chars().next());
        whole || secret.len() >= ANYWHERE
    })
}

/// The outcome of an earlier request of the same id and body, if there was one.
pub(crate) fn served_before(
    vault: &Vault,
    current: &Current,
    named: &Named,
    kind: RequestKind,
) -> Result<Option<Served>> {
    let Some(earlier) = vault.request(&named.id)? else {
        let known = !vault.find_ids(&[&named.id])?.found.is_empty()
            || !vault.find_subject(&named.id)?.is_empty();
        if known {
            return Err(named_after(&named.id, &named.id));
        }
        return Ok(None);
    };
    if !earlier.may_be(kind.name(), Some(&named.digest)) {
        return Err(Error::input(
            "request-conflict",
            format!("request id `{}` was used before for another request", named.id),
        )
        .hint("use a new request id for a new request"));
    }
    let mut served = replay(vault, current, earlier.entry_index, kind)?;
    if earlier.body_digest.is_none() {
        let message = "records of that request were deleted or replaced since, so the table \
            cannot be compared with the one served then";
        served.notices.push(Notice::new(NoticeCode::NotCompared, message));
    }
    Ok(Some(served))
}

/// The outcome of the certificate at `index`, again. Requests and tombstones lead there: that none of
/// them was put in or changed by another program is checked first, for nothing else is done.
pub(crate) fn replay(
    vault: &Vault,
    current: &Current,
    index: u64,
    kind: RequestKind,
) -> Result<Served> {
    vault.check_notes()?;
    let (text, _) = signed(vault, index, &current.genesis.public_key)?;
    let damaged = |error| Error::storage("damaged", format!("entry {index}: {error}"));
    let (request_id, kind, version, records, claims) = if Erasure::is_one(&text) {
        let erasure = Erasure::parse(&text).map_err(damaged)?;
        let records = erasure.request.records;
        (erasure.request.id, ERASE, erasure.model.version, records, Vec::new())
    } else {
        let certificate = Certificate::parse(&text).map_err(damaged)?;
        let Certificate { request, model, claims, .. } = certificate;
        (request.id, kind.name(), model.version, request.records, claims)
    };
    Ok(Served {
        request_id,
        kind: kind.to_owned(),
        version,
        records,
        remaining: vault.counts()?.records,
        replayed: true,
        index,
        head_index: current.head.index,
        head: hex::encode(current.head.hash),
        claims,
        certificate: text,
        work: None,
        notices: vec![Notice::new(NoticeCode::ServedBefore, "served before; nothing was changed")],
    })
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
            "releases-exhausted",
            format!(
                "{} of {} releases that differential privacy covers are used up, and this request \
                 needs one more",
                current.releases(),
                plan.releases
            ),
        )
        .hint("train a new model, with more `--releases`"));
    }
    if let (Notion::DeletionPrivacy, Some(seen)) = (plan.target.notion, plan.target.interactions)
        && current.releases() > seen
    {
        return Err(Error::refused(
            "releases-exhausted",
            format!(
                "{} releases were made, but deletion-privacy holds only for requesters who saw at \
                 most {seen} (`--interactions`)",
                current.releases()
            ),
        )
        .hint("train a new model with more `--interactions`"));
    }
    if let (false, Some(made)) = (refresh, kept)
        && plan.limits_releases()
        && made >= plan.releases
    {
        return Err(Error::refused(
            "releases-exhausted",
            format!(
                "{made} of {} releases since the last refresh are used up, and this request needs \
                 one more",
                plan.releases
            ),
        )
        .hint("run `efface refresh` to start a new count"));
    }
    Ok(())
}

/// Learns on the rows as the transaction has them now, certifies and commits. Rows outside the vault
/// are without those that the request deletes.
pub(crate) fn serve(
    mut transaction: Transaction<'_>,
    current: &Current,
    named: Named,
    mut effect: Effect,
    context: &mut Context<'_>,
) -> Result<Served> {
    let plan = &current.plan;
    in_line(&transaction, current)?;
    let moved = note_place(&mut transaction, &mut effect)?;
    let refresh = effect.kind == RequestKind::Refresh;
    let anew = refresh && current.is_withdrawn();
    let before = kept(&transaction, plan);
    // A refresh goes on without what was kept, so it may be unreadable.
    let before = if refresh { None } else { before? };
    let counted = before.as_ref().filter(|_| plan.state == State::Secret);
    check_releases(plan, current, refresh, counted.map(|kept| kept.releases))?;
    let rows = context.rows.open(Access::Reading(&transaction), plan, &effect.leaving)?;
    let remaining = rows.count()?;
    if let Some(capacity) = plan.capacity()
        && remaining as u64 > capacity
    {
        return Err(Error::refused(
            "capacity",
            format!("the model would have {remaining} records, but `capacity` is {capacity}"),
        )
        .hint("delete records first, or train a new model with a larger `--capacity`"));
    }
    let change = Change { deleted_since: &effect.deleted_since, added: effect.added };
    let steps =
        of(plan.mechanism).removal_steps(plan, &current.latest.event, &change, remaining)?;
    let version = current.version + 1;
    let zeros = if anew { vec![0.0; plan.parameters()] } else { Vec::new() };
    let request = Request {
        weights: if anew { &zeros } else { &current.published()?.weights },
        event: &current.latest.event,
        kept: before.as_ref(),
        change,
        removed: &effect.removed,
        added: &effect.inserted,
        steps,
    };
    let start = if anew && !of(plan.mechanism).continues_history() {
        Start::Nothing
    } else {
        Start::Request(request)
    };
    let mut rng = generator(None, version, context)?;
    let releases = current.releases() + 1;
    let released = run(plan, &*rows, &start, releases, &mut rng, context.watch)?;
    let holders = rows.holders()?;
    rows.check()?;
    drop(rows);
    let erased = anew.then_some(current.tally.withdrawn.unwrap_or(0));
    let deleted = erased.unwrap_or(effect.deleted_since.len() as u64);
    let event = stated(plan, released.event, Some(&current.latest.event), deleted)?;
    let released = Released { event, ..released };
    let facts = certify::Facts {
        vault: &current.genesis.vault_id,
        request_id: &named.id,
        kind: effect.kind,
        received_at: &named.received_at,
        records: effect.records,
        subject: effect.subject,
        digest_before: match anew {
            true => None,
            false => Some(hex::encode(current.published()?.digest)),
        },
        erased,
        version,
        index: current.head.index + 1,
        previous: Some(hex::encode(current.head.hash)),
        holders,
        moved,
    };
    let issued = Issued::new(plan, released, effect.clipped, facts, context)?;
    let stored = issued.store(&mut transaction, &named, context.keyring)?;
    for (number, tombstone) in effect.tombstones.into_iter().enumerate() {
        if number % CHUNK == 0 {
            context.report(Progress::Storing)?;
        }
        transaction.set_tombstone(tombstone, stored.index)?;
    }
    transaction.commit_unless(&mut || context.report(Progress::Storing).is_err())?;
    let mut notices = effect.notices;
    notices.extend(clock_set_back(&current.tally.latest, &named.received_at));
    Ok(issued.served(plan, named, stored, remaining as u64, notices))
}

/// A word on a request whose time is before that of an earlier entry of the ledger.
pub(crate) fn clock_set_back(latest: &str, now: &str) -> Option<Notice> {
    (now < latest).then(|| {
        let said = format!(
            "the clock says {now}, but an earlier ledger entry says {latest}: the certificate \
             states the clock's time; check this machine's clock"
        );
        Notice::new(NoticeCode::ClockSetBack, said)
    })
}

/// Checks in the transaction, where nobody else can write, that the ledger still ends where the
/// request begins.
pub(crate) fn in_line(transaction: &Transaction<'_>, current: &Current) -> Result<()> {
    if transaction.head()? == Some(current.head) {
        return Ok(());
    }
    Err(Error::busy("another program has changed the vault since it was opened"))
}

/// Notes where the vault is. Whether it was ever found elsewhere than where it last served.
pub(crate) fn note_place(transaction: &mut Transaction<'_>, effect: &mut Effect) -> Result<bool> {
    let placed = transaction.note_place()?;
    if placed.moved_now {
        effect.notices.push(Notice::new(NoticeCode::Moved, MOVED));
    }
    Ok(placed.moves > 0)
}

/// The release a record first took part in, from the version that added it.
pub(crate) fn since(added_version: u64) -> u64 {
    added_version.saturating_sub(1)
}

/// Restarts from the published model without anything kept, and publishes afresh; where the model was
/// withdrawn by an erasure, from zeros.
///
/// # Errors
/// In `perfect` state, where publishing the same state again returns the same release, unless the
/// model was withdrawn; for a withdrawn model whose accounting cannot go on.
pub fn refresh(
    path: &std::path::Path,
    request_id: Option<&str>,
    context: &mut Context<'_>,
) -> Result<Served> {
    refreshed(path, request_id, context).map_err(|error| error.of_vault(path))
}

fn refreshed(
    path: &std::path::Path,
    request_id: Option<&str>,
    context: &mut Context<'_>,
) -> Result<Served> {
    let (mut vault, current) = open_to_serve(path, "efface refresh", context)?;
    let named = name_request(
        request_id,
        RequestKind::Refresh,
        &current.genesis.vault_id,
        "",
        &[],
        context,
    )?;
    if let Some(served) = served_before(&vault, &current, &named, RequestKind::Refresh)? {
        return Ok(served);
    }
    if current.is_withdrawn() {
        current.plan.check_can_start_anew()?;
    } else if current.plan.state == State::Perfect {
        return Err(Error::refused(
            "nothing-to-refresh",
            "a model in `perfect` state has no kept state for a refresh to drop",
        )
        .hint("the published model is already the latest release; export it again"));
    }
    let transaction = vault.begin()?;
    let effect = Effect::of(RequestKind::Refresh, 0, &current.plan)?;
    serve(transaction, &current, named, effect, context)
}

#[cfg(test)]
mod tests {
    use super::gives_away;

    #[test]
    fn request_ids_give_away_whole_names_and_long_numbers() {
        for (id, secret) in [
            ("11", "11"),
            ("R17", "r17"),
            ("forget-r17", "r17"),
            ("forget.ANA", "ana"),
            ("gdpr-4711881", "4711881"),
            ("xalicesmithx", "alicesmith"),
            ("ticket-a.b-c", "a.b"),
            ("row:7-gone", "row:7"),
        ] {
            assert!(gives_away(id, secret), "{id} {secret}");
        }
        for (id, secret) in [
            ("2026-11-leavers", "11"),
            ("2026-11-leavers", "2026"),
            ("2026-11-leavers", "leaver"),
            ("2026-11-leavers", "a"),
            ("batch-r170", "r17"),
            ("xalicex", "alice"),
            ("delete-4711", "471"),
            ("t1", ""),
        ] {
            assert!(!gives_away(id, secret), "{id} {secret}");
        }
    }
}
