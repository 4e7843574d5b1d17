#![doc = include_str!("exact.md")]

use super::gdp::AccountantError;
use super::gdp::check::{count, positive, require};
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
/// Fails at the first field that breaks its rule.
pub fn check(event: &ExactRemoval) -> Result<(), AccountantError> {
    let setting = &event.setting;
    count("parameters", setting.parameters)?;
    count("group", setting.group)?;
    count("releases", event.releases)?;
    let capacity = match setting.normalizer {
        Normalizer::Fixed { n, capacity } => {
            count("n", n)?;
            capacity
        }
        Normalizer::Mean { .. } => 1 << MEAN_CAPACITY_BITS,
    };
    count("capacity", capacity)?;
    if let Some(fitted) = event.preprocessing {
        let mean = matches!(setting.normalizer, Normalizer::Mean { .. });
        require("normalizer", "`mean` with fitted preprocessing", "fixed", mean)?;
        count("min_frequency", fitted.min_frequency)?;
        let records = event.records.unwrap_or(0);
        let summed = (1..=capacity).contains(&records);
        require("records", "stated, and in 1..=2^24", records, summed)?;
    } else {
        let records = event.records.map_or_else(String::new, |records| records.to_string());
        let none = event.records.is_none();
        require("records", "stated with fitted preprocessing only", records, none)?;
    }
    let weight = event.max_weight.unwrap_or(1);
    count("max_weight", weight)?;
    let lipschitz = setting.lipschitz;
    require("lipschitz", "above 0", lipschitz, lipschitz.0 > 0.0)?;
    positive("strong_convexity", setting.strong_convexity)?;
    positive("row_bound", event.row_bound)?;
    positive("target_bound", event.target_bound)?;
    let largest = |bound: (&'static str, Decimal), grid: (&'static str, Decimal)| {
        // A normal power of two has no digits behind its first.
        let power = grid.1.0.is_normal() && grid.1.0 > 0.0 && grid.1.0.to_bits() << 12 == 0;
        require(grid.0, "a power of two", grid.1, power)?;
        // Exact, as the divisor is a power of two.
        let most = (bound.1.0 / grid.1.0).ceil();
        let fits = most <= f64::from(1 << ENTRY_BITS);
        require(grid.0, "at least 2^-22 of its bound", grid.1, fits)?;
        Ok::<_, AccountantError>(most as u128)
    };
    let row = largest(("row_bound", event.row_bound), ("row_grid", event.row_grid))?;
    let target = largest(("target_bound", event.target_bound), ("target_grid", event.target_grid))?;
    let sum = u128::from(capacity)
        .saturating_mul(u128::from(weight))
        .saturating_mul(row * row.max(target));
    let fits = sum <= 1 << SUM_BITS;
    require("row_grid", "so coarse that no sum exceeds 2^62", event.row_grid, fits)
}

/// Refuses counts of shards that no run can have.
///
/// # Errors
/// Fails at the first field that breaks its rule.
pub fn check_shards(event: &Shards) -> Result<(), AccountantError> {
    let Shards { parameters, shards, retrained, arithmetic, releases, .. } = *event;
    count("parameters", parameters)?;
    count("arithmetic", arithmetic)?;
    count("releases", releases)?;
    require("shards", "in 1..=4096", shards, (1..=Shards::MOST).contains(&shards))?;
    require("parameters", "as many for each shard", parameters, parameters.is_multiple_of(shards))?;
    let some = (1..=shards).contains(&retrained);
    require("retrained", "at least 1 and at most `shards`", retrained, some)
}
