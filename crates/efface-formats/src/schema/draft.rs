//! A first schema for a human to confirm, drafted from the rows.

use std::collections::BTreeSet;
use std::io::{Cursor, Read};

use super::{Body, Column, CsvShape, Header, Kind, Onto, Origin, Other, Scaling, Schema, Storage};
use crate::cell::{Cell, looks_missing};
use crate::error::{ColumnFault, LimitFault, OptionFault, Place, ReadError, listed};
use crate::format::csv::CsvTable;
use crate::format::npz::Archive;
use crate::input::{Format, Input};
use crate::matrix;
use crate::options::ReadOptions;
use crate::read::{Opened, array_features, libsvm_width, open};
use crate::source::{Source, Stream};
use crate::table::Table;

/// Most categories of a categorical column; more become a hashed one.
const MOST_CATEGORIES: usize = 64;
/// Distinct words counted at most.
const MOST_WORDS: usize = 4096;
/// Features from which rows are stored sparse.
const SPARSE_FROM: u32 = 1024;

/// Drafts a schema from the data: every value it takes from the rows is marked
/// `origin = "data"`, and [`Schema::to_toml`] says at each what to confirm.
///
/// Of the options it uses `label`, `id`, `subject`, `weight`, `ignore`, `csv`, `width` and `limits`. The
/// whole table is read. A column of numbers gets the range found, one of words a list of up to
/// 64 categories and beyond that a hash; a column without any value is ignored.
pub fn draft(input: &Input, options: &ReadOptions) -> Result<Schema, ReadError> {
    draft_source(Source::new(&input.path), input.format, options)
}

/// As [`draft`], from any reader; `name` stands for the file in messages.
pub fn draft_from<'r>(
    name: &str,
    reader: impl Read + 'r,
    format: Option<Format>,
    options: &ReadOptions,
) -> Result<Schema, ReadError> {
    draft_source(Source::reader(name, Box::new(reader)), format, options)
}

