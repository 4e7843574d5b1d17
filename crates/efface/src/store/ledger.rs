//! Appends entries to the ledger and adds them up. A signed checkpoint at regular intervals states the sums,
//! and readers continue from the last one.

use std::collections::BTreeMap;

use efface_privacy::certificate::{
    Certificate, ERASURE_SCHEMA, GENESIS, ParseError, SCHEMA, signature_holds, text_hash,
};
use efface_vault::{
    Genesis, Keyring, LedgerEntry, LedgerHead, RowFault, StoreFault, Transaction, Vault,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Code, Error, Result};
use crate::outcome::{ERASE, ExportNote, Exports};
use crate::store::seal::{hash_bytes, sealed};

/// Kind of ledger entries that are certificates.
pub(crate) const CERTIFICATE: &str = "certificate";
/// Kind of ledger entries that note an erasure without a release.
pub(crate) const ERASURE: &str = "erasure";
/// Kind of ledger entries that note an export.
pub(crate) const EXPORT: &str = "export";
/// The schema of export notes.
pub(crate) const EXPORT_SCHEMA: &str = "efface.export/0";
/// Kind of ledger entries that state what the entries before them add up to.
pub(crate) const CHECKPOINT: &str = "checkpoint";
/// The schema of checkpoints.
pub(crate) const CHECKPOINT_SCHEMA: &str = "efface.checkpoint/0";

/// Number of entries from one checkpoint to the next.
const EVERY: u64 = 16;

/// The place of a ledger entry and its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub(crate) index: u64,
    pub(crate) hash: String,
}

/// What the entries of a ledger add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tally {
    /// The newest certificate.
    pub(crate) certificate: Option<Place>,
    /// Number of requests served, by kind.
    pub(crate) requests: BTreeMap<String, u64>,
    /// Number of records erased since the newest certificate, if the erasures state it; `None` if there was
    /// no erasure, so that the model is published.
    pub(crate) withdrawn: Option<u64>,
    /// Number of releases of the model.
    pub(crate) releases: u64,
    /// Number of releases since training or the last refresh.
    pub(crate) since_refresh: u64,
    /// Number of records: the first ones, plus those added, less those deleted; `None` if counts are private.
    pub(crate) records: Option<u64>,
    /// The exports of the model.
    pub(crate) exports: Exports,
    /// The latest time that an entry states.
    pub(crate) latest: String,
}

impl Tally {
    /// Adds up the whole ledger, read from the last checkpoint on. Every entry read must be the one that was
    /// signed for its place: the next checkpoint signs the sums computed here.
    pub(crate) fn of(vault: &Vault, key: &[u8; 32]) -> Result<Self> {
        Ok(Self::read(vault, key)?.0)
    }

    /// Adds up the ledger, and returns the newest certificate too.
    pub(crate) fn with_newest(vault: &Vault, genesis: &Genesis) -> Result<(Self, Certificate)> {
        let (tally, text) = Self::read(vault, &genesis.public_key)?;
        let newest = match (text, &tally.certificate) {
            (Some(text), Some(Place { index, .. })) => {
                Certificate::parse(&text).map_err(|error| unread(*index, &error))?
            }
            _ => tally.newest(vault, genesis)?,
        };
        Ok((tally, newest))
    }

    /// Adds up the ledger; returns the newest certificate too if it comes after the last checkpoint.
    fn read(vault: &Vault, key: &[u8; 32]) -> Result<(Self, Option<String>)> {
        let mut newest = None;
        let (mut tally, mut last, from) = match vault.last_of_kind(CHECKPOINT, u64::MAX)? {
            Some(index) => {
                let Signed { tally, hash, .. } = Self::checkpoint(vault, index, key)?;
                (tally, Link { hash, signature: None }, index + 1)
            }
            None => (Self::default(), Link { hash: GENESIS.to_owned(), signature: None }, 0),
        };
        let mut next = from;
        vault.scan_ledger(from, |entry| -> Result<()> {
            let document = &said(&entry)?;
            if entry.index != next {
                return Err(damaged(next, &"it is missing"));
            }
            if kind_of(document).is_none()
                && let Err(error @ ParseError::Earlier(_)) = Certificate::parse(entry.json)
            {
                return Err(unread(entry.index, &error));
            }
            last = linked(&entry, document, &last.hash)
                .map_err(|fault| damaged(entry.index, &fault))?;
            next += 1;
            tally.add(entry.kind, document);
            if entry.kind == CERTIFICATE {
                newest = Some(entry.json.to_owned());
            }
            Ok(())
        })?;
        // The signature covers the hash of the entry before it, and so on back to the checkpoint.
        match last.signature {
            Some(signature) if !signature_holds(key, &last.hash, &signature) => {
                Err(damaged(next.saturating_sub(1), &CHANGED))
            }
            _ => Ok((tally, newest)),
        }
    }

