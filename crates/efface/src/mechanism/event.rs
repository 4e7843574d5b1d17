//! Builds the events of a plan's releases, as certificates state them.

use efface_page::number::counted;
use efface_privacy::event::{Composed, Event, Refitted};
use efface_privacy::quantity::Decimal;

use super::{NextRequest, foreign, noisy_gd};
use crate::error::{Code, Error, Result};
use crate::plan::{Plan, Schedule};

/// Returns the event of the first training, before anything is learnt.
pub(crate) fn first_event(plan: &Plan, records: usize) -> Result<Event> {
    let event = plan.schedule.scheduled().first_event(plan, &plan.constants()?, records)?;
    stated(plan, event, None, 0)
}

/// Returns the event that a request would have, before anything is learnt.
pub(crate) fn planned_event(event: &Event, next: &NextRequest<'_>, steps: u64) -> Result<Event> {
    let mut core = event.core().clone();
    next.plan.schedule.scheduled().advance(&mut core, next, steps)?;
    stated(next.plan, core, Some(event), next.change.deleted_since.len() as u64)
}

/// Returns the steps of an event's last request, for mechanisms that know them beforehand.
pub(crate) fn steps_of(event: &Event) -> Option<u64> {
    let phases = match event.core() {
        Event::NoisyGd(event) => &event.phases,
        Event::Descent(event) => &event.phases,
        _ => return None,
    };
    phases.last().map(|phase| phase.steps)
}

/// Returns the event as certificates state it: composed with the training of given features, and with private
/// counts hidden. `previous` is the event of the last release; `deleted` is what the request deleted.
pub(crate) fn stated(
    plan: &Plan,
    mut event: Event,
    previous: Option<&Event>,
    deleted: u64,
) -> Result<Event> {
    if let Event::NoisyGd(event) = &mut event
        && plan.hides_counts()
    {
        noisy_gd::hide_counts(plan, event);
    }
    if let Some(fitting) = &plan.fitting {
        let preprocessing =
            Some(Refitted { min_frequency: fitting.rules.least(fitting.records).into() });
        // States the largest number of parameters that any records could give: the actual number would reveal
        // something about the records.
        let setting = plan.setting.clone();
        match &mut event {
            Event::OutputNoise(event) => {
                if let Schedule::Output(output) = &plan.schedule {
                    event.distance = Decimal(output.distance);
                    event.noise = Decimal(output.noise);
                    event.grid = Decimal(output.grid);
                }
                (event.setting, event.preprocessing) = (setting, preprocessing);
            }
            Event::ExactRemoval(event) => {
                (event.setting, event.preprocessing) = (setting, preprocessing);
                event.records = Some(fitting.records);
            }
            _ => return Err(foreign(plan)),
        }
    }
    let Some(given) = &plan.given else { return Ok(event) };
    let before = match previous {
        None => Some(0),
        Some(Event::Composed(previous)) => previous.removed,
        Some(_) => return Err(Error::storage(Code::Damaged, "the vault's event is not composed")),
    };
    let removed = match before {
        _ if plan.hides_counts() => None,
        Some(before) => Some(before.saturating_add(deleted)),
        None => return Err(Error::storage(Code::Damaged, "the vault's event states no count")),
    };
    if let (Some(most), Some(before)) = (plan.most_deletions(), given.deleted_before()) {
        within_noise(plan, most, before.saturating_add(removed.unwrap_or(u64::MAX)))?;
    }
    Ok(Event::Composed(Composed { given: given.clone(), removed, inner: Box::new(event) }))
}

/// Refuses more deletions than the noise of the features' training was chosen for.
fn within_noise(plan: &Plan, most: u64, deleted: u64) -> Result<()> {
    if deleted <= most {
        return Ok(());
    }
    let gone = counted(deleted, "record");
    let message = if plan.trunk.is_none() {
        format!(
            "{gone} would have been deleted since the extractor was trained, but the model \
             promises its epsilon for {most} (`§deletions`)"
        )
    } else {
        format!(
            "{gone} would have been deleted since the network of the features was trained, but \
             its noise was chosen for {most}"
        )
    };
    Err(Error::refused(Code::BudgetExhausted, message).hint(how_to_go_on(plan)))
}

/// Returns the hint for when the features' training accepts no more deletions.
pub(crate) fn how_to_go_on(plan: &Plan) -> &'static str {
    if plan.trunk.is_none() {
        return "train the extractor again on the remaining records, and a new model on its \
             features";
    }
    "train the network again on the remaining records, such as by `§efface refresh` of its vault \
     after the deletions there, and a new model on its features"
}
