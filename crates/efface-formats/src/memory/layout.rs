//! Which columns the rows of a table in memory are made of.

use super::{MemoryRows, MemoryTable, ROWS};
use crate::error::{Fault, ReadError, check_distinct, fault, other_shape, other_width};
use crate::fitted::{Declared, Frame, FrameColumn, FrameRequest};
use crate::options::ReadOptions;
use crate::record::FeatureNames;
use crate::rows::{self, RowMaker};
use crate::schema::{Schema, Storage};

/// Returns what makes rows of the table as the options want them.
pub(super) fn maker(table: &MemoryTable<'_>, options: &ReadOptions) -> Result<RowMaker, ReadError> {
    let here = |fault: Fault| ReadError::of_file(ROWS, fault);
    let width = table.rows.width();
    if let Some(got) = table.names.map(<[String]>::len)
        && got != width as usize
    {
        return Err(here(fault!("{got} names for {width} columns")));
    }
    let is_sparse = matches!(table.rows, MemoryRows::Sparse { .. });
    let array = || rows::array(ROWS, rows::implied(width as usize, 1.0), is_sparse, options);
    let Some(request) = &options.frame else {
        return match (table.rows, &options.schema, table.names) {
            (MemoryRows::Columns { .. }, ..) => Err(here(fault!(
                "columns of values are read as raw rows only; give an array of numbers instead"
            ))),
            (_, None, Some(names)) => {
                let storage = if is_sparse { Storage::Sparse } else { Storage::Dense };
                Ok(RowMaker::encoded(
                    Schema::numbers(storage, names.iter().map(String::as_str))?,
                    is_sparse,
                ))
            }
            (_, _, None) => array(),
            (_, Some(_), Some(names)) => {
                let maker = array()?;
                check_names(names, &maker).map_err(here)?;
                Ok(maker)
            }
        };
    };
    let columns = match (table.rows, request) {
        (MemoryRows::Columns { columns, .. }, _) => {
            let names: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
            let declared = |at: usize| columns.get(at).and_then(|column| column.declared());
            named(&names, declared, request, options)?
        }
        // The names of a sparse array are not kept.
        (MemoryRows::Sparse { .. }, _) => return array(),
        (MemoryRows::Dense { .. }, FrameRequest::Given(Frame::Columns(columns)))
            if table.names.is_none()
                && columns.iter().all(|column| column.declared == Some(Declared::Number)) =>
        {
            // Numbers without names belong to the columns in their order.
            if columns.len() != width as usize {
                return Err(here(other_width(u64::from(width), columns.len() as u64)));
            }
            (columns.clone(), (0..columns.len()).collect())
        }
        (MemoryRows::Dense { .. }, _) => match table.names {
            None => return array(),
            Some(names) => named(names, |_| Some(Declared::Number), request, options)?,
        },
    };
    let (columns, places) = columns;
    let names = columns.iter().map(|column| column.name.as_str());
    let schema = Schema::numbers(Storage::Dense, names)?;
    Ok(RowMaker::raw(schema, Frame::Columns(columns), &options.missing).at(places))
}

/// Returns the columns of raw rows, and the position of each among those of the table.
fn named(
    names: &[String],
    declared: impl Fn(usize) -> Option<Declared>,
    request: &FrameRequest,
    options: &ReadOptions,
) -> Result<(Vec<FrameColumn>, Vec<usize>), ReadError> {
    check_distinct(names).map_err(|fault| ReadError::of_file(ROWS, fault))?;
    let all: Vec<usize> = (0..names.len()).collect();
    rows::columns(ROWS, names, options, request, &all, declared)
}

/// Checks that names of columns are those of the schema, in its order.
fn check_names(names: &[String], maker: &RowMaker) -> Result<(), Fault> {
    let FeatureNames::Listed(expected) = maker.inputs() else {
        return Err(other_shape("an array without names", "named columns"));
    };
    match names.iter().zip(expected).enumerate().find(|(_, (got, expected))| got != expected) {
        Some((at, (got, expected))) => {
            let (got, position) = (crate::cell::quoted(got), at + 1);
            Err(fault!("column {position} is `{got}`, but `{expected}` in the schema"))
        }
        None => Ok(()),
    }
}
