//! A table in memory: rows, labels, ids, subjects and weights in slices that belong to the caller.
//!
//! It goes through the same checks and the same encoder as a file of the same numbers, row by
//! row, and no copy of the whole is made.

mod columns;
mod dense_rows;
mod raw;

pub use columns::{ColumnValues, MemoryColumn};
use dense_rows::Whole;

use std::ops::Range;

use crate::budget::Budget;
use crate::cell::Cell;
use crate::delivery::{Admission, Delivery, Keys};
use crate::error::{
    Fault, Place, ReadError, Spot, fault, inexact_name, no_label, other_shape, other_width,
};
use crate::fitted::{Frame, RawWriter, Typing};
use crate::matrix;
use crate::options::ReadOptions;
use crate::record::{FeatureNames, Sink};
use crate::schema::{Body, Row, RowEncoder, Schema, Storage, all_finite};
use crate::summary::Summary;
use raw::RawRowsOf;

/// What the rows are called in messages.
const ROWS: &str = "X";

/// A table in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTable<'a> {
    /// The features.
    pub rows: MemoryRows<'a>,
    /// One for each row, or several numbers each; none where labels are not read.
    pub labels: Option<Values<'a>>,
    /// One for each row: what names the record.
    pub ids: Option<Values<'a>>,
    /// One for each row: whom the record belongs to.
    pub subjects: Option<Values<'a>>,
    /// One for each row: how often the record counts; read where labels are.
    pub weights: Option<Values<'a>>,
    /// One for each column; none takes `x0`, `x1` and so on, as for NPY files.
    pub names: Option<&'a [String]>,
}

/// The features of a table in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MemoryRows<'a> {
    /// Row after row, `width` numbers each.
    Dense {
        /// Every number.
        numbers: Numbers<'a>,
        /// Columns.
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
        /// Columns.
        width: u32,
    },
    /// Column after column, read as raw rows only ([`ReadOptions::frame`]).
    Columns {
        /// Every feature column.
        columns: &'a [MemoryColumn<'a>],
        /// Rows.
        rows: usize,
    },
}

/// Numbers in single or double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers<'a> {
    /// 32 bits each.
    Single(&'a [f32]),
    /// 64 bits each; stored as the nearest 32 bits.
    Double(&'a [f64]),
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

impl<'a> Numbers<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Single(all) => all.len(),
            Self::Double(all) => all.len(),
        }
    }

    /// Part of them as a dense row, where single precision holds them all.
    fn take(&self, from: usize, to: usize, row: &mut Row) -> bool {
        match self {
            Self::Single(all) => row.take(all.get(from..to).unwrap_or_default().iter().copied()),
            Self::Double(all) => {
                let part = all.get(from..to).unwrap_or_default();
                row.take(part.iter().map(|&value| value as f32))
            }
        }
    }

    /// Puts those from `from` on in a dense row, where there are as many and single precision holds them all.
    fn put(&self, from: usize, row: &mut [f32]) -> bool {
        let part = from..from.saturating_add(row.len());
        match self {
            Self::Single(all) => match all.get(part) {
                Some(part) => row.copy_from_slice(part),
                None => return false,
            },
            Self::Double(all) => match all.get(part) {
                Some(part) => {
                    row.iter_mut().zip(part).for_each(|(own, &value)| *own = value as f32)
                }
                None => return false,
            },
        }
        all_finite(row)
    }

    /// Part of them, in double precision; nothing beyond the end.
    fn copy(&self, from: usize, to: usize, out: &mut Vec<f64>) {
        out.clear();
        match self {
            Self::Single(all) => {
                let part = all.get(from..to).unwrap_or_default();
                out.extend(part.iter().map(|&value| f64::from(value)));
            }
            Self::Double(all) => out.extend_from_slice(all.get(from..to).unwrap_or_default()),
        }
    }
}

