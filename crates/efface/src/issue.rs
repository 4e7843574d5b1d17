//! The end that the first training and every request have: what was released is certified, stored
//! and told.

use efface_learn::mechanism::Released;
use efface_privacy::certificate::RequestKind;
use efface_vault::{Keyring, LedgerHead, Request, Transaction};

use crate::certify::{Facts, Sealed, certificate};
use crate::context::{Context, Progress};
use crate::digest::digest_of;
use crate::encode::weight_bytes;
use crate::error::Result;
use crate::ledger::{CERTIFICATE, append};
use crate::notice::{Notice, NoticeCode};
use crate::outcome::{Served, Work};
use crate::plan::Plan;

/// A request's name and keyed digest.
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) digest: [u8; 32],
    pub(crate) received_at: String,
}

impl Named {
    /// The request as the vault keeps it, served with the certificate at `index`.
    pub(crate) fn request(&self, kind: RequestKind, version: Option<u64>, index: u64) -> Request {
        Request {
            request_id: self.id.clone(),
            kind: kind.name().to_owned(),
            body_digest: Some(self.digest),
            version,
            entry_index: index,
        }
    }
}

/// Where a certificate is in the ledger, and the ledger's head after it.
pub(crate) struct Stored {
    pub(crate) index: u64,
    head: LedgerHead,
}

/// A certified release that is not yet stored.
pub(crate) struct Issued {
    sealed: Sealed,
    weights: Vec<u8>,
    salt: [u8; 32],
    digest: [u8; 32],
    kept: Option<Vec<u8>>,
    /// Told once and stored nowhere: it follows from the model before.
    work: Work,
    kind: RequestKind,
    version: u64,
    records: u64,
}

impl Issued {
    /// Certifies a release, whose event is as certificates state it; `clipped` rows were shortened.
    ///
    /// # Errors
    /// When the event does not earn what the plan promises.
    pub(crate) fn new(
        plan: &Plan,
        released: Released,
        clipped: Option<u64>,
        facts: Facts<'_>,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        context.report(Progress::Storing)?;
        let work = Work::of(&released.evidence, clipped);
        let weights = weight_bytes(&released.weights);
        let salt = context.random()?;
        let digest = digest_of(&salt, &weights);
        let (kind, version, records) = (facts.kind, facts.version, facts.records);
        let sealed = certificate(plan, released.event, facts, &digest, context.keyring)?;
        let kept = released.kept.map(|kept| kept.to_bytes());
        Ok(Self { sealed, weights, salt, digest, kept, work, kind, version, records })
    }

    /// Stores it as the outcome of the request.
    pub(crate) fn store(
        &self,
        transaction: &mut Transaction<'_>,
        named: &Named,
        keyring: &Keyring,
    ) -> Result<Stored> {
        transaction.replace_model(self.version, &self.weights, &self.salt, &self.digest)?;
        transaction.set_caches(self.kept.as_deref())?;
        let index = transaction.head()?.map_or(0, |head| head.index + 1);
        let Sealed { text, hash, .. } = &self.sealed;
        let head = append(transaction, CERTIFICATE, text, hash, keyring)?;
        transaction.insert_request(&named.request(self.kind, Some(self.version), index))?;
        Ok(Stored { index, head })
    }

    /// What the faces are told once it is committed, with `remaining` records.
    pub(crate) fn served(
        self,
        plan: &Plan,
        named: Named,
        stored: Stored,
        remaining: u64,
        mut notices: Vec<Notice>,
    ) -> Served {
        if plan.not_for_release {
            let seeded = "NOT FOR RELEASE: made with `--seed`; its certificates never verify";
            notices.insert(0, Notice::new(NoticeCode::NotForRelease, seeded));
        }
        Served {
            request_id: named.id,
            kind: self.kind.name().to_owned(),
            version: self.version,
            records: Some(self.records),
            remaining,
            replayed: false,
            index: stored.index,
            head_index: stored.head.index,
            head: hex::encode(stored.head.hash),
            claims: self.sealed.claims,
            certificate: self.sealed.text,
            work: Some(self.work),
            notices,
        }
    }
}
