//! A CSV file as a table of named columns.

use crate::budget::Budget;
use crate::cell::Cell;
use crate::error::{Fault, ReadError, Spot, fault};
use crate::fitted::{Frame, FrameColumn, FrameRequest};
use crate::format::csv::records::Records;
use crate::lines::Lines;
use crate::options::ReadOptions;
use crate::rows::Cells;
use crate::schema::{Column, CsvShape, Header, Kind, Schema};
use crate::source::Stream;
use crate::table::Table;

const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

pub(crate) struct CsvTable<'r> {
    records: Records<'r>,
    /// Fields before those that are read: a row index, whose column has no name.
    skipped: usize,
    names: Vec<String>,
    /// Whether the first row was read, to count the columns.
    waiting: bool,
    /// Whether the first line names the columns.
    has_header: bool,
    /// How the file turned out to be laid out.
    shape: CsvShape,
}

impl<'r> CsvTable<'r> {
    /// Reads up to the header.
    pub(crate) fn open(
        file: &str,
        stream: Stream<'r>,
        options: &ReadOptions,
        budget: &Budget,
    ) -> Result<Self, ReadError> {
        let (stated, limits, schema) = (options.csv, &options.limits, options.schema.as_ref());
        let mut shape = schema.map_or(stated, |schema| stated.or(schema.csv()));
        let lines = Lines::new(file, stream.input, limits.line_bytes)?;
        let comment = shape.comment.map(|sign| sign as u8);
        let mut records = Records::new(lines, b',', comment, limits);
        let empty = |records: &Records<'_>| records.fault(fault!("the file is empty"));
        let Some(line) = records.peek_line()? else { return Err(empty(&records)) };
        // As spreadsheets write it.
        if let Some(sign) = separator_line(line) {
            shape.delimiter = shape.delimiter.or(Some(sign));
            records.advance()?;
        }
        let Some(line) = records.peek_line()? else { return Err(empty(&records)) };
        if let Some(what) = other_text(line).filter(|_| shape.header.is_none()) {
            return Err(records.fault(fault!(
                "the file holds {what} and no table; save it as CSV, Parquet or Arrow"
            )));
        }
        let delimiter = match shape.delimiter {
            Some(delimiter) => delimiter,
            None => match sniff(line) {
                Ok(delimiter) => delimiter,
                Err(fault) => return Err(records.fault(fault)),
            },
        };
        shape.delimiter = Some(delimiter);
        records.set_delimiter(delimiter as u8);
        records.advance()?;
        budget.columns(records.len()).map_err(|fault| records.fault(fault))?;
        let has_header = shape.header != Some(Header::Absent);
        let (names, skipped, waiting) = if has_header {
            let mut names = header(file, &records, shape.header, schema, given(options))?;
            let mut skipped = nameless(&records, &names, schema, options)?;
            names.drain(..skipped);
            let waiting = records.advance()?;
            if waiting && skipped == 0 && names_rows(&records, names.len()) {
                match is_stated(&by_place(1), schema, options) {
                    true => names.insert(0, by_place(1)),
                    false => skipped = 1,
                }
            }
            (names, skipped, waiting)
        } else {
            (numbered(&records, schema, options)?, 0, true)
        };
        Ok(Self { records, skipped, names, waiting, has_header, shape })
    }
}

impl Table for CsvTable<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        if !std::mem::take(&mut self.waiting) && !self.records.advance()? {
            return Ok(false);
        }
        let (got, expected) = (self.records.len(), self.skipped + self.names.len());
        let is_name = |(at, name): (usize, &String)| {
            self.records.field(self.skipped + at).is_some_and(|field| field.trim() == name)
        };
        let may_repeat = self.has_header && expected > 1;
        if may_repeat && self.names.iter().enumerate().all(is_name) {
            Err(self.records.fault(fault!(
                "the line repeats the header; take it out, as tables put together have it"
            )))
        } else if got == expected {
            Ok(true)
        } else {
            Err(self
                .records
                .fault(fault!("the row has {got} fields, but the header has {expected}")))
        }
    }

    fn spot(&self) -> Spot {
        self.records.spot()
    }

    fn index_left_out(&self) -> Option<String> {
        (self.skipped > 0).then(|| by_place(1))
    }

    fn shape(&self) -> CsvShape {
        self.shape
    }

    fn is_typed(&self) -> bool {
        false
    }
}

