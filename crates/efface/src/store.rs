//! What an open vault says about its model: plan, weights, latest certificate, what is kept.

use std::path::Path;

use efface_learn::mechanism::Kept;
use efface_privacy::certificate::{
    Certificate, Erasure, ParseError, Standing, document_hash, signature_holds,
};
use efface_privacy::event::{Event, State};
use efface_vault::{Genesis, Keyring, LedgerHead, OpenError, ReadError, StoreFault, Vault};

use crate::digest::digest_now;
use crate::erase::withdrawn;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::rows::weights_of;
use crate::verify::plan_of;

/// Kind of ledger entries that are certificates.
pub(crate) const CERTIFICATE: &str = "certificate";
/// Kind of ledger entries that note an erasure without a release.
pub(crate) const ERASURE: &str = "erasure";
/// Kind of ledger entries that note an export.
pub(crate) const EXPORT: &str = "export";
/// The schema of export notes.
pub(crate) const EXPORT_SCHEMA: &str = "efface.export/0";

/// Opens a vault for reading. What a killed writer left half done is undone first, which takes
/// the right to write once.
pub(crate) fn open_for_reading(path: &Path) -> Result<Vault> {
    match Vault::open_read_only(path) {
        Err(OpenError::Store(StoreFault::NeedsRecovery)) => {
            drop(Vault::open_for(path, "efface recovery")?);
            Ok(Vault::open_read_only(path)?)
        }
        opened => Ok(opened?),
    }
}

/// Opens a vault for a request: its keys are checked before anything else, then that its rows are
/// as many as the last request left. `purpose` as in [`Vault::open_for`].
pub(crate) fn open_to_serve(
    path: &Path,
    purpose: &str,
    keyring: &Keyring,
) -> Result<(Vault, Current)> {
    let mut vault = Vault::open_for(path, purpose)?;
    vault.unlock(keyring)?;
    let current = Current::of(&vault)?;
    vault.checked_count()?;
    Ok((vault, current))
}

/// The model as a vault holds it now.
pub(crate) struct Current {
    pub(crate) genesis: Genesis,
    pub(crate) plan: Plan,
    /// Version of the latest model, also where it is withdrawn.
    pub(crate) version: u64,
    /// The event of the latest certificate.
    pub(crate) event: Event,
    pub(crate) head: LedgerHead,
    model: Option<Published>,
    /// Records that erasures since the latest certificate took, where their numbers are stated.
    pub(crate) erased: u64,
}

/// The model that is published now.
pub(crate) struct Published {
    pub(crate) salt: [u8; 32],
    pub(crate) digest: [u8; 32],
    pub(crate) weights: Vec<f64>,
}

impl Current {
    /// Reads it.
    pub(crate) fn of(vault: &Vault) -> Result<Self> {
        let genesis = vault.genesis()?;
        let plan = plan_of(&genesis.config_json)?;
        let missing = |what: &str| Error::storage("damaged", format!("the vault has no {what}"));
        let stored = vault.model()?;
        let head = vault.head()?.ok_or_else(|| missing("ledger"))?;
        let latest = latest_certificate(vault, &genesis, head.index)?;
        let erased = erased_since(vault, &genesis, latest.chain.index)?;
        let (model, certified) = match (stored, erased) {
            (None, Some(_)) => (None, true),
            (None, None) => return Err(missing("model")),
            // Whoever put a model back did not get it from here.
            (Some(_), Some(_)) => (None, false),
            (Some(stored), None) => {
                let weights = weights_of(&stored.weights, &plan)?;
                let digest = digest_now(&stored);
                let certified = hex::encode(digest) == latest.model.digest_after
                    && digest == stored.digest
                    && stored.version == latest.model.version;
                (Some(Published { salt: stored.salt, digest, weights }), certified)
            }
        };
        let planned = plan.is_that_of(&latest)?
            && plan.setting == *latest.event.setting()
            && genesis.vault_id == latest.vault;
        if !certified || !planned {
            let what = if certified { "plan is" } else { "weights are" };
            return Err(Error::storage(
                "damaged",
                format!("the vault's {what} not what its latest certificate says"),
            )
            .hint("`efface ledger verify` says more; restore the vault from where you keep it"));
        }
        Ok(Self {
            genesis,
            plan,
            version: latest.model.version,
            event: latest.event,
            head,
            model,
            erased: erased.unwrap_or(0),
        })
    }

