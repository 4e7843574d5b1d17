//! Which cells are categories with a place of their own, by how many records have each.

use super::amount::NumberFormat;
use super::counts::Counts;
use super::learned::Levels;
use super::raw::{RawCell, numeric, of_key};
use super::rules::{Rules, SHARED};

/// A column names its records if fewer than one in so many of them share their value with another.
const NAMES: u64 = 5;

/// Returns whether most of the numbers are in cells that fewer records have.
pub(super) fn are_rare(values: &Counts, format: NumberFormat, least: u64) -> bool {
    let numbers = values.iter().filter(|(key, _)| numeric(of_key(key), format).is_some());
    let (mut rare, mut all) = (0, 0);
    for (_, count) in numbers {
        all += count;
        rare += if count < least { count } else { 0 };
    }
    2 * rare > all
}

/// Returns the cells that are categories next to numbers: if other texts are repeated as numbers are, all may
/// be names.
pub(super) fn of_codes(
    values: &Counts,
    format: NumberFormat,
    rules: &Rules,
    records: u64,
) -> Levels {
    let is_code = |cell: RawCell<'_>| numeric(cell, format).is_none();
    let again = rules.least(records).max(SHARED).into();
    let has_codes = values.iter().any(|(key, count)| count >= again && is_code(of_key(key)));
    if !has_codes || are_rare(values, format, again) {
        return Levels::default();
    }
    beside(values, rules, records, |_, _| true)
}

/// Returns the categories next to numbers, of some of the cells: empty if there is only one cell, or if more
/// categories would have a place than may.
pub(super) fn beside(
    values: &Counts,
    rules: &Rules,
    records: u64,
    is_one: impl Fn(RawCell<'_>, u64) -> bool,
) -> Levels {
    let placed = placed(values, rules, records, is_one).unwrap_or_default();
    let fits = !placed.names.is_empty() && placed.names.len() as u64 + placed.merged > 1;
    if fits { placed } else { Levels::default() }
}

/// Returns those of some cells that have a place of their own; `None` if these are more than may be.
pub(super) fn placed(
    values: &Counts,
    rules: &Rules,
    records: u64,
    is_one: impl Fn(RawCell<'_>, u64) -> bool,
) -> Option<Levels> {
    let cells = || {
        let all = values.iter().map(|(key, count)| (of_key(key), count));
        all.filter(|(cell, count)| is_one(*cell, *count))
    };
    let (mut present, mut distinct, mut single) = (0, 0, 0);
    for (_, count) in cells() {
        present += count;
        distinct += 1;
        single += u64::from(count == 1);
    }
    let kept = |least: u64| cells().filter(move |(_, count)| *count >= least);
    let most = rules.max_categories as usize;
    let mut least = u64::from(rules.least(records));
    // A name of a record says little about other records, and a release need not name them, unless the user
    // wants it.
    let names_records = rules.one_in.is_some() && NAMES * (present - single) < present;
    if names_records || kept(least).count() > most {
        // Nothing can be learnt from a place that single records share by chance.
        least = least.max(SHARED.into());
        if kept(least).count() > most {
            return None;
        }
    }
    let mut names: Vec<String> = kept(least).map(|(cell, _)| cell.name()).collect();
    names.sort_unstable();
    let merged = distinct - names.len() as u64;
    Some(Levels { names, merged })
}
