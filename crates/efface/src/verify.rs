//! Verification of certificates and of whole ledgers, with what only the vault knows.

use std::path::Path;

use efface_privacy::certificate::{
    Certificate, ERASURE_SCHEMA, Erasure, GENESIS, Request, RequestKind, SCHEMA, Standing, Verdict,
    When, Withdrawn, document_hash, key_id, signature_holds, verify as verify_alone,
};
use efface_privacy::event::{Event, Phase, State};
use efface_vault::{Keyring, Vault};
use serde_json::Value;

use crate::digest::digest_now;
use crate::error::{Error, Result};
use crate::examine;
use crate::plan::Plan;
use crate::run::ridge;
use crate::store::{CERTIFICATE, ERASURE, EXPORT, open_for_reading};

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
    if Erasure::is_one(text) {
        return verify_erasure(text, trusted, vault, head);
    }
    let mut verdict = verify_alone(text, trusted).map_err(not_a_certificate)?;
    let certificate = Certificate::parse(text).map_err(not_a_certificate)?;
    match vault {
        Some(path) => against_vault(&certificate, text, path, &mut verdict)?,
        None => verdict.push(
            "model",
            Standing::Undecided,
            "the model's digest can only be checked with the vault: `--vault`",
        ),
    }
    if let Some(head) = head {
        remembered_head(head, vault, &mut verdict)?;
    }
    Ok(verdict)
}

/// Checks an erasure by itself, and that the ledger holds it.
fn verify_erasure(
    text: &str,
    trusted: Option<&[u8; 32]>,
    vault: Option<&Path>,
    head: Option<&str>,
) -> Result<Verdict> {
    let mut verdict = Erasure::verify(text, trusted).map_err(not_a_certificate)?;
    let erasure = Erasure::parse(text).map_err(not_a_certificate)?;
    if let Some(path) = vault {
        let vault = open_for_reading(path)?;
        if vault.genesis()?.vault_id == erasure.vault {
            in_ledger(&vault, erasure.chain.index, text, &mut verdict)?;
        } else {
            verdict.push("vault", Standing::Fails, "the erasure is of another vault");
        }
    }
    if let Some(head) = head {
        remembered_head(head, vault, &mut verdict)?;
    }
    Ok(verdict)
}

fn not_a_certificate(error: impl std::fmt::Display) -> Error {
    Error::input("certificate", error.to_string())
}

fn against_vault(
    certificate: &Certificate,
    text: &str,
    path: &Path,
    verdict: &mut Verdict,
) -> Result<()> {
    let vault = open_for_reading(path)?;
    let genesis = vault.genesis()?;
    if genesis.vault_id != certificate.vault {
        verdict.push("vault", Standing::Fails, "the certificate is of another vault");
        return Ok(());
    }
    in_ledger(&vault, certificate.chain.index, text, verdict)?;
    let Some(model) = vault.model()? else {
        let (standing, reason) = if withdrawn_since(&vault, certificate.chain.index)? {
            (Standing::Holds, "the model was withdrawn by a later erasure, and the vault has none")
        } else {
            (Standing::Fails, "the vault has no model")
        };
        verdict.push("model", standing, reason);
        return Ok(());
    };
    let digest = hex::encode(digest_now(&model));
    let version = certificate.model.version;
    let newest = newest_certificate(&vault)?;
    let (standing, reason) = if model.version == version && digest == certificate.model.digest_after
    {
        (Standing::Holds, "the vault's weights are the certified ones".to_owned())
    } else if newest.as_ref().is_some_and(|newest| {
        newest.model.version > version
            && newest.model.version == model.version
            && newest.model.digest_after == digest
    }) {
        let now = model.version;
        (
            Standing::Holds,
            format!(
                "the vault has moved on to version {now}, which its newest certificate covers; version {version} is no longer kept"
            ),
        )
    } else {
        (Standing::Fails, "the vault's weights are not the certified ones".to_owned())
    };
    verdict.push("model", standing, reason);
    Ok(())
}

/// Whether the ledger holds this very entry.
fn in_ledger(vault: &Vault, index: u64, text: &str, verdict: &mut Verdict) -> Result<()> {
    let (standing, reason) =
        match vault.ledger_entry(index, |entry| same_document(entry.json, text))? {
            Some(true) => (Standing::Holds, "the ledger holds this certificate"),
            Some(false) => (Standing::Fails, "the ledger holds another entry at this place"),
            None => (Standing::Fails, "the ledger has no entry at this place"),
        };
    verdict.push("ledger", standing, reason);
    Ok(())
}

