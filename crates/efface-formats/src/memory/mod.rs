//! A table in memory: rows, labels, ids, subjects and weights in slices that belong to the caller.
//!
//! It goes through the same checks and the same encoder as a file of the same numbers, row by
//! row, and no copy of the whole is made.

mod columns;
mod dense_rows;
mod layout;

pub use columns::{ColumnValues, MemoryColumn};
use dense_rows::Whole;

use std::ops::Range;

use crate::budget::Budget;
use crate::cell::Cell;
use crate::delivery::Delivery;
use crate::error::{Fault, Place, ReadError, Spot, fault, inexact_name, no_label};
use crate::fitted::Typing;
use crate::numbers::Numbers;
use crate::options::ReadOptions;
use crate::record::Sink;
use crate::rows::{Cells, Keys, RowValues, Rows};
use crate::summary::Summary;

/// What the rows are called in messages.
const ROWS: &str = "X";

/// A table in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTable<'a> {
    /// The features of all rows.
    pub rows: MemoryRows<'a>,
    /// One for each row, or several numbers each; `None` if labels are not read.
    pub labels: Option<Values<'a>>,
    /// One for each row: what names the record.
    pub ids: Option<Values<'a>>,
    /// One for each row: whom the record belongs to.
    pub subjects: Option<Values<'a>>,
    /// One for each row: how often the record counts; read if labels are.
    pub weights: Option<Values<'a>>,
    /// One for each column; `None` takes `x0`, `x1` and so on, as for NPY files.
    pub names: Option<&'a [String]>,
}

/// The features of a table in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MemoryRows<'a> {
    /// Row after row, `width` numbers each.
    Dense {
        /// All numbers, row after row.
        numbers: Numbers<'a>,
        /// Number of columns.
        width: u32,
    },
    /// Compressed sparse rows: row i has the entries from `starts[i]` to `starts[i + 1]`.
    Sparse {
        /// One more than rows, not descending.
        starts: &'a [i64],
        /// The column of each entry counted from 0, ascending within a row.
        indices: &'a [i32],
        /// The number of each entry.
        numbers: Numbers<'a>,
        /// Number of columns.
        width: u32,
    },
    /// Column after column, read as raw rows only ([`ReadOptions::frame`]).
    Columns {
        /// All feature columns.
        columns: &'a [MemoryColumn<'a>],
        /// Number of rows.
        rows: usize,
    },
}

/// One value for each row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values<'a> {
    /// Texts, as in CSV: spaces around them do not count.
    Texts(&'a [String]),
    /// Whole numbers.
    Integers(&'a [i64]),
    /// Numbers.
    Numbers(&'a [f64]),
    /// Several numbers for each row, row after row: the labels of a regression on several targets.
    Several {
        /// As many as rows times names.
        numbers: &'a [f64],
        /// The name of each target, at least two.
        names: &'a [String],
    },
}

impl<'a> Values<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Texts(all) => all.len(),
            Self::Integers(all) => all.len(),
            Self::Numbers(all) => all.len(),
            // No number of rows is right for ragged ones.
            Self::Several { numbers, names }
                if numbers.len().is_multiple_of(names.len().max(1)) =>
            {
                numbers.len() / names.len().max(1)
            }
            Self::Several { .. } => usize::MAX,
        }
    }

    fn cell(&self, row: usize) -> Cell<'a> {
        let cell = match self {
            Self::Texts(all) => all.get(row).map(|text| Cell::Text(text)),
            Self::Integers(all) => all.get(row).map(|&value| Cell::Integer(value.into())),
            Self::Numbers(all) => all.get(row).map(|&value| Cell::Number(value)),
            Self::Several { .. } => None,
        };
        cell.unwrap_or(Cell::Null)
    }
}

impl MemoryTable<'_> {
    /// Returns how many rows it has; `None` if its parts do not fit together, which reading it refuses.
    pub fn rows(&self) -> Option<usize> {
        self.rows.count().ok()
    }

    /// Returns what the texts of each named column could have been.
    pub fn typings(&self) -> impl Iterator<Item = Typing> {
        let columns = match self.rows {
            MemoryRows::Columns { columns, .. } => columns,
            MemoryRows::Dense { .. } | MemoryRows::Sparse { .. } => &[],
        };
        columns.iter().map(MemoryColumn::typing)
    }
}