impl Cells for CsvTable<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        self.records.field(self.skipped + column).map_or(Cell::Null, Cell::Text)
    }
}

/// Returns the delimiter that a line such as `sep=;` states.
fn separator_line(line: &[u8]) -> Option<char> {
    let line = std::str::from_utf8(line)
        .ok()?
        .trim_start_matches('\u{feff}')
        .trim_end_matches(['\r', '\n']);
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let mut sign = line.strip_prefix("sep=")?.chars();
    let sign = sign.next().filter(|_| sign.as_str().is_empty())?;
    DELIMITERS.contains(&sign).then_some(sign)
}

/// Returns what a file is whose first line begins as no header does.
fn other_text(line: &[u8]) -> Option<&'static str> {
    let line = line.trim_ascii_start();
    if line.starts_with(b"{") || line.starts_with(b"[{") {
        Some("JSON")
    } else if line.starts_with(b"<!") || line.starts_with(b"<?") || line.starts_with(b"<html") {
        Some("HTML or XML")
    } else {
        None
    }
}

/// Returns the name of a column whose field in the header is empty, counted from 1.
fn by_place(column: usize) -> String {
    format!("column {column}")
}

/// Returns whether the first row has one field more than there are names, and begins with the name of a row,
/// as R writes it. With a number in front, a row is rather one with a field too many.
fn names_rows(row: &Records<'_>, names: usize) -> bool {
    let field = |at: usize| row.field(at).map(str::trim).unwrap_or_default();
    let is_name = !field(0).is_empty() && field(0).parse::<f64>().is_err();
    row.len() == names + 1 && is_name && !field(names).is_empty()
}

/// Returns whether options or schema say what a column is.
fn is_stated(name: &str, schema: Option<&Schema>, options: &ReadOptions) -> bool {
    let roles = [&options.label, &options.id, &options.subject, &options.weight];
    let more = options.more_labels.iter().chain(&options.ignore);
    roles.into_iter().flatten().chain(more).any(|stated| stated == name)
        || schema.is_some_and(|schema| schema.columns().iter().any(|c| c.name == name))
}

/// Returns whether the first column is left out, 1 if it is: the header gives it no name, as that of a row
/// index, and neither options nor schema say by its place what it is. This looks at the header alone, so that
/// no record decides it.
///
/// # Errors
/// Fails if such a column is elsewhere, as a delimiter at the end of each line makes one: it is hardly a
/// feature.
fn nameless(
    records: &Records<'_>,
    names: &[String],
    schema: Option<&Schema>,
    options: &ReadOptions,
) -> Result<usize, ReadError> {
    // Columns that a given frame does not have are left out.
    if given(options).is_some() {
        return Ok(0);
    }
    let stated = |name: &String| is_stated(name, schema, options);
    let mut unsaid = names.iter().enumerate().filter(|&(at, name)| {
        records.field(at).is_none_or(|field| field.trim().is_empty()) && !stated(name)
    });
    let skipped =
        usize::from(names.len() > 1 && unsaid.clone().next().is_some_and(|(at, _)| at == 0));
    match unsaid.nth(skipped) {
        Some((at, _)) => Err(records.fault(fault!(
            "column {column} of the header has no name; leave it out with `§ignore column \
             {column}`, or say `§id column {column}` if it names the records",
            column = at + 1
        ))),
        None => Ok(skipped),
    }
}

/// Returns the columns of a given frame of raw rows.
fn given(options: &ReadOptions) -> Option<&[FrameColumn]> {
    match &options.frame {
        Some(FrameRequest::Given(Frame::Columns(columns))) => Some(columns),
        _ => None,
    }
}