/// Whether the newest entry that is no export is an erasure after `index`.
fn withdrawn_since(vault: &Vault, index: u64) -> Result<bool> {
    let mut withdrawn = false;
    vault.scan_ledger(index + 1, |entry| -> Result<()> {
        withdrawn = entry.kind == ERASURE || withdrawn && entry.kind == EXPORT;
        Ok(())
    })?;
    Ok(withdrawn)
}

/// The newest entry of the ledger that reads as a certificate.
fn newest_certificate(vault: &Vault) -> Result<Option<Certificate>> {
    let mut newest = None;
    vault.scan_ledger(0, |entry| -> Result<()> {
        newest = Certificate::parse(entry.json).ok().or(newest.take());
        Ok(())
    })?;
    Ok(newest)
}

fn same_document(a: &str, b: &str) -> bool {
    let parse = |text| serde_json::from_str::<Value>(text).ok();
    parse(a).is_some_and(|a| parse(b).is_some_and(|b| a == b))
}

pub(crate) fn plan_of(json: &str) -> Result<Plan> {
    serde_json::from_str(json).map_err(|error| {
        Error::storage("damaged", format!("the vault's plan cannot be read: {error}"))
    })
}

fn remembered_head(head: &str, vault: Option<&Path>, verdict: &mut Verdict) -> Result<()> {
    let Some(path) = vault else {
        verdict.push("head", Standing::Undecided, "a head can only be checked with the vault");
        return Ok(());
    };
    let vault = open_for_reading(path)?;
    let mut found = None;
    vault.scan_ledger(0, |entry| -> Result<()> {
        // From the text itself: the stored hash may have been changed.
        let document = serde_json::from_str::<Value>(entry.json).ok();
        let hash = document.and_then(|document| document_hash(&document).ok());
        if hash.as_deref() == Some(head) {
            found = Some(entry.index);
        }
        Ok(())
    })?;
    match found {
        Some(index) => {
            verdict.push("head", Standing::Holds, format!("the remembered head is entry {index}"));
        }
        None => verdict.push(
            "head",
            Standing::Fails,
            "the ledger lacks the remembered head: an older vault was put back, or another one",
        ),
    }
    Ok(())
}

/// Checks every entry of a vault's ledger: order, hashes, signatures, each certificate, and that
/// the newest one certifies the weights that are there; then that there are as many rows as it
/// certifies and, with the vault's own keys, that each is as it was stored.
///
/// # Errors
/// When the vault cannot be read.
pub fn verify_ledger(
    path: &Path,
    trusted: Option<&[u8; 32]>,
    head: Option<&str>,
    keyring: Option<&Keyring>,
) -> Result<Verdict> {
    let mut vault = open_for_reading(path)?;
    let mut verdict = ledger_checks(&vault, trusted)?;
    // A tally that does not fit is told; the rows are then counted only.
    examine::unlock(&mut vault, keyring, &mut verdict);
    examine::rows(&vault, &mut verdict);
    if let Some(head) = head {
        remembered_head(head, Some(path), &mut verdict)?;
    }
    Ok(verdict)
}

/// Checks the ledger of an open vault, its model and its plan.
pub(crate) fn ledger_checks(vault: &Vault, trusted: Option<&[u8; 32]>) -> Result<Verdict> {
    let genesis = vault.genesis()?;
    let mut verdict = Verdict::default();
    let mut walk = Walk {
        previous: GENESIS.to_owned(),
        next: 0,
        key: genesis.public_key,
        latest: None,
        made: 0,
        withdrawn: None,
        vault: genesis.vault_id.clone(),
        trusted,
    };
    vault.scan_ledger(0, |entry| -> Result<()> {
        walk.entry(entry.json, entry.index, entry.kind, &hex::encode(entry.hash), &mut verdict);
        Ok(())
    })?;
    match trusted {
        Some(key) if *key == genesis.public_key => {
            verdict.push("key", Standing::Holds, "the vault's key is the trusted one");
        }
        Some(key) => verdict.push(
            "key",
            Standing::Fails,
            format!(
                "the vault's key is {}, not the trusted {}",
                key_id(&genesis.public_key),
                key_id(key)
            ),
        ),
        None => verdict.push(
            "key",
            Standing::Undecided,
            format!(
                "the vault's key is {}; give the key you trust to decide",
                key_id(&genesis.public_key)
            ),
        ),
    }
    match walk.latest {
        Some(certificate) => {
            let withdrawn = walk.withdrawn.is_some();
            if withdrawn {
                no_model(vault, &mut verdict)?;
            } else {
                newest(vault, &certificate, &mut verdict)?;
            }
            let plan = plan_of(&genesis.config_json);
            match plan.as_ref().map_err(Clone::clone).and_then(|p| p.is_that_of(&certificate)) {
                Ok(true) => {
                    verdict.push("plan", Standing::Holds, "the vault's plan is the certified one");
                    if !withdrawn {
                        ridge::check(vault, &plan?, &mut verdict)?;
                    }
                }
                Ok(false) => {
                    let reason = "the vault's plan is not the one its certificates were made under";
                    verdict.push("plan", Standing::Fails, reason);
                }
                Err(error) => verdict.push("plan", Standing::Fails, error.message()),
            }
        }
        None => verdict.push("ledger", Standing::Fails, "the ledger holds no certificate"),
    }
    Ok(verdict)
}

