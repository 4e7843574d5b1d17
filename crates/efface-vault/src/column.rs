//! Reading and writing single columns.

use crate::ReadError;
use rusqlite::{OptionalExtension, Params, Row};
use std::fmt::Display;

/// Returns SQL for a column that reads no bytes if it is longer than it may be.
pub(crate) fn within(column: &str, most: impl Display) -> String {
    let name = column.rsplit('.').next().unwrap_or(column);
    format!("CASE WHEN octet_length({column}) > {most} THEN x'' ELSE {column} END AS {name}")
}

/// Reads a whole number that is never negative.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// Reads a whole number that is never negative, or null.
pub(crate) fn maybe_unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    match row.get_ref(column)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => unsigned(row, column).map(Some),
    }
}

/// Reads bytes, borrowed from the row.
pub(crate) fn blob<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    Ok(row.get_ref(column)?.as_blob()?)
}

/// Reads text, borrowed from the row.
pub(crate) fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str()?)
}

/// Returns the one row of a query, if there is one.
pub(crate) fn at_most_one<T>(
    connection: &rusqlite::Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, ReadError> {
    Ok(connection.prepare_cached(sql)?.query_row(values, read).optional()?)
}
