//! The first requests of a model, gone through before it exists.

use efface_learn::mechanism::Change;
use efface_page::number::counted;
use efface_privacy::certificate::RequestKind;
use efface_privacy::claim::Claim;
use efface_privacy::event::Event;

use super::Inputs;
use crate::error::{Code, Error, Result};
use crate::mechanism::{NextRequest, claims, first_event, planned_event, steps_of, within_target};
use crate::plan::Plan;

/// Requests that are gone through one by one.
pub(crate) const MOST_TRIED: usize = 100;

/// The first requests, as far as they go.
pub(crate) struct Trial {
    /// Steps of each; 0 for mechanisms without.
    pub(crate) steps: Vec<u64>,
    /// True when the next one would miss the target.
    pub(crate) ended: bool,
    /// Claims of the first.
    pub(crate) claims: Vec<Claim>,
    /// Records that are left after them.
    pub(crate) left: u64,
}

/// Goes through `count` deletions of records that were there from the start. Only public counts
/// enter, as they do when the engine finds the steps of a request.
pub(crate) fn requests(plan: &Plan, inputs: &Inputs<'_>, count: usize) -> Result<Trial> {
    let mut records = inputs.facts.records;
    let mut event = first_event(plan, size(records)?)?;
    let mut trial = Trial { steps: Vec::new(), ended: false, claims: Vec::new(), left: records };
    let groups = &inputs.workload.groups;
    for &group in groups.iter().cycle().take(count.min(MOST_TRIED)) {
        let Some(left) = records.checked_sub(group) else {
            if trial.steps.is_empty() {
                return Err(Error::input(
                    Code::Group,
                    format!(
                        "a request of {} exceeds all {}",
                        counted(group, "record"),
                        counted(records, "record")
                    ),
                ));
            }
            break;
        };
        match served(plan, &event, group, size(left)?) {
            Ok((steps, next, claims)) => {
                if trial.steps.is_empty() {
                    trial.claims = claims;
                }
                trial.steps.push(steps);
                event = next;
                records = left;
                trial.left = left;
            }
            // The first request must be possible; a later one may end what the model can serve.
            Err(error) if trial.steps.is_empty() => return Err(error),
            Err(_) => {
                trial.ended = true;
                break;
            }
        }
    }
    Ok(trial)
}

/// One deletion of `group` records after which `left` remain: its steps, event and claims.
fn served(plan: &Plan, event: &Event, group: u64, left: usize) -> Result<(u64, Event, Vec<Claim>)> {
    let since = vec![0; group as usize];
    let change = Change { deleted_since: &since, added: 0 };
    let request = NextRequest { plan, change, records: left };
    let steps = request.removal_steps(event)?;
    let next = planned_event(event, &request, steps)?;
    let claims = claims(plan, &next, RequestKind::Delete, group)?;
    within_target(plan, &claims)?;
    Ok((steps_of(&next).unwrap_or(0), next, claims))
}

pub(crate) fn size(records: u64) -> Result<usize> {
    usize::try_from(records)
        .map_err(|_| Error::input(Code::Range, "`n` is too large for this machine"))
}
