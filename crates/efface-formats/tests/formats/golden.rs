//! What every format and kind of column is read as, byte for byte: raw rows, what is fitted to them,
//! encoded rows, drafts, and rows that are read as they are.
//!
//! The tables tell that a change of the code changed bits, not which bits are right.

use std::fmt::Write as _;
use std::sync::Arc;

use super::npy::Order::{C, Fortran as F};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int64Array,
    RecordBatch, StringArray, Time32SecondArray, TimestampNanosecondArray, UInt64Array,
};
use efface_formats::{
    CsvShape, Fitted, Format, FrameRequest, Header, Input, ReadOptions, Rules, Task, draft,
    draft_from, read, read_from,
};
use parquet::basic::Compression;
use sha2::{Digest, Sha256};
use zip::CompressionMethod;

use super::collect::{Collected, collect, plain, unlabelled};
use super::columnar::{ipc_file, parquet};
use super::fitted::{Raw, encoded, gathered, rules};
use super::idx::idx;
use super::npy::npy;
use super::npz::npz;
use super::real::data;

const ROWS: usize = 60;

fn digest(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.as_ref().len() as u64).to_le_bytes());
        hasher.update(part.as_ref());
    }
    hasher.finalize()[..10].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn singles(rows: &[Vec<f32>]) -> String {
    digest(rows.iter().map(|row| row.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()))
}

/// Spellings of one column each, by name; a row takes them in turn.
const KINDS: [(&str, &[&str]); 20] = [
    ("number", &["1.5", "-2", "3e2", "0.1", "17", "1e-9"]),
    ("missing", &["1", "", "3", "NA", "5", "?", "7", "-"]),
    ("comma", &["1,5", "2,25", "-3,125", "4,0"]),
    ("thousands", &["1,234", "12,345.5", "-1,000,000", "999"]),
    ("percent", &["5 %", "12.5%", "0%", "100 %"]),
    ("currency", &["$1,234.50", "$5", "$0.99", "-$3.10"]),
    ("parentheses", &["(5)", "3", "(2.5)", "1"]),
    ("large", &["9007199254740993", "123456789012", "5", "18446744073709551615"]),
    ("truth", &["true", "false", "True", "FALSE"]),
    ("yes", &["yes", "no", "Yes", "NO"]),
    ("code", &["007", "012", "100", "030"]),
    ("day", &["2024-01-31", "2023-12-01", "", "1969-07-20", "2024-02-29"]),
    ("german day", &["31.01.2024", "1.12.2023", "29.02.2024", "05.06.2024"]),
    ("american day", &["01/31/2024", "12/01/2023", "02/29/2024", "06/05/2024"]),
    ("moment", &["2024-01-31 12:30:15", "2024-01-31T12:30:15.250Z", "2024-02-01 00:00"]),
    ("clock", &["12:30", "1:02:03", "23:59", "0:00"]),
    ("category", &["red", "green", "blue", "red", "red"]),
    ("rare", &["a", "a", "a", "b", "a", "a", "a", "a", "c", "a", "a"]),
    ("text", &["a plain sentence", "Zürich – 東京", "  spaces  ", "\"quoted, with commas\""]),
    ("odd", &["1", "2", "none", "3", "4", "5", "unknown", "6"]),
];

