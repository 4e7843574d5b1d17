//! Certificates of models of random features that break one rule each.

use efface_privacy::certificate::{Certificate, Constant, Origin};
use efface_privacy::event::{Event, Refitted};

use crate::breaks::{Break, exact, listed, twice, unassume};
use crate::draw::constant;

/// The map of some certificates whose rows are declared: a feature for each parameter but the intercept, or
/// where these are a multiple of 16, a few filters.
pub(super) fn features(event: &Event, index: u64) -> Option<Constant> {
    let features = event.parameters() - 1;
    if crate::trunks::trained(event) {
        let digest = "7f".repeat(32);
        return Some(constant("features", format!("network:{features},{digest},version=1")));
    }
    let declared = event.preprocessing().is_none() && index.is_multiple_of(5);
    if !declared || !(1..=1 << 16).contains(&features) {
        return None;
    }
    let map = match (features % 16, index % 2) {
        (0, _) => format!("random-conv:{}x5,image=28x28", features / 16),
        (_, 0) => format!("rff:{features},gamma=0.5,norm=1.0"),
        _ => format!("gated:{features},norm=2.0"),
    };
    Some(constant("features", format!("{map},seed={index},version=1")))
}

/// Writes another text for the map.
fn told(certificate: &mut Certificate, text: impl Fn(&str) -> String) -> bool {
    listed(certificate, "features").map(|map| map.value = text(&map.value)).is_some()
}

/// As [`BREAKS`](crate::breaks::BREAKS).
pub(super) const FEATURE_BREAKS: &[(&str, Break)] = &[
    ("assumptions", |c| unassume(c, "features")),
    ("assumptions", |c| listed(c, "features").map(|map| map.origin = Origin::Data).is_some()),
    ("objective", |c| twice(c, "features")),
    ("objective", |c| told(c, |_| String::new())),
    ("objective", |c| told(c, |_| "garbage".to_owned())),
    ("objective", |c| told(c, |map| map.replace("version=1", "version=2"))),
    ("objective", |c| told(c, |map| map.replace(":", ":0"))),
    ("objective", |c| told(c, |map| format!("fitted-{map}"))),
    // More features than parameters have columns for.
    ("objective", |c| {
        let parameters = c.event.parameters();
        told(c, |_| format!("gated:{parameters},norm=1.0,seed=0,version=1"))
            && parameters <= 1 << 16
    }),
    ("objective", |c| told(c, |_| "rff:65537,gamma=1.0,norm=1.0,seed=0,version=1".to_owned())),
    ("objective", |c| {
        let mapped = listed(c, "features").is_some();
        let fit = |event: &mut efface_privacy::event::ExactRemoval| {
            event.preprocessing = Some(Refitted { min_frequency: 1 });
        };
        mapped && exact(c).map(fit).is_some()
    }),
];