impl MemoryRows<'_> {
    fn width(&self) -> u32 {
        match *self {
            Self::Dense { width, .. } | Self::Sparse { width, .. } => width,
            Self::Columns { columns, .. } => columns.len() as u32,
        }
    }

    /// Returns how many rows there are, once the layout is whole.
    fn count(&self) -> Result<usize, Fault> {
        match *self {
            Self::Dense { numbers, width } => {
                let all = numbers.len();
                let rows = all.checked_div(width as usize).unwrap_or(0);
                if rows * width as usize == all {
                    Ok(rows)
                } else {
                    Err(fault!("{all} numbers cannot be split into rows of {width}"))
                }
            }
            Self::Sparse { starts, indices, numbers, .. } => {
                let entries = numbers.len();
                if indices.len() != entries {
                    return Err(fault!(
                        "{indices} column indices for {entries} entries",
                        indices = indices.len()
                    ));
                }
                let ascend = starts.is_sorted();
                let first = starts.first().is_some_and(|&first| first == 0);
                let last = starts.last().and_then(|&last| usize::try_from(last).ok());
                if ascend && first && last.is_some_and(|last| last <= entries) {
                    Ok(starts.len() - 1)
                } else {
                    Err(fault!(
                        "the row starts (`indptr`) must increase from 0 to at most {entries}, \
                         the number of entries"
                    ))
                }
            }
            Self::Columns { columns, rows } => {
                columns.iter().try_for_each(|column| column.check(rows))?;
                Ok(rows)
            }
        }
    }
}

/// Reads a table in memory row by row into `sink`.
///
/// Options that name columns of a file do not apply, and neither does `width`. Without a schema,
/// every column is a number and is taken as it is.
///
/// # Errors
/// Fails as [`crate::read`] does; messages call the parts `X`, `y`, `ids`, `subjects` and `weights` and count
/// rows from 0.
pub fn read_memory(
    table: &MemoryTable<'_>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Summary, ReadError> {
    read_memory_part(table, options, 0..usize::MAX, sink)
}

/// Reads some rows of a table in memory, counted from 0, as [`read_memory`] reads all of them; rows beyond
/// the last are skipped.
///
/// # Errors
/// Fails as [`read_memory`] does, which also checks what is not of these rows alone.
pub fn read_memory_part(
    table: &MemoryTable<'_>,
    options: &ReadOptions,
    rows: Range<usize>,
    sink: &mut dyn Sink,
) -> Result<Summary, ReadError> {
    let mut delivery = Delivery::new(ROWS, options, sink, Budget::unlimited())?;
    delivery.skip(rows.start as u64);
    // Options that only files have a use for.
    if let Some(option) = options.stated().next() {
        return Err(fault!("`{option}` does not apply to a table in memory").into());
    }
    let width = table.rows.width();
    if width == 0 {
        return Err(ReadError::of_file(ROWS, fault!("no feature columns are left")));
    }
    let count = table.rows.count().map_err(|fault| ReadError::of_file(ROWS, fault))?;
    let labels = if options.label_required { table.labels } else { None };
    if options.label_required && labels.is_none() {
        return Err(ReadError::of_file("y", no_label()));
    }
    let weights = if options.label_required { table.weights } else { None };
    let parts =
        [("y", &labels), ("ids", &table.ids), ("subjects", &table.subjects), ("weights", &weights)];
    for (part, values) in parts {
        if let (Some(Values::Several { names, .. }), true) = (values, part != "y") {
            let (part, got) = (part.to_owned(), names.len());
            return Err(ReadError::of_file(
                ROWS,
                fault!("`{part}` must have one value for each row, got {got}"),
            ));
        }
        if let Some(got) = values.map(|values| values.len())
            && got != count
        {
            let (got, expected) = (got as u64, count as u64);
            return Err(ReadError::of_file(
                part,
                fault!("{got} rows, but the features have {expected}"),
            ));
        }
    }
    let parts = Parts { table, labels, weights, rows: rows.start..rows.end.min(count) };
    let names = parts.label_names();
    let maker = layout::maker(table, options)?;
    delivery.begin(&maker, None)?;
    if maker.copies()
        && let Some(rows) = Whole::of(&parts, options)
        && delivery.deliver_at_once(&rows)?
    {
        delivery.took(rows.taken(), parts.rows.len() as u64);
        return Ok(delivery.finish(None, maker)?.with_targets(names));
    }
    delivery.run(&mut OneByOne { parts: &parts, read: 0 }, maker, names, None)
}