fn cell(spellings: &[&'static str], row: usize) -> &'static str {
    spellings[(row * 7 + row / 5) % spellings.len()]
}

fn quoted(text: &str) -> String {
    match text {
        _ if text.starts_with('"') => text.to_owned(),
        _ if text.contains(',') => format!("\"{text}\""),
        _ => text.to_owned(),
    }
}

/// Columns of these names, a number that tells rows apart, and a class.
fn table(names: &[usize]) -> String {
    let header: Vec<&str> = names.iter().map(|&at| KINDS[at].0).collect();
    let mut text = format!("{},x,y\n", header.join(","));
    for row in 0..ROWS {
        for &at in names {
            write!(text, "{},", quoted(cell(KINDS[at].1, row))).unwrap();
        }
        writeln!(text, "{}.25,{}", row * row % 31, ["no", "yes"][row % 3 % 2]).unwrap();
    }
    text
}

/// A line of raw rows, what is fitted to them, and encoded rows; or of the refusal.
fn raw_line(format: Format, bytes: &[u8], options: ReadOptions) -> String {
    let options = ReadOptions { frame: Some(FrameRequest::New), ..options };
    let mut sink = Raw::default();
    match read_from(&format!("data.{format}"), bytes, Some(format), &options, &mut sink) {
        Ok(summary) => fitted_line(sink, &summary),
        Err(error) => error.to_string(),
    }
}

fn fitted_line(sink: Raw, summary: &efface_formats::Summary) -> String {
    let rows = gathered(sink, summary);
    let raw = digest(rows.iter());
    let regression = summary.classes.is_none();
    match Fitted::fit(&rows, &Rules { regression, ..rules() }) {
        Ok(fitted) => {
            let (described, numbers) = (digest(fitted.describe()), encoded(&fitted, &rows));
            format!("raw {raw} fitted {described} encoded {}", singles(&numbers))
        }
        Err(error) => format!("raw {raw} {error}"),
    }
}

/// A line of rows that are read as they are, and of all that comes with them.
fn rows_line(read: &Collected) -> String {
    let labels = read.labels.iter().map(|label| label.to_le_bytes());
    let keys = read.ids.iter().chain(&read.subjects).chain(&read.names);
    format!("rows {} labels {} names {}", singles(&read.rows), digest(labels), digest(keys))
}

fn collected(format: Format, bytes: &[u8], options: &ReadOptions) -> String {
    match collect(format, bytes, options) {
        Ok((read, _)) => rows_line(&read),
        Err(message) => message,
    }
}

/// The draft of a schema, and the rows that are read by it.
fn drafted(format: Format, bytes: &[u8], options: &ReadOptions) -> String {
    let name = format!("data.{format}");
    let schema = match draft_from(&name, bytes, Some(format), options) {
        Ok(draft) => draft.schema,
        Err(error) => return error.to_string(),
    };
    let options = ReadOptions { schema: Some(schema.clone()), ..options.clone() };
    format!("draft {} {}", digest([schema.to_toml()]), collected(format, bytes, &options))
}

#[test]
fn texts() {
    let mut lines = String::new();
    for (at, (name, _)) in KINDS.iter().enumerate() {
        let text = table(&[at]);
        let bytes = text.as_bytes();
        writeln!(lines, "{name}: {}", raw_line(Format::Csv, bytes, plain())).unwrap();
        writeln!(lines, "{name}: {}", drafted(Format::Csv, bytes, &plain())).unwrap();
    }
    let all: Vec<usize> = (0..KINDS.len()).collect();
    let text = table(&all);
    writeln!(lines, "all: {}", raw_line(Format::Csv, text.as_bytes(), plain())).unwrap();
    let numbers = Task::Regression { range: Some((0.0, 40.0)) };
    let options = ReadOptions { label: Some("x".into()), task: numbers, ..plain() };
    writeln!(lines, "to x: {}", raw_line(Format::Csv, text.as_bytes(), options)).unwrap();
    insta::assert_snapshot!(lines);
}

/// One column of each type, every seventh cell missing.
fn typed() -> RecordBatch {
    let rows = || 0..ROWS;
    let some = |row: usize| row % 7 != 3;
    let words = |row: usize| ["red", "green", "blue"][row % 5 % 3];
    let columns: [(&str, ArrayRef); 12] = [
        (
            "f32",
            Arc::new(Float32Array::from_iter(rows().map(|r| some(r).then_some(r as f32 / 3.0)))),
        ),
        ("f64", Arc::new(Float64Array::from_iter_values(rows().map(|r| r as f64 / 7.0)))),
        ("i64", Arc::new(Int64Array::from_iter(rows().map(|r| some(r).then_some(r as i64 - 9))))),
        ("u64", Arc::new(UInt64Array::from_iter_values(rows().map(|r| u64::MAX - r as u64)))),
        ("bool", Arc::new(BooleanArray::from_iter(rows().map(|r| some(r).then_some(r % 2 == 0))))),
        (
            "date",
            Arc::new(Date32Array::from_iter(rows().map(|r| some(r).then_some(400 * r as i32)))),
        ),
        ("time", Arc::new(Time32SecondArray::from_iter_values(rows().map(|r| 1000 * r as i32)))),
        (
            "moment",
            Arc::new(TimestampNanosecondArray::from_iter_values(rows().map(|r| (r as i64) << 50))),
        ),
        ("word", Arc::new(StringArray::from_iter(rows().map(|r| some(r).then_some(words(r)))))),
        ("code", Arc::new(rows().map(words).collect::<DictionaryArray<Int8Type>>())),
        ("spelled", Arc::new(StringArray::from_iter_values(rows().map(|r| cell(KINDS[19].1, r))))),
        ("y", Arc::new(StringArray::from_iter_values(rows().map(|r| ["no", "yes"][r % 3 % 2])))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn types() {
    let mut lines = String::new();
    let batch = typed();
    for (format, bytes) in [
        (Format::Parquet, parquet(&batch, Compression::SNAPPY)),
        (Format::ArrowIpc, ipc_file(&batch)),
    ] {
        writeln!(lines, "{format}: {}", raw_line(format, &bytes, plain())).unwrap();
        writeln!(lines, "{format}: {}", drafted(format, &bytes, &plain())).unwrap();
        let ids = ReadOptions { id: Some("u64".into()), subject: Some("code".into()), ..plain() };
        writeln!(lines, "{format} named: {}", raw_line(format, &bytes, ids)).unwrap();
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn arrays() {
    let mut lines = String::new();
    let numbers: Vec<f64> = (0..ROWS * 3).map(|at| (at as f64 * 0.7).sin()).collect();
    let bytes: Vec<u8> = (0..ROWS * 4).map(|at| (at * 37 % 256) as u8).collect();
    let small: Vec<i16> = (0..ROWS * 2).map(|at| at as i16 * 11 - 300).collect();
    let shape = |width: usize| [ROWS as u64, width as u64];
    let svm: String = (0..ROWS)
        .map(|row| format!("{} {}:{}.5 {}:-2\n", row % 2, 1 + row % 4, row, 5 + row % 3))
        .collect();
    let files = [
        ("f64", Format::Npy, npy(&shape(3), C, &numbers)),
        ("u8", Format::Npy, npy(&shape(4), C, &bytes)),
        ("i16", Format::Npy, npy(&shape(2), F, &small)),
        (
            "two arrays",
            Format::Npz,
            npz(
                &[
                    ("X.npy", npy(&shape(3), C, &numbers)),
                    ("y.npy", npy(&shape(1)[..1], C, &small[..ROWS])),
                ],
                CompressionMethod::Deflated,
            ),
        ),
        ("pixels", Format::Idx, idx(8, &[ROWS as u32, 2, 2], &bytes)),
        ("sparse", Format::Libsvm, svm.into_bytes()),
    ];
    for (name, format, bytes) in files {
        let options =
            ReadOptions { width: (format == Format::Libsvm).then_some(8), ..unlabelled() };
        let line = collected(format, &bytes, &options);
        writeln!(lines, "{format} {name}: {line}").unwrap();
        let line = raw_line(format, &bytes, options);
        writeln!(lines, "{format} {name}: {line}").unwrap();
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn real_tables() {
    let mut lines = String::new();
    let bare = CsvShape { header: Some(Header::Absent), ..CsvShape::default() };
    let labelled = |label: &str| ReadOptions { label: Some(label.into()), ..plain() };
    let range = Task::Regression { range: Some((0.0, 176.0)) };
    for (file, format, options) in [
        ("adult/adult.data.gz", Some(Format::Csv), ReadOptions { csv: bare, ..labelled("c15") }),
        (
            "parkinsons-telemonitoring/parkinsons_updrs.data.gz",
            None,
            ReadOptions {
                subject: Some("subject#".into()),
                task: range,
                ..labelled("total_UPDRS")
            },
        ),
        ("sst/sst_minilm_dev_X.npy", None, unlabelled()),
        ("mnist/t10k-images-idx3-ubyte.gz", None, unlabelled()),
        ("libsvm/a9a.t.gz", None, ReadOptions { label: None, ..plain() }),
    ] {
        let Some(path) = data(file) else { return };
        let input = Input { format, ..Input::file(path) };
        let mut raw = Raw::default();
        let request = ReadOptions { frame: Some(FrameRequest::New), ..options.clone() };
        let line = match read(&input, &request, &mut raw) {
            Ok(summary) => fitted_line(raw, &summary),
            Err(error) => error.to_string(),
        };
        writeln!(lines, "{file}: {line}").unwrap();
        let schema = draft(&input, &options).ok().map(|draft| draft.schema);
        let toml = schema.as_ref().map(|schema| schema.to_toml()).unwrap_or_default();
        let mut rows = Collected::default();
        let line = match read(&input, &ReadOptions { schema, ..options }, &mut rows) {
            Ok(_) => rows_line(&rows),
            Err(error) => error.to_string(),
        };
        writeln!(lines, "{file}: draft {} {line}", digest([toml])).unwrap();
    }
    insta::assert_snapshot!(lines);
}
