//! Whether a vault is as its last request left it: rows, requests, kept state, and the file itself.

use std::collections::BTreeMap;
use std::path::Path;

use efface_page::number::counted;
use efface_privacy::certificate::{Certificate, CheckOutcome, Erasure, RequestKind, Verdict};
use efface_vault::{Keyring, LedgerEntry, OpenError, StoreFault, Vault};

use crate::checks::verify_ledger::checked_from;
use crate::checks::{Finding, failed, fails, holds, rows, undecided, unlock};
use crate::error::{Error, Result, Stopped};
use crate::outcome::notice::left_over;
use crate::plan::Plan;
use crate::rows::bytes::released;
use crate::store::ledger::{CERTIFICATE, ERASURE};
use crate::store::{kept, open_for_reading, prepared};

/// Examines everything in a vault and changes nothing: the file's structure and its unused bytes,
/// every row against its checksum, the tally, the indexes against the rows, requests and hashes of
/// deleted ids against the ledger, the ledger itself, the model and the kept state. Without keys,
/// what needs them is undecided. Time is linear in the file's size.
///
/// # Errors
/// A file that is no vault or cannot be read. A vault that is damaged gives a verdict that fails.
pub fn doctor(path: &Path, keyring: Option<&Keyring>) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let mut vault = match open_for_reading(path) {
        Ok(vault) => vault,
        Err(error) if damaged_at_once(path) => {
            fails(error.message()).tell("file", &mut verdict);
            return Ok(verdict);
        }
        Err(error) => return Err(error),
    };
    file(&mut vault, &mut verdict);
    if let Some(left) = left_over(&vault) {
        verdict.push("left over", CheckOutcome::Notice, left.message);
    }
    let keyed = unlock(&mut vault, keyring, &mut verdict);
    if keyed.is_none() {
        undecided(
            "the key file is missing: the rows were counted but not compared with their checksums; \
             give it with `§key`",
        )
        .tell("key", &mut verdict);
    }
    rows(&vault, &mut verdict);
    let otherwise = |error: Error| fails(error.message());
    notes(&vault).unwrap_or_else(otherwise).tell("requests", &mut verdict);
    state(&vault).unwrap_or_else(otherwise).tell("state", &mut verdict);
    match checked_from(&vault, None, None, None) {
        Ok(checks) if failed(&checks).next().is_some() => {
            verdict.checks.extend(failed(&checks).cloned());
        }
        Ok(_) => holds(
            "every entry follows the one before it, is signed, and its claims were recomputed; the \
             newest certifies the weights and the plan",
        )
        .tell("ledger", &mut verdict),
        Err(error) => otherwise(error).tell("ledger", &mut verdict),
    }
    Ok(verdict)
}

/// Whether a file that could not be opened is a damaged vault, and not something else.
fn damaged_at_once(path: &Path) -> bool {
    matches!(
        Vault::open_read_only(path),
        Err(OpenError::Store(StoreFault::Damaged(_) | StoreFault::Rows(_)))
    )
}

/// The structure of the file.
fn file(vault: &mut Vault, verdict: &mut Verdict) {
    match vault.examine() {
        Ok(found) if found.complaints.is_empty() && found.residue == 0 => {
            holds(format!(
                "{} pages, each in its place; indexes and tables agree; unused bytes are zero",
                found.pages
            ))
            .tell("file", verdict);
        }
        Ok(found) => {
            for complaint in found.complaints.iter().take(3) {
                // SQLite names rows by number: nothing of their contents.
                fails(complaint).tell("file", verdict);
            }
            if found.residue > 0 {
                fails(format!(
                    "{} bytes that nothing uses are not zero, and may be traces of deleted records",
                    found.residue
                ))
                .tell("unused bytes", verdict);
            }
        }
        // With what to do about it.
        Err(error) => fails(Error::from(error).to_string()).tell("file", verdict),
    }
}

/// What an entry of the ledger says of the request it answered; nothing for other entries.
struct Answer {
    /// As the request is stored.
    kind: RequestKind,
    version: u64,
    received_at: String,
}

