//! Prepares a Hessian ahead of the next request.

use std::path::Path;

use efface_learn::mechanism::Prepared;
use efface_vault::Vault;
use zeroize::Zeroizing;

use crate::context::{Context, Progress, Watched};
use crate::error::Result;
use crate::mechanism::{check_prepares, prepare as hessian};
use crate::outcome::Ready;
use crate::requests::serve::begin;
use crate::rows::Access;
use crate::rows::residue::ResidueCheck;
use crate::store::{Current, open_to_serve, prepared_or_held};

/// Keeps the Hessian at the published weights over the current records, for the next request of a `solve`
/// model in `perfect` state, which then needs only a few passes over the data. It is a function of published
/// weights, records and public constants; the request that uses it drops it in the transaction that changes
/// the records. No certificate, claim or ledger entry is made or changed. If it is kept already, nothing is
/// done. If rows stay in memory ([`RowStore::Resident`](crate::RowStore)), it stays there with them, and is
/// not written to the vault.
///
/// # Errors
/// Fails if the model would not use a Hessian, has more than 2048 weights, or was withdrawn; if the vault is
/// in use, the disk is full, or if interrupted.
pub fn prepare(path: &Path, context: &mut Context<'_>) -> Result<Ready> {
    prepare_here(path, context).map_err(|error| error.of_vault(path))
}

fn prepare_here(path: &Path, context: &mut Context<'_>) -> Result<Ready> {
    let (mut vault, current) = open_to_serve(path, "efface prepare", context)?;
    let (plan, version) = (&current.plan, current.version);
    check_prepares(plan)?;
    let weights = &current.published()?.weights;
    let ready = |records: u64, bytes: usize, already: bool| Ready {
        version,
        records,
        weights: weights.len() as u64,
        bytes: bytes as u64,
        already,
    };
    let resident = context.rows.held();
    // A damaged one is made again.
    if let Ok(Some(kept)) = prepared_or_held(&vault, plan, version, weights.len(), resident) {
        let bytes = Zeroizing::new(kept.to_bytes()).len();
        if let Some(resident) = resident {
            resident.keep_prepared(kept);
        }
        return Ok(ready(vault.checked_count()?, bytes, true));
    }
    let (bytes, records) = match resident {
        Some(resident) => {
            // Nothing is written: a transaction would change the file.
            let (prepared, records) = made(&vault, &current, context)?;
            context.rows.end(vault.path(), &current.genesis.vault_id, current.head);
            let bytes = Zeroizing::new(prepared.to_bytes()).len();
            resident.keep_prepared(prepared);
            (bytes, records)
        }
        None => {
            let mut transaction = begin(&mut vault, &current)?;
            let (prepared, records) = made(&transaction, &current, context)?;
            let bytes = Zeroizing::new(prepared.to_bytes());
            transaction.set_caches(Some(&bytes))?;
            transaction.commit_unless(&mut || context.report(Progress::Storing).is_err())?;
            (bytes.len(), records)
        }
    };
    Ok(ready(records as u64, bytes, false))
}

/// Returns what to keep, made over the current records with its numbers as they are stored, and the number of
/// records.
fn made(vault: &Vault, current: &Current, context: &mut Context<'_>) -> Result<(Prepared, usize)> {
    let (plan, nobody) = (&current.plan, ResidueCheck::default());
    let watched = Watched::by(context.watch);
    let on_block = |rows: u64| watched.read(rows);
    let rows = context.rows.open_watched(Access::Reading(vault), plan, &nobody, Some(&on_block))?;
    let weights = &current.published()?.weights;
    let tell = &mut |told: &Progress| watched.tell(told);
    let made = hessian(plan, &*rows, weights, current.version, tell)?;
    rows.check()?;
    Ok((made, rows.count()?))
}