impl<'a> Values<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Texts(all) => all.len(),
            Self::Integers(all) => all.len(),
            Self::Numbers(all) => all.len(),
            // Of ragged rows no number of rows is right.
            Self::Several { numbers, names }
                if numbers.len().is_multiple_of(names.len().max(1)) =>
            {
                numbers.len() / names.len().max(1)
            }
            Self::Several { .. } => usize::MAX,
        }
    }

    /// The values of a row that are labels, each with its name.
    fn labels(&self, row: usize) -> impl Iterator<Item = (&'a str, Cell<'a>)> + use<'a> {
        let names: &'a [String] = match *self {
            Self::Several { names, .. } => names,
            _ => &[],
        };
        let numbers = self.several(row);
        let one = names.is_empty().then(|| ("y", self.cell(row)));
        let several = names.iter().zip(numbers);
        let several = several.map(|(name, &number)| (name.as_str(), Cell::Number(number)));
        one.into_iter().chain(several)
    }

    /// The numbers of a row that has several; else none.
    fn several(&self, row: usize) -> &'a [f64] {
        match *self {
            Self::Several { numbers, names } => {
                let from = row * names.len();
                numbers.get(from..from + names.len()).unwrap_or_default()
            }
            _ => &[],
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
    /// How many rows it has; none where its parts do not fit together, which reading it refuses.
    pub fn rows(&self) -> Option<usize> {
        self.rows.count().ok()
    }

    /// What the texts of each named column could have been.
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

    /// How many rows there are, once the layout is whole.
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
/// As [`crate::read`]; messages call the parts `X`, `y`, `ids`, `subjects` and `weights` and count rows from 0.
pub fn read_memory(
    table: &MemoryTable<'_>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Summary, ReadError> {
    read_memory_part(table, options, 0..usize::MAX, sink)
}

/// Reads some rows of a table in memory, counted from 0, as [`read_memory`] reads all of them; those behind
/// the last are none.
///
/// # Errors
/// As [`read_memory`], which also checks what is not of these rows alone.
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
        return Err(ReadError::at(Place::file(ROWS), fault!("no feature columns are left")));
    }
    let count = table.rows.count().map_err(|fault| ReadError::at(Place::file(ROWS), fault))?;
    let labels = if options.label_required { table.labels } else { None };
    if options.label_required && labels.is_none() {
        return Err(ReadError::at(Place::file("y"), no_label()));
    }
    let weights = if options.label_required { table.weights } else { None };
    let parts =
        [("y", &labels), ("ids", &table.ids), ("subjects", &table.subjects), ("weights", &weights)];
    for (part, values) in parts {
        if let (Some(Values::Several { names, .. }), true) = (values, part != "y") {
            let (part, got) = (part.to_owned(), names.len());
            return Err(ReadError::at(
                Place::file(ROWS),
                fault!("`{part}` must have one value for each row, got {got}"),
            ));
        }
        if let Some(got) = values.map(|values| values.len())
            && got != count
        {
            let (got, expected) = (got as u64, count as u64);
            return Err(ReadError::at(
                Place::file(part),
                fault!("{got} rows, but the features have {expected}"),
            ));
        }
    }
    let parts = Parts { labels, weights, rows: rows.start..rows.end.min(count) };
    if let Some(request) = &options.frame {
        return deliver_raw(table, &parts, RawRowsOf::new(table, request, options)?, delivery);
    }
    let schema = schema_of(table, options)?;
    let mut encoding = Encoding::new(&schema, &table.rows);
    delivery.begin(schema.feature_names(), encoding.row == Row::new(Storage::Sparse))?;
    if encoding.copies
        && let Some(rows) = Whole::of(table, &parts, options)
        && delivery.deliver_at_once(&rows)?
    {
        delivery.took(rows.taken(), parts.rows.len() as u64);
        return Ok(delivery.finish(None, schema)?.with_targets(parts.targets()));
    }
    for at in parts.rows.clone() {
        let spot = Spot::Index(at as u64);
        let Admission::Kept(label) = delivery.admit(spot, parts.label(at))? else { continue };
        encoding.encode(&table.rows, at, spot)?;
        delivery.deliver(spot, &mut encoding.row, label, &parts.keys(table, at)?)?;
    }
    Ok(delivery.finish(None, schema)?.with_targets(parts.targets()))
}

