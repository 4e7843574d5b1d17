//! Checks of a vault that `efface ledger verify` and `efface doctor` share: its keys and its rows.

pub(crate) mod audit_sample;
pub(crate) mod exact_copy;
pub(crate) mod examine;
pub(crate) mod simulation;
pub(crate) mod sums;
pub(crate) mod verify;
pub(crate) mod verify_ledger;

use efface_page::number::counted;
use efface_privacy::certificate::{Certificate, CheckOutcome, Constant, Origin, Verdict};
use efface_privacy::event::Refitted;
use efface_vault::{Keyring, ReadError, UnlockError, Vault};

use crate::error::Result;
use crate::store::ledger::Tally;

/// Unlocks the vault where the keys are its own; whether it did. A tally that does not fit fails.
pub(crate) fn unlock(
    vault: &mut Vault,
    keyring: Option<&Keyring>,
    verdict: &mut Verdict,
) -> Option<()> {
    match vault.unlock(keyring?) {
        Ok(()) => Some(()),
        // Whoever checks another's vault has other keys, or none.
        Err(UnlockError::OtherKey) => None,
        Err(error) => {
            verdict.push("key", CheckOutcome::Fails, error.to_string());
            Some(())
        }
    }
}

/// The rows: as many as the last request left and as the ledger has it, and, once the vault is
/// unlocked, each as it was stored.
pub(crate) fn rows(vault: &Vault, verdict: &mut Verdict) {
    let (outcome, reason) = match checked_rows(vault) {
        Ok((count, true)) => {
            (CheckOutcome::Holds, format!("{}, each as it was stored", counted(count, "row")))
        }
        Ok((count, false)) => {
            let how = "as many as certified; contents are checked with the key file";
            (CheckOutcome::Holds, format!("{}, {how}", counted(count, "row")))
        }
        Err(error) => (CheckOutcome::Fails, error.to_string()),
    };
    verdict.push("rows", outcome, reason);
}

/// How many rows there are, and whether the keys were at hand to check each.
fn checked_rows(vault: &Vault) -> Result<(u64, bool)> {
    // A ledger that cannot be added up is named by what checks the ledger.
    let key = vault.genesis()?.public_key;
    let count = match Tally::of(vault, &key) {
        Ok(tally) => tally.count_rows(vault)?,
        Err(_) => vault.checked_count()?,
    };
    match vault.check_rows() {
        Err(ReadError::Locked) => return Ok((count, false)),
        checked => checked?,
    };
    vault.check_notes()?;
    Ok((count, true))
}

/// Constants that follow from the number of records and of classes, where preprocessing is fitted.
const FOLLOW: [&str; 12] = [
    "loss",
    "lambda",
    "min-frequency",
    "delta",
    "lipschitz",
    "smoothness",
    "parameters",
    "distance",
    "noise",
    "target-bound",
    "target-grid",
    "plan",
];

/// Whether two certificates of a model state the same constants; where preprocessing is fitted, but for
/// those that nobody declared and that follow from the number of records.
pub(crate) fn same_constants(one: &Certificate, other: &Certificate) -> bool {
    if one.not_for_release != other.not_for_release {
        return false;
    }
    let (now, then) = (one.event.setting(), other.event.setting());
    if refitted(one).is_none() || refitted(other).is_none() {
        return one.constants == other.constants && now == then;
    }
    let (Some(now), Some(then)) = (now, then) else { return false };
    let same = |(now, then): (&Constant, &Constant)| {
        let moves = now.origin != Origin::User && FOLLOW.contains(&now.name.as_str());
        now.name == then.name && now.origin == then.origin && (moves || now.value == then.value)
    };
    one.constants.len() == other.constants.len()
        && one.constants.iter().zip(&other.constants).all(same)
        && (now.group, now.normalizer) == (then.group, then.normalizer)
}

/// How preprocessing was fitted again for a release, where it was.
pub(crate) fn refitted(certificate: &Certificate) -> Option<Refitted> {
    certificate.event.preprocessing()
}