struct Walk<'a> {
    previous: String,
    next: u64,
    key: [u8; 32],
    latest: Option<Certificate>,
    /// Releases since training or the last refresh.
    made: u64,
    /// Records erased since the model was withdrawn, as far as they are stated; none where it is not.
    withdrawn: Option<u64>,
    vault: String,
    trusted: Option<&'a [u8; 32]>,
}

impl Walk<'_> {
    fn entry(
        &mut self,
        text: &str,
        index: u64,
        kind: &str,
        stored_hash: &str,
        verdict: &mut Verdict,
    ) {
        let name = format!("entry {index}");
        let result = self.check(text, index, kind, stored_hash);
        self.next = index + 1;
        match result {
            Ok(reason) => verdict.push(&name, Standing::Holds, reason),
            Err(reason) => verdict.push(&name, Standing::Fails, reason),
        }
    }

    fn check(
        &mut self,
        text: &str,
        index: u64,
        kind: &str,
        stored_hash: &str,
    ) -> std::result::Result<String, String> {
        let document: Value =
            serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let hash = document_hash(&document).map_err(|error| error.to_string())?;
        let field = |path: &str| document.pointer(path).and_then(Value::as_str).unwrap_or("");
        let previous = std::mem::replace(&mut self.previous, hash.clone());
        if index != self.next {
            return Err(format!("entry {} is missing before it", self.next));
        }
        if document.pointer("/chain/index").and_then(Value::as_u64) != Some(index) {
            return Err("it states another position".into());
        }
        if field("/chain/hash") != hash || stored_hash != hash {
            return Err("its body was changed: the hash is another".into());
        }
        if field("/chain/previous") != previous {
            return Err("it does not follow the entry before it".into());
        }
        if !signature_holds(&self.key, &hash, field("/signature/value")) {
            return Err("it is not signed by the vault's key".into());
        }
        let expected = match field("/schema") {
            SCHEMA => CERTIFICATE,
            ERASURE_SCHEMA => ERASURE,
            _ => EXPORT,
        };
        if kind != expected {
            return Err(format!("it is kept as `{kind}`, which it is not"));
        }
        if expected == ERASURE {
            self.erases(text)?;
            return Ok("erase, chained and signed; no model is published from here on".to_owned());
        }
        if expected == EXPORT {
            if self.withdrawn.is_some() {
                return Err("it exports a model that is withdrawn".into());
            }
            return Ok(format!("{}, chained and signed", field("/schema")));
        }
        let alone = verify_alone(text, Some(self.trusted.unwrap_or(&self.key)))
            .map_err(|error| error.to_string())?;
        let parsed = Certificate::parse(text).map_err(|error| error.to_string())?;
        self.follows(&parsed)?;
        self.latest = Some(parsed);
        self.withdrawn = None;
        let failed: Vec<String> = alone
            .checks
            .iter()
            .filter(|check| check.standing == Standing::Fails)
            .map(|check| format!("{}: {}", check.name, check.reason))
            .collect();
        if failed.is_empty() {
            let kind = field("/request/kind");
            Ok(format!("{kind}, chained, signed, all claims recomputed"))
        } else {
            Err(failed.join("; "))
        }
    }

    /// An erasure must follow the model that it withdraws.
    fn erases(&mut self, text: &str) -> std::result::Result<(), String> {
        let erasure = Erasure::parse(text).map_err(|error| error.to_string())?;
        let verdict = Erasure::verify(text, Some(&self.key)).map_err(|error| error.to_string())?;
        let failed = verdict.checks.iter().find(|check| check.standing != Standing::Holds);
        if let Some(check) = failed {
            return Err(format!("{}: {}", check.name, check.reason));
        }
        if erasure.vault != self.vault {
            return Err("it is of another vault".into());
        }
        let before = self.latest.as_ref().ok_or("no model was there to be withdrawn")?;
        let when = if self.withdrawn.is_some() { When::Before } else { When::Now };
        if erasure.model != (Withdrawn { version: before.model.version, withdrawn: when })
            || erasure.not_for_release != before.not_for_release
        {
            return Err("the model it withdraws is not the one before it".into());
        }
        let erased = self.withdrawn.unwrap_or(0);
        self.withdrawn = Some(erased.saturating_add(erasure.request.records.unwrap_or(0)));
        Ok(())
    }

    /// What must stay the same, or go on, from one certificate to the next.
    fn follows(&mut self, certificate: &Certificate) -> std::result::Result<(), String> {
        if certificate.vault != self.vault {
            return Err("it is of another vault".into());
        }
        self.made = match certificate.request.kind {
            RequestKind::Train | RequestKind::Refresh => 1,
            _ => self.made + 1,
        };
        let joint = certificate.event.joint_releases();
        if certificate.event.state() == State::Secret && self.made > joint {
            return Err(format!(
                "it is release {} since the last refresh, and {joint} are covered",
                self.made
            ));
        }
        let Some(before) = &self.latest else { return Ok(()) };
        let there = match self.withdrawn {
            None => Some(before.model.digest_after.as_str()),
            Some(_) => None,
        };
        if certificate.model.version != before.model.version + 1
            || certificate.model.digest_before.as_deref() != there
        {
            return Err("its model does not follow the one before".into());
        }
        if certificate.constants != before.constants
            || certificate.event.setting() != before.event.setting()
            || certificate.not_for_release != before.not_for_release
        {
            return Err("constants are fixed for the life of a model, and it has others".into());
        }
        match (&certificate.event, &before.event) {
            (Event::Composed(now), Event::Composed(then))
                if removed_goes_on(
                    &certificate.request,
                    self.withdrawn,
                    now.removed,
                    then.removed,
                ) => {}
            (Event::Composed(_), _) | (_, Event::Composed(_)) => {
                return Err(
                    "its count of deleted records does not go on from the one before".into()
                );
            }
            _ => {}
        }
        let refreshed = certificate.request.kind == RequestKind::Refresh;
        match (certificate.event.core(), before.event.core()) {
            (Event::NoisyGd(now), Event::NoisyGd(then)) => {
                if !replaced_goes_on(now.replaced.as_deref(), then.replaced.as_deref()) {
                    return Err("its `replaced` does not go on from the one before".into());
                }
                go_on(&now.phases, &then.phases)
            }
            (Event::Descent(_), Event::Descent(_)) if refreshed => Ok(()),
            (Event::Descent(now), Event::Descent(then)) if now.updates <= then.updates => {
                Err("its updates do not go on from those before".into())
            }
            (Event::Descent(now), Event::Descent(then)) => go_on(&now.phases, &then.phases),
            _ => Ok(()),
        }
    }
}

