//! A first schema for a human to confirm, drafted from the rows.

mod findings;

use std::io::{Cursor, Read};

use crate::budget::Budget;
use crate::error::{Fault, Place, ReadError, absent, check_distinct, fault, within};
use crate::format::arrays::ArrayRows;
use crate::format::csv::CsvTable;
use crate::format::npz::{self, Archive};
use crate::input::{Format, Input};
use crate::options::ReadOptions;
use crate::read::{Opened, bare_array, libsvm_width, open};
use crate::rows::{self, Cells as _};
use crate::schema::{Body, Column, CsvShape, Header, Kind, Notes, Origin, Schema, Storage};
use crate::source::{Source, Stream};
use crate::table::{self, Named, Table, Unread};

use findings::Findings;

/// Features from which rows are stored sparse.
const SPARSE_FROM: u32 = 1024;

/// A schema drafted from data, with what a human must decide about single columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The drafted schema, values from the data marked.
    pub schema: Schema,
    notes: Notes,
}

impl Draft {
    /// Returns the schema as a file for people, see [`Schema::to_toml`]; a column about which something must
    /// be decided has a comment before it that begins with `decide:`.
    pub fn to_toml(&self) -> String {
        self.schema.with_notes(&self.notes)
    }

    /// Declares every value of the draft to be public knowledge, on the caller's word: certificates then list
    /// the values as the user's.
    pub fn declare_public(&mut self) {
        self.schema.declare_public();
    }

    /// Returns the columns about which something must be decided.
    pub fn undecided(&self) -> impl Iterator<Item = &str> {
        self.notes.keys().map(String::as_str)
    }
}

impl From<Schema> for Draft {
    fn from(schema: Schema) -> Self {
        Self { schema, notes: Notes::new() }
    }
}

/// Drafts a schema from the data: every value it takes from the rows is marked
/// `origin = "data"`, and [`Draft::to_toml`] says at each what to confirm.
///
/// Uses the options `label`, `id`, `subject`, `weight`, `ignore`, `csv`, `width` and `limits`. Reads the
/// whole table. A column of numbers gets the range found, one of words a list of up to
/// 64 categories and beyond that a hash; a column without any value is ignored. So are columns that
/// are hardly meant as they look (dates, nearly unique values, numbers with commas or percent
/// signs, types that are not read), each with a note of what to decide.
pub fn draft(input: &Input, options: &ReadOptions) -> Result<Draft, ReadError> {
    draft_source(Source::new(&input.path, &options.limits), input.format, options)
}

/// Works as [`draft`], from any reader; `name` stands for the file in messages.
pub fn draft_from<'r>(
    name: &str,
    reader: impl Read + 'r,
    format: Option<Format>,
    options: &ReadOptions,
) -> Result<Draft, ReadError> {
    draft_source(Source::reader(name, Box::new(reader), &options.limits), format, options)
}

fn draft_source(
    mut source: Source<'_>,
    stated: Option<Format>,
    options: &ReadOptions,
) -> Result<Draft, ReadError> {
    let file = source.name().to_owned();
    let opened = open(&mut source, stated, None, options)?;
    let shape = match &opened {
        Opened::Stream(Format::Csv, stream) => guess_header(&file, stream, options)?,
        _ => CsvShape::default(),
    };
    let mut shaped = ReadOptions { schema: None, ..options.clone() };
    shaped.csv.header = shape.header.or(options.csv.header);
    let array = |(features, divide): (ArrayRows<'_>, f64)| -> Result<Draft, ReadError> {
        Ok(Schema::matrix(rows::implied(features.width(), divide))?.into())
    };
    match opened.table(&mut source, &shaped, Unread::Empty)? {
        Opened::Table(_, mut table) => {
            let csv = CsvShape { origin: shape.origin, ..table.shape() };
            draft_table(&file, &mut *table, csv, options, source.budget())
        }
        Opened::Stream(Format::Libsvm, stream) => {
            let (matrix, _) = libsvm_width(&mut source, stream, options)?;
            Ok(Schema::matrix(matrix)?.into())
        }
        Opened::Stream(format, stream) => {
            array(bare_array(&file, stream, format, None, options, source.budget())?)
        }
        Opened::Seekable(Format::Npz) => {
            let mut archive = Archive::open(&mut source, &options.limits)?;
            let name = options.array.as_deref().unwrap_or(npz::FEATURES);
            array(archive.array(name, npz::FEATURE_ROLE, &options.limits)?)
        }
        // Images have no columns to look at: rows are bytes, divided by 255.
        Opened::Seekable(format) => Err(fault!("`schema` does not apply to {format} files").into()),
    }
}

