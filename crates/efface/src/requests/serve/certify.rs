//! Certifies a release and stores its certificate in the vault.

use efface_learn::mechanism::Released;
use efface_privacy::certificate::{
    Assumption, Certificate, Chain, Evidence, GENESIS, ModelRef, Noise, Request, RequestKind,
    SCHEMA, Scope, Signature,
};
use efface_privacy::claim::{WEIGHTS, scope};
use efface_privacy::quantity::Decimal;
use efface_vault::{Keyring, StoredModel, Transaction};

use super::{Circumstances, Named, RowChange};
use crate::context::{Context, Progress};
use crate::error::{Code, Error, Result};
use crate::mechanism::{claims, within_target};
use crate::outcome::notice::{Notice, NoticeCode};
use crate::outcome::{Served, Work};
use crate::plan::{PLACE, Plan};
use crate::rows::bytes::release_bytes;
use crate::store::Current;
use crate::store::digest::digest_of;
use crate::store::ledger::{CERTIFICATE, append};
use crate::store::seal::sealed;
use crate::weights::{Published, described};

/// Assumption of certificates after the vault was found in another place.
pub(crate) const MOVED: &str = "this vault is not where it last served requests: releases made \
    from a copy elsewhere are not counted";

/// What the certificate of a model that is in no vault yet does not cover.
const UNSAVED: &str = "the memory of the process that trained: records and keys were there when this \
    was issued, in no vault, until the model is saved or serves its first request";

/// A certified release, ready to be stored.
pub(crate) struct Certified {
    /// The answer, with the certificate.
    pub(crate) served: Served,
    pub(crate) model: StoredModel,
    /// State kept besides the model.
    pub(crate) kept: Option<Vec<u8>>,
}

/// The circumstances of a release.
pub(crate) struct Release<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) vault_id: &'a str,
    /// The model before; `None` for a training.
    pub(crate) current: Option<&'a Current>,
    pub(crate) named: &'a Named,
    pub(crate) change: &'a RowChange,
}

/// Certifies a release, given its event as certificates state it. Returns the answer with the certificate,
/// the model to publish, and what to keep besides it.
///
/// # Errors
/// Fails if the event does not support what the plan promises.
pub(crate) fn certify(
    release: &Release<'_>,
    circumstances: &Circumstances,
    released: Released,
    context: &mut Context<'_>,
) -> Result<Certified> {
    let Release { plan, vault_id, current, named, change } = *release;
    context.report(Progress::Storing)?;
    let bytes = release_bytes(plan, &released.weights)?;
    let salt = context.random()?;
    let digest = digest_of(&salt, &bytes);
    let version = current.map_or(FIRST, |current| current.version + 1);
    let index = current.map_or(0, |current| current.head.index + 1);
    let previous = current.map(|current| current.head.hash);
    // A model after a withdrawn one has no predecessor.
    let before = current.filter(|current| !current.is_withdrawn());
    let digest_before = before.map(Current::published).transpose()?.map(|model| model.digest);
    let work = Work::of(&released.evidence, change.clipped);
    // The model before was withdrawn for a deletion, which this release completes.
    let (kind, records) = match circumstances.erased {
        Some(erased) => (RequestKind::Delete, erased),
        None => (named.kind, change.records),
    };
    let claims = claims(plan, &released.event, kind, records)?;
    within_target(plan, &claims)?;
    let (covers, mut does_not_cover) = scope(&released.event);
    does_not_cover.extend(plan.max_weight.map(|_| WEIGHTS.to_owned()));
    does_not_cover.extend(plan.not_covered.iter().cloned());
    does_not_cover.extend(circumstances.holders.map(|holders| {
        // If the number of records is private, so is the number of processes that hold them.
        let holders = if plan.hides_counts() { "several".into() } else { holders.to_string() };
        format!(
            "rows outside the vault: {holders} worker processes that hold them took part in this \
             release; no check of the vault covers their memory or the source of their rows"
        )
    }));
    does_not_cover.extend(circumstances.unsaved.then(|| UNSAVED.to_owned()));
    let grid = released.event.grid();
    let certificate = Certificate {
        schema: SCHEMA.to_owned(),
        id: format!("{vault_id}/{index}"),
        vault: vault_id.to_owned(),
        issued_at: named.received_at.clone(),
        not_for_release: plan.not_for_release,
        request: Request {
            id: named.id.clone(),
            kind: named.kind,
            // A refresh touches no record, whatever the data: stating that reveals nothing.
            records: (!plan.hides_counts() || named.kind == RequestKind::Refresh)
                .then_some(change.records),
            subjects: change.subjects.clone(),
            received_at: named.received_at.clone(),
        },
        model: ModelRef {
            digest_before: digest_before.map(hex::encode),
            digest_after: hex::encode(digest),
            version,
        },
        claims: claims.clone(),
        noise: noise(plan, grid),
        event: released.event,
        constants: plan.constants.clone(),
        assumptions: assumptions(plan, circumstances.moved),
        scope: Scope { covers, does_not_cover },
        chain: Chain {
            index,
            previous: previous.map_or_else(|| GENESIS.to_owned(), hex::encode),
            hash: String::new(),
        },
        signature: Signature {
            key_id: String::new(),
            public_key: String::new(),
            value: String::new(),
        },
    };
    let document = serde_json::to_value(&certificate)
        .map_err(|error| Error::storage(Code::Certificate, error.to_string()))?;
    let (text, hash) = sealed(document, context.keyring)?;
    let published = Published { salt, digest, weights: released.weights };
    let served = Served {
        request_id: named.id.clone(),
        kind: named.kind.name().to_owned(),
        version,
        records: Some(change.records),
        remaining: circumstances.remaining,
        replayed: false,
        index,
        head_index: index,
        head: hash,
        claims,
        certificate: text,
        weights: Some(described(plan, vault_id, version, &published, circumstances.remaining)?),
        work: Some(work),
        preprocessing: Vec::new(),
        notices: notices(plan, &change.notices),
    };
    let kept = released.kept.map(|kept| kept.to_bytes());
    Ok(Certified { served, model: StoredModel { version, weights: bytes, salt, digest }, kept })
}

