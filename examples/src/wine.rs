//! The wines as CSV tables and the schema they are read by.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Name and public range of each measurement, from what is chemically usual, not from the data.
const MEASUREMENTS: [(&str, f64, f64); 11] = [
    ("fixed acidity", 4.0, 16.0),
    ("volatile acidity", 0.0, 1.6),
    ("citric acid", 0.0, 1.0),
    ("residual sugar", 0.0, 16.0),
    ("chlorides", 0.0, 0.6),
    ("free sulfur dioxide", 0.0, 80.0),
    ("total sulfur dioxide", 0.0, 300.0),
    ("density", 0.98, 1.01),
    ("pH", 2.7, 4.1),
    ("sulphates", 0.3, 2.0),
    ("alcohol", 8.0, 15.0),
];

/// Wines per cellar.
const CELLAR: usize = 8;

/// The tables.
pub(crate) struct Tables {
    /// The private table.
    pub(crate) train: String,
    /// The public test table.
    pub(crate) holdout: String,
    /// Ids of wines in the private table.
    pub(crate) ids: Vec<String>,
    /// Cellars in the private table.
    pub(crate) cellars: Vec<String>,
}

impl Tables {
    /// Both tables, split by position.
    pub(crate) fn new() -> Self {
        let wines = linfa_datasets::winequality();
        let mut header = String::from("wine,cellar,good");
        for (name, ..) in MEASUREMENTS {
            let _ = write!(header, ",{name}");
        }
        header.push('\n');
        let mut tables =
            Self { train: header.clone(), holdout: header, ids: Vec::new(), cellars: Vec::new() };
        let rows = wines.records().rows().into_iter().zip(wines.targets());
        for (position, (row, points)) in rows.enumerate() {
            let (id, cellar) = (
                format!("wine-{:04}", position + 1),
                format!("cellar-{:03}", position / CELLAR + 1),
            );
            let good = if *points >= 6 { "yes" } else { "no" };
            let mut line = format!("{id},{cellar},{good}");
            for value in row {
                let _ = write!(line, ",{value}");
            }
            line.push('\n');
            if position % 5 == 4 {
                tables.holdout.push_str(&line);
            } else {
                tables.train.push_str(&line);
                tables.ids.push(id);
                tables.cellars.push(cellar);
            }
        }
        tables.cellars.dedup();
        tables
    }

    /// Rows of the private table by id, with new ids.
    pub(crate) fn again(&self, ids: &[String], prefix: &str) -> String {
        let mut lines = self.train.lines();
        let mut table = format!("{}\n", lines.next().unwrap_or_default());
        for line in lines {
            if let Some((id, rest)) = line.split_once(',')
                && ids.iter().any(|wanted| wanted == id)
            {
                let _ = writeln!(table, "{prefix}{id},{rest}");
            }
        }
        table
    }

    /// Writes the tables into a folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::write(folder.join("wines.csv"), &self.train)?;
        std::fs::write(folder.join("holdout.csv"), &self.holdout)
    }
}

/// The schema: every measurement mapped from its public range.
pub(crate) fn schema() -> String {
    let mut text = String::from("version = 1\n");
    for (name, kind) in [("wine", "id"), ("cellar", "subject"), ("good", "label")] {
        let _ = write!(text, "\n[[column]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
    }
    for (name, low, high) in MEASUREMENTS {
        let _ = write!(
            text,
            "\n[[column]]\nname = \"{name}\"\nkind = \"numeric\"\nrange = [{low:?}, {high:?}]\n"
        );
    }
    text
}