/// Hands over all rows as they are.
fn deliver_raw(
    table: &MemoryTable<'_>,
    parts: &Parts<'_>,
    rows: RawRowsOf<'_>,
    mut delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    let sparse = matches!(rows.frame, Frame::Matrix { sparse: true, .. });
    delivery.begin(rows.frame.feature_columns(), sparse)?;
    let (mut row, mut numbers) = (RawWriter::taking(&delivery.options.missing), Vec::new());
    for at in parts.rows.clone() {
        let spot = Spot::Index(at as u64);
        let Admission::Kept(label) = delivery.admit(spot, parts.label(at))? else { continue };
        delivery.begin_raw(spot, label, &mut row)?;
        rows.write(at, spot, &mut numbers, &mut row)?;
        delivery.deliver_raw(spot, &row, label, &parts.keys(table, at)?)?;
    }
    Ok(delivery.finish_raw(None, rows.schema()?, rows.frame)?.with_targets(parts.targets()))
}

/// What is read of a table besides its features.
struct Parts<'a> {
    labels: Option<Values<'a>>,
    weights: Option<Values<'a>>,
    /// Which rows.
    rows: Range<usize>,
}

impl<'a> Parts<'a> {
    fn label(&self, row: usize) -> impl Iterator<Item = (&'a str, Cell<'a>)> + use<'a> {
        self.labels.into_iter().flat_map(move |values| values.labels(row))
    }

    /// The names of several targets.
    fn targets(&self) -> Vec<String> {
        match self.labels {
            Some(Values::Several { names, .. }) => names.to_vec(),
            _ => Vec::new(),
        }
    }

    /// The numbers of several targets of a row.
    fn targets_of(&self, row: usize) -> &'a [f64] {
        self.labels.map_or(&[], |values| values.several(row))
    }

    fn keys(&self, table: &MemoryTable<'a>, row: usize) -> Result<Keys<'a>, ReadError> {
        let name = |(part, values): (&str, Option<Values<'a>>)| {
            let digits = f64::MANTISSA_DIGITS;
            let name = values.map(|values| values.cell(row).naming(digits));
            let place = || Place::new(part, Spot::Index(row as u64));
            name.transpose().map_err(|value| ReadError::at(place(), inexact_name(value, digits)))
        };
        Ok(Keys {
            id: name(("ids", table.ids))?,
            subject: name(("subjects", table.subjects))?,
            weight: self.weights.map(|values| values.cell(row)),
        })
    }
}

/// The schema given, if the table's columns are its columns; else the implied one.
fn schema_of(table: &MemoryTable<'_>, options: &ReadOptions) -> Result<Schema, ReadError> {
    let here = |fault: Fault| ReadError::at(Place::file(ROWS), fault);
    let width = table.rows.width();
    if let Some(got) = table.names.map(<[String]>::len)
        && got != width as usize
    {
        return Err(here(fault!("{got} names for {width} columns")));
    }
    if let MemoryRows::Columns { .. } = table.rows {
        return Err(here(fault!(
            "columns of values are read as raw rows only; give an array of numbers instead"
        )));
    }
    let Some(schema) = &options.schema else {
        return Ok(match table.names {
            None => Schema::matrix(matrix::implied(width as usize, 1.0))?,
            Some(names) => {
                let storage = match table.rows {
                    MemoryRows::Sparse { .. } => Storage::Sparse,
                    MemoryRows::Dense { .. } | MemoryRows::Columns { .. } => Storage::Dense,
                };
                Schema::numbers(storage, names)?
            }
        });
    };
    let columns = RowEncoder::new(schema).columns();
    if columns.len() != width as usize {
        let (got, expected) = (u64::from(width), columns.len() as u64);
        return Err(ReadError::at(Place::file(ROWS), other_width(got, expected)));
    }
    match (table.names, columns) {
        (None, _) => {}
        (Some(_), FeatureNames::Numbered { .. }) => {
            return Err(ReadError::at(
                Place::file(ROWS),
                other_shape("an array without names", "named columns"),
            ));
        }
        (Some(names), FeatureNames::Listed(expected)) => {
            let pairs = names.iter().zip(expected).enumerate();
            for (at, (got, expected)) in pairs {
                if *got != expected {
                    let got = crate::cell::quoted(got);
                    let position = at + 1;
                    return Err(here(fault!(
                        "column {position} is `{got}`, but `{expected}` in the schema"
                    )));
                }
            }
        }
    }
    Ok(schema.clone())
}

