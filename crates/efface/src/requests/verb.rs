//! The path of every request through a vault: it is named, resolved against the rows, applied to them in one
//! transaction, and released.

use std::path::Path;

use efface_privacy::certificate::RequestKind;
use efface_vault::{Transaction, Vault};

use crate::context::Context;
use crate::error::Result;
use crate::outcome::Served;
use crate::outcome::notice::Notice;
use crate::requests::serve::{Named, RowChange, begin, name_request, replay, serve, served_before};
use crate::store::{Current, open_to_serve};

/// A request that changes a vault.
pub(crate) trait Verb {
    /// What resolving the request against the rows finds, before any of them changes.
    type Resolved;

    fn kind(&self) -> RequestKind;

    /// Returns the command, for messages to other programs that find the vault in use.
    fn purpose(&self) -> &'static str;

    /// Reads the input of the request. Returns what was asked, from which the request's digest is made, and
    /// the ids and subjects that the request's id must not contain.
    fn read<'a>(
        &'a mut self,
        current: &'a Current,
        context: &mut Context<'_>,
    ) -> Result<(String, Vec<&'a str>)>;

    /// Finds the records that the request is about; refuses what cannot be done.
    fn resolve(
        &self,
        vault: &Vault,
        current: &Current,
        context: &mut Context<'_>,
    ) -> Result<Resolution<Self::Resolved>>;

    /// Changes the rows, in the transaction.
    fn apply(
        &mut self,
        resolved: Self::Resolved,
        transaction: &mut Transaction<'_>,
        current: &Current,
        context: &mut Context<'_>,
    ) -> Result<RowChange>;

    /// Ends the request: learns, certifies and commits.
    fn release(
        &self,
        transaction: Transaction<'_>,
        current: &Current,
        named: &Named,
        change: RowChange,
        context: &mut Context<'_>,
    ) -> Result<Served> {
        serve(transaction, current, named, change, context)
    }
}

/// What remains to be done for a request.
pub(crate) enum Resolution<R> {
    /// Apply this to the rows.
    Apply(R),
    /// Nothing: the ledger entry at this index served it before, as the notice says.
    Before(u64, Notice),
}

/// Serves a request in one transaction.
pub(crate) fn serve_request(
    path: &Path,
    verb: impl Verb,
    request_id: Option<&str>,
    context: &mut Context<'_>,
) -> Result<Served> {
    in_vault(path, verb, request_id, context).map_err(|error| error.of_vault(path))
}

fn in_vault(
    path: &Path,
    mut verb: impl Verb,
    request_id: Option<&str>,
    context: &mut Context<'_>,
) -> Result<Served> {
    let (mut vault, current) = open_to_serve(path, verb.purpose(), context)?;
    let kind = verb.kind();
    let (body, private) = verb.read(&current, context)?;
    let vault_id = &current.genesis.vault_id;
    let named = name_request(request_id, kind, vault_id, &body, &private, context)?;
    if let Some(served) = served_before(&vault, &current, &named)? {
        return Ok(served);
    }
    match verb.resolve(&vault, &current, context)? {
        Resolution::Apply(resolved) => {
            let mut transaction = begin(&mut vault, &current)?;
            let change = verb.apply(resolved, &mut transaction, &current, context)?;
            verb.release(transaction, &current, &named, change, context)
        }
        Resolution::Before(index, notice) => {
            let mut served = replay(&vault, &current, index, kind)?;
            let mut transaction = begin(&mut vault, &current)?;
            transaction.insert_request(&named.request(Some(current.version), index))?;
            transaction.commit()?;
            served.notices.push(notice);
            Ok(served)
        }
    }
}
