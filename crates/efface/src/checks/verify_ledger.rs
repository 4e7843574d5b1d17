//! Verification of ledgers: entries, chain, checkpoints, and what the vault holds now.

mod network;

use std::mem::discriminant;
use std::path::Path;

use efface_learn::mechanism::noisy_gd::MOST_PHASES;
use efface_privacy::certificate::{
    Certificate, Check, CheckOutcome, Erasure, GENESIS, ParseError, Request, RequestKind, Verdict,
    When, Withdrawn, document_hash, key_id, signature_holds, verify as verify_alone,
};
use efface_privacy::event::{Batches, Event, Phase, State};
use efface_vault::{Genesis, Keyring, LedgerEntry, Vault};
use serde_json::Value;

use crate::checks::sums;
use crate::checks::{self, Finding, failed, fails, holds, same_constants, undecided};
use crate::error::{Error, Result, ensure};
use crate::plan::Plan;
use crate::rows::MemoryBudget;
use crate::store::digest::certifies;
use crate::store::head::Head;
use crate::store::ledger::{CERTIFICATE, CHECKPOINT, ERASURE, Signed, Tally, kind_of, time};
use crate::store::open_for_reading;

/// Checks a vault's ledger from its last checkpoint on: order, hashes, signatures, each certificate,
/// and that the newest one certifies the weights that are there. The first entry is checked as well.
/// With a remembered head, it starts at the last checkpoint before that. Then, that there are as many
/// rows as the ledger certifies and, with the vault's own keys, that each is as it was stored.
///
/// # Errors
/// When the vault cannot be read.
pub fn verify_ledger(
    path: &Path,
    trusted: Option<&[u8; 32]>,
    head: Option<&str>,
    keyring: Option<&Keyring>,
) -> Result<Verdict> {
    verify_ledger_within(path, None, false, trusted, head, keyring)
}

/// As [`verify_ledger`], every entry from the first on, and that checkpoints say what the entries
/// before them add up to; the networks of shards are trained anew, as long as the first training took.
///
/// # Errors
/// When the vault cannot be read.
pub fn verify_whole_ledger(
    path: &Path,
    trusted: Option<&[u8; 32]>,
    head: Option<&str>,
    keyring: Option<&Keyring>,
) -> Result<Verdict> {
    verify_ledger_within(path, None, true, trusted, head, keyring)
}

/// As [`verify_ledger`], or as [`verify_whole_ledger`] if `whole` says so, with no more rows in memory at
/// a time than `memory` allows. A check that would need more is undecided, and says so.
///
/// # Errors
/// When the vault cannot be read.
pub fn verify_ledger_within(
    path: &Path,
    memory: Option<MemoryBudget>,
    whole: bool,
    trusted: Option<&[u8; 32]>,
    head: Option<&str>,
    keyring: Option<&Keyring>,
) -> Result<Verdict> {
    let head = head.map(Head::parse).transpose()?;
    let mut vault = open_for_reading(path)?;
    let mut verdict = checked(&mut vault, trusted, head, keyring, whole, memory)?;
    if whole {
        names(&vault).tell("names", &mut verdict);
        // What cannot be read was told of before.
        let plan = Plan::read(&vault.genesis()?.config_json);
        if let (Ok(plan), Some(model)) = (plan, vault.model()?) {
            sums::check_shards(&vault, &plan, &model, memory, &mut verdict);
            sums::check_hessian(&vault, plan, &model, memory, &mut verdict)?;
        }
    }
    Ok(verdict)
}

/// Checks that requests find the records they name: ids and subjects lead to their rows and to no others.
fn names(vault: &Vault) -> Finding {
    match vault.names_agree() {
        Ok(true) => holds("ids and subjects lead to the rows"),
        Ok(false) => fails(
            "the tables of ids and subjects do not lead to the rows: requests would miss some",
        ),
        Err(error) => fails(Error::from(error).to_string()),
    }
}

/// As [`verify_whole_ledger`] without keys, of a vault that is open.
pub(crate) fn verify_open(
    vault: &mut Vault,
    trusted: Option<&[u8; 32]>,
    head: Option<Head>,
) -> Result<Verdict> {
    checked(vault, trusted, head, None, true, None)
}