/// What is read of a table.
struct Parts<'a> {
    table: &'a MemoryTable<'a>,
    labels: Option<Values<'a>>,
    weights: Option<Values<'a>>,
    rows: Range<usize>,
}

impl<'a> Parts<'a> {
    /// Returns the names of the labels.
    fn label_names(&self) -> Vec<String> {
        match self.labels {
            Some(Values::Several { names, .. }) => names.to_vec(),
            _ => vec!["y".to_owned()],
        }
    }

    /// Returns one of the labels of a row.
    fn label(&self, row: usize, at: usize) -> Cell<'a> {
        match self.labels {
            Some(Values::Several { .. }) => {
                self.targets_of(row).get(at).map_or(Cell::Null, |&number| Cell::Number(number))
            }
            labels => labels.map_or(Cell::Null, |values| values.cell(row)),
        }
    }

    /// Returns the numbers of several targets of a row.
    fn targets_of(&self, row: usize) -> &'a [f64] {
        match self.labels {
            Some(Values::Several { numbers, names }) => {
                let from = row * names.len();
                numbers.get(from..from + names.len()).unwrap_or_default()
            }
            _ => &[],
        }
    }

    fn keys(&self, row: usize) -> Result<Keys<'a>, ReadError> {
        let name = |(part, values): (&str, Option<Values<'a>>)| {
            let digits = f64::MANTISSA_DIGITS;
            let name = values.map(|values| values.cell(row).naming(digits));
            let place = || Place::new(part, Spot::Index(row as u64));
            name.transpose().map_err(|value| ReadError::at(place(), inexact_name(value, digits)))
        };
        Ok(Keys {
            id: name(("ids", self.table.ids))?,
            subject: name(("subjects", self.table.subjects))?,
            weight: self.weights.map(|values| values.cell(row)),
        })
    }
}

/// The rows one by one.
struct OneByOne<'p, 'a> {
    parts: &'p Parts<'a>,
    /// How many of them were read.
    read: usize,
}

impl OneByOne<'_, '_> {
    /// Returns the row in the table.
    fn row(&self) -> usize {
        (self.parts.rows.start + self.read).saturating_sub(1)
    }
}

impl Cells for OneByOne<'_, '_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        let row = self.row();
        match self.parts.table.rows {
            MemoryRows::Columns { columns, .. } => {
                columns.get(column).map_or(Cell::Null, |column| column.cell(row))
            }
            MemoryRows::Dense { .. } | MemoryRows::Sparse { .. } => Cell::Null,
        }
    }
}

impl Rows for OneByOne<'_, '_> {
    fn advance(&mut self) -> Result<Option<Spot>, ReadError> {
        let is_there = self.read < self.parts.rows.len();
        self.read += 1;
        Ok(is_there.then(|| Spot::Index(self.row() as u64)))
    }

    fn label(&mut self, at: usize) -> Result<Cell<'_>, ReadError> {
        Ok(self.parts.label(self.row(), at))
    }

    fn features(&mut self) -> Result<RowValues<'_>, ReadError> {
        let row = self.row();
        Ok(match self.parts.table.rows {
            MemoryRows::Dense { numbers, width } => {
                let width = width as usize;
                RowValues::Dense(numbers.part(row * width..(row + 1) * width))
            }
            MemoryRows::Sparse { starts, indices, numbers, width } => {
                let limit = |at: usize| starts.get(at).map_or(0, |&start| start as usize);
                let entries = limit(row)..limit(row + 1);
                let indices = indices.get(entries.clone()).unwrap_or_default();
                let place = || Place::new(ROWS, Spot::Index(row as u64));
                check_indices(indices, width).map_err(|fault| ReadError::at(place(), fault))?;
                let numbers = numbers.part(entries);
                RowValues::Sparse { indices: bytemuck::cast_slice(indices), numbers }
            }
            MemoryRows::Columns { .. } => RowValues::Cells(self),
        })
    }

    fn keys(&mut self) -> Result<Keys<'_>, ReadError> {
        self.parts.keys(self.row())
    }
}

/// Checks that column indices of a sparse row increase and are below the width.
fn check_indices(indices: &[i32], width: u32) -> Result<(), Fault> {
    let mut least = 0_i64;
    for &got in indices {
        if i64::from(got) < least || got.cast_unsigned() >= width {
            return Err(fault!(
                "the column indices of a sparse row must increase and be below {width}, got {got}"
            ));
        }
        least = i64::from(got) + 1;
    }
    Ok(())
}
