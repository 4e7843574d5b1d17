//! Certificates of regressions on several targets that break one rule each.

use efface_privacy::certificate::Constant;
use efface_privacy::event::Event;
use efface_privacy::loss::LossName;

use crate::breaks::{Break, exact, listed, twice};
use crate::draw::constant;

/// How many targets some exact sums of numbers have: one for each parameter.
pub(super) fn targets(event: &Event, loss: LossName, index: u64) -> Option<Constant> {
    let parameters = event.parameters();
    let exact = matches!(event.core(), Event::ExactRemoval(_)) && loss == LossName::Squared;
    let several = exact && parameters > 1 && !index.is_multiple_of(4);
    several.then(|| constant("targets", parameters.to_string()))
}

/// As [`BREAKS`](crate::breaks::BREAKS).
pub(super) const TARGET_BREAKS: &[(&str, Break)] = &[
    ("objective", |c| listed(c, "targets").map(|t| t.value = "1".into()).is_some()),
    ("objective", |c| listed(c, "targets").map(|t| t.value = "03".into()).is_some()),
    ("objective", |c| twice(c, "targets")),
    // Not a block of parameters for each.
    ("objective", |c| {
        let parameters = c.event.parameters();
        listed(c, "targets").map(|t| t.value = (parameters + 1).to_string()).is_some()
    }),
    // Of classes, or of what learns one.
    ("objective", |c| {
        let several = listed(c, "targets").is_some();
        listed(c, "loss").is_some_and(|loss| {
            loss.value = "squared-classes".to_owned();
            several
        })
    }),
    ("objective", |c| {
        c.constants.push(constant("targets", c.event.parameters().to_string()));
        exact(c).is_none() && c.event.parameters() > 1
    }),
];
