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
    // Balanced weights of records that are hidden, not counted again, or weighted already.
    ("objective", |c| listed(c, "class-weight").map(|w| w.value = "listed".into()).is_some()),
    ("objective", |c| {
        let balanced = listed(c, "class-weight").is_some();
        c.constants.push(constant("max-weight", "1".to_owned()));
        balanced
    }),
    ("objective", |c| twice(c, "class-weight")),
    // Of exact sums: of classes alone, and of records whose number is stated.
    ("objective", |c| {
        let sums = exact(c).is_some() && listed(c, "class-weight").is_some();
        sums && listed(c, "loss").map(|l| l.value = "squared".into()).is_some()
    }),
    ("objective", |c| {
        let counted = c.event.preprocessing().is_some();
        c.constants.push(constant("class-weight", "balanced".to_owned()));
        !counted
    }),
    ("objective", |c| listed(c, "class-weight").is_some() && scaled(c, "row-norm", 3.0)),
    ("assumptions", |c| unassume(c, "class-weight")),
    ("assumptions", |c| unassume(c, "features")),
    ("assumptions", |c| listed(c, "features").map(|map| map.origin = Origin::Data).is_some()),
    ("assumptions", |c| listed(c, "class-weight").map(|w| w.origin = Origin::Data).is_some()),
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
