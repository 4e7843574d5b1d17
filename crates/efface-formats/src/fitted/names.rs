//! Names of the numbers of an encoded row.

use super::learned::{Column, Columns, Learned, Levels};
use super::rules::Rules;
use crate::record::FeatureNames;

pub(super) fn feature_names(learned: &Learned) -> FeatureNames {
    match &learned.columns {
        Columns::Named(_) => {
            let names = learned.named().flat_map(|(f, c)| of_column(&f.name, c, &learned.rules));
            FeatureNames::Listed(names.collect())
        }
        Columns::Matrix(matrix) if !matrix.missing.is_empty() => {
            let plain = learned.frame.feature_columns();
            let name = |at: usize| plain.name(at).unwrap_or_default().into_owned();
            let shown = matrix.shown(&learned.rules);
            let missing = shown.map(|at| format!("{}=missing", name(at as usize)));
            FeatureNames::Listed((0..plain.len()).map(name).chain(missing).collect())
        }
        Columns::Matrix(_) => learned.frame.feature_columns(),
    }
}

fn of_column(name: &str, column: &Column, rules: &Rules) -> Vec<String> {
    let beside = |parts: &[(&str, &Levels)]| {
        let names =
            parts.iter().flat_map(|(part, levels)| of_levels(&format!("{name}{part}"), levels));
        std::iter::once(name.to_owned()).chain(names).collect()
    };
    let mut names = match column {
        Column::Empty { .. } => return Vec::new(),
        Column::Number { few: true, .. } | Column::Time { few: true, .. } => Vec::new(),
        Column::Number { levels, .. } => beside(&[("", levels)]),
        Column::Time { years, months, weekdays, hours, levels, .. } => beside(&[
            (" year", years),
            (" month", months),
            (" weekday", weekdays),
            (" hour", hours),
            ("", levels),
        ]),
        Column::Category { levels, .. } => of_levels(name, levels),
        Column::Hashed { .. } => numbered(name, rules.max_categories),
        Column::Text { .. } => numbered(name, rules.text_width),
    };
    if column.shows_missing(rules) {
        names.push(own(&names, format!("{name}=missing"), "value"));
    }
    names
}

fn of_levels(name: &str, levels: &Levels) -> Vec<String> {
    let mut names: Vec<String> =
        levels.names.iter().map(|level| format!("{name}={level}")).collect();
    if levels.has_other() {
        names.push(own(&names, format!("{name}=other"), "values"));
    }
    names
}

fn numbered(name: &str, width: u32) -> Vec<String> {
    (0..width).map(|place| format!("{name}#{place}")).collect()
}

/// Returns the name, with a word behind it if a category has the same.
fn own(taken: &[String], name: String, word: &str) -> String {
    if taken.contains(&name) { format!("{name} {word}") } else { name }
}