fn checked(
    vault: &mut Vault,
    trusted: Option<&[u8; 32]>,
    head: Option<Head>,
    keyring: Option<&Keyring>,
    whole: bool,
    memory: Option<MemoryBudget>,
) -> Result<Verdict> {
    let place = head.as_ref().map(|head| head.place(vault)).transpose()?.flatten();
    let checkpoint = match whole {
        true => None,
        false => vault.last_of_kind(CHECKPOINT, place.unwrap_or(u64::MAX))?,
    };
    let mut verdict = checked_from(vault, trusted, checkpoint, memory)?;
    // A tally that does not fit is told; the rows are then counted only.
    checks::unlock(vault, keyring, &mut verdict);
    checks::rows(vault, &mut verdict);
    if let Some(head) = head {
        head.check(vault, &mut verdict)?;
    }
    Ok(verdict)
}

/// Checks the ledger of an open vault, its model and its plan: from a checkpoint on, or whole.
pub(crate) fn checked_from(
    vault: &Vault,
    trusted: Option<&[u8; 32]>,
    checkpoint: Option<u64>,
    memory: Option<MemoryBudget>,
) -> Result<Verdict> {
    let genesis = vault.genesis()?;
    let mut verdict = Verdict::default();
    let mut walk = Walk::new(&genesis, trusted);
    let checkpoint = match checkpoint {
        Some(index) if walk.start(vault, &genesis, index, &mut verdict)? => Some(index),
        _ => None,
    };
    let mut entries = 0;
    vault.scan_ledger(checkpoint.unwrap_or(0), |entry| -> Result<()> {
        walk.entry(&entry, &mut verdict);
        entries = entry.index + 1;
        Ok(())
    })?;
    let reason = match checkpoint {
        Some(index) => format!(
            "entry 0, and {index} to {} of {entries} were verified; those between are covered by \
             the signed checkpoint {index} (`§efface ledger verify --all` verifies them too)",
            entries.saturating_sub(1)
        ),
        None => format!("every entry was verified ({entries})"),
    };
    holds(reason).tell("extent", &mut verdict);
    walk.clock(&mut verdict);
    key(&genesis, trusted).tell("key", &mut verdict);
    let Some(certificate) = walk.latest else {
        fails("the ledger has no certificate").tell("ledger", &mut verdict);
        return Ok(verdict);
    };
    let withdrawn = walk.withdrawn.is_some();
    let model = if withdrawn { no_model(vault)? } else { newest(vault, &certificate)? };
    model.tell("model", &mut verdict);
    let plan = Plan::read(&genesis.config_json)
        .and_then(|plan| Ok(plan.is_that_of(&certificate)?.then_some(plan)));
    match plan {
        Ok(Some(plan)) => {
            holds("the vault's plan is the certified one").tell("plan", &mut verdict);
            if !withdrawn {
                sums::check(vault, &plan, memory, &mut verdict)?;
            }
        }
        Ok(None) => fails("the vault's plan is not the one its certificates were made under")
            .tell("plan", &mut verdict),
        Err(error) => fails(error.message()).tell("plan", &mut verdict),
    }
    Ok(verdict)
}

fn key(genesis: &Genesis, trusted: Option<&[u8; 32]>) -> Finding {
    let vault = key_id(&genesis.public_key);
    match trusted {
        Some(key) if *key == genesis.public_key => holds("the vault's key is the trusted one"),
        Some(key) => fails(format!("the vault's key is {vault}, not the trusted {}", key_id(key))),
        None => {
            undecided(format!("the vault's key is {vault}; give the key you trust to check this"))
        }
    }
}

struct Walk<'a> {
    previous: String,
    next: u64,
    key: [u8; 32],
    latest: Option<Certificate>,
    /// Records erased since the model was withdrawn, as far as they are stated; none if it is not.
    withdrawn: Option<u64>,
    /// What the entries so far add up to.
    tally: Tally,
    /// Entries with a time before that of an earlier one.
    backwards: Vec<u64>,
    vault: &'a str,
    trusted: Option<&'a [u8; 32]>,
}

/// What is wrong with an entry, in words.
type Fault = String;

