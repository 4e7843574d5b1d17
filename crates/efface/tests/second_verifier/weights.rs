//! Certificates of models whose records have weights that break one rule each.

use efface_privacy::certificate::Origin;
use efface_privacy::claim::WEIGHTS;
use efface_privacy::event::ExactRemoval;

use crate::breaks::{Break, exact, listed, scaled, twice, unassume};
use crate::draw::constant;
use crate::read_off::read_off;

/// As [`BREAKS`](crate::breaks::BREAKS).
pub(super) const WEIGHT_BREAKS: &[(&str, Break)] = &[
    // Heavier records than the setting allows, weights that are none, weights twice or in exact sums.
    ("objective", |c| scaled(c, "max-weight", 3.0)),
    ("objective", |c| scaled(c, "max-weight", 0.0)),
    ("objective", |c| scaled(c, "max-weight", -1.0)),
    ("objective", |c| scaled(c, "max-weight", f64::INFINITY)),
    ("objective", |c| twice(c, "max-weight")),
    ("objective", |c| {
        c.constants.push(constant("max-weight", "1".to_owned()));
        exact(c).is_some()
    }),
    ("objective", |c| exact(c).is_some_and(|event| event.max_weight.take().is_some())),
    ("claim", |c| {
        let heavy = |event: &mut ExactRemoval| {
            event.max_weight = Some(1 << 40);
            true
        };
        exact(c).is_some_and(heavy)
    }),
    ("assumptions", |c| unassume(c, "weights")),
    ("assumptions", |c| listed(c, "max-weight").map(|w| w.origin = Origin::Data).is_some()),
    // Claims that protect records whose weights were read off.
    ("claim", |c| read_off(c, "max-weight")),
    ("claim", |c| read_off(c, "n")),
    ("scope", |c| {
        let limits = &mut c.scope.does_not_cover;
        let stated = limits.len();
        limits.retain(|limit| limit != WEIGHTS);
        limits.len() < stated
    }),
];
