//! One column of a table as texts, for lists of ids.

use crate::budget::Budget;
use crate::error::{Place, ReadError, absent, fault};
use crate::fitted::{Frame, FrameRequest};
use crate::input::{Format, Input};
use crate::limits::Limits;
use crate::options::ReadOptions;
use crate::read::{Opened, open};
use crate::source::Source;
use crate::table::{Table, Unread, name};

/// Returns the values of a column in the text form that ids have ([`crate::Cell::text`]); empty cells are
/// left out. Tables with named columns only: CSV, Parquet, Arrow.
///
/// # Errors
/// Fails if the table cannot be read, has no such column, or has texts that take more memory than the limits
/// allow.
pub fn column_texts(
    input: &Input,
    column: &str,
    limits: &Limits,
) -> Result<Vec<String>, ReadError> {
    let mut options = ReadOptions { limits: limits.clone(), ..ReadOptions::default() };
    let mut source = Source::new(&input.path, limits);
    let file = source.name().to_owned();
    let opened = open(&mut source, input.format, Some(Format::Csv), &options)?;
    if opened.format() == Format::Csv {
        // Columns without a name do not matter: those of a given frame, here none, are read alone.
        options.frame = Some(FrameRequest::Given(Frame::Columns(Vec::new())));
    }
    match opened.table(&mut source, &options, Unread::Empty)? {
        Opened::Table(_, mut table) => collected(&file, &mut *table, column, source.budget()),
        Opened::Stream(format, _) | Opened::Seekable(format) => {
            Err(fault!("`column` does not apply to {format} files").into())
        }
    }
}

fn collected(
    file: &str,
    table: &mut dyn Table,
    column: &str,
    budget: &Budget,
) -> Result<Vec<String>, ReadError> {
    let found = table.names().iter().position(|name| name == column);
    let at = found.ok_or_else(|| {
        let fault = absent(column, "named with `§column`", table.names());
        ReadError::of_file(file, fault)
    })?;
    if let Some(kind) = table.unread(at) {
        let fault = fault!("columns of type {kind} are not supported; store it as text");
        return Err(ReadError::at(Place::file(file).column(column), fault));
    }
    let mut texts = Vec::new();
    while table.advance()? {
        let text = name(file, table, at)?.text();
        if !text.is_empty() {
            budget.text(&text).map_err(|fault| ReadError::of_file(file, fault))?;
            texts.push(text.into_owned());
        }
    }
    Ok(texts)
}