impl<'a> Walk<'a> {
    fn new(genesis: &'a Genesis, trusted: Option<&'a [u8; 32]>) -> Self {
        Self {
            previous: GENESIS.to_owned(),
            next: 0,
            key: genesis.public_key,
            latest: None,
            withdrawn: None,
            tally: Tally::default(),
            backwards: Vec::new(),
            vault: &genesis.vault_id,
            trusted,
        }
    }

    /// Goes on from the checkpoint at `index`, once the first entry and the certificate that was the
    /// newest then are verified. Says no if the checkpoint itself does not hold.
    fn start(
        &mut self,
        vault: &Vault,
        genesis: &'a Genesis,
        index: u64,
        verdict: &mut Verdict,
    ) -> Result<bool> {
        let fault = |index: u64, reason: &str, verdict: &mut Verdict| {
            fails(reason).tell(&format!("entry {index}"), verdict);
            Ok(false)
        };
        let Signed { tally, previous, .. } = match Tally::checkpoint(vault, index, &self.key) {
            Ok(found) => found,
            Err(error) => return fault(index, error.message(), verdict),
        };
        let Some(newest) = tally.certificate.clone() else {
            return fault(index, "it names no certificate", verdict);
        };
        let mut single = |index: u64| -> Result<Option<Certificate>> {
            let mut walk = Walk::new(genesis, self.trusted);
            let found = vault.ledger_entry(index, |entry| {
                let document: Value = serde_json::from_str(entry.json).unwrap_or_default();
                walk.previous = text(&document, "/chain/previous").to_owned();
                walk.next = index;
                walk.entry(&entry, verdict);
            })?;
            if found.is_none() {
                fault(index, "it is missing", verdict)?;
            }
            Ok(walk.latest)
        };
        let first = single(0)?;
        self.latest = if newest.index == 0 { first.clone() } else { single(newest.index)? };
        if self.latest.as_ref().is_none_or(|latest| latest.chain.hash != newest.hash) {
            fault(index, "it names the wrong certificate as the newest before it", verdict)?;
        }
        if let (Some(first), Some(latest)) = (&first, &self.latest)
            && !same_constants(latest, first)
        {
            fault(newest.index, OTHER_CONSTANTS, verdict)?;
        }
        self.withdrawn = tally.withdrawn;
        (self.tally, self.previous, self.next) = (tally, previous, index);
        Ok(true)
    }

    fn entry(&mut self, entry: &LedgerEntry<'_>, verdict: &mut Verdict) {
        let found = self.check(entry).map_or_else(fails, holds);
        self.next = entry.index + 1;
        found.tell(&format!("entry {}", entry.index), verdict);
    }

    fn check(&mut self, entry: &LedgerEntry<'_>) -> std::result::Result<String, Fault> {
        let LedgerEntry { index, kind, json, hash: stored, .. } = *entry;
        let document: Value =
            serde_json::from_str(json).map_err(|error| format!("not JSON: {error}"))?;
        let hash = document_hash(&document).map_err(|error| error.to_string())?;
        let previous = std::mem::replace(&mut self.previous, hash.clone());
        if index != self.next {
            return Err(format!("entry {} is missing before it", self.next));
        }
        let stated = document.pointer("/chain/index").and_then(Value::as_u64);
        ensure(stated == Some(index), "it states another index")?;
        let whole = text(&document, "/chain/hash") == hash && hex::encode(stored) == hash;
        ensure(whole, "its body was changed: the hash does not match")?;
        let follows = text(&document, "/chain/previous") == previous;
        ensure(follows, "it does not follow the entry before it")?;
        let signed = signature_holds(&self.key, &hash, text(&document, "/signature/value"));
        ensure(signed, "it is not signed by the vault's key")?;
        let schema = text(&document, "/schema");
        if kind_of(&document) != Some(kind) {
            return Err(match Certificate::parse(json) {
                Err(error @ ParseError::Earlier(_)) => error.to_string(),
                _ => format!("it is stored as `{kind}`, which it is not"),
            });
        }
        if kind != CHECKPOINT && time(&document) < self.tally.latest.as_str() {
            self.backwards.push(index);
        }
        let before = self.tally.clone();
        self.tally.add(kind, &document);
        match kind {
            CERTIFICATE => self.certificate(json, text(&document, "/request/kind")),
            CHECKPOINT if Tally::stated(&document).as_ref() == Some(&before) => {
                Ok("checkpoint, chained, signed, adds up".into())
            }
            CHECKPOINT => Err("it does not agree with the entries before it".into()),
            ERASURE => {
                self.erases(json)?;
                Ok("erase, chained and signed; no model is published from here on".to_owned())
            }
            _ if self.withdrawn.is_some() => Err("it exports a model that is withdrawn".into()),
            _ => Ok(format!("{schema}, chained and signed")),
        }
    }

