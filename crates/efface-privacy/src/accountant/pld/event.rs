//! Translates events of DP-SGD for this accountant, and computes a second bound that must not contradict its
//! result.

use std::collections::BTreeMap;

use super::{Hops, PldError, Segment, whole_orders_epsilon};
use crate::accountant::gdp::AccountantError;
use crate::accountant::gdp::check::{count, positive, require};
use crate::event::{DpSgd, Unit};
use crate::quantity::{Decimal, Delta, Epsilon, Mu};

/// The most steps of all trainings together.
pub(super) const MOST_STEPS: u64 = 1_000_000_000;
/// The most units that are deleted or protected together: for up to this number divergences of several orders
/// are known.
pub(super) const MOST_UNITS: u64 = 1024;
/// The most numbers of deleted units that segments may tell apart: each costs a transform.
const MOST_NUMBERS: usize = 64;
/// Orders of the divergences that bound epsilon once more.
const ORDERS: u64 = 64;
/// Orders times units, at most.
const TERMS: u64 = 4096;
/// Steps of the search for the two parts of a replacement.
const ROUNDS: u32 = 40;
/// The largest epsilon of a part: e to this is a number.
const FARTHEST: f64 = 400.0;
/// The least nonzero mu that is composed with steps that draw units at random.
const LEAST_HEAD: f64 = 1e-6;
/// What the grid of losses may add to epsilon, relatively.
const GRID: f64 = 1e-2;

/// Refuses events that no run can have, and events that this accountant does not cover.
///
/// # Errors
/// Fails at the first field that breaks its rule.
pub fn check(event: &DpSgd) -> Result<(), AccountantError> {
    count("parameters", event.parameters)?;
    count("rows_per_unit", event.rows_per_unit)?;
    count("releases", event.releases)?;
    let rows = event.rows_per_unit;
    let single = event.unit == Unit::Subject || rows == 1;
    require("rows_per_unit", "1 where a unit is a record", rows, single)?;
    let group = event.group;
    require("group", "in 1..=1024", group, (1..=MOST_UNITS).contains(&group))?;
    let clip = positive("clip", event.clip)?;
    let (noise, rate) = (event.noise.0, event.rate.0);
    require("rate", "in [1e-12, 1]", event.rate, (1e-12..=1.0).contains(&rate))?;
    let range = if rate == 1.0 { 1e-100..=1e100 } else { 0.1..=1e6 };
    let ranges = "in [1e-100, 1e100], and where `rate` is below 1, in [0.1, 1e6]";
    require("noise", ranges, event.noise, range.contains(&noise))?;
    let fine = event.grid.0 > 0.0 && event.grid.0 <= clip * noise / f64::from(1 << 20);
    let finest = "above 0 and at most 2^-20 of `noise` times `clip`";
    require("grid", finest, event.grid, fine)?;
    let number = event.segments.len();
    let few = (1..=DpSgd::MOST_SEGMENTS).contains(&number);
    require("segments", "1 to 4096 in number", number, few)?;
    for segment in &event.segments {
        let deleted = segment.deleted;
        require("steps", "above 0", segment.steps, segment.steps > 0)?;
        require("deleted", "at most 1024", deleted, deleted <= MOST_UNITS)?;
    }
    let steps = event.steps().saturating_add(event.earlier_steps);
    require("steps", "at most 1e9 in all", steps, steps <= MOST_STEPS)
}

/// Returns the steps in which units deleted by now may have been drawn, for closeness to retraining.
///
/// # Errors
/// Fails if the event is malformed, or tells more than 64 numbers of deleted units apart.
pub fn with_deleted(event: &DpSgd) -> Result<Vec<Segment>, AccountantError> {
    check(event)?;
    let mut steps: BTreeMap<u64, u64> = BTreeMap::new();
    for segment in event.segments.iter().filter(|segment| segment.deleted > 0) {
        *steps.entry(segment.deleted).or_default() += segment.steps;
    }
    let (number, few) = (steps.len(), "of at most 64 different numbers above 0");
    require("deleted", few, number, number <= MOST_NUMBERS)?;
    Ok(steps.into_iter().map(|(deleted, steps)| segment(event, steps, deleted)).collect())
}

/// Returns all steps of all trainings with a group that may be present in every one, for differential privacy
/// of everything released.
///
/// # Errors
/// Fails if the event is malformed.
pub fn with_group(event: &DpSgd) -> Result<Vec<Segment>, AccountantError> {
    check(event)?;
    Ok(vec![segment(event, event.steps() + event.earlier_steps, event.group)])
}

/// Returns the steps in which units deleted by now may have been drawn, and how many such units there are in
/// all. `since` counts those deleted after the network's own deletions. The event does not identify these
/// units, so each of them may have been in every segment.
///
/// # Errors
/// Fails as [`with_deleted`] does.
pub fn with_deleted_since(
    event: &DpSgd,
    since: u64,
) -> Result<(Vec<Segment>, u64), AccountantError> {
    let mut event = event.clone();
    for segment in &mut event.segments {
        segment.deleted = segment.deleted.saturating_add(since);
    }
    Ok((with_deleted(&event)?, event.deleted()))
}

/// Returns all steps of all trainings with a group of any size, for differential privacy of everything
/// released.
///
/// # Errors
/// Fails if the event is malformed.
pub fn with_group_of(event: &DpSgd, group: u64) -> Result<Vec<Segment>, AccountantError> {
    with_group(&DpSgd { group, ..event.clone() })
}

fn segment(event: &DpSgd, steps: u64, group: u64) -> Segment {
    Segment { steps, noise: event.noise.0, rate: event.rate.0, group }
}

