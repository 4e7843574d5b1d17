//! Reads lists of ids or subjects from a column of a table.

use std::path::PathBuf;

use efface_formats::{Input, Limits, PathOrStdin, column_texts};

use crate::error::Result;
use crate::rows::source::unreadable;

/// Returns the values of a column, read like ids of a table: surrounding spaces are stripped and empty cells
/// left out. Reads CSV, Parquet and Arrow; no path means standard input.
///
/// # Errors
/// Fails if the table cannot be read, or has no such column.
pub fn names_in(path: Option<PathBuf>, column: &str) -> Result<Vec<String>> {
    let path = path.map_or(PathOrStdin::Stdin, PathOrStdin::Path);
    let input = Input { path, labels: None, format: None };
    column_texts(&input, column, &Limits::default()).map_err(unreadable)
}
