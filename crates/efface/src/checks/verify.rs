//! Verification of certificates and erasures, with what only the vault knows.

use std::path::Path;

use efface_privacy::certificate::{
    Certificate, CheckOutcome, Erasure, Verdict, verify as verify_alone,
};
use efface_vault::Vault;
use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::store::digest::certifies;
use crate::store::head::Head;
use crate::store::ledger::Tally;
use crate::store::open_for_reading;

/// Checks a certificate: by itself, and against a vault and a remembered head where given.
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
        verify_erasure(text, trusted, vault.as_ref())?
    } else {
        verify_certificate(text, trusted, vault.as_ref())?
    };
    match (head, vault) {
        (Some(head), Some(vault)) => head.check(&vault, &mut verdict)?,
        (Some(_), None) => {
            let reason = "a head can only be checked with the vault";
            verdict.push("head", CheckOutcome::Undecided, reason);
        }
        (None, _) => {}
    }
    Ok(verdict)
}

fn verify_certificate(
    text: &str,
    trusted: Option<&[u8; 32]>,
    vault: Option<&Vault>,
) -> Result<Verdict> {
    let mut verdict = verify_alone(text, trusted).map_err(not_a_certificate)?;
    let certificate = Certificate::parse(text).map_err(not_a_certificate)?;
    match vault {
        Some(vault) => against_vault(&certificate, text, vault, &mut verdict)?,
        None => verdict.push(
            "model",
            CheckOutcome::Undecided,
            "the model's digest can only be checked with the vault: `§vault`",
        ),
    }
    Ok(verdict)
}

/// Checks an erasure by itself, and that the ledger holds it.
fn verify_erasure(
    text: &str,
    trusted: Option<&[u8; 32]>,
    vault: Option<&Vault>,
) -> Result<Verdict> {
    let mut verdict = Erasure::verify(text, trusted).map_err(not_a_certificate)?;
    let erasure = Erasure::parse(text).map_err(not_a_certificate)?;
    if let Some(vault) = vault {
        if vault.genesis()?.vault_id == erasure.vault {
            in_ledger(vault, erasure.chain.index, text, &mut verdict)?;
        } else {
            verdict.push("vault", CheckOutcome::Fails, "the erasure is of another vault");
        }
    }
    Ok(verdict)
}

fn not_a_certificate(error: impl std::fmt::Display) -> Error {
    Error::input(Code::Certificate, error.to_string())
}

fn against_vault(
    certificate: &Certificate,
    text: &str,
    vault: &Vault,
    verdict: &mut Verdict,
) -> Result<()> {
    let genesis = vault.genesis()?;
    if genesis.vault_id != certificate.vault {
        verdict.push("vault", CheckOutcome::Fails, "the certificate is of another vault");
        return Ok(());
    }
    in_ledger(vault, certificate.chain.index, text, verdict)?;
    // A ledger that cannot be read says nothing for a certificate.
    let tally = Tally::of(vault, &genesis.public_key).ok();
    let Some(model) = vault.model()? else {
        let withdrawn = tally.is_some_and(|tally| tally.withdrawn.is_some());
        let (outcome, reason) = if withdrawn {
            (
                CheckOutcome::Holds,
                "the model was withdrawn by a later erasure, and the vault has none",
            )
        } else {
            (CheckOutcome::Fails, "the vault has no model")
        };
        verdict.push("model", outcome, reason);
        return Ok(());
    };
    let newest = tally.and_then(|tally| tally.newest(vault, &genesis).ok());
    let version = certificate.model.version;
    let (outcome, reason) = if certifies(certificate, &model) {
        (CheckOutcome::Holds, "the vault's weights are the certified ones".to_owned())
    } else if newest.is_some_and(|it| it.model.version > version && certifies(&it, &model)) {
        let now = model.version;
        (
            CheckOutcome::Holds,
            format!(
                "the vault is now at version {now}, covered by its newest certificate; version \
                 {version} is no longer kept"
            ),
        )
    } else {
        (CheckOutcome::Fails, "the vault's weights are not the certified ones".to_owned())
    };
    verdict.push("model", outcome, reason);
    Ok(())
}

/// Whether the ledger holds this very entry.
fn in_ledger(vault: &Vault, index: u64, text: &str, verdict: &mut Verdict) -> Result<()> {
    let (outcome, reason) =
        match vault.ledger_entry(index, |entry| same_document(entry.json, text))? {
            Some(true) => (CheckOutcome::Holds, "the ledger contains this certificate"),
            Some(false) => (CheckOutcome::Fails, "the ledger has another entry at this index"),
            None => (CheckOutcome::Fails, "the ledger has no entry at this index"),
        };
    verdict.push("ledger", outcome, reason);
    Ok(())
}

fn same_document(a: &str, b: &str) -> bool {
    let parse = |text| serde_json::from_str::<Value>(text).ok();
    parse(a).is_some_and(|a| parse(b).is_some_and(|b| a == b))
}
