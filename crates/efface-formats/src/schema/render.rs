//! A schema as text: plain and canonical, or with comments for the human who confirms it.

use std::fmt::Write as _;

use super::{
    Body, Column, CsvShape, Header, Kind, Matrix, Notes, Onto, Origin, Other, Scaling, Schema,
    Storage,
};

/// Whether comments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comments {
    Yes,
    No,
}

impl Schema {
    /// The one text of this schema: equal schemas have equal texts, and [`Schema::from_toml`]
    /// reads it back to an equal schema. For storing and hashing.
    pub fn canonical(&self) -> String {
        render(self, Comments::No, &Notes::new())
    }

    /// The schema as a file for people: as [`Schema::canonical`], with a comment at every value
    /// taken from data that says what to confirm.
    pub fn to_toml(&self) -> String {
        self.with_notes(&Notes::new())
    }

    /// As [`Schema::to_toml`], with a comment before each column that has a note.
    pub(crate) fn with_notes(&self, notes: &Notes) -> String {
        render(self, Comments::Yes, notes)
    }
}

fn render(schema: &Schema, comments: Comments, notes: &Notes) -> String {
    let mut out = String::new();
    if comments == Comments::Yes && is_data_derived(schema) {
        out.push_str(
            "# Values with origin = \"data\" were taken from the rows. Put what is known without\n\
             # looking at them in their place, then write origin = \"user\"; what stays \"data\" is\n\
             # listed in every certificate as not covered. docs/schema.md explains every key.\n\n",
        );
    }
    out.push_str("version = 1\n");
    match &schema.body {
        Body::Columns { storage, columns } => {
            let name = match storage {
                Storage::Dense => "dense",
                Storage::Sparse => "sparse",
            };
            line(&mut out, "storage", &quote(name), "");
            write_csv(&mut out, schema.csv, comments);
            for column in columns {
                out.push('\n');
                if let Some(note) = notes.get(&column.name) {
                    let _ = writeln!(out, "# decide: {note}");
                }
                write_column(&mut out, column, comments);
            }
        }
        Body::Matrix(matrix) => {
            write_csv(&mut out, schema.csv, comments);
            write_matrix(&mut out, matrix, comments);
        }
    }
    out
}

fn is_data_derived(schema: &Schema) -> bool {
    let columns = schema.columns().iter().any(|column| column.origin == Origin::Data);
    columns
        || schema.csv.origin == Origin::Data
        || matches!(&schema.body, Body::Matrix(matrix) if matrix.origin == Origin::Data)
}

fn write_csv(out: &mut String, csv: CsvShape, comments: Comments) {
    if csv == CsvShape::default() {
        return;
    }
    out.push_str("\n[csv]\n");
    if let Some(header) = csv.header {
        let name = match header {
            Header::Present => "present",
            Header::Absent => "absent",
        };
        let note = note(comments, csv.origin, "does the first line name the columns?");
        line(out, "header", &quote(name), note);
    }
    for (key, sign) in [("delimiter", csv.delimiter), ("comment", csv.comment)] {
        if let Some(sign) = sign {
            line(out, key, &quote(&sign.to_string()), "");
        }
    }
    line(out, "origin", &quote(csv.origin.name()), "");
}

fn write_matrix(out: &mut String, matrix: &Matrix, comments: Comments) {
    out.push_str("\n[matrix]\n");
    let hint = note(
        comments,
        matrix.origin,
        "the largest index in the data; could there be a \
        larger one?",
    );
    line(out, "width", &matrix.width.to_string(), hint);
    line(out, "origin", &quote(matrix.origin.name()), "");
    line(out, "first", &matrix.first.to_string(), "");
    line(out, "divide", &number(matrix.divide), "");
}

fn write_column(out: &mut String, column: &Column, comments: Comments) {
    let note = |text| note(comments, column.origin, text);
    out.push_str("[[column]]\n");
    line(out, "name", &quote(&column.name), "");
    line(out, "kind", &quote(column.kind.name()), "");
    match &column.kind {
        Kind::Numeric(Scaling::AsIs) => {}
        Kind::Numeric(Scaling::Divide(divisor)) => {
            line(out, "divide", &number(*divisor), note("what is the natural unit?"));
        }
        Kind::Numeric(Scaling::Range { low, high, onto }) => {
            let range = format!("[{}, {}]", number(*low), number(*high));
            line(
                out,
                "range",
                &range,
                note(
                    "smallest and largest value in the data; what range \
                is possible?",
                ),
            );
            let name = match onto {
                Onto::Symmetric => "symmetric",
                Onto::Unit => "unit",
            };
            line(out, "onto", &quote(name), "");
        }
        Kind::Categorical { categories, other } => {
            line(
                out,
                "categories",
                &list(categories),
                note(
                    "found in the data; which others are \
                possible?",
                ),
            );
            let name = match other {
                Other::Refuse => "refuse",
                Other::Zero => "zero",
            };
            line(out, "other", &quote(name), "");
        }
        Kind::Hashed { width } => {
            line(out, "width", &width.to_string(), note("too many distinct values for a list"));
        }
        Kind::Label | Kind::Id | Kind::Subject | Kind::Weight | Kind::Ignored => {}
    }
    if !column.missing.is_empty() {
        line(
            out,
            "missing",
            &list(&column.missing),
            note(
                "found in the data; what else marks a \
            missing value?",
            ),
        );
    }
    if column.fill != 0.0 {
        line(out, "fill", &number(column.fill), "");
    }
    line(out, "origin", &quote(column.origin.name()), "");
}

fn note(comments: Comments, origin: Origin, text: &'static str) -> &'static str {
    if comments == Comments::Yes && origin == Origin::Data { text } else { "" }
}

fn line(out: &mut String, key: &str, value: &str, note: &str) {
    let gap = if note.is_empty() { "" } else { "  # " };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{key} = {value}{gap}{note}");
}

fn list(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| quote(value)).collect();
    format!("[{}]", values.join(", "))
}

/// A float that reads back to the same bits.
fn number(value: f64) -> String {
    format!("{value:?}")
}

/// A TOML basic string.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            sign if sign.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(sign));
            }
            sign => out.push(sign),
        }
    }
    out.push('"');
    out
}