/// Version of a new model.
pub(crate) const FIRST: u64 = 1;

/// Stores the result of [`certify`] as the outcome of the request.
pub(crate) fn store(
    transaction: &mut Transaction<'_>,
    named: &Named,
    Certified { served, model, kept }: &Certified,
    keyring: &Keyring,
) -> Result<Served> {
    let StoredModel { version, weights, salt, digest } = model;
    transaction.replace_model(*version, weights, salt, digest)?;
    transaction.set_caches(kept.as_deref())?;
    let (text, hash) = (&served.certificate, &served.head);
    let head = append(transaction, CERTIFICATE, text, hash, keyring)?;
    let request = named.request(Some(*version), served.index);
    transaction.insert_request(&request)?;
    Ok(Served { head_index: head.index, head: hex::encode(head.hash), ..served.clone() })
}

/// Returns what the user should know about a release.
fn notices(plan: &Plan, all: &[Notice]) -> Vec<Notice> {
    let mut notices = all.to_vec();
    if plan.not_for_release {
        let seeded = "NOT FOR RELEASE: made with `§seed`; its certificates never verify";
        notices.insert(0, Notice::new(NoticeCode::NotForRelease, seeded));
    }
    notices
}

/// Returns the assumptions of a certificate: the plan's, and those about the vault's history.
fn assumptions(plan: &Plan, moved: bool) -> Vec<Assumption> {
    let mut list = plan.assumptions.clone();
    list.extend(moved.then(|| Assumption {
        name: PLACE.to_owned(),
        value: MOVED.to_owned(),
        evidence: Evidence::Measured,
    }));
    list
}

fn noise(plan: &Plan, grid: Option<Decimal>) -> Noise {
    let seeded = if plan.not_for_release { "chacha20-user-seed" } else { "chacha20" };
    let (sampler, generator) =
        if grid.is_some() { ("exact-grid", seeded) } else { ("none", "none") };
    Noise { sampler: sampler.to_owned(), generator: generator.to_owned(), grid }
}
