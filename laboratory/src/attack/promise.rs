//! What a mechanism's certificates promise about what an attack sees.

use efface::Result;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::{Claim, Question, Requests, evaluate};
use efface_privacy::event::{Adjacency, Event};

use crate::trial::failed;

/// What deletion-privacy promises of the last release: the least advantage that any of some orders
/// gives. `seen` is how many releases the requester looked at; none: it looked at nothing.
pub(super) fn deletion_privacy(event: Option<&Event>, seen: Option<u64>) -> Result<Claim> {
    let requests = seen.map_or(Requests::NonAdaptive, Requests::PAdaptive);
    let mut best: Option<Claim> = None;
    for order in [1.0001, 1.5, 2.0, 4.0, 16.0] {
        let adjacency = Adjacency::Replace;
        let claim = claim(event, &Question::Deletion { order, adjacency, requests })?;
        if best.as_ref().is_none_or(|b| claim.advantage < b.advantage) {
            best = Some(claim);
        }
    }
    best.ok_or_else(|| failed("no order was tried"))
}

/// The claim of the event that a game saw, by the tight accountant.
pub(super) fn claim(event: Option<&Event>, question: &Question) -> Result<Claim> {
    let event = event.ok_or_else(|| failed("no trials"))?;
    evaluate(event, question, Accountant::Gdp).map_err(failed)
}