    /// Returns the checkpoint at `index`, after checking its hash and signature.
    pub(crate) fn checkpoint(vault: &Vault, index: u64, key: &[u8; 32]) -> Result<Signed> {
        let (_, document) = signed(vault, index, key)?;
        let text = |at| document.pointer(at).and_then(Value::as_str).unwrap_or("").to_owned();
        let tally = Self::stated(&document).ok_or_else(|| damaged(index, &CHANGED))?;
        Ok(Signed { tally, hash: text("/chain/hash"), previous: text("/chain/previous") })
    }

    /// Returns the sums that a document states, if it is a checkpoint.
    pub(crate) fn stated(document: &Value) -> Option<Self> {
        let checkpoint = document.get("schema")? == CHECKPOINT_SCHEMA;
        checkpoint.then(|| Self::deserialize(document.get("tally")?).ok())?
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, kind: &str, document: &Value) {
        let text = |at| document.pointer(at).and_then(Value::as_str).unwrap_or("");
        let number = |at| document.pointer(at).and_then(Value::as_u64).unwrap_or(0);
        let at = time(document);
        if at > self.latest.as_str() {
            at.clone_into(&mut self.latest);
        }
        match kind {
            CERTIFICATE => {
                let request = text("/request/kind");
                let touched = text("/request/records").parse().ok();
                self.records = match (request, self.records.zip(touched)) {
                    ("train", _) => touched,
                    ("add", Some((now, more))) => now.checked_add(more),
                    ("delete", Some((now, gone))) => now.checked_sub(gone),
                    ("update" | "refresh", _) => self.records,
                    _ => None,
                };
                self.since_refresh =
                    if matches!(request, "train" | "refresh") { 1 } else { self.since_refresh + 1 };
                self.releases += 1;
                *self.requests.entry(request.to_owned()).or_default() += 1;
                let hash = text("/chain/hash").to_owned();
                self.withdrawn = None;
                self.certificate = Some(Place { index: number("/chain/index"), hash });
            }
            ERASURE => {
                let stated = |at| text(at).parse::<u64>().ok();
                let gone = stated("/request/records");
                self.records = if document.get("damage").is_some_and(Value::is_object) {
                    stated("/damage/remaining")
                } else {
                    self.records.zip(gone).and_then(|(now, gone)| now.checked_sub(gone))
                };
                let lost = [gone, stated("/damage/erased"), stated("/damage/missing")];
                let erased = lost.into_iter().flatten().fold(0, u64::saturating_add);
                self.withdrawn = Some(self.withdrawn.unwrap_or(0).saturating_add(erased));
                *self.requests.entry(ERASE.to_owned()).or_default() += 1;
            }
            EXPORT => {
                self.exports.count += 1;
                self.exports.latest = Some(export_note(document));
            }
            _ => {}
        }
    }

    /// Returns the number of rows of the vault, which must be as many as its last request left, by the
    /// vault's own count and, if every entry states its number, by this one.
    ///
    /// # Errors
    /// Fails with [`RowFault::Count`] as `damaged` if the three differ.
    pub(crate) fn count_rows(&self, vault: &Vault) -> Result<u64> {
        let present = vault.checked_count()?;
        match self.records {
            Some(certified) if certified != present => {
                Err(StoreFault::from(RowFault::Count { certified, present }).into())
            }
            _ => Ok(present),
        }
    }

    /// Returns the newest certificate, after checking its hash and signature.
    pub(crate) fn newest(&self, vault: &Vault, genesis: &Genesis) -> Result<Certificate> {
        let Some(Place { index, hash }) = &self.certificate else {
            return Err(Error::storage(Code::Damaged, "the vault's ledger has no certificate"));
        };
        let (text, _) = signed(vault, *index, &genesis.public_key)?;
        let certificate = Certificate::parse(&text).map_err(|error| unread(*index, &error))?;
        if certificate.chain.hash == *hash {
            Ok(certificate)
        } else {
            Err(damaged(*index, &CHANGED))
        }
    }
}

/// A checkpoint with a valid signature.
pub(crate) struct Signed {
    /// The sums that it states.
    pub(crate) tally: Tally,
    /// The hash of the checkpoint.
    pub(crate) hash: String,
    /// The hash of the entry before it.
    pub(crate) previous: String,
}

/// The end of a chain of entries.
struct Link {
    hash: String,
    /// Signature of the last entry; `None` if the chain ends at what was checked before.
    signature: Option<String>,
}

