//! Verification of certificates and erasures, with what only the vault knows.

use std::path::Path;

use efface_privacy::certificate::{Certificate, Erasure, Verdict, verify as verify_alone};
use efface_vault::Vault;
use serde_json::Value;

use crate::checks::{Finding, fails, holds, undecided};
use crate::error::{Code, Error, Result};
use crate::store::digest::certifies;
use crate::store::head::Head;
use crate::store::ledger::Tally;
use crate::store::open_for_reading;

/// Checks a certificate: by itself, and against a vault and a remembered head if given.
///
/// `trusted` is the public key the reader trusts. The verdict names each check and why it came out
/// as it did; a model digest is undecided without the vault.
///
/// # Errors
/// When the text is no certificate or the vault cannot be read.
pub fn verify(
    text: &str,
    trusted: Option<&[u8; 32]>,
    vault: Option<&Path>,
    head: Option<&str>,
) -> Result<Verdict> {
    let head = head.map(Head::parse).transpose()?;
    let vault = vault.map(open_for_reading).transpose()?;
    let mut verdict = if Erasure::is_one(text) {
        let mut verdict = Erasure::verify(text, trusted).map_err(not_a_certificate)?;
        let Erasure { vault: id, chain, .. } = Erasure::parse(text).map_err(not_a_certificate)?;
        if let Some(vault) = &vault {
            in_ledger("erasure", vault, &id, chain.index, text, &mut verdict)?;
        }
        verdict
    } else {
        let mut verdict = verify_alone(text, trusted).map_err(not_a_certificate)?;
        let certificate = Certificate::parse(text).map_err(not_a_certificate)?;
        let (id, index) = (&certificate.vault, certificate.chain.index);
        match &vault {
            Some(vault) if in_ledger("certificate", vault, id, index, text, &mut verdict)? => {
                its_model(&certificate, vault)?.tell("model", &mut verdict);
            }
            Some(_) => {}
            None => undecided("the model's digest can only be checked with the vault: `§vault`")
                .tell("model", &mut verdict),
        }
        verdict
    };
    match (head, vault) {
        (Some(head), Some(vault)) => head.check(&vault, &mut verdict)?,
        (Some(_), None) => {
            undecided("a head can only be checked with the vault").tell("head", &mut verdict);
        }
        (None, _) => {}
    }
    Ok(verdict)
}

fn not_a_certificate(error: impl std::fmt::Display) -> Error {
    Error::input(Code::Certificate, error.to_string())
}

/// Whether the vault has the model of a certificate, or a later one.
fn its_model(certificate: &Certificate, vault: &Vault) -> Result<Finding> {
    let genesis = vault.genesis()?;
    // A ledger that cannot be read says nothing for a certificate.
    let tally = Tally::of(vault, &genesis.public_key).ok();
    let Some(model) = vault.model()? else {
        return Ok(match tally.is_some_and(|tally| tally.withdrawn.is_some()) {
            true => holds("the model was withdrawn by a later erasure, and the vault has none"),
            false => fails("the vault has no model"),
        });
    };
    let newest = tally.and_then(|tally| tally.newest(vault, &genesis).ok());
    let version = certificate.model.version;
    Ok(if certifies(certificate, &model) {
        holds("the vault's weights are the certified ones")
    } else if newest.is_some_and(|it| it.model.version > version && certifies(&it, &model)) {
        holds(format!(
            "the vault is now at version {}, covered by its newest certificate; version {version} is \
             no longer kept",
            model.version
        ))
    } else {
        fails("the vault's weights are not the certified ones")
    })
}

/// Checks that a vault's ledger holds this very entry; false if the entry is of another vault.
fn in_ledger(
    kind: &str,
    vault: &Vault,
    id: &str,
    index: u64,
    text: &str,
    verdict: &mut Verdict,
) -> Result<bool> {
    if vault.genesis()?.vault_id != id {
        fails(format!("the {kind} is of another vault")).tell("vault", verdict);
        return Ok(false);
    }
    match vault.ledger_entry(index, |entry| same_document(entry.json, text))? {
        Some(true) => holds("the ledger contains this certificate"),
        Some(false) => fails("the ledger has another entry at this index"),
        None => fails("the ledger has no entry at this index"),
    }
    .tell("ledger", verdict);
    Ok(true)
}

fn same_document(a: &str, b: &str) -> bool {
    let parse = |text| serde_json::from_str::<Value>(text).ok();
    parse(a).is_some_and(|a| parse(b).is_some_and(|b| a == b))
}
