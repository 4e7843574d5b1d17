//! Requests that were served before.

use efface_privacy::certificate::{Certificate, Erasure, RequestKind};
use efface_vault::Vault;

use super::name::{Named, named_after};
use crate::error::{Code, Error, Result};
use crate::outcome::notice::{Notice, NoticeCode};
use crate::outcome::{ERASE, Served};
use crate::store::Current;
use crate::store::ledger::signed;

/// Returns the outcome of an earlier request of the same id and body, if there was one.
pub(crate) fn served_before(
    vault: &Vault,
    current: &Current,
    named: &Named,
) -> Result<Option<Served>> {
    let Some(earlier) = vault.request(&named.id)? else {
        let known = !vault.find_ids(&[&named.id])?.found.is_empty()
            || !vault.find_subject(&named.id)?.is_empty();
        if known {
            return Err(named_after(&named.id, &named.id));
        }
        return Ok(None);
    };
    if !earlier.may_be(named.kind.name(), Some(&named.digest)) {
        return Err(Error::input(
            Code::RequestConflict,
            format!("request id `{}` was used before for another request", named.id),
        )
        .hint("use a new request id for a new request"));
    }
    let mut served = replay(vault, current, earlier.entry_index, named.kind)?;
    if earlier.body_digest.is_none() {
        let message = "records of that request were deleted or replaced since, so the table \
            cannot be compared with the one served then";
        served.notices.push(Notice::new(NoticeCode::NotCompared, message));
    }
    Ok(Some(served))
}

/// Returns the outcome of the certificate at `index` again. Requests and tombstones lead there. Since nothing
/// else is done, it first checks that no other program added or changed any of them.
pub(crate) fn replay(
    vault: &Vault,
    current: &Current,
    index: u64,
    kind: RequestKind,
) -> Result<Served> {
    vault.check_notes()?;
    let (text, _) = signed(vault, index, &current.genesis.public_key)?;
    let damaged = |error| Error::storage(Code::Damaged, format!("entry {index}: {error}"));
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
        remaining: vault.record_count()?,
        replayed: true,
        index,
        head_index: current.head.index,
        head: hex::encode(current.head.hash),
        claims,
        certificate: text,
        weights: None,
        work: None,
        preprocessing: Vec::new(),
        notices: vec![Notice::new(NoticeCode::ServedBefore, "served before; nothing was changed")],
    })
}