/// Deleted records add up; what was hidden stays hidden, what was stated stays stated.
fn removed_goes_on(
    request: &Request,
    erased: Option<u64>,
    now: Option<u64>,
    then: Option<u64>,
) -> bool {
    let deleted = match request.kind {
        RequestKind::Delete | RequestKind::Update => request.records.unwrap_or(0),
        RequestKind::Train | RequestKind::Add | RequestKind::Refresh => erased.unwrap_or(0),
    };
    match (now, then) {
        (Some(now), Some(then)) => now >= then.saturating_add(deleted),
        (None, None) => true,
        _ => false,
    }
}

/// One more request, or none stated any more (once phases were merged).
fn replaced_goes_on(now: Option<&[u64]>, then: Option<&[u64]>) -> bool {
    match (now, then) {
        (None, _) => true,
        (Some(now), Some(then)) => now.split_last().is_some_and(|(_, earlier)| earlier == then),
        (Some(_), None) => false,
    }
}

/// All phases but the last must be those before.
fn go_on(now: &[Phase], then: &[Phase]) -> std::result::Result<(), String> {
    let steps = |phases: &[Phase]| phases.iter().map(|p| u128::from(p.steps)).sum::<u128>();
    let earlier = now.split_last().map_or(&[][..], |(_, earlier)| earlier);
    if steps(earlier) == steps(then) {
        Ok(())
    } else {
        Err("its phases do not go on from those before".into())
    }
}

