//! Certificates of regressions on several targets that break one rule each.

use crate::breaks::{Break, exact, listed, twice};
use crate::draw::constant;

/// As [`BREAKS`](crate::breaks::BREAKS).
pub(super) const TARGET_BREAKS: &[(&str, Break)] = &[
    ("objective", |c| listed(c, "targets").map(|t| t.value = "1".into()).is_some()),
    ("objective", |c| listed(c, "targets").map(|t| t.value = "03".into()).is_some()),
    ("objective", |c| twice(c, "targets")),
    // Not a block of parameters for each.
    ("objective", |c| {
        let parameters = c.event.setting().parameters;
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
        c.constants.push(constant("targets", c.event.setting().parameters.to_string()));
        exact(c).is_none() && c.event.setting().parameters > 1
    }),
];