/// Column indices of a sparse row increase and are below the width.
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

/// The encoder and its buffers.
struct Encoding {
    encoder: RowEncoder,
    row: Row,
    /// What each number of an array without names is divided by.
    divide: f64,
    /// Sparse rows of an array without names.
    direct: bool,
    /// Dense rows are stored as they are.
    copies: bool,
    numbers: Vec<f64>,
    entries: Vec<f64>,
}

impl Encoding {
    fn new(schema: &Schema, rows: &MemoryRows<'_>) -> Self {
        let encoder = RowEncoder::new(schema);
        let (array, divide) = match schema.body() {
            Body::Matrix(matrix) => (true, matrix.divide),
            Body::Columns { .. } => (false, 1.0),
        };
        let direct = array && matches!(rows, MemoryRows::Sparse { .. });
        let copies = encoder.copies();
        let row = if direct { Row::new(Storage::Sparse) } else { encoder.buffer() };
        Self { encoder, row, divide, direct, copies, numbers: Vec::new(), entries: Vec::new() }
    }

    /// Encodes one row, counted from 0.
    fn encode(&mut self, rows: &MemoryRows<'_>, at: usize, spot: Spot) -> Result<(), ReadError> {
        let place = || Place::new(ROWS, spot);
        let named = |encoder: &RowEncoder, column: usize| {
            place().column(encoder.columns().name(column).unwrap_or_default())
        };
        match *rows {
            MemoryRows::Dense { numbers, width } => {
                let (from, to) = (at * width as usize, (at + 1) * width as usize);
                if self.copies && numbers.take(from, to, &mut self.row) {
                    return Ok(());
                }
                // The encoder says which number is at fault.
                numbers.copy(from, to, &mut self.numbers);
                matrix::check_bytes(self.divide, &self.numbers).map_err(|(column, fault)| {
                    ReadError::at(named(&self.encoder, column), fault)
                })?;
            }
            MemoryRows::Sparse { starts, indices, numbers, width } => {
                let limit = |at: usize| starts.get(at).map_or(0, |&start| start as usize);
                let (from, to) = (limit(at), limit(at + 1));
                let indices = indices.get(from..to).unwrap_or_default();
                numbers.copy(from, to, &mut self.entries);
                check_indices(indices, width).map_err(|fault| ReadError::at(place(), fault))?;
                let pairs = indices.iter().map(|&index| index.cast_unsigned()).zip(&self.entries);
                if self.direct {
                    return self.row.fill(pairs, self.divide).map_err(|(column, fault)| {
                        ReadError::at(named(&self.encoder, column as usize), fault.into())
                    });
                }
                self.numbers.clear();
                self.numbers.resize(width as usize, 0.0);
                for (index, &value) in pairs {
                    self.numbers[index as usize] = value;
                }
            }
            MemoryRows::Columns { .. } => {
                return Err(ReadError::at(
                    place(),
                    fault!(
                        "columns of values are read as raw rows only; give an array of numbers \
                         instead"
                    ),
                ));
            }
        }
        self.encoder
            .encode_numbers(&self.numbers, &mut self.row)
            .map_err(|(column, fault)| ReadError::at(named(&self.encoder, column), fault.into()))
    }
}
