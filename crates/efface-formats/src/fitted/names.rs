//! Names of the numbers of an encoded row.

use super::frame::Frame;
use super::frame::FrameColumn;
use super::learned::{Column, Columns, Learned, Levels};
use super::rules::Rules;
use crate::record::FeatureNames;

pub(super) fn feature_names(learned: &Learned) -> FeatureNames {
    match (&learned.columns, &learned.frame) {
        (Columns::Named(columns), Frame::Columns(frame)) => {
            let names = frame.iter().zip(columns);
            FeatureNames::Listed(names.flat_map(|(f, c)| of_column(f, c, &learned.rules)).collect())
        }
        (Columns::Matrix(matrix), frame) if !matrix.missing.is_empty() => {
            let plain = frame.feature_columns();
            let name = |at: usize| plain.name(at).unwrap_or_default().into_owned();
            let shown = matrix.shown(&learned.rules);
            let missing = shown.map(|at| format!("{}=missing", name(at as usize)));
            FeatureNames::Listed((0..plain.len()).map(name).chain(missing).collect())
        }
        (_, frame) => frame.feature_columns(),
    }
}

fn of_column(frame: &FrameColumn, column: &Column, rules: &Rules) -> Vec<String> {
    let name = &frame.name;
    let mut names = match column {
        Column::Empty { .. } => return Vec::new(),
        Column::Number { few: true, .. } | Column::Time { few: true, .. } => Vec::new(),
        Column::Number { levels, .. } => {
            let mut names = vec![name.clone()];
            names.extend(of_levels(name, levels));
            names
        }
        Column::Time { years, months, weekdays, hours, levels, .. } => {
            let mut names = vec![name.clone()];
            names.extend(of_levels(&format!("{name} year"), years));
            names.extend(of_levels(&format!("{name} month"), months));
            names.extend(of_levels(&format!("{name} weekday"), weekdays));
            names.extend(of_levels(&format!("{name} hour"), hours));
            names.extend(of_levels(name, levels));
            names
        }
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

/// The name, with a word behind it where a category has the same.
fn own(taken: &[String], name: String, word: &str) -> String {
    if taken.contains(&name) { format!("{name} {word}") } else { name }
}
