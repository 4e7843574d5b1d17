//! Lists of ids or subjects in a column of a table.

use std::path::PathBuf;

use efface_formats::{Input, Limits, PathOrStdin, column_texts};

use crate::error::Result;
use crate::rows::source::unreadable;

/// The values of a column, as ids are read from a table: spaces around them do not count, and empty
/// cells are left out. CSV, Parquet and Arrow; no path is standard input.
///
/// # Errors
/// A table that cannot be read, or has no such column.
pub fn names_in(path: Option<PathBuf>, column: &str) -> Result<Vec<String>> {
    let path = path.map_or(PathOrStdin::Stdin, PathOrStdin::Path);
    let input = Input { path, labels: None, format: None };
    column_texts(&input, column, &Limits::default()).map_err(unreadable)
}