fn draft_source(
    mut source: Source<'_>,
    stated: Option<Format>,
    options: &ReadOptions,
) -> Result<Schema, ReadError> {
    let file = source.name().to_owned();
    match open(&mut source, stated, options)? {
        Opened::Stream(Format::Csv, stream) => {
            let shape = guess_header(&file, &stream, options)?;
            let mut stated = options.clone();
            stated.csv.header = shape.header;
            let mut table = CsvTable::open(&file, stream, None, &stated)?;
            let mut csv = table.shape;
            csv.origin = shape.origin;
            draft_table(&file, &mut table, csv, options)
        }
        Opened::Stream(Format::Libsvm, stream) => {
            let (matrix, _) = libsvm_width(&mut source, stream, options)?;
            Ok(Schema::matrix(matrix)?)
        }
        Opened::Stream(format, stream) => {
            let (features, divide) = array_features(&file, stream, format, options)?;
            Ok(Schema::matrix(matrix::implied(features.width(), divide))?)
        }
        Opened::Seekable(Format::Npz) => {
            let mut archive = Archive::open(&mut source, &options.limits)?;
            let features = archive.features("X", &options.limits)?;
            Ok(Schema::matrix(matrix::implied(features.width(), 1.0))?)
        }
        #[cfg(feature = "parquet")]
        Opened::Seekable(format) => {
            let mut table = crate::format::columnar::open(&mut source, format, options)?;
            draft_table(&file, &mut table, CsvShape::default(), options)
        }
        #[cfg(not(feature = "parquet"))]
        Opened::Seekable(format) => Err(ReadError::NotBuilt { file, format }),
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
    let mut table = CsvTable::open(file, head, None, &stated)?;
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

/// What was found in a column.
#[derive(Default)]
struct Findings {
    numbers: Option<(f64, f64)>,
    words: BTreeSet<String>,
    any_word: bool,
    missing: BTreeSet<String>,
}

impl Findings {
    fn see(&mut self, cell: Cell<'_>) {
        let text = cell.text();
        let number = cell.number();
        if looks_missing(&text) || number.is_some_and(f64::is_nan) {
            let token = if text.is_ascii() { text.to_ascii_lowercase() } else { text.into_owned() };
            self.missing.insert(token);
            return;
        }
        match number {
            Some(number) => {
                let (low, high) = self.numbers.unwrap_or((number, number));
                self.numbers = Some((low.min(number), high.max(number)));
            }
            None => self.any_word = true,
        }
        if self.words.len() < MOST_WORDS && !self.words.contains(text.as_ref()) {
            self.words.insert(text.into_owned());
        }
    }

    fn column(self, name: &str) -> Column {
        let Self { numbers, words, any_word, missing } = self;
        let kind = match numbers {
            Some((low, high)) if !any_word => Kind::Numeric(range(low, high)),
            None if !any_word => Kind::Ignored,
            _ if words.len() <= MOST_CATEGORIES => {
                let categories = words.into_iter().collect();
                Kind::Categorical { categories, other: Other::Refuse }
            }
            _ => {
                let width = (words.len() as u32 * 2).next_power_of_two().max(256);
                Kind::Hashed { width }
            }
        };
        let mut column = Column::new(name, kind, Origin::Data);
        if column.kind.is_feature() {
            column.missing = missing.into_iter().collect();
        }
        column
    }
}

fn range(low: f64, high: f64) -> Scaling {
    if low < high && (high - low).is_finite() {
        Scaling::Range { low, high, onto: Onto::Symmetric }
    } else {
        Scaling::AsIs
    }
}

/// Drafts from a table of named columns.
pub(crate) fn draft_table(
    file: &str,
    table: &mut dyn Table,
    csv: CsvShape,
    options: &ReadOptions,
) -> Result<Schema, ReadError> {
    let names = table.names().to_vec();
    let roles = roles(file, &names, options)?;
    let mut findings: Vec<Findings> = names.iter().map(|_| Findings::default()).collect();
    let mut rows = 0;
    while table.advance()? {
        rows += 1;
        LimitFault::check("rows", rows, options.limits.rows)
            .map_err(|fault| ReadError::at(Place::new(file, table.spot()), fault))?;
        for (at, finding) in findings.iter_mut().enumerate() {
            if matches!(roles.get(at), Some(None)) {
                finding.see(table.cell(at));
            }
        }
    }
    let columns: Vec<Column> = names
        .iter()
        .zip(findings)
        .zip(roles)
        .map(|((name, finding), role)| match role {
            Some(kind) => Column::new(name, kind, Origin::User),
            None => finding.column(name),
        })
        .collect();
    let width: u64 = columns.iter().map(|column| u64::from(column.width())).sum();
    let sparse = width >= u64::from(SPARSE_FROM);
    let storage = if sparse { Storage::Sparse } else { Storage::Dense };
    Ok(Schema::new(csv, Body::Columns { storage, columns })?)
}

fn roles(
    file: &str,
    names: &[String],
    options: &ReadOptions,
) -> Result<Vec<Option<Kind>>, ReadError> {
    let mut roles: Vec<Option<Kind>> = vec![None; names.len()];
    let named = [
        (&options.label, Kind::Label),
        (&options.id, Kind::Id),
        (&options.subject, Kind::Subject),
        (&options.weight, Kind::Weight),
    ];
    let single = named.into_iter().filter_map(|(name, kind)| Some((name.as_ref()?, kind)));
    let ignored = options.ignore.iter().map(|name| (name, Kind::Ignored));
    for (column, kind) in single.chain(ignored) {
        let Some(at) = names.iter().position(|name| name == column) else {
            let (column, role) = (column.clone(), kind.name());
            let fault = ColumnFault::Absent { column, role, present: listed(names) };
            return Err(ReadError::at(Place::file(file), fault));
        };
        if let Some(other) = roles[at].replace(kind.clone())
            && other != kind
        {
            let (first, second) = (other.name(), kind.name());
            return Err(OptionFault::TwoRoles { column: column.clone(), first, second }.into());
        }
    }
    Ok(roles)
}
