//! What was learned, in words.

use super::frame::Frame;
use super::learned::{Column, Columns, Exact, Learned, Levels, Target};

/// Writes one line for each named column, or one for an array, and one for each target.
pub(super) fn describe(learned: &Learned) -> Vec<String> {
    let mut lines = match &learned.columns {
        Columns::Named(_) => {
            learned.named().map(|(c, column)| of_column(&c.name, column, learned)).collect()
        }
        Columns::Matrix(matrix) => {
            let sparse = matches!(learned.frame, Frame::Matrix { sparse: true, .. });
            let kind = if sparse {
                "scaled by the size of those that are not zero"
            } else {
                "standardised"
            };
            let mut line =
                format!("{}, {kind}", counted(matrix.scales.len() as u64, "number", "numbers"));
            if !matrix.missing.is_empty() {
                let missing = counted(matrix.missing.len() as u64, "column", "columns");
                line += &format!(", {missing} with missing values");
            }
            vec![line]
        }
    };
    let number = |target: String, mean: &Exact, scale: &Exact| {
        format!("{target}: number, mean {}, scale {}", short(mean.0), short(scale.0))
    };
    match &learned.target {
        Target::Classes { names, .. } => {
            let balanced = if learned.rules.balanced { ", weighted to count the same" } else { "" };
            let classes = counted(names.len() as u64, "class", "classes");
            lines.push(format!("target: {classes}{balanced}"));
        }
        Target::Number { mean, scale } => lines.push(number("target".to_owned(), mean, scale)),
        Target::Numbers(list) => {
            let each = (1..).zip(list);
            lines.extend(each.map(|(at, s)| number(format!("target {at}"), &s.mean, &s.scale)));
        }
    }
    lines
}

/// What a named column was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnKind<'a> {
    /// Name of the column.
    pub name: &'a str,
    /// `numbers`, `times`, `categories` or `text`; `None` if no record has a value.
    pub kind: Option<&'static str>,
    /// Records with a text that spells no number or no time and counts as missing.
    pub strays: u64,
    /// Whether that was declared, and not found from its values.
    pub is_declared: bool,
    /// Whether its numbers are categories as well, since other texts are repeated among them.
    pub are_codes: bool,
    /// Whether it has values and no number is made of them: each is in too few records.
    pub left_out: bool,
    /// Whether too few records have a value at all for one to be made, of numbers and times.
    pub is_few: bool,
    /// Whether the column has a missing-value indicator.
    pub shows_missing: bool,
    /// Its categories that have a place of their own, sorted by their bytes; empty for other kinds.
    pub categories: &'a [String],
}

/// Returns the kinds of named columns, in order; empty for an array.
pub(super) fn kinds(learned: &Learned) -> Vec<ColumnKind<'_>> {
    let kind = |column: &Column| match column {
        Column::Empty { .. } => None,
        Column::Number { .. } => Some("numbers"),
        Column::Time { .. } => Some("times"),
        Column::Category { .. } | Column::Hashed { .. } => Some("categories"),
        Column::Text { .. } => Some("text"),
    };
    learned
        .named()
        .map(|(framed, column)| ColumnKind {
            name: &framed.name,
            kind: kind(column),
            strays: column.strays(),
            is_declared: framed.declared.is_some(),
            are_codes: matches!(column, Column::Number { levels, .. } if levels.width() > 0),
            left_out: column.is_left_out(),
            is_few: column.is_left_out() && !matches!(column, Column::Category { .. }),
            shows_missing: column.shows_missing(&learned.rules),
            categories: match column {
                Column::Category { levels, .. } => &levels.names,
                _ => &[],
            },
        })
        .collect()
}

fn of_column(name: &str, column: &Column, learned: &Learned) -> String {
    let mut line = match column {
        Column::Empty { .. } => return format!("{name}: no values"),
        Column::Number { few: true, .. } => few(name, "number", learned),
        Column::Time { few: true, .. } => few(name, "time", learned),
        Column::Number { comma, clock, mean, scale, levels, .. } => {
            let kind = match (comma, clock) {
                (_, true) => "time of day in seconds",
                (true, false) => "number with decimal comma",
                (false, false) => "number",
            };
            let line = format!("{name}: {kind}, mean {}, scale {}", short(mean.0), short(scale.0));
            line + &beside(levels)
        }
        Column::Time { mean, scale, years, months, weekdays, hours, levels, .. } => {
            let day = crate::time::text((mean.0.floor() as i64).saturating_mul(crate::time::DAY));
            let parts =
                [("year", years), ("month", months), ("weekday", weekdays), ("hour", hours)];
            let parts: String = parts
                .into_iter()
                .filter(|(_, levels)| levels.width() > 0)
                .map(|(part, _)| format!(", {part}"))
                .collect();
            let line = format!("{name}: time, mean {day}, scale {} days{parts}", short(scale.0));
            line + &beside(levels)
        }
        Column::Category { levels, .. } => {
            let found = levels.names.len() as u64 + levels.merged;
            let mut line = format!("{name}: {}", counted(found, "category", "categories"));
            if levels.has_other() {
                line += &format!(", {} rare merged", levels.merged);
            } else if levels.merged > 0 {
                let least = learned.least_of_left_out();
                line += &format!(", none of {least} records or more, left out");
                line += but_for_absence(column.shows_missing(&learned.rules));
            }
            line
        }
        Column::Hashed { distinct, .. } => {
            let width = learned.rules.max_categories;
            format!("{name}: {distinct} categories, hashed to {width} numbers")
        }
        Column::Text { .. } => {
            format!("{name}: text, words hashed to {} numbers", learned.rules.text_width)
        }
    };
    if column.missing() > 0 {
        line += &format!(", {} missing", column.missing());
    }
    if column.strays() > 0 {
        line += &format!(" ({})", counted(column.strays(), "other text", "other texts"));
    }
    line
}

/// Describes numbers or times that too few records have.
fn few(name: &str, kind: &str, learned: &Learned) -> String {
    let least = learned.rules.min_missing;
    let but = but_for_absence(true);
    format!("{name}: {kind}, in fewer than {least} records, left out{but}")
}

/// Returns what is learnt of a column whose values are left out.
fn but_for_absence(is_shown: bool) -> &'static str {
    if is_shown { " but for whether it is missing" } else { "" }
}

/// Describes categories that stand next to numbers.
fn beside(levels: &Levels) -> String {
    match levels.names.len() as u64 {
        0 => String::new(),
        count => format!(", also {}", counted(count, "category", "categories")),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Writes about three digits of a value.
fn short(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let places = if size >= 100.0 || size == 0.0 {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        2 - (size.log10().floor() as i32)
    };
    format!("{value:.*}", places as usize)
}
