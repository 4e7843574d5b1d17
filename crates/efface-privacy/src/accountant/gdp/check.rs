//! Checks of the numbers in events, which may come from untrusted files.

use super::AccountantError;
use crate::event::{Adjacency, Normalizer, Phase, Setting};
use crate::quantity::Decimal;

/// Counts above this are no exact floats.
const MOST: u64 = 1 << 53;

pub(crate) fn malformed(
    name: &'static str,
    rule: &'static str,
    got: impl ToString,
) -> AccountantError {
    AccountantError::Malformed { name, rule, got: got.to_string() }
}

/// Refuses a value for which the rule does not hold.
pub(crate) fn require(
    name: &'static str,
    rule: &'static str,
    got: impl ToString,
    holds: bool,
) -> Result<(), AccountantError> {
    if holds { Ok(()) } else { Err(malformed(name, rule, got)) }
}

/// Reads a number above 0, of a size that neither overflows nor loses digits in any formula here.
pub(crate) fn positive(name: &'static str, value: Decimal) -> Result<f64, AccountantError> {
    require(name, "in [1e-100, 1e100]", value, (1e-100..=1e100).contains(&value.0))?;
    Ok(value.0)
}

/// Reads 0 or a number as in [`positive`].
pub(super) fn nonnegative(name: &'static str, value: Decimal) -> Result<f64, AccountantError> {
    let holds = value.0 == 0.0 || (1e-100..=1e100).contains(&value.0);
    require(name, "0 or in [1e-100, 1e100]", value, holds)?;
    Ok(value.0)
}

/// Checks a count of at least 1 that is exact as a float.
pub(crate) fn count(name: &'static str, value: u64) -> Result<f64, AccountantError> {
    require(name, "in 1..=2^53", value, (1..=MOST).contains(&value))?;
    Ok(value as f64)
}

/// Checks a count, 0 included, that is exact as a float.
pub(super) fn size(name: &'static str, value: u64) -> Result<f64, AccountantError> {
    require(name, "at most 2^53", value, value <= MOST)?;
    Ok(value as f64)
}

/// Reads the grid, at most 2^-20 of the noise.
pub(super) fn grid(value: Decimal, noise: f64) -> Result<f64, AccountantError> {
    let grid = positive("grid", value)?;
    require("grid", "at most 2^-20 of `noise`", value, grid <= noise / f64::from(1 << 20))?;
    Ok(grid)
}

/// The public constants of an objective, checked.
pub(crate) struct Checked {
    /// sqrt(P), rounded up.
    pub(super) root_parameters: f64,
    /// G.
    pub(super) lipschitz: f64,
    /// beta.
    pub(super) smoothness: f64,
    /// m.
    pub(super) strong_convexity: f64,
}

/// Checks everything but the group, which only some worlds need.
pub(super) fn setting(setting: &Setting) -> Result<Checked, AccountantError> {
    match setting.normalizer {
        Normalizer::Fixed { n, capacity } => {
            count("n", n)?;
            count("capacity", capacity)?;
        }
        Normalizer::Mean { minimum } => {
            size("minimum", minimum)?;
        }
    }
    Ok(Checked {
        root_parameters: count("parameters", setting.parameters)?.sqrt().next_up(),
        lipschitz: positive("lipschitz", setting.lipschitz)?,
        smoothness: nonnegative("smoothness", setting.smoothness)?,
        strong_convexity: nonnegative("strong_convexity", setting.strong_convexity)?,
    })
}

/// Checks the group that DP and deletion-privacy protect against the capacity.
pub(super) fn group(setting: &Setting) -> Result<f64, AccountantError> {
    let group = count("group", setting.group)?;
    match setting.normalizer {
        Normalizer::Fixed { capacity, .. } if setting.group > capacity => {
            Err(malformed("group", "at most `capacity`", setting.group))
        }
        _ => Ok(group),
    }
}

/// Checks the number of records of a data set against what the normaliser allows.
pub(super) fn records(setting: &Setting, records: Option<u64>) -> Result<(), AccountantError> {
    let Some(records) = records else { return Ok(()) };
    size("records", records)?;
    match setting.normalizer {
        Normalizer::Fixed { capacity, .. } if records > capacity => {
            Err(malformed("records", "at most `capacity`", records))
        }
        Normalizer::Mean { minimum } if records < minimum.max(1) => {
            Err(malformed("records", "at least `minimum` and 1", records))
        }
        _ => Ok(()),
    }
}

/// Events with more phases than this are refused: phases can be merged.
const MOST_PHASES: usize = 100_000;

/// Checks a history's phases against each other, each release having at most `longest` steps;
/// returns the first and the last.
pub(super) fn phases(
    setting: &Setting,
    phases: &[Phase],
    longest: u64,
) -> Result<(Phase, Phase), AccountantError> {
    let (Some(&first), Some(&last)) = (phases.first(), phases.last()) else {
        return Err(malformed("phases", "at least one", 0));
    };
    require("phases", "at most 100000", phases.len(), phases.len() <= MOST_PHASES)?;
    for phase in phases {
        count("steps", phase.steps)?;
        count("releases", phase.releases)?;
        size("only_then", phase.only_then)?;
        size("only_now", phase.only_now)?;
        records(setting, phase.records)?;
        let most = longest.saturating_mul(phase.releases);
        require("steps", "at most `longest` for each release", phase.steps, phase.steps <= most)?;
        if let Normalizer::Fixed { capacity, .. } = setting.normalizer {
            for (name, value) in [("only_then", phase.only_then), ("only_now", phase.only_now)] {
                require(name, "at most `capacity`", value, value <= capacity)?;
            }
        }
    }
    if last.only_then != 0 || last.only_now != 0 {
        let got = last.only_then.saturating_add(last.only_now);
        return Err(malformed("only_then + only_now of the last phase", "0", got));
    }
    Ok((first, last))
}

/// Returns the distance of the averaged gradients of two neighbouring data sets, relative to G: how far a
/// group moves the gradient.
///
/// `fixed`: S/N when the group is removed, 2S/N when it is replaced. `mean`: 2S/minimum in both
/// cases, since the larger of the two sizes is at least the minimum.
pub(super) fn group_sensitivity(
    setting: &Setting,
    adjacency: Adjacency,
    notion: &'static str,
) -> Result<f64, AccountantError> {
    let group = group(setting)?;
    match (setting.normalizer, adjacency) {
        (Normalizer::Fixed { n, .. }, Adjacency::Remove) => Ok(group / n as f64),
        (Normalizer::Fixed { n, .. }, Adjacency::Replace) => Ok(2.0 * group / n as f64),
        (Normalizer::Mean { minimum: 0 }, _) => Err(AccountantError::Unsupported {
            notion,
            reason: "the `mean` normaliser needs a public `minimum` of records above 0",
        }),
        (Normalizer::Mean { minimum }, _) => Ok(2.0 * group / minimum as f64),
    }
}