/// After an erasure the vault has neither a model nor anything kept beside one.
fn no_model(vault: &Vault, verdict: &mut Verdict) -> Result<()> {
    if vault.model()?.is_none() && vault.caches()?.is_none() {
        let reason = "the model is withdrawn, and the vault has none";
        verdict.push("model", Standing::Holds, reason);
    } else {
        let reason = "the model is withdrawn, and the vault has one or what was kept beside it";
        verdict.push("model", Standing::Fails, reason);
    }
    Ok(())
}

/// The vault's weights must be those of the newest certificate.
fn newest(vault: &Vault, certificate: &Certificate, verdict: &mut Verdict) -> Result<()> {
    let model = vault.model()?;
    let certified = model.is_some_and(|model| {
        model.version == certificate.model.version
            && hex::encode(model.digest) == certificate.model.digest_after
            && hex::encode(digest_now(&model)) == certificate.model.digest_after
    });
    if certified {
        verdict.push("model", Standing::Holds, "the vault's weights are the certified ones");
    } else {
        let reason = "the vault's weights are not those of the newest certificate";
        verdict.push("model", Standing::Fails, reason);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_on_and_what_is_hidden_stays_hidden() {
        let request = |kind, records| Request {
            id: "r".to_owned(),
            kind,
            records,
            subject: None,
            received_at: String::new(),
        };
        let delete = request(RequestKind::Delete, Some(3));
        let update = request(RequestKind::Update, Some(3));
        for request in [&delete, &update] {
            assert!(removed_goes_on(request, None, Some(8), Some(5)));
            assert!(!removed_goes_on(request, None, Some(7), Some(5)));
        }
        assert!(removed_goes_on(&request(RequestKind::Add, Some(3)), None, Some(5), Some(5)));
        assert!(!removed_goes_on(&request(RequestKind::Add, Some(3)), None, Some(4), Some(5)));
        assert!(removed_goes_on(&request(RequestKind::Delete, None), None, None, None));
        assert!(!removed_goes_on(&delete, None, Some(8), None));
        assert!(!removed_goes_on(&delete, None, None, Some(5)));
        let refresh = request(RequestKind::Refresh, Some(0));
        assert!(removed_goes_on(&refresh, Some(3), Some(8), Some(5)));
        assert!(!removed_goes_on(&refresh, Some(3), Some(7), Some(5)));

        assert!(replaced_goes_on(Some(&[1, 2, 3]), Some(&[1, 2])));
        assert!(replaced_goes_on(None, Some(&[1, 2])));
        assert!(replaced_goes_on(None, None));
        assert!(!replaced_goes_on(Some(&[1, 2]), None));
        assert!(!replaced_goes_on(Some(&[2, 2, 3]), Some(&[1, 2])));
        assert!(!replaced_goes_on(Some(&[1, 2]), Some(&[1, 2])));
        assert!(!replaced_goes_on(Some(&[]), Some(&[])));
    }

    /// A signed export note at a place of the ledger, and its hash.
    fn note(index: u64, previous: &str, key: &ed25519_dalek::SigningKey) -> (String, String) {
        use ed25519_dalek::Signer;
        let document = serde_json::json!({
            "schema": crate::store::EXPORT_SCHEMA,
            "chain": { "index": index, "previous": previous, "hash": "" },
        });
        let public = key.verifying_key().to_bytes();
        let sign = |bytes: &[u8]| key.sign(bytes).to_bytes();
        efface_privacy::certificate::seal(document, &public, sign).unwrap()
    }

    /// An owner can sign whatever she likes; an entry that is exchanged later is still found.
    #[test]
    fn an_entry_must_follow_the_one_before_it() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[5; 32]);
        let walk = |texts: [&(String, String); 2]| {
            let mut walk = Walk {
                previous: GENESIS.to_owned(),
                next: 0,
                key: key.verifying_key().to_bytes(),
                latest: None,
                made: 0,
                withdrawn: None,
                vault: String::new(),
                trusted: None,
            };
            let mut verdict = Verdict::default();
            for (index, (text, hash)) in texts.into_iter().enumerate() {
                walk.entry(text, index as u64, EXPORT, hash, &mut verdict);
            }
            verdict.standing()
        };
        let first = note(0, GENESIS, &key);
        let second = note(1, &first.1, &key);
        assert_eq!(walk([&first, &second]), Standing::Holds);
        let elsewhere = note(1, &"1".repeat(64), &key);
        assert_eq!(walk([&first, &elsewhere]), Standing::Fails);
    }
}