/// Decides from the first line whether it names the columns: it does if none of its fields is a
/// number, or if they count 0, 1, 2... or 1, 2, 3...
fn guess_header(
    file: &str,
    stream: &Stream<'_>,
    options: &ReadOptions,
) -> Result<CsvShape, ReadError> {
    if options.csv.header.is_some() {
        return Ok(options.csv);
    }
    let head = Stream { head: Vec::new(), input: Box::new(Cursor::new(stream.head.clone())) };
    let mut stated = options.clone();
    stated.csv.header = Some(Header::Absent);
    let mut table = CsvTable::open(file, head, &stated, &Budget::new(&options.limits))?;
    table.advance()?;
    let numbers: Vec<Option<f64>> =
        (0..table.names().len()).map(|at| table.cell(at).number()).collect();
    let counts_from =
        |first: f64| numbers.iter().zip(0_u32..).all(|(n, at)| *n == Some(first + f64::from(at)));
    let named = numbers.iter().flatten().all(|n| !n.is_finite())
        || numbers.len() > 1 && (counts_from(0.0) || counts_from(1.0));
    let header = Some(if named { Header::Present } else { Header::Absent });
    Ok(CsvShape { header, origin: Origin::Data, ..options.csv })
}

/// Drafts from a table of named columns.
fn draft_table(
    file: &str,
    table: &mut dyn Table,
    csv: CsvShape,
    options: &ReadOptions,
    budget: &Budget,
) -> Result<Draft, ReadError> {
    let names = table.names().to_vec();
    let roles = roles(file, &names, options)?;
    let mut findings: Vec<Findings> = names.iter().map(|_| Findings::default()).collect();
    let mut rows = 0;
    while table.advance()? {
        rows += 1;
        let here = |fault: Fault| ReadError::at(Place::new(file, table.spot()), fault);
        within("rows", rows, options.limits.rows).map_err(here)?;
        for (at, finding) in findings.iter_mut().enumerate() {
            if matches!(roles.get(at), Some(None)) {
                finding.see(table.cell(at), budget).map_err(here)?;
            }
        }
    }
    let mut notes = Notes::new();
    let mut columns = Vec::new();
    for (at, ((name, finding), role)) in names.iter().zip(findings).zip(roles).enumerate() {
        let (column, note) = match (role, table.unread(at)) {
            (Some(kind), _) => (Column::new(name, kind, Origin::User), None),
            (None, Some(kind)) => {
                let note = format!(
                    "columns of type {kind} are not supported; this one is left out until the \
                     file stores it as numbers, booleans or text"
                );
                (Column::new(name, Kind::Ignored, Origin::Data), Some(note))
            }
            (None, None) => finding.column(name),
        };
        columns.push(column);
        if let Some(note) = note {
            notes.insert(name.clone(), note);
        }
    }
    let width: u64 = columns.iter().map(|column| u64::from(column.width())).sum();
    let sparse = width >= u64::from(SPARSE_FROM);
    let storage = if sparse { Storage::Sparse } else { Storage::Dense };
    let here = |fault: Fault| ReadError::of_file(file, fault);
    if rows == 0 {
        return Err(here(fault!("the table has column names, but no rows to draft a schema from")));
    }
    if width == 0 {
        return Err(here(match notes.is_empty() {
            true => fault!("no feature columns are left"),
            false => fault!("no column can be a feature as it is: {}", reasons(&notes)),
        }));
    }
    let schema = Schema::new(csv, Body::Columns { storage, columns })?;
    Ok(Draft { schema, notes })
}

/// Returns the first few notes in one sentence.
fn reasons(notes: &Notes) -> String {
    const MOST: usize = 3;
    let shown: Vec<String> = notes
        .iter()
        .take(MOST)
        .map(|(column, note)| format!("column `{}`: {note}", crate::cell::quoted(column)))
        .collect();
    match notes.len().saturating_sub(MOST) {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

fn roles(
    file: &str,
    names: &[String],
    options: &ReadOptions,
) -> Result<Vec<Option<Kind>>, ReadError> {
    check_distinct(names).map_err(|fault| ReadError::of_file(file, fault))?;
    let mut roles: Vec<Option<Kind>> = vec![None; names.len()];
    for Named { column, kind } in table::named_columns(options)? {
        match names.iter().position(|name| name == column) {
            Some(at) => roles[at] = Some(kind),
            None => {
                let fault = absent(column, &table::option(&kind), names);
                return Err(ReadError::of_file(file, fault));
            }
        }
    }
    Ok(roles)
}