    fn certificate(&mut self, json: &str, kind: &str) -> std::result::Result<String, Fault> {
        let alone = verify_alone(json, Some(self.trusted.unwrap_or(&self.key)))
            .map_err(|error| error.to_string())?;
        let parsed = Certificate::parse(json).map_err(|error| error.to_string())?;
        self.follows(&parsed)?;
        self.latest = Some(parsed);
        self.withdrawn = None;
        let said = |check: &Check| format!("{}: {}", check.name, check.reason);
        let failed: Vec<String> = failed(&alone).map(said).collect();
        if failed.is_empty() {
            Ok(format!("{kind}, chained, signed, all claims recomputed"))
        } else {
            Err(failed.join("; "))
        }
    }

    /// An erasure must follow the model that it withdraws.
    fn erases(&mut self, text: &str) -> std::result::Result<(), String> {
        let erasure = Erasure::parse(text).map_err(|error| error.to_string())?;
        let verdict = Erasure::verify(text, Some(&self.key)).map_err(|error| error.to_string())?;
        let failed = verdict.checks.iter().find(|check| check.outcome != CheckOutcome::Holds);
        if let Some(check) = failed {
            return Err(format!("{}: {}", check.name, check.reason));
        }
        ensure(erasure.vault == self.vault, "it is of another vault")?;
        let before = self.latest.as_ref().ok_or("there was no model to withdraw")?;
        let when = if self.withdrawn.is_some() { When::Before } else { When::Now };
        let withdrawn = Withdrawn { version: before.model.version, withdrawn: when };
        let is_previous =
            erasure.model == withdrawn && erasure.not_for_release == before.not_for_release;
        ensure(is_previous, "the model it withdraws is not the previous one")?;
        self.withdrawn = Some(self.withdrawn.unwrap_or(0).saturating_add(erasure.gone()));
        Ok(())
    }

    /// Names the entries whose time is before that of an earlier one.
    fn clock(&self, verdict: &mut Verdict) {
        if self.backwards.is_empty() {
            return;
        }
        let reason = format!(
            "these entries have a time before that of an earlier entry: {}; a clock was wrong or \
             was set back",
            ranges(&self.backwards)
        );
        verdict.push("clock", CheckOutcome::Notice, reason);
    }

    /// What must stay the same, or go on, from one certificate to the next.
    fn follows(&self, certificate: &Certificate) -> std::result::Result<(), Fault> {
        ensure(certificate.vault == self.vault, "it is of another vault")?;
        let made = self.tally.since_refresh;
        let joint = certificate.event.joint_releases();
        if certificate.event.state() == State::Secret && made > joint {
            return Err(format!(
                "it is release {made} since the last refresh, and only {joint} are covered"
            ));
        }
        let Some(before) = &self.latest else { return Ok(()) };
        let there = match self.withdrawn {
            None => Some(before.model.digest_after.as_str()),
            Some(_) => None,
        };
        let next = certificate.model.version == before.model.version + 1
            && certificate.model.digest_before.as_deref() == there;
        ensure(next, "its model version does not follow the previous one")?;
        ensure(same_constants(certificate, before), OTHER_CONSTANTS)?;
        let same_kind = same_kind(&certificate.event, &before.event);
        ensure(same_kind, "its event is of another kind than the previous one")?;
        if let (Event::Composed(now), Event::Composed(then)) = (&certificate.event, &before.event) {
            let same = now.given == then.given;
            ensure(same, "what was given is not what the previous one built on")?;
            let (request, erased) = (&certificate.request, self.withdrawn);
            let goes_on = removed_goes_on(request, erased, now.removed, then.removed);
            ensure(goes_on, "its count of deleted records does not continue the previous one")?;
        }
        let refreshed = certificate.request.kind == RequestKind::Refresh;
        match (certificate.event.core(), before.event.core()) {
            (Event::NoisyGd(now), Event::NoisyGd(then)) => {
                let replaced = replaced_goes_on(now.replaced.as_deref(), then.replaced.as_deref());
                ensure(replaced, "its `replaced` does not continue the previous one")?;
                let batches = changed_goes_on(now.batches.as_ref(), then.batches.as_ref());
                ensure(batches, "its `batches` do not continue the previous ones")?;
                go_on(&now.phases, &then.phases)
            }
            (Event::Descent(_), Event::Descent(_)) if refreshed => Ok(()),
            (Event::Descent(now), Event::Descent(then)) if now.updates <= then.updates => {
                Err("its updates do not continue the previous ones".into())
            }
            (Event::Descent(now), Event::Descent(then)) => go_on(&now.phases, &then.phases),
            (Event::DpSgd(now), Event::DpSgd(then)) => {
                network::goes_on(&certificate.request, now, then)
            }
            _ => Ok(()),
        }
    }
}

