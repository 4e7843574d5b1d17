//! Certificates of steps over batches, and those of them that break one rule each.

use efface_privacy::certificate::{Certificate, Origin};
use efface_privacy::event::{Batches, Event, NoisyGd, Normalizer, Setting};
use efface_privacy::quantity::Decimal;

use crate::breaks::{Break, core, listed, unassume};

/// Batches that agree with the phases; so many of them that not too many visits are listed. `draw` is
/// a whole number below its argument.
pub(super) fn batches(event: &mut NoisyGd, hidden: bool, mut draw: impl FnMut(u64) -> u64) {
    let steps: u64 = event.phases.iter().map(|phase| phase.steps).sum();
    let fewest = 2 + steps * event.phases.len() as u64 / 200;
    let size = 1 + draw(2000);
    let differing = event.phases.iter().map(|phase| phase.only_then + phase.only_now);
    let most = differing.max().unwrap_or(0);
    let requests = event.phases.len() - 1;
    // The last request explains the largest difference; the others are free.
    let changed = (0..requests)
        .map(|request| if request + 1 == requests { most } else { draw(40) })
        .collect();
    event.radius = None;
    event.batches = Some(Batches {
        count: fewest + draw(1000),
        size,
        most: size + draw(200),
        changed: (!hidden).then_some(changed),
    });
}

/// The batches of an event that has some.
pub(super) fn of(event: &Event) -> Option<&Batches> {
    let Event::NoisyGd(event) = event.core() else { return None };
    event.batches.as_ref()
}

/// Records over what their sum is divided by.
pub(super) fn load(event: &Event, setting: &Setting) -> f64 {
    match (of(event), setting.normalizer) {
        (Some(batches), _) => batches.most as f64 / batches.size as f64,
        (None, Normalizer::Fixed { n, capacity }) => capacity as f64 / n as f64,
        (None, Normalizer::Mean { .. }) => 1.0,
    }
}

/// Changes the batches of an event that has some.
fn changes(certificate: &mut Certificate, change: impl FnOnce(&mut NoisyGd, &mut Batches)) -> bool {
    let Event::NoisyGd(event) = core(&mut certificate.event) else { return false };
    let Some(mut batches) = event.batches.take() else { return false };
    change(event, &mut batches);
    event.batches = Some(batches);
    true
}

/// As [`BREAKS`](crate::breaks::BREAKS).
pub(super) const BATCH_BREAKS: &[(&str, Break)] = &[
    ("claim ", |c| changes(c, |_, batches| batches.count = 1)),
    ("claim ", |c| changes(c, |_, batches| batches.size = 0)),
    ("claim ", |c| changes(c, |_, batches| batches.most = 0)),
    ("claim ", |c| changes(c, |event, _| event.radius = Some(Decimal(1.0)))),
    ("claim ", |c| {
        changes(c, |event, _| event.setting.normalizer = Normalizer::Mean { minimum: 5 })
    }),
    // More visits than are listed.
    ("claim ", |c| {
        changes(c, |event, batches| {
            batches.count = 2;
            event.phases[0].steps += 300_000;
            event.longest += 300_000;
        })
    }),
    // Smaller shifts than there were.
    ("constants", |c| changes(c, |_, batches| batches.size += 1)),
    ("constants", |c| changes(c, |_, batches| batches.count *= 2)),
    ("constants", |c| listed(c, "batch-capacity").map(|most| most.value.push('0')).is_some()),
    ("objective", |c| changes(c, |_, batches| batches.most *= 1 << 30)),
    // As if steps were over all records.
    ("claim ", |c| {
        changes(c, |_, _| ()) && {
            let Event::NoisyGd(event) = core(&mut c.event) else { return false };
            event.batches = None;
            true
        }
    }),
    ("claim ", |c| {
        let mut open = false;
        changes(c, |_, batches| {
            open = batches.changed.as_mut().is_some_and(|changed| changed.pop().is_some());
        }) && open
    }),
    ("consistency", |c| {
        let mut open = false;
        let asked = c.request.records.is_some_and(|records| records > 0);
        changes(c, |_, batches| {
            let last = batches.changed.as_mut().and_then(|changed| changed.last_mut());
            open = last.map(|last| *last = 0).is_some();
        }) && open
            && asked
            && c.chain.index > 0
    }),
    ("consistency", |c| {
        c.request.records = None;
        let mut open = false;
        changes(c, |_, batches| open = batches.changed.is_some()) && open && c.chain.index > 0
    }),
    ("assumptions", |c| changes(c, |_, _| ()) && unassume(c, "batches")),
    ("assumptions", |c| listed(c, "batches").map(|count| count.origin = Origin::Data).is_some()),
];
