//! A fresh start of what is kept, and of a model that an erasure withdrew.

use std::path::Path;

use efface_privacy::certificate::RequestKind;
use efface_privacy::event::State;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::mechanism::{by_name, how_to_go_on};
use crate::outcome::Served;
use crate::outcome::notice::loud;
use crate::requests::serve::{RowChange, name_request, serve, served_before};
use crate::store::open_to_serve;

/// Restarts from the published model without anything kept, and publishes afresh; where the model was
/// withdrawn by an erasure, from zeros. A network is trained anew.
///
/// # Errors
/// In `perfect` state, where publishing the same state again returns the same release, unless the
/// model was withdrawn; for a withdrawn model whose accounting cannot go on.
pub fn refresh(path: &Path, request_id: Option<&str>, context: &mut Context<'_>) -> Result<Served> {
    refreshed(path, request_id, context).map_err(|error| error.of_vault(path))
}

fn refreshed(path: &Path, request_id: Option<&str>, context: &mut Context<'_>) -> Result<Served> {
    let (mut vault, current) = open_to_serve(path, "efface refresh", context)?;
    let named = name_request(
        request_id,
        RequestKind::Refresh,
        &current.genesis.vault_id,
        "",
        &[],
        context,
    )?;
    if let Some(served) = served_before(&vault, &current, &named, RequestKind::Refresh)? {
        return Ok(served);
    }
    if current.is_withdrawn() {
        current.check_can_start_anew()?;
    } else if current.plan.state == State::Perfect
        && !by_name(current.plan.mechanism).profile().refreshes
    {
        let hint = if current.plan.most_deletions().is_some() {
            how_to_go_on(&current.plan)
        } else {
            "the published model is already the latest release; export it again"
        };
        return Err(Error::refused(
            Code::NothingToRefresh,
            "a model in `perfect` state has no kept state for a refresh to drop",
        )
        .hint(hint));
    }
    let notices = loud(&current.plan).into_iter().collect();
    let effect =
        RowChange { notices, ..RowChange::of(RequestKind::Refresh, named, 0, &current.plan)? };
    serve(vault.begin()?, &current, effect, context)
}
