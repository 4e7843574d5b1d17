//! What an experiment gives: tables, and the paper's words beside our numbers.

use std::collections::BTreeMap;

use serde::Deserialize;

use efface_page::Table;
use efface_page::number::near;

/// Numbers by name, for claims.
pub(super) type Measured = BTreeMap<String, f64>;

/// What came out of an experiment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Outcome {
    /// Tables, each a CSV file.
    pub(super) sheets: Vec<Sheet>,
    /// The paper's printed numbers beside ours.
    pub(super) printed: Vec<Line>,
    /// Numbers that the declared claims are about.
    pub(super) measured: Measured,
    /// What else is to be known about this run.
    pub(super) remarks: Vec<String>,
}

/// The paper beside us, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The statement that is compared, in words.
    pub says: String,
    /// The paper's number or word.
    pub paper: String,
    /// The value computed or measured here.
    pub ours: String,
    /// Whether they agree within the declared tolerance.
    pub agrees: bool,
    /// What explains a difference, or is worth knowing.
    pub why: String,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sheet {
    /// The end of its file name; empty for the only one.
    pub(super) name: String,
    /// The columns and cells.
    pub(super) table: Table,
}

/// How a measured number is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Shown {
    /// In four digits.
    #[default]
    Number,
    /// In per cent.
    Percent,
    /// As a multiple.
    Times,
}

impl Shown {
    pub(super) fn text(self, x: f64) -> String {
        match self {
            Self::Number => number(x),
            Self::Percent => format!("{}%", number(100.0 * x)),
            Self::Times => format!("{} times", number(x)),
        }
    }
}

/// A number in four digits, as people write it.
pub(super) fn number(x: f64) -> String {
    near(x, 4)
}

impl Outcome {
    /// One table with these columns so far, without rows.
    pub(super) fn of(columns: &[&str]) -> Self {
        Self { sheets: vec![Sheet::new("", columns)], ..Self::default() }
    }

    /// Adds a row to the first table.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.sheets[0].row(cells);
    }

    /// Remembers a number for claims.
    pub(super) fn measure(&mut self, name: impl Into<String>, value: f64) {
        self.measured.insert(name.into(), value);
    }
}

impl Sheet {
    /// An empty table.
    pub(super) fn new(name: &str, columns: &[&str]) -> Self {
        Self { name: name.to_owned(), table: Table::new("", columns) }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.row(cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_what_they_are() {
        let text = |shown: Shown| shown.text(0.4453);
        assert_eq!(
            [Shown::Number, Shown::Percent, Shown::Times].map(text),
            ["0.4453", "44.53%", "0.4453 times"]
        );
    }
}
