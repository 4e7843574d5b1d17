//! The schema: how each column becomes numbers, written down before a row is read.
//!
//! A schema is TOML. Every value in it either comes from the user, is a default, or was taken
//! from data (`origin = "data"`), in which case it depends on the rows and a certificate lists
//! it as not covered.
//!
//! ```toml
//! version = 1
//!
//! [csv]
//! header = "present"
//!
//! [[column]]
//! name = "age"
//! kind = "numeric"
//! range = [0.0, 120.0]   # maps 0 to -1 and 120 to 1, values outside to the nearer end
//!
//! [[column]]
//! name = "work"
//! kind = "categorical"
//! categories = ["private", "state"]
//! missing = ["?"]
//! ```

mod column;
mod encoder;
pub(crate) mod hashing;
mod implied;
mod render;
mod text;

pub use column::{Column, Kind, Onto, Other, Scaling};
pub use encoder::{Row, RowEncoder};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::FeatureNames;

/// What to decide about a column, by its name.
pub(crate) type Notes = BTreeMap<String, String>;

/// Origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The user stated it.
    #[default]
    User,
    /// It follows from a rule of this crate or from the file's header, not from any row.
    Default,
    /// It was computed from the rows.
    Data,
}

impl Origin {
    /// Returns the name used in schemas and certificates.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Default => "default",
            Self::Data => "data",
        }
    }
}

/// Whether a CSV file's first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Header {
    /// The first row has the names.
    Present,
    /// It is the first row; the columns are `c1`, `c2`... or, in order, those of the schema.
    Absent,
}

/// The layout of a CSV file; each property may be unstated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsvShape {
    /// Whether there is a header; unstated, there must be one, and one that holds a number is
    /// refused.
    pub header: Option<Header>,
    /// The separator of fields: one ASCII character; if unstated, the one of `,` `;` and tab that occurs in
    /// the first line.
    pub delimiter: Option<char>,
    /// Lines that begin with this ASCII character are skipped; unstated, none is.
    pub comment: Option<char>,
    /// Origin of these values.
    #[serde(default)]
    pub origin: Origin,
}

impl CsvShape {
    /// Returns the values stated here, completed from `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            header: self.header.or(other.header),
            delimiter: self.delimiter.or(other.delimiter),
            comment: self.comment.or(other.comment),
            origin: self.origin,
        }
    }
}

/// Whether encoded rows are kept whole or without their zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// Every number is stored.
    #[default]
    Dense,
    /// The numbers that are not zero: for wide one-hot and hashed rows.
    Sparse,
}

/// Named columns, or an array without names.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Named columns: CSV, Parquet, Arrow.
    Columns {
        /// How rows are stored.
        storage: Storage,
        /// Every column, those that are no features included.
        columns: Vec<Column>,
    },
    /// An array of numbers without names: NPY, NPZ, IDX, LIBSVM.
    Matrix(Matrix),
}

/// An array of numbers that all mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Number of values in a row.
    pub width: u32,
    /// Origin of the width: `data` only if it is the largest index found.
    #[serde(default)]
    pub origin: Origin,
    /// The number of the first column: 1 for LIBSVM, else 0.
    #[serde(default)]
    pub first: u32,
    /// What every number is divided by: 255 for the bytes of images.
    #[serde(default = "one")]
    pub divide: f64,
}

fn one() -> f64 {
    1.0
}

/// A checked schema. [`Schema::from_toml`] reads it, [`Schema::canonical`] writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    csv: CsvShape,
    body: Body,
}

impl Schema {
    /// Returns the layout of CSV files of this schema, with what it states.
    pub fn csv(&self) -> CsvShape {
        self.csv
    }

    /// Returns the named columns, or the array without names.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Returns the named columns; empty for an array.
    pub fn columns(&self) -> &[Column] {
        match &self.body {
            Body::Columns { columns, .. } => columns,
            Body::Matrix(_) => &[],
        }
    }

    /// Marks every value as given by the user.
    pub(crate) fn declare_public(&mut self) {
        self.csv.origin = Origin::User;
        match &mut self.body {
            Body::Columns { columns, .. } => {
                columns.iter_mut().for_each(|column| column.origin = Origin::User);
            }
            Body::Matrix(matrix) => matrix.origin = Origin::User,
        }
    }

    /// Returns how many numbers an encoded row has.
    pub fn width(&self) -> u32 {
        match &self.body {
            Body::Columns { columns, .. } => columns.iter().map(Column::width).sum(),
            Body::Matrix(matrix) => matrix.width,
        }
    }

    /// Returns how encoded rows are stored by readers that have a choice; arrays are dense and LIBSVM rows
    /// sparse whatever the schema.
    pub fn storage(&self) -> Storage {
        match &self.body {
            Body::Columns { storage, .. } => *storage,
            Body::Matrix(_) => Storage::Dense,
        }
    }

    /// Returns the names of the numbers of an encoded row.
    pub fn feature_names(&self) -> FeatureNames {
        match &self.body {
            Body::Columns { columns, .. } => {
                FeatureNames::Listed(columns.iter().flat_map(Column::feature_names).collect())
            }
            Body::Matrix(matrix) => {
                FeatureNames::Numbered { first: matrix.first, count: matrix.width }
            }
        }
    }

    /// Returns whether an encoded row is the numbers of the feature columns as they are.
    pub fn is_plain(&self) -> bool {
        match &self.body {
            Body::Columns { columns, .. } => {
                columns.iter().filter(|column| column.kind.is_feature()).all(|column| {
                    column.kind == Kind::Numeric(Scaling::AsIs) && column.missing.is_empty()
                })
            }
            Body::Matrix(matrix) => matrix.divide == 1.0,
        }
    }

    /// Returns whether a column holds weights of records.
    #[must_use]
    pub fn names_weights(&self) -> bool {
        self.columns().iter().any(|column| column.kind == Kind::Weight)
    }

    /// Returns every value that shapes the features, with its origin: for a certificate's constants.
    pub fn origins(&self) -> Vec<(String, Origin)> {
        match &self.body {
            Body::Columns { columns, .. } => columns.iter().flat_map(Column::origins).collect(),
            Body::Matrix(matrix) => vec![
                ("features.width".to_owned(), matrix.origin),
                ("features.divide".to_owned(), Origin::Default),
            ],
        }
    }
}
