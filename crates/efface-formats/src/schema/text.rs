//! The schema as written, and the checks that make it a [`Schema`].

use std::collections::HashSet;

use serde::Deserialize;

use super::{Body, Column, CsvShape, Kind, Matrix, Onto, Origin, Other, Scaling, Schema, Storage};
use crate::error::{Fault, fault};

/// The version written and read.
const VERSION: u32 = 1;
/// Bytes of the longest schema text.
const LONGEST: usize = 1 << 24;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaText {
    version: u32,
    #[serde(default)]
    csv: CsvShape,
    storage: Option<Storage>,
    matrix: Option<Matrix>,
    #[serde(default)]
    column: Vec<ColumnText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnText {
    name: String,
    kind: KindText,
    range: Option<[f64; 2]>,
    onto: Option<Onto>,
    divide: Option<f64>,
    categories: Option<Vec<String>>,
    other: Option<Other>,
    width: Option<u32>,
    #[serde(default)]
    missing: Vec<String>,
    fill: Option<f64>,
    #[serde(default)]
    origin: Origin,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindText {
    Numeric,
    Categorical,
    Hashed,
    Label,
    Id,
    Subject,
    Weight,
    Ignored,
}

impl Schema {
    /// Reads a schema file's text.
    pub fn from_toml(text: &str) -> Result<Self, Fault> {
        if text.len() > LONGEST {
            return Err(fault!(
                "schema: the text must have at most {limit} bytes, got {got}",
                got = text.len(),
                limit = LONGEST
            ));
        }
        let written: SchemaText = toml::from_str(text).map_err(|error| {
            fault!(
                "schema: {message}",
                message = match error.span() {
                    Some(span) =>
                        format!("line {}: {}", line_of(text, span.start), error.message()),
                    None => error.message().to_owned(),
                }
            )
        })?;
        Self::try_from(written)
    }

    /// Checks a body of columns or a matrix.
    pub(crate) fn new(csv: CsvShape, body: Body) -> Result<Self, Fault> {
        check_csv(csv)?;
        match &body {
            Body::Columns { columns, .. } => check_columns(columns)?,
            Body::Matrix(matrix) => check_matrix(matrix)?,
        }
        Ok(Self { csv, body })
    }
}

fn line_of(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|&b| b == b'\n').count()
}

impl TryFrom<SchemaText> for Schema {
    type Error = Fault;

    fn try_from(written: SchemaText) -> Result<Self, Fault> {
        if written.version != VERSION {
            return Err(fault!(
                "schema: `version` must be {expected}, got {got}",
                got = written.version,
                expected = VERSION
            ));
        }
        let body = match (written.matrix, written.column.is_empty(), written.storage) {
            (Some(matrix), true, None) => Body::Matrix(matrix),
            (None, false, storage) => {
                let columns: Result<_, _> =
                    written.column.into_iter().map(Column::try_from).collect();
                Body::Columns { storage: storage.unwrap_or_default(), columns: columns? }
            }
            _ => return Err(fault!("schema: give either `column` tables or one `matrix` table")),
        };
        Self::new(written.csv, body)
    }
}

impl TryFrom<ColumnText> for Column {
    type Error = Fault;

    fn try_from(mut written: ColumnText) -> Result<Self, Fault> {
        let kind = match written.kind {
            KindText::Numeric => Kind::Numeric(written.take_scaling()?),
            KindText::Categorical => Kind::Categorical {
                categories: written.categories.take().ok_or_else(|| written.needs("categories"))?,
                other: written.other.take().unwrap_or_default(),
            },
            KindText::Hashed => {
                Kind::Hashed { width: written.width.take().ok_or_else(|| written.needs("width"))? }
            }
            KindText::Label => Kind::Label,
            KindText::Id => Kind::Id,
            KindText::Subject => Kind::Subject,
            KindText::Weight => Kind::Weight,
            KindText::Ignored => Kind::Ignored,
        };
        let left_over = [
            ("range", written.range.is_some()),
            ("onto", written.onto.is_some()),
            ("divide", written.divide.is_some()),
            ("categories", written.categories.is_some()),
            ("other", written.other.is_some()),
            ("width", written.width.is_some()),
            ("missing", !written.missing.is_empty() && !kind.is_feature()),
            ("fill", written.fill.is_some() && !matches!(kind, Kind::Numeric(_))),
            ("fill", written.fill.is_some() && written.missing.is_empty()),
        ];
        if let Some((key, _)) = left_over.into_iter().find(|(_, present)| *present) {
            let column = written.name;
            return Err(fault!(
                "schema: column `{column}`: `{key}` does not apply to a {kind} column",
                kind = kind.name()
            ));
        }
        let ColumnText { name, missing, fill, origin, .. } = written;
        Ok(Self { name, kind, missing, fill: fill.unwrap_or(0.0), origin })
    }
}

impl ColumnText {
    fn take_scaling(&mut self) -> Result<Scaling, Fault> {
        match (self.range.take(), self.divide.take()) {
            (None, None) => Ok(Scaling::AsIs),
            (None, Some(divisor)) => Ok(Scaling::Divide(divisor)),
            (Some([low, high]), None) => {
                Ok(Scaling::Range { low, high, onto: self.onto.take().unwrap_or_default() })
            }
            (Some(_), Some(_)) => Err(fault!(
                "schema: column `{column}`: `divide` does not apply to a numeric (`range`) column",
                column = self.name
            )),
        }
    }

    fn needs(&self, key: &'static str) -> Fault {
        let kind = if key == "width" { "hashed" } else { "categorical" };
        fault!("schema: column `{column}`: a {kind} column needs `{key}`", column = self.name)
    }
}

fn check_csv(csv: CsvShape) -> Result<(), Fault> {
    let rule = "one ASCII character other than a quote, a letter, a digit or a line end";
    for (key, sign) in [("delimiter", csv.delimiter), ("comment", csv.comment)] {
        let Some(sign) = sign else { continue };
        let fits = sign.is_ascii() && !sign.is_ascii_alphanumeric() && !"\"\r\n".contains(sign);
        if !fits {
            let (place, got) = ("`csv`".to_owned(), format!("{sign:?}"));
            return Err(fault!("schema: {place}: `{key}` must be {rule}, got {got}"));
        }
    }
    match (csv.delimiter, csv.comment) {
        (Some(delimiter), Some(comment)) if delimiter == comment => Err(fault!(
            "schema: `csv`: `comment` must be a character other than `delimiter`, got {got}",
            got = format!("{comment:?}")
        )),
        _ => Ok(()),
    }
}

fn check_matrix(matrix: &Matrix) -> Result<(), Fault> {
    let refuse =
        |key, rule, got| Err(fault!("schema: `matrix`: `{key}` must be {rule}, got {got}"));
    if matrix.width == 0 {
        return refuse("width", "at least 1", "0".to_owned());
    }
    if !(matrix.divide.is_finite() && matrix.divide > 0.0) {
        return refuse("divide", "finite and above 0", matrix.divide.to_string());
    }
    Ok(())
}

fn check_columns(columns: &[Column]) -> Result<(), Fault> {
    let mut names = HashSet::new();
    for column in columns {
        if column.name.trim().is_empty() {
            return Err(fault!("schema: a column has an empty name"));
        }
        if !names.insert(column.name.as_str()) {
            return Err(fault!(
                "schema: column `{column}` is declared twice",
                column = column.name
            ));
        }
        check_column(column)?;
    }
    // Several labels are the targets of a regression.
    for role in ["id", "subject", "weight"] {
        let mut holders = columns.iter().filter(|column| column.kind.name() == role);
        if let (Some(first), Some(second)) = (holders.next(), holders.next()) {
            let (first, second) = (first.name.clone(), second.name.clone());
            return Err(fault!(
                "schema: only one column can be the {role}, got `{first}` and `{second}`"
            ));
        }
    }
    let width: u64 = columns.iter().map(|column| u64::from(column.width())).sum();
    match u32::try_from(width) {
        Ok(0) => Err(fault!("schema: no column is numeric, categorical or hashed")),
        Ok(_) => Ok(()),
        Err(_) => Err(fault!("schema: the columns encode to more than {} features", u32::MAX)),
    }
}

fn check_column(column: &Column) -> Result<(), Fault> {
    let refuse = |key, rule, got: String| {
        Err(fault!(
            "schema: {place}: `{key}` must be {rule}, got {got}",
            place = format!("column `{}`", column.name)
        ))
    };
    match &column.kind {
        Kind::Numeric(Scaling::Divide(divisor)) if !(divisor.is_finite() && *divisor > 0.0) => {
            return refuse("divide", "finite and above 0", divisor.to_string());
        }
        Kind::Numeric(Scaling::Range { low, high, .. })
            if !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite()) =>
        {
            let rule = "finite with low < high and a finite difference";
            return refuse("range", rule, format!("[{low}, {high}]"));
        }
        Kind::Categorical { categories, .. } if categories.is_empty() => {
            return refuse("categories", "a list of at least one", "none".to_owned());
        }
        Kind::Hashed { width: 0 } => return refuse("width", "at least 1", "0".to_owned()),
        _ => {}
    }
    if !(column.fill as f32).is_finite() {
        return refuse("fill", "a finite single-precision number", column.fill.to_string());
    }
    let twice = |value: &String| {
        Err(fault!("schema: column `{column}`: `{value}` is listed twice", column = column.name))
    };
    let mut seen = HashSet::new();
    for token in &column.missing {
        if !seen.insert(token.trim().to_ascii_lowercase()) {
            return twice(token);
        }
    }
    if let Kind::Categorical { categories, .. } = &column.kind {
        let mut known = HashSet::new();
        for category in categories {
            let trimmed = category.trim();
            if seen.contains(&trimmed.to_ascii_lowercase()) || !known.insert(trimmed) {
                return twice(category);
            }
        }
    }
    Ok(())
}