    /// Whether records were erased without a release, so that there is no model.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.model.is_none()
    }

    /// The model that is published now.
    ///
    /// # Errors
    /// Where it is withdrawn.
    pub(crate) fn published(&self) -> Result<&Published> {
        self.model.as_ref().ok_or_else(|| withdrawn(&self.plan))
    }

    /// Releases this model has made.
    pub(crate) fn releases(&self) -> u64 {
        self.event.releases()
    }
}

/// Records that erasures after the entry `from` took, as far as they state numbers; none where there
/// was no erasure.
fn erased_since(vault: &Vault, genesis: &Genesis, from: u64) -> Result<Option<u64>> {
    let mut erased: Option<u64> = None;
    vault.scan_ledger(from + 1, |entry| -> Result<()> {
        if entry.kind == ERASURE {
            let damaged = |what: &dyn std::fmt::Display| {
                Error::storage("damaged", format!("entry {} of the ledger: {what}", entry.index))
            };
            let erasure = Erasure::parse(entry.json).map_err(|error| damaged(&error))?;
            let verdict = Erasure::verify(entry.json, Some(&genesis.public_key))
                .map_err(|error| damaged(&error))?;
            if verdict.standing() != Standing::Holds {
                return Err(damaged(&"it was changed after it was signed"));
            }
            let records = erasure.request.records.unwrap_or(0);
            erased = Some(erased.unwrap_or(0).saturating_add(records));
        }
        Ok(())
    })?;
    Ok(erased)
}

/// The newest certificate of the ledger, its hash and signature checked.
pub(crate) fn latest_certificate(
    vault: &Vault,
    genesis: &Genesis,
    head: u64,
) -> Result<Certificate> {
    let read = |index| -> Result<Option<String>> {
        Ok(vault
            .ledger_entry(index, |entry| {
                (entry.kind == CERTIFICATE).then(|| entry.json.to_owned())
            })?
            .flatten())
    };
    for index in (0..=head).rev() {
        if let Some(text) = read(index)? {
            let damaged = |what: &dyn std::fmt::Display| {
                Error::storage("damaged", format!("entry {index} of the ledger: {what}"))
            };
            let certificate = Certificate::parse(&text).map_err(|error| match error {
                ParseError::Earlier(_) => Error::storage("earlier", error.to_string())
                    .hint("train the model again with this version"),
                _ => damaged(&error),
            })?;
            let document = serde_json::from_str(&text).map_err(|error| damaged(&error))?;
            let hash = document_hash(&document).map_err(|error| damaged(&error))?;
            let signature = &certificate.signature.value;
            if hash != certificate.chain.hash
                || !signature_holds(&genesis.public_key, &hash, signature)
            {
                return Err(damaged(&"it was changed after it was signed"));
            }
            return Ok(certificate);
        }
    }
    Err(Error::storage("damaged", "the vault's ledger holds no certificate"))
}

/// What is kept beside model and records, if anything.
pub(crate) fn kept(vault: &Vault, plan: &Plan) -> Result<Option<Kept>> {
    if !plan.keeps_state() {
        return Ok(None);
    }
    let hint = match plan.state {
        State::Secret => "`efface refresh` goes on without it",
        State::Perfect => "put the vault back from a backup",
    };
    let bytes = match vault.caches() {
        Err(error @ ReadError::Store(StoreFault::Rows(_))) => {
            return Err(Error::from(error).hint(hint));
        }
        read => read?,
    };
    let Some(bytes) = bytes else { return Ok(None) };
    Kept::from_bytes(&bytes).map(Some).map_err(|error| {
        let what = format!("the vault's kept state cannot be read: {error}");
        Error::storage("damaged", what).hint(hint)
    })
}
