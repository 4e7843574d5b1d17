//! The phases of an event, and what a request did to them.

use efface_privacy::certificate::RequestKind;
use efface_privacy::event::{Event, Phase};

/// The phases of an event that has some.
pub(super) fn phases(event: &Event) -> &[Phase] {
    match event.core() {
        Event::NoisyGd(event) => &event.phases,
        Event::Descent(event) => &event.phases,
        _ => &[],
    }
}

/// The phase before the request: its data differ from the latest in both directions.
pub(super) fn touch(phases: &mut [Phase]) {
    if let [.., before, _] = phases {
        before.only_then = before.only_then.max(1);
        before.only_now = before.only_now.max(1);
    }
}

/// Makes each phase's records lead to those of the last.
pub(super) fn add_up(phases: &mut [Phase]) {
    let now = phases.last().unwrap().records.unwrap();
    for phase in phases {
        phase.records = Some(now + phase.only_then - phase.only_now);
    }
}

/// Whether no request was served, as far as the event tells.
pub(super) fn changes_nothing(event: &Event) -> bool {
    let removed = match event {
        Event::Composed(event) => event.removed,
        _ => None,
    };
    phases(event).len() == 1 || removed == Some(0)
}

/// Records that the last request may have deleted and added.
pub(super) fn touched(event: &Event, kind: RequestKind) -> u64 {
    let most = match (kind, event) {
        (RequestKind::Refresh, _) => return 0,
        (RequestKind::Delete | RequestKind::Update, Event::Composed(event)) => {
            event.removed.unwrap_or(3).min(3)
        }
        _ => 3,
    };
    match phases(event) {
        [.., before, _] => most.min(before.only_then).min(before.only_now),
        _ => most,
    }
}
