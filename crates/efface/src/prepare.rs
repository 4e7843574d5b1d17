//! Work done before a request, so that the request finds it done.

use std::path::Path;

use efface_learn::mechanism::Prepared;

use crate::context::{Context, Progress, Watched};
use crate::error::Result;
use crate::leaving::Leaving;
use crate::mechanism::{of, prepare as hessian};
use crate::outcome::Ready;
use crate::rows::Access;
use crate::serve::in_line;
use crate::store::{open_to_serve, prepared};

/// Keeps the Hessian at the published weights over the records there are, for the next request of a `solve`
/// model in `perfect` state, which then needs a few passes over the data. It is a function of published
/// weights, records and public constants; the request that uses it drops it in the transaction that changes
/// the records. No certificate, claim or ledger entry is made or changed. Where it is kept already, nothing
/// is done.
///
/// # Errors
/// A model that would not use it, or has more than 2048 weights; a withdrawn model; a vault in use, a full
/// disk, an interruption.
pub fn prepare(path: &Path, context: &mut Context<'_>) -> Result<Ready> {
    prepare_here(path, context).map_err(|error| error.of_vault(path))
}

fn prepare_here(path: &Path, context: &mut Context<'_>) -> Result<Ready> {
    let (mut vault, current) = open_to_serve(path, "efface prepare", context)?;
    let (plan, version) = (&current.plan, current.version);
    of(plan.mechanism).check_prepares(plan)?;
    let weights = &current.published()?.weights;
    let ready = |records: u64, bytes: usize, already: bool| Ready {
        version,
        records,
        weights: weights.len() as u64,
        bytes: bytes as u64,
        already,
    };
    // One that is damaged is made anew.
    if let Ok(Some(kept)) = prepared(&vault, plan, version, weights.len()) {
        return Ok(ready(vault.checked_count()?, kept.to_bytes().len(), true));
    }
    let mut transaction = vault.begin()?;
    in_line(&transaction, &current)?;
    let (bytes, records) = {
        let nobody = Leaving::default();
        let watched = Watched::by(context.watch);
        let asked = |rows: u64| watched.read(rows);
        let access = Access::Reading(&transaction);
        let rows = context.rows.open_watched(access, plan, &nobody, Some(&asked))?;
        let made = hessian(plan, &*rows, weights, version, &mut |told| watched.tell(told))?;
        rows.check()?;
        (made.to_bytes(), rows.count()?)
    };
    transaction.set_caches(Some(&bytes))?;
    let digest = transaction.caches_digest()?;
    transaction.commit_unless(&mut || context.report(Progress::Storing).is_err())?;
    context.rows.end(vault.path(), &current.genesis.vault_id, current.head);
    if let (Some(resident), Some(digest)) = (context.rows.held(), digest)
        // As it is read again: rounded.
        && let Ok(kept) = Prepared::from_bytes(&bytes)
    {
        resident.keep_prepared(digest, kept);
    }
    Ok(ready(records as u64, bytes.len(), false))
}