/// Returns the delimiter that occurs most often outside quotes; a comma if there is none.
fn sniff(line: &[u8]) -> Result<char, Fault> {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut inside = false;
    for &byte in line {
        inside ^= byte == b'"';
        for (count, &delimiter) in counts.iter_mut().zip(&DELIMITERS) {
            *count += usize::from(!inside && byte == delimiter as u8);
        }
    }
    let most = counts.into_iter().max().unwrap_or(0);
    let mut best = DELIMITERS.into_iter().zip(counts).filter(|&(_, count)| count == most);
    match (best.next(), best.next()) {
        (Some((first, _)), Some((second, _))) if most > 0 => Err(fault!(
            "the delimiter is not clear: {first:?} and {second:?} occur equally often in the \
             header; a schema can state it (`[csv] delimiter`)"
        )),
        (Some((first, _)), _) => Ok(first),
        (None, _) => Ok(','),
    }
}

fn header(
    file: &str,
    records: &Records<'_>,
    stated: Option<Header>,
    schema: Option<&Schema>,
    frame: Option<&[FrameColumn]>,
) -> Result<Vec<String>, ReadError> {
    let columns = schema.map_or(&[][..], Schema::columns);
    let frame = frame.unwrap_or_default();
    let counted = count_up(records);
    let mut names = Vec::new();
    for at in 0..records.len() {
        let name = records.field(at).unwrap_or_default().trim();
        let column = at + 1;
        if name.is_empty() {
            names.push(by_place(column));
            continue;
        }
        let declared = columns.iter().any(|column| column.name == name)
            || frame.iter().any(|column| column.name == name);
        let may_be_a_row = stated.is_none() && !declared && !counted;
        if may_be_a_row && name.parse::<f64>().is_ok_and(f64::is_finite) {
            let (value, file) = (crate::cell::quoted(name), file.to_owned());
            return Err(records.fault(fault!(
                "column {column} of the header is the number `{value}`; if the first line does \
                 not name the columns, put a line with their names on top of the file, or say so \
                 in a schema, which declares all columns (`[csv] header`): run `§efface schema \
                 {file} -o schema.toml`"
            )));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Returns whether the numbers in a line are three or more whole ones that count up, as years do in the
/// header of a table with a column for each.
fn count_up(records: &Records<'_>) -> bool {
    let fields = (0..records.len()).filter_map(|at| records.field(at));
    let numbers: Vec<&str> =
        fields.map(str::trim).filter(|field| field.parse::<f64>().is_ok()).collect();
    let whole = |text: &str| text.parse::<u64>().ok();
    let next = |pair: &[&str]| match pair {
        [one, other] => whole(other)
            .is_some_and(|other| whole(one).is_some_and(|one| one.checked_add(1) == Some(other))),
        _ => false,
    };
    numbers.len() >= 3 && numbers.windows(2).all(next)
}

/// Returns the names of a file without header: those of the schema in order, else `c1`, `c2`... If labels are
/// not read, the label column may be absent, or all columns that are no features; and a file with as many
/// columns as a given frame has that frame's.
fn numbered(
    records: &Records<'_>,
    schema: Option<&Schema>,
    options: &ReadOptions,
) -> Result<Vec<String>, ReadError> {
    let (got, label_required) = (records.len(), options.label_required);
    if let Some(frame) = given(options)
        && frame.len() == got
        && !label_required
    {
        return Ok(frame.iter().map(|column| column.name.clone()).collect());
    }
    let columns = schema.map_or(&[][..], Schema::columns);
    if columns.is_empty() {
        return Ok((1..=got).map(|at| format!("c{at}")).collect());
    }
    let names = |keep: fn(&Column) -> bool| -> Vec<String> {
        columns.iter().filter(|column| keep(column)).map(|column| column.name.clone()).collect()
    };
    let mut candidates = vec![names(|_| true)];
    if !label_required {
        candidates.push(names(|column| column.kind != Kind::Label));
        candidates.push(names(|column| column.kind.is_feature()));
    }
    candidates.into_iter().find(|names| names.len() == got).ok_or_else(|| {
        let expected = columns.len();
        records.fault(fault!(
            "the file has no header and {got} columns, but the schema declares {expected}"
        ))
    })
}
