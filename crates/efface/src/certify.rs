//! From a release to its certificate: claims, constants, scope, chain and signature.

use efface_privacy::certificate::{
    Assumption, Certificate, Chain, Evidence, GENESIS, ModelRef, Noise, Request, RequestKind,
    SCHEMA, Scope, Signature, seal,
};
use efface_privacy::claim::{Claim, WEIGHTS, scope};
use efface_privacy::event::Event;
use efface_privacy::quantity::Decimal;
use efface_vault::Keyring;

use crate::error::{Error, Result};
use crate::mechanism::{claims, within_target};
use crate::plan::{PLACE, Plan};

/// What a certificate says beyond event and plan.
pub(crate) struct Facts<'a> {
    pub(crate) vault: &'a str,
    pub(crate) request_id: &'a str,
    pub(crate) kind: RequestKind,
    /// The one moment told: how long a request took depends on the data.
    pub(crate) received_at: &'a str,
    /// Records touched.
    pub(crate) records: u64,
    /// Keyed HMAC of the subject.
    pub(crate) subject: Option<String>,
    pub(crate) digest_before: Option<String>,
    /// Records erased since the model before, where this model is the first without them.
    pub(crate) erased: Option<u64>,
    pub(crate) version: u64,
    /// Position and previous hash.
    pub(crate) index: u64,
    pub(crate) previous: Option<String>,
    /// How many processes held the rows, where those are outside the vault.
    pub(crate) holders: Option<u64>,
    /// Whether the vault was ever found elsewhere than where it last served.
    pub(crate) moved: bool,
}

/// What such a certificate says.
pub(crate) const MOVED: &str = "this vault is not where it last served requests: releases made \
    from a copy elsewhere are not counted";

/// A sealed ledger entry.
pub(crate) struct Sealed {
    pub(crate) text: String,
    pub(crate) hash: String,
    pub(crate) claims: Vec<Claim>,
}

/// Builds and seals a certificate of weights with the digest given.
pub(crate) fn certificate(
    plan: &Plan,
    event: Event,
    facts: Facts<'_>,
    digest: &[u8; 32],
    keyring: &Keyring,
) -> Result<Sealed> {
    // The model before was withdrawn for a deletion, which this release completes.
    let (kind, records) = match facts.erased {
        Some(erased) => (RequestKind::Delete, erased),
        None => (facts.kind, facts.records),
    };
    let claims = claims(plan, &event, kind, records)?;
    within_target(plan, &claims)?;
    let (covers, mut does_not_cover) = scope(&event);
    does_not_cover.extend(plan.max_weight.map(|_| WEIGHTS.to_owned()));
    does_not_cover.extend(plan.not_covered.iter().cloned());
    does_not_cover.extend(facts.holders.map(|holders| {
        // Where the number of records is private, so is how many processes they take.
        let holders = if plan.hides_counts() { "several".into() } else { holders.to_string() };
        format!(
            "rows outside the vault: {holders} worker processes held and summed them for this \
             release; no check of the vault covers their memory or the source of their rows"
        )
    }));
    let grid = event.grid();
    let certificate = Certificate {
        schema: SCHEMA.to_owned(),
        id: format!("{}/{}", facts.vault, facts.index),
        vault: facts.vault.to_owned(),
        issued_at: facts.received_at.to_owned(),
        not_for_release: plan.not_for_release,
        request: Request {
            id: facts.request_id.to_owned(),
            kind: facts.kind,
            // A refresh touches no record, whatever the data are: saying so tells nothing.
            records: (!plan.hides_counts() || facts.kind == RequestKind::Refresh)
                .then_some(facts.records),
            subject: facts.subject,
            received_at: facts.received_at.to_owned(),
        },
        model: ModelRef {
            digest_before: facts.digest_before,
            digest_after: hex::encode(digest),
            version: facts.version,
        },
        claims: claims.clone(),
        noise: noise(plan, grid),
        event,
        constants: plan.constants.clone(),
        assumptions: assumptions(plan, facts.moved),
        scope: Scope { covers, does_not_cover },
        chain: Chain {
            index: facts.index,
            previous: facts.previous.unwrap_or_else(|| GENESIS.to_owned()),
            hash: String::new(),
        },
        signature: Signature {
            key_id: String::new(),
            public_key: String::new(),
            value: String::new(),
        },
    };
    let document = serde_json::to_value(&certificate)
        .map_err(|error| Error::storage("certificate", error.to_string()))?;
    let (text, hash) = sealed(document, keyring)?;
    Ok(Sealed { text, hash, claims })
}

/// What a certificate rests on: the plan's assumptions, and what became of the vault since.
fn assumptions(plan: &Plan, moved: bool) -> Vec<Assumption> {
    let mut list = plan.assumptions.clone();
    list.extend(moved.then(|| Assumption {
        name: PLACE.to_owned(),
        value: MOVED.to_owned(),
        evidence: Evidence::Measured,
    }));
    list
}

/// Seals any ledger entry.
pub(crate) fn sealed(document: serde_json::Value, keyring: &Keyring) -> Result<(String, String)> {
    seal(document, &keyring.public_key(), |bytes| keyring.sign(bytes))
        .map_err(|error| Error::storage("certificate", error.to_string()))
}

fn noise(plan: &Plan, grid: Option<Decimal>) -> Noise {
    let seeded = if plan.not_for_release { "chacha20-user-seed" } else { "chacha20" };
    let (sampler, generator) =
        if grid.is_some() { ("exact-grid", seeded) } else { ("none", "none") };
    Noise { sampler: sampler.to_owned(), generator: generator.to_owned(), grid }
}

/// The 32 bytes of a hash in hexadecimal.
pub(crate) fn hash_bytes(hash: &str) -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hash, &mut bytes)
        .map_err(|error| Error::storage("certificate", error.to_string()))?;
    Ok(bytes)
}
