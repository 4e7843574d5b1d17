//! Certificates of models whose records have weights that break one rule each.

use efface_privacy::certificate::Origin;
use efface_privacy::claim::WEIGHTS;
use efface_privacy::event::{Event, ExactRemoval};

use crate::breaks::{Break, exact, listed, scaled, twice, unassume};
use crate::draw::constant;
use crate::read_off::read_off;

/// The largest weight, where records have some: exact sums state theirs.
pub(super) fn weight(event: &Event, index: u64) -> Option<f64> {
    if let Event::ExactRemoval(event) = event.core() {
        return event.max_weight.map(|most| most as f64);
    }
    [None, Some(0.2), None, Some(1.0), Some(7.5), None, Some(30.0)][index as usize / 5 % 7]
}

/// The most that a record may count where classes are balanced, as those of some optima and exact sums are.
pub(super) fn balanced(event: &Event, index: u64) -> Option<f64> {
    let (fitted, records, drawn) = match event.core() {
        Event::OutputNoise(e) => (e.preprocessing, e.records, !index.is_multiple_of(3)),
        // Most exact sums stay those of numbers.
        Event::ExactRemoval(e) => (e.preprocessing, e.records, e.releases % 2 == 1),
        _ => return None,
    };
    let unweighted = fitted.is_some() && weight(event, index).is_none();
    let records = records.filter(|_| unweighted && drawn)?;
    Some((records as f64 / 2.0).max(1.0))
}

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