/// Checks that an entry follows the one with the hash `previous`; returns its own hash and the alleged
/// signature over it.
fn linked(
    entry: &LedgerEntry<'_>,
    document: &Value,
    previous: &str,
) -> std::result::Result<Link, String> {
    let text = |at| document.pointer(at).and_then(Value::as_str).unwrap_or("");
    let hash = text_hash(entry.json, document).map_err(|error| error.to_string())?;
    let fits = text("/chain/hash") == hash
        && hex::encode(entry.hash) == hash
        && text("/chain/previous") == previous
        && document.pointer("/chain/index").and_then(Value::as_u64) == Some(entry.index)
        && kind_of(document) == Some(entry.kind);
    let signature = Some(text("/signature/value").to_owned());
    if fits { Ok(Link { hash, signature }) } else { Err(CHANGED.to_owned()) }
}

/// Returns the kind that entries of a document's schema are stored under.
pub(crate) fn kind_of(document: &Value) -> Option<&'static str> {
    match document.get("schema")?.as_str()? {
        SCHEMA => Some(CERTIFICATE),
        ERASURE_SCHEMA => Some(ERASURE),
        EXPORT_SCHEMA => Some(EXPORT),
        CHECKPOINT_SCHEMA => Some(CHECKPOINT),
        _ => None,
    }
}

/// Returns the text and the parsed document of the entry at `index`, which must be the one that was signed
/// for its place.
pub(crate) fn signed(vault: &Vault, index: u64, key: &[u8; 32]) -> Result<(String, Value)> {
    let (text, document) = vault
        .ledger_entry(index, |entry| Ok::<_, Error>((entry.json.to_owned(), said(&entry)?)))?
        .ok_or_else(|| damaged(index, &"it is missing"))??;
    if sound(&text, &document, index, key) {
        Ok((text, document))
    } else {
        Err(damaged(index, &CHANGED))
    }
}

/// Parses the document of an entry.
fn said(entry: &LedgerEntry<'_>) -> Result<Value> {
    serde_json::from_str(entry.json).map_err(|_| damaged(entry.index, &"it is not JSON"))
}

/// Returns whether an entry is the one signed for its place.
fn sound(json: &str, document: &Value, index: u64, key: &[u8; 32]) -> bool {
    let text = |at| document.pointer(at).and_then(Value::as_str).unwrap_or("");
    text_hash(json, document).is_ok_and(|hash| {
        text("/chain/hash") == hash
            && document.pointer("/chain/index").and_then(Value::as_u64) == Some(index)
            && signature_holds(key, &hash, text("/signature/value"))
    })
}

/// The fault of entries whose hash or signature does not hold.
const CHANGED: &str = "it was changed after it was signed";

/// Returns the error for an entry that should be a certificate and cannot be read as one.
fn unread(index: u64, error: &ParseError) -> Error {
    match error {
        ParseError::Earlier(_) => Error::storage(Code::Older, error.to_string())
            .hint("train a new model from the table with `§efface train`"),
        _ => damaged(index, error),
    }
}

fn damaged(index: u64, what: &dyn std::fmt::Display) -> Error {
    Error::storage(Code::Damaged, format!("entry {index} of the ledger: {what}")).hint(
        "run `§efface ledger verify --all` for details; `§efface restore` puts a backup in \
            the vault's place",
    )
}

/// Returns the time that an entry states for itself.
pub(crate) fn time(document: &Value) -> &str {
    let at = document.get("issued_at").or_else(|| document.get("at"));
    at.and_then(Value::as_str).unwrap_or("")
}

/// Returns the note of an export entry.
pub(crate) fn export_note(document: &Value) -> ExportNote {
    let text = |at| document.pointer(at).and_then(Value::as_str).unwrap_or("").to_owned();
    let version = document.pointer("/model/version").and_then(Value::as_u64).unwrap_or(0);
    ExportNote { version, at: text("/at"), format: text("/format") }
}

/// Appends a sealed entry, and a checkpoint if one is due. Returns the ledger's new head.
pub(crate) fn append(
    transaction: &mut Transaction<'_>,
    kind: &str,
    text: &str,
    hash: &str,
    keyring: &Keyring,
) -> Result<LedgerHead> {
    let hash = hash_bytes(hash)?;
    let index = transaction.append_ledger(kind, text, &hash)?;
    let last = transaction.last_of_kind(CHECKPOINT, index)?.unwrap_or(0);
    if index - last < EVERY {
        return Ok(LedgerHead { index, hash });
    }
    let document: Value = serde_json::from_str(text).map_err(|error| damaged(index, &error))?;
    let checkpoint = json!({
        "schema": CHECKPOINT_SCHEMA,
        "vault": transaction.genesis()?.vault_id,
        "at": time(&document),
        "tally": Tally::of(transaction, &keyring.public_key())?,
        "chain": { "index": index + 1, "previous": hex::encode(hash), "hash": "" },
    });
    let (text, hash) = sealed(checkpoint, keyring)?;
    let hash = hash_bytes(&hash)?;
    let index = transaction.append_ledger(CHECKPOINT, &text, &hash)?;
    Ok(LedgerHead { index, hash })
}

#[cfg(test)]
mod tests;
