//! The published model of a vault, for use in the process that asks.

use std::path::Path;

use efface_vault::Vault;

use crate::error::Result;
use crate::plan::Plan;
use crate::store::{Current, open_for_reading};
use crate::weights::{Weights, described};

/// The weights, to predict with in this process.
///
/// The ledger notes nothing: [`export`](crate::export()) is for copies that leave.
///
/// # Errors
/// A vault that cannot be read.
pub fn weights(path: &Path) -> Result<Weights> {
    let vault = open_for_reading(path)?;
    let current = Current::of(&vault)?;
    published(&vault, &current)
}

/// Gives the [`weights`] of an open vault.
pub(crate) fn published(vault: &Vault, current: &Current) -> Result<Weights> {
    let vault_id = &current.genesis.vault_id;
    described(
        &current.plan,
        vault_id,
        current.version,
        current.published()?,
        vault.checked_count()?,
    )
}

/// The plan of a model: everything that was fixed when it was first trained.
///
/// # Errors
/// A vault that cannot be read.
pub fn plan(path: &Path) -> Result<Plan> {
    Ok(Current::of(&open_for_reading(path)?)?.plan)
}
