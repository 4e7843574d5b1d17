//! Checks of a vault that `efface ledger verify` and `efface doctor` share: its keys and its rows.

pub(crate) mod audit_sample;
pub(crate) mod exact_copy;
pub(crate) mod examine;
mod rehearsal;
pub(crate) mod simulation;
pub(crate) mod sums;
pub(crate) mod verify;
pub(crate) mod verify_ledger;

use efface_page::number::counted;
use efface_privacy::certificate::{Certificate, Check, CheckOutcome, Constant, Origin, Verdict};
use efface_privacy::event::Refitted;
use efface_vault::{Keyring, ReadError, UnlockError, Vault};

use crate::error::Result;
use crate::store::ledger::Tally;

/// The outcome of a check, and its reason.
pub(crate) struct Finding(CheckOutcome, String);

pub(crate) fn holds(reason: impl Into<String>) -> Finding {
    Finding(CheckOutcome::Holds, reason.into())
}

pub(crate) fn fails(reason: impl Into<String>) -> Finding {
    Finding(CheckOutcome::Fails, reason.into())
}

pub(crate) fn undecided(reason: impl Into<String>) -> Finding {
    Finding(CheckOutcome::Undecided, reason.into())
}

impl Finding {
    /// Adds it to a verdict under the name of the check.
    pub(crate) fn tell(self, name: &str, verdict: &mut Verdict) {
        verdict.push(name, self.0, self.1);
    }
}

/// The checks of a verdict that failed.
pub(crate) fn failed(verdict: &Verdict) -> impl Iterator<Item = &Check> {
    verdict.checks.iter().filter(|check| check.outcome == CheckOutcome::Fails)
}

/// Unlocks the vault if the keys are its own, and says whether it did. A tally that does not fit fails.
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
            fails(error.to_string()).tell("key", verdict);
            Some(())
        }
    }
}

/// Checks that there are as many rows as the last request left and the ledger states, and, in an unlocked
/// vault, that each is as it was stored.
pub(crate) fn rows(vault: &Vault, verdict: &mut Verdict) {
    let found = checked_rows(vault).map(|(count, are_read)| match are_read {
        true => holds(format!("{}, each as it was stored", counted(count, "row"))),
        false => holds(format!(
            "{}, as many as certified; contents are checked with the key file",
            counted(count, "row")
        )),
    });
    found.unwrap_or_else(|error| fails(error.to_string())).tell("rows", verdict);
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

/// Constants that follow from the number of records and of classes, if preprocessing is fitted.
const FOLLOW: &str = "loss lambda min-frequency delta lipschitz smoothness parameters distance noise \
                      target-bound target-grid plan";

/// Whether two certificates of a model state the same constants; if preprocessing is fitted, but for
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
        let moves = now.origin != Origin::User && FOLLOW.split(' ').any(|name| name == now.name);
        now.name == then.name && now.origin == then.origin && (moves || now.value == then.value)
    };
    one.constants.len() == other.constants.len()
        && one.constants.iter().zip(&other.constants).all(same)
        && (now.group, now.normalizer) == (then.group, then.normalizer)
}

/// How preprocessing was fitted again for a release; none if it was not.
pub(crate) fn refitted(certificate: &Certificate) -> Option<Refitted> {
    certificate.event.preprocessing()
}