impl Answer {
    fn of(entry: &LedgerEntry<'_>) -> Option<Self> {
        match entry.kind {
            CERTIFICATE => {
                let Certificate { request, model, .. } = Certificate::parse(entry.json).ok()?;
                Some(Self {
                    kind: request.kind,
                    version: model.version,
                    received_at: request.received_at,
                })
            }
            ERASURE => {
                let Erasure { model, at, .. } = Erasure::parse(entry.json).ok()?;
                Some(Self { kind: RequestKind::Delete, version: model.version, received_at: at })
            }
            _ => None,
        }
    }
}

/// Requests and hashes of deleted ids lead to certificates, requests to their own.
fn notes(vault: &Vault) -> Result<Finding> {
    let mut answers: BTreeMap<u64, Answer> = BTreeMap::new();
    vault
        .scan_ledger(0, |entry| -> std::result::Result<(), Stopped> {
            answers.extend(Answer::of(&entry).map(|answer| (entry.index, answer)));
            Ok(())
        })
        .map_err(|Stopped(error)| error)?;
    let (mut requests, mut wrong) = (0u64, 0u64);
    vault
        .scan_requests(|request| -> std::result::Result<(), Stopped> {
            let answer = answers.get(&request.entry_index);
            // A deletion of what was deleted before leads to the certificate of that; an erasure
            // leads to no version.
            let fits = answer.is_some_and(|answer| {
                answer.kind.name() == request.kind
                    && request.version.is_none_or(|own| own >= answer.version)
            });
            requests += 1;
            wrong += u64::from(!fits);
            Ok(())
        })
        .map_err(|Stopped(error)| error)?;
    let mut hashes = 0u64;
    vault
        .scan_tombstones(|_, entry| -> std::result::Result<(), Stopped> {
            hashes += 1;
            wrong += u64::from(!answers.contains_key(&entry));
            Ok(())
        })
        .map_err(|Stopped(error)| error)?;
    let made = answers.values().next().map(|answer| answer.received_at.as_str());
    wrong += u64::from(made != Some(vault.genesis()?.created_at.as_str()));
    Ok(match wrong {
        0 => holds(format!(
            "{} and {} of deleted ids fit the ledger",
            counted(requests, "request"),
            counted(hashes, "hash")
        )),
        wrong => fails(format!("{wrong} of them do not fit the ledger")),
    })
}

/// What is kept beside the model is there exactly if the plan says so, and reads.
fn state(vault: &Vault) -> Result<Finding> {
    let plan = Plan::read(&vault.genesis()?.config_json)?;
    if plan.prepares() {
        return hessian(vault, plan);
    }
    let stored = vault.caches()?.is_some();
    let withdrawn = vault.model()?.is_none();
    let read = kept(vault, &plan)?.is_some();
    // If the model is withdrawn, so is what was kept beside it.
    Ok(match (plan.keeps_state() && !withdrawn, stored) {
        (true, true) if read => holds("the kept state is as it was stored"),
        (false, false) => holds(NO_STATE),
        (true, false) => fails("the kept state is missing"),
        (_, true) => fails(NEEDLESS_STATE),
    })
}

const NO_STATE: &str = "no kept state, as expected";
const NEEDLESS_STATE: &str = "there is kept state, but this model should have none";

/// A Hessian may be kept beside a published model, and is then one of its size and version.
fn hessian(vault: &Vault, plan: Plan) -> Result<Finding> {
    Ok(match (vault.model()?, vault.caches()?) {
        (_, None) => holds(NO_STATE),
        (None, Some(_)) => fails(NEEDLESS_STATE),
        (Some(model), Some(bytes)) => {
            let (plan, weights) = released(&model.weights, plan)?;
            prepared(vault, &plan, model.version, weights.len())?;
            holds(format!(
                "a Hessian of {} weights is kept for the next request ({} bytes, as stored)",
                weights.len(),
                bytes.len()
            ))
        }
    })
}