/// An epsilon by distributions of losses, and what another computation says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreed {
    /// The least that is known to hold in both directions, rounded up.
    pub epsilon: Epsilon,
    /// The bound of the divergences of whole orders at the same delta: certificates state both.
    pub divergences: Epsilon,
}

impl Agreed {
    fn new(epsilon: Epsilon, divergences: Epsilon) -> Result<Self, PldError> {
        if agrees(epsilon.get(), divergences.get()) {
            return Ok(Self { epsilon, divergences });
        }
        Err(PldError::Refused(format!(
            "distributions of losses give epsilon {}, divergences at most {}: one of the two is \
             wrong, so neither is used",
            Decimal(epsilon.get()),
            Decimal(divergences.get())
        )))
    }
}

/// Returns whether an epsilon by distributions of losses does not exceed what divergences of whole orders
/// give, by more than the relative 1e-2 that the grid of losses may add.
#[must_use]
pub fn agrees(losses: f64, divergences: f64) -> bool {
    losses <= divergences * (1.0 + GRID)
}

/// Returns the least epsilon at `delta` that is known to hold in both directions, rounded up, if the
/// divergences of whole orders agree: they bound the same epsilon in another way, and from above. Bounds the
/// segments together with something `head`-GDP from every outcome of them.
///
/// # Errors
/// Fails as [`super::epsilon`] does, and if the two bounds contradict each other.
pub fn agreed_epsilon(segments: &[Segment], head: Mu, delta: Delta) -> Result<Agreed, PldError> {
    let divergences = of_whole_orders(segments, head, delta, Hops::One)?;
    if segments.is_empty() && head.get() == 0.0 {
        return Agreed::new(crate::outward::epsilon(0.0), divergences);
    }
    Agreed::new(super::epsilon(segments, least_head(head), delta)?, divergences)
}

/// Returns the bound of divergences of whole orders: up to 64, or 4096 by the largest group.
fn of_whole_orders(
    segments: &[Segment],
    head: Mu,
    delta: Delta,
    hops: Hops,
) -> Result<Epsilon, PldError> {
    if segments.is_empty() && head.get() == 0.0 {
        return Ok(crate::outward::epsilon(0.0));
    }
    let group = segments.iter().map(|segment| segment.group).max().unwrap_or(1);
    let most = (TERMS / group.max(1)).clamp(2, ORDERS);
    whole_orders_epsilon(segments, least_head(head), delta, hops, most)
}

/// Returns the least epsilon found at `delta` between two runs that each differ from a third by the segments'
/// groups and `head`: with (e, d) for one of them, (2 e, (1 + e^e) d) for both. Rounded up by 2e-4; infinite
/// if e would be beyond 400.
///
/// # Errors
/// Fails as [`agreed_epsilon`] does.
pub fn replaced_epsilon(segments: &[Segment], head: Mu, delta: Delta) -> Result<Agreed, PldError> {
    let divergences = of_whole_orders(segments, head, delta, Hops::Two)?;
    let infinite = crate::outward::epsilon(f64::INFINITY);
    // Nothing is promised, which nothing can contradict.
    let nothing = Agreed { epsilon: infinite, divergences };
    let share = |one: f64| delta.get() / (1.0 + libm::exp(one)) * (1.0 - 1e-12);
    let mut one = 0.0;
    for round in 0..ROUNDS {
        // From below, as delta falls with epsilon; a little more is enough in the end.
        let Ok(part) = Delta::new(share(one)) else { return Ok(nothing) };
        let next = agreed_epsilon(segments, head, part)?.epsilon.get();
        if round == 0 && next == 0.0 {
            return Agreed::new(crate::outward::epsilon(0.0), divergences);
        }
        let enough = next * (1.0 + 2e-4);
        if enough > FARTHEST {
            return Ok(nothing);
        }
        let near = next <= one * (1.0 + 1e-4);
        if near
            && super::delta(segments, least_head(head), crate::outward::epsilon(enough))?
                <= share(enough)
        {
            let both = crate::outward::epsilon(crate::outward::up(2.0 * enough));
            return Agreed::new(both, divergences);
        }
        one = next.max(one);
    }
    Ok(nothing)
}

/// Returns the largest advantage of any attacker who must tell apart two runs that are so many hops of the
/// segments' groups and `head` from each other: the total variation, or what `epsilon` at `delta` gives if
/// that is less or the former is not computed; rounded up.
#[must_use]
pub fn advantage(segments: &[Segment], head: Mu, hops: f64, epsilon: Epsilon, delta: Delta) -> f64 {
    if segments.is_empty() && head.get() == 0.0 {
        return 0.0;
    }
    let apart = crate::advantage::from_epsilon_delta(epsilon, delta.get());
    let whole = super::delta(segments, least_head(head), crate::outward::epsilon(0.0));
    whole.map_or(apart, |whole| apart.min(crate::outward::up(hops * whole)).min(1.0))
}

/// Raises a positive mu that a grid cannot resolve to the least one that it can; 0 stays 0.
fn least_head(head: Mu) -> Mu {
    if head.get() == 0.0 { head } else { crate::outward::mu(head.get().max(LEAST_HEAD)) }
}

/// Returns the numbers of an event's steps by the names certificates list them under.
#[must_use]
pub fn constants(event: &DpSgd) -> Vec<(&'static str, String)> {
    let number = |x: Decimal| x.to_string();
    let learning = event.segments.first().map_or(0, |first| first.steps);
    vec![
        ("unit", event.unit.name().to_owned()),
        ("rows-per-unit", event.rows_per_unit.to_string()),
        ("clip", number(event.clip)),
        ("noise", number(event.noise)),
        ("gradient-grid", number(event.grid)),
        ("rate", number(event.rate)),
        ("steps", learning.to_string()),
    ]
}
