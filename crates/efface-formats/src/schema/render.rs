//! Writes a schema as text: plain and canonical, or with comments for the person who confirms it.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Body, Column, CsvShape, Kind, Matrix, Notes, Origin, Scaling, Schema};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comments {
    Yes,
    No,
}

impl Schema {
    /// Returns the one text of this schema: equal schemas have equal texts, and [`Schema::from_toml`] reads
    /// it back to an equal schema. For storing and hashing.
    pub fn canonical(&self) -> String {
        render(self, Comments::No, &Notes::new())
    }

    /// Returns the schema as a file for people: as [`Schema::canonical`], with a comment at every value taken
    /// from data that says what to confirm.
    pub fn to_toml(&self) -> String {
        self.with_notes(&Notes::new())
    }

    /// Works as [`Schema::to_toml`], with a comment before each column that has a note.
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
            line(&mut out, "storage", &word(storage), "");
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
        let note = note(comments, csv.origin, "does the first line name the columns?");
        line(out, "header", &word(&header), note);
    }
    for (key, sign) in [("delimiter", csv.delimiter), ("comment", csv.comment)] {
        if let Some(sign) = sign {
            line(out, key, &word(&sign), "");
        }
    }
    line(out, "origin", &word(csv.origin.name()), "");
}

fn write_matrix(out: &mut String, matrix: &Matrix, comments: Comments) {
    out.push_str("\n[matrix]\n");
    let text = "the largest index in the data; could there be a larger one?";
    let hint = note(comments, matrix.origin, text);
    line(out, "width", &matrix.width.to_string(), hint);
    line(out, "origin", &word(matrix.origin.name()), "");
    line(out, "first", &matrix.first.to_string(), "");
    line(out, "divide", &number(matrix.divide), "");
}

fn write_column(out: &mut String, column: &Column, comments: Comments) {
    let note = |text| note(comments, column.origin, text);
    out.push_str("[[column]]\n");
    line(out, "name", &word(&column.name), "");
    line(out, "kind", &word(column.kind.name()), "");
    match &column.kind {
        Kind::Numeric(Scaling::AsIs) => {}
        Kind::Numeric(Scaling::Divide(divisor)) => {
            line(out, "divide", &number(*divisor), note("what is the natural unit?"));
        }
        Kind::Numeric(Scaling::Range { low, high, onto }) => {
            let range = format!("[{}, {}]", number(*low), number(*high));
            let hint = note("smallest and largest value in the data; what range is possible?");
            line(out, "range", &range, hint);
            line(out, "onto", &word(onto), "");
        }
        Kind::Categorical { categories, other } => {
            let hint = note("found in the data; which others are possible?");
            line(out, "categories", &word(categories), hint);
            line(out, "other", &word(other), "");
        }
        Kind::Hashed { width } => {
            line(out, "width", &width.to_string(), note("too many distinct values for a list"));
        }
        Kind::Label | Kind::Id | Kind::Subject | Kind::Weight | Kind::Ignored => {}
    }
    if !column.missing.is_empty() {
        let hint = note("found in the data; what else marks a missing value?");
        line(out, "missing", &word(&column.missing), hint);
    }
    if column.fill != 0.0 {
        line(out, "fill", &number(column.fill), "");
    }
    line(out, "origin", &word(column.origin.name()), "");
}

fn note(comments: Comments, origin: Origin, text: &'static str) -> &'static str {
    if comments == Comments::Yes && origin == Origin::Data { text } else { "" }
}

/// Returns a text, a list of texts or the name of a variant, as TOML. What cannot be written becomes a text
/// that no schema has, so that it is refused when it is read.
fn word(value: &(impl Serialize + ?Sized)) -> String {
    let written = toml::Value::try_from(value);
    written.unwrap_or_else(|error| toml::Value::String(error.to_string())).to_string()
}

fn line(out: &mut String, key: &str, value: &str, note: &str) {
    let gap = if note.is_empty() { "" } else { "  # " };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{key} = {value}{gap}{note}");
}

/// Returns a float that reads back to the same bits.
fn number(value: f64) -> String {
    format!("{value:?}")
}
