#![doc = include_str!("exact.md")]

use super::gdp::AccountantError;
use crate::event::{ExactRemoval, Normalizer, Shards};
use crate::quantity::Decimal;

/// No sum may exceed 2 to this.
const SUM_BITS: u32 = 62;

/// Most bits of a rounded entry: whole numbers that f32 holds.
const ENTRY_BITS: u32 = 22;

/// log2 of the capacity under `mean`, which declares none.
const MEAN_CAPACITY_BITS: u32 = 24;

/// Refuses constants under which a sum could leave its range, or that no run can have.
///
/// # Errors
/// The first field that breaks its rule.
pub fn check(event: &ExactRemoval) -> Result<(), AccountantError> {
    let setting = &event.setting;
    let rule = |name, rule, got: String, ok: bool| {
        if ok { Ok(()) } else { Err(AccountantError::Malformed { name, rule, got }) }
    };
    let text = |x: Decimal| x.to_string();
    let counts = [
        ("parameters", setting.parameters),
        ("group", setting.group),
        ("releases", event.releases),
    ];
    for (name, count) in counts {
        rule(name, "in 1..=2^53", count.to_string(), (1..=1 << 53).contains(&count))?;
    }
    let capacity = match setting.normalizer {
        Normalizer::Fixed { n, capacity } => {
            rule("n", "in 1..=2^53", n.to_string(), (1..=1 << 53).contains(&n))?;
            capacity
        }
        Normalizer::Mean { .. } => 1 << MEAN_CAPACITY_BITS,
    };
    rule("capacity", "in 1..=2^53", capacity.to_string(), (1..=1 << 53).contains(&capacity))?;
    if let Some(fitted) = event.preprocessing {
        let mean = matches!(setting.normalizer, Normalizer::Mean { .. });
        rule("normalizer", "`mean` with fitted preprocessing", "fixed".to_owned(), mean)?;
        let least = fitted.min_frequency;
        rule("min_frequency", "in 1..=2^53", least.to_string(), (1..=1 << 53).contains(&least))?;
        let records = event.records.unwrap_or(0);
        let summed = (1..=capacity).contains(&records);
        rule("records", "stated, and in 1..=2^24", records.to_string(), summed)?;
    } else {
        let records = event.records.map_or_else(String::new, |records| records.to_string());
        let none = event.records.is_none();
        rule("records", "stated with fitted preprocessing only", records, none)?;
    }
    let weight = event.max_weight.unwrap_or(1);
    rule("max_weight", "in 1..=2^53", weight.to_string(), (1..=1 << 53).contains(&weight))?;
    let lipschitz = setting.lipschitz;
    rule("lipschitz", "above 0", text(lipschitz), lipschitz.0 > 0.0)?;
    let ordinary = 1e-100..=1e100;
    for (name, x) in [
        ("strong_convexity", setting.strong_convexity),
        ("row_bound", event.row_bound),
        ("target_bound", event.target_bound),
    ] {
        rule(name, "in [1e-100, 1e100]", text(x), ordinary.contains(&x.0))?;
    }
    let largest = |bound: (&'static str, Decimal), grid: (&'static str, Decimal)| {
        // A normal power of two has no digits behind its first.
        let power = grid.1.0.is_normal() && grid.1.0 > 0.0 && grid.1.0.to_bits() << 12 == 0;
        rule(grid.0, "a power of two", text(grid.1), power)?;
        // Exact, as the divisor is a power of two.
        let most = (bound.1.0 / grid.1.0).ceil();
        let fits = most <= f64::from(1 << ENTRY_BITS);
        rule(grid.0, "at least 2^-22 of its bound", text(grid.1), fits)?;
        Ok::<_, AccountantError>(most as u128)
    };
    let row = largest(("row_bound", event.row_bound), ("row_grid", event.row_grid))?;
    let target = largest(("target_bound", event.target_bound), ("target_grid", event.target_grid))?;
    let sum = u128::from(capacity)
        .saturating_mul(u128::from(weight))
        .saturating_mul(row * row.max(target));
    let fits = sum <= 1 << SUM_BITS;
    rule("row_grid", "so coarse that no sum exceeds 2^62", text(event.row_grid), fits)
}

/// Refuses counts of shards that no run can have.
///
/// # Errors
/// The first field that breaks its rule.
pub fn check_shards(event: &Shards) -> Result<(), AccountantError> {
    let rule = |name, rule, got: u64, ok: bool| {
        if ok {
            Ok(())
        } else {
            Err(AccountantError::Malformed { name, rule, got: got.to_string() })
        }
    };
    let Shards { parameters, shards, retrained, arithmetic, releases, .. } = *event;
    for (name, count) in
        [("parameters", parameters), ("arithmetic", arithmetic), ("releases", releases)]
    {
        rule(name, "in 1..=2^53", count, (1..=1 << 53).contains(&count))?;
    }
    rule("shards", "in 1..=4096", shards, (1..=Shards::MOST).contains(&shards))?;
    rule("parameters", "as many for each shard", parameters, parameters.is_multiple_of(shards))?;
    let some = (1..=shards).contains(&retrained);
    rule("retrained", "at least 1 and at most `shards`", retrained, some)
}
