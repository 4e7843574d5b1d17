//! `ridge` in the engine: from kept sums and changed rows to a release.

use std::ops::ControlFlow;

use efface_learn::Constants;
use efface_learn::mechanism::{Kept, Released, RidgeError, RidgePlan, ridge};
use efface_privacy::event::Event;

use super::{Request, Start};
use crate::context::{Progress, Watch};
use crate::encode::weight_bytes;
use crate::error::{Error, Result};
use crate::rows::Rows;

/// Learns, or serves a request from the kept sums and the rows that it changes.
pub(crate) fn run(
    constants: Constants,
    rows: &Rows<'_>,
    start: &Start<'_>,
    releases: u64,
    tell: &mut Watch<'_>,
) -> Result<Released> {
    let plan = RidgePlan::new(constants).map_err(refused)?;
    let watch = &mut |rows| -> ControlFlow<()> { tell(&Progress::Reading { rows }) };
    match start {
        Start::Nothing => ridge::learn(&plan, rows.data()?, watch)
            .map(|learnt| Released { event: Event::ExactRemoval(plan.event(releases)), ..learnt }),
        Start::Given(_) => {
            return Err(Error::refused("ridge", "`ridge` takes no start"));
        }
        Start::Request(request) => {
            let kept = kept_sums(&plan, request)?;
            let (removed, added) = (&request.removed.data, &request.added.data);
            ridge::request(&plan, kept, removed, added, releases, watch)
        }
    }
    .map_err(refused)
}

/// The event of the first training, which states public constants alone.
pub(crate) fn first_event(constants: Constants) -> Result<Event> {
    let plan = RidgePlan::new(constants).map_err(refused)?;
    Ok(Event::ExactRemoval(plan.event(1)))
}

/// The kept sums, once they are seen to give the published weights: those are signed, sums are not.
fn kept_sums<'a>(plan: &RidgePlan, request: &Request<'a>) -> Result<&'a Kept> {
    let damaged = |what: &str| {
        Error::storage("damaged", format!("the vault's kept sums {what}"))
            .hint("restore the vault from a backup")
    };
    let kept = request.kept.ok_or_else(|| damaged("are missing"))?;
    let sums = plan.read(kept).map_err(|error| damaged(&format!("cannot be read: {error}")))?;
    let weights = plan.weights(&sums).map_err(refused)?;
    if weight_bytes(&weights) != weight_bytes(request.weights) {
        return Err(damaged("do not give the certified weights"));
    }
    Ok(kept)
}

pub(crate) fn refused(error: RidgeError) -> Error {
    match error {
        RidgeError::Cancelled => Error::interrupted(),
        RidgeError::Kept(_) | RidgeError::Foreign(_) | RidgeError::TooMany { .. } => {
            Error::storage("damaged", error.to_string()).hint("restore the vault from a backup")
        }
        other => Error::refused("ridge", other.to_string()),
    }
}
