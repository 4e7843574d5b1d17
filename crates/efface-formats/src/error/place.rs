//! The place in the input at which a rule was broken.

use std::fmt;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file as the user named it.
    pub(crate) file: String,
    /// Line, row, or the file as a whole.
    pub(crate) spot: Spot,
    /// The column or feature, if the fault is in one.
    pub(crate) column: Option<String>,
}

/// A place inside a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The file as a whole.
    File,
    /// A line of a text file, counted from 1 as editors do.
    Line(u64),
    /// A row of a file without lines, counted from 0 and shown as `row:K`.
    Row(u64),
    /// A row of an array in memory, counted from 0 and shown as `X[K]`, or `y[K]` for its target.
    Index(u64),
}

impl Place {
    /// Returns the place that is the file as a whole.
    pub(crate) fn file(file: &str) -> Self {
        Self::new(file, Spot::File)
    }

    /// Returns the place of a spot in a file.
    pub(crate) fn new(file: &str, spot: Spot) -> Self {
        Self { file: file.to_owned(), spot, column: None }
    }

    /// Adds a column to the same spot.
    pub(crate) fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Spot::Index(at), Some("y")) = (self.spot, self.column.as_deref()) {
            return write!(out, "y[{at}]");
        }
        out.write_str(&self.file)?;
        match self.spot {
            Spot::File => {}
            Spot::Line(line) => write!(out, ", line {line}")?,
            Spot::Row(row) => write!(out, ", row:{row}")?,
            Spot::Index(row) => write!(out, "[{row}]")?,
        }
        match &self.column {
            Some(column) => write!(out, ", column `{}`", crate::cell::quoted(column)),
            None => Ok(()),
        }
    }
}
