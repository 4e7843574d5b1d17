//! Refresh: a fresh start without kept state, or of a model that an erasure withdrew.

use std::path::Path;

use efface_privacy::certificate::RequestKind;
use efface_privacy::event::State;
use efface_vault::{Transaction, Vault};

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::mechanism::{by_name, how_to_go_on};
use crate::outcome::Served;
use crate::outcome::notice::loud;
use crate::requests::serve::RowChange;
use crate::requests::verb::{Resolution, Verb, serve_request};
use crate::store::Current;

/// Restarts from the published model without anything kept, and publishes again; starts from zeros if an
/// erasure withdrew the model. A network is trained again.
///
/// # Errors
/// Fails in `perfect` state if publishing again would give the same release and the model was not withdrawn;
/// also if the accounting of a withdrawn model cannot continue.
pub fn refresh(path: &Path, request_id: Option<&str>, context: &mut Context<'_>) -> Result<Served> {
    serve_request(path, Refresh, request_id, context)
}

struct Refresh;

impl Verb for Refresh {
    type Resolved = ();

    fn kind(&self) -> RequestKind {
        RequestKind::Refresh
    }

    fn purpose(&self) -> &'static str {
        "efface refresh"
    }

    fn read<'a>(
        &'a mut self,
        _: &'a Current,
        _: &mut Context<'_>,
    ) -> Result<(String, Vec<&'a str>)> {
        Ok((String::new(), Vec::new()))
    }

    fn resolve(&self, _: &Vault, current: &Current, _: &mut Context<'_>) -> Result<Resolution<()>> {
        let plan = &current.plan;
        if current.is_withdrawn() {
            current.check_can_restart()?;
        } else if plan.state == State::Perfect && !by_name(plan.mechanism).profile().refreshes {
            let hint = if plan.most_deletions().is_some() {
                how_to_go_on(plan)
            } else {
                "the published model is already the latest release; export it again"
            };
            return Err(Error::refused(
                Code::NothingToRefresh,
                "a model in `perfect` state has no kept state for a refresh to drop",
            )
            .hint(hint));
        }
        Ok(Resolution::Apply(()))
    }

    fn apply(
        &mut self,
        (): (),
        _: &mut Transaction<'_>,
        current: &Current,
        _: &mut Context<'_>,
    ) -> Result<RowChange> {
        let notices = loud(&current.plan).into_iter().collect();
        Ok(RowChange { notices, ..RowChange::default() })
    }
}