/// Whether both are of one mechanism, on top of something given or not.
fn same_kind(now: &Event, then: &Event) -> bool {
    discriminant(now) == discriminant(then) && discriminant(now.core()) == discriminant(then.core())
}

/// A text of a document; empty if there is none.
fn text<'v>(document: &'v Value, at: &str) -> &'v str {
    document.pointer(at).and_then(Value::as_str).unwrap_or("")
}

/// Ascending numbers, neighbours joined: `3, 5 to 9`.
fn ranges(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let shown = runs.filter_map(|run| match (run.first()?, run.last()?) {
        (first, last) if first == last => Some(first.to_string()),
        (first, last) => Some(format!("{first} to {last}")),
    });
    shown.collect::<Vec<_>>().join(", ")
}

const OTHER_CONSTANTS: &str = "its constants differ from those before, which are fixed for the \
    life of a model";

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

/// The same batches, and of what requests changed one number more; if phases were merged, two of the
/// numbers before it became their sum.
fn changed_goes_on(now: Option<&Batches>, then: Option<&Batches>) -> bool {
    let (Some(now), Some(then)) = (now, then) else { return now.is_none() && then.is_none() };
    let same = (now.count, now.size, now.most) == (then.count, then.size, then.most);
    let goes_on = match (now.changed.as_deref(), then.changed.as_deref()) {
        (None, None) => true,
        (Some([earlier @ .., _]), Some(then)) if earlier.len() == then.len() => earlier == then,
        // Only long histories are merged, behind their first request.
        (Some([one, two, rest @ .., _]), Some([first, second, third, others @ ..])) => {
            let long = others.len() + 4 >= MOST_PHASES;
            let merged = second.saturating_add(*third);
            long && one == first && *two == merged && rest == others
        }
        _ => false,
    };
    same && goes_on
}

/// All phases but the last must be those before.
fn go_on(now: &[Phase], then: &[Phase]) -> std::result::Result<(), String> {
    let steps = |phases: &[Phase]| phases.iter().map(|p| u128::from(p.steps)).sum::<u128>();
    let earlier = now.split_last().map_or(&[][..], |(_, earlier)| earlier);
    // Phases are merged if there are too many, else each stays what it was.
    let unmerged = earlier.len() == then.len();
    let each = earlier.iter().zip(then).all(|(now, then)| now.steps == then.steps);
    let goes_on = steps(earlier) == steps(then) && (each || !unmerged);
    ensure(goes_on, "its phases do not continue the previous ones")
}

/// After an erasure the vault has neither a model nor anything kept beside one.
fn no_model(vault: &Vault) -> Result<Finding> {
    Ok(match vault.model()?.is_none() && !vault.keeps_caches()? {
        true => holds("the model is withdrawn, and the vault has none"),
        false => fails("the model is withdrawn, and the vault has one, or kept state"),
    })
}

/// The vault's weights must be those of the newest certificate.
fn newest(vault: &Vault, certificate: &Certificate) -> Result<Finding> {
    Ok(match vault.model()?.is_some_and(|model| certifies(certificate, &model)) {
        true => holds("the vault's weights are the certified ones"),
        false => fails("the vault's weights are not those of the newest certificate"),
    })
}

#[cfg(test)]
mod tests;
