//! Faults of one value, one label or one encoded row.

use std::fmt;

impl CellFault {
    /// The fault of a cell that no schema explains, with the setting that keeps rows from being raw.
    pub(crate) fn of_numbers_for(self, setting: Option<&String>) -> Self {
        match (&self, setting) {
            (
                Self::WordWithoutSchema { .. }
                | Self::Notation { .. }
                | Self::InfiniteWithoutSchema { .. }
                | Self::MissingWithoutSchema { .. },
                Some(setting),
            ) => Self::NumbersFor { setting: setting.clone(), fault: Box::new(self) },
            _ => self,
        }
    }
}

/// A value that a column's declaration does not allow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CellFault {
    /// A column of numbers holds a word, and no schema says what it means.
    #[error(
        "`{value}` is not a number; if the column identifies records or people, give `§id \
         {column}` or `§subject {column}`; to leave it out, `§ignore {column}`; text as a \
         feature needs a schema: run `§efface schema {file} -o schema.toml`"
    )]
    WordWithoutSchema {
        /// The value.
        value: String,
        /// The column.
        column: String,
        /// The file as the user named it.
        file: String,
    },
    /// A column of numbers holds one in a notation that is not read.
    #[error("`{value}` {notation}; or leave the column out with `§ignore {column}`")]
    Notation {
        /// The value.
        value: String,
        /// What it is, and what to do about it.
        notation: &'static str,
        /// The column.
        column: String,
    },
    /// A number is infinite, or too large for one, and no schema says that this means nothing.
    #[error(
        "numbers must be finite, got {value}; if it stands for a missing value, a schema can say so: \
         run `§efface schema {file} -o schema.toml`"
    )]
    InfiniteWithoutSchema {
        /// The value.
        value: f64,
        /// The file as the user named it.
        file: String,
    },
    /// A value is missing, and no schema says how to encode it.
    #[error(
        "`{value}` is a missing value, and only a schema can say how to encode it: run `efface \
         schema {file} -o schema.toml`"
    )]
    MissingWithoutSchema {
        /// The value.
        value: String,
        /// The file as the user named it.
        file: String,
    },
    /// The same, where a setting keeps rows from being raw.
    #[error(
        "{fault}; or leave out {setting}, which goes with declared preprocessing: without it \
         preprocessing is fitted to the records and takes words, dates and missing values"
    )]
    NumbersFor {
        /// What is wrong with the cell.
        fault: Box<CellFault>,
        /// The setting, in words.
        setting: String,
    },
    /// A column declared numeric holds a word.
    #[error("`{value}` is not a number, but the column is numeric in the schema")]
    NotANumber {
        /// The value.
        value: String,
    },
    /// A value looks missing, but the column declares no such token.
    #[error(
        "`{value}` looks like a missing value, but is not in the column's `missing` list in the schema"
    )]
    UndeclaredMissing {
        /// The value.
        value: String,
    },
    /// NaN or an infinity.
    #[error("numbers must be finite, got {value}")]
    NotFinite {
        /// The value.
        value: f64,
    },
    /// A finite number that single precision cannot hold.
    #[error("numbers must be at most 3.4e38 in magnitude after encoding, got {value:e}")]
    TooLarge {
        /// The encoded value.
        value: f64,
    },
    /// A raw number that is not finite or too large to be stored.
    #[error(
        "numbers must be finite and at most {most} in magnitude, got `{value}`; leave the cell \
         empty if the value is missing"
    )]
    Unbounded {
        /// The value.
        value: String,
        /// The largest magnitude: 1e300 in a named column, 3.4e38 in an array.
        most: &'static str,
    },
    /// A raw column of numbers holds something else.
    #[error(
        "`{value}` is not a number, but the column holds numbers; leave the cell empty if the \
         value is missing"
    )]
    DeclaredNumber {
        /// The value.
        value: String,
    },
    /// A raw column of times holds something else.
    #[error(
        "`{value}` is not a date, but the column holds dates; write them as 2024-01-31 or \
         2024-01-31T10:00:00, or leave the cell empty if the value is missing"
    )]
    DeclaredTime {
        /// The value.
        value: String,
    },
    /// A sparse array holds a NaN.
    #[error("a sparse array cannot hold missing values (NaN); give a dense one or named columns")]
    SparseMissing,
    /// A categorical column holds a value outside its list.
    #[error("`{value}` is not one of the {known} declared categories, and `other` is `refuse`")]
    UnknownCategory {
        /// The value.
        value: String,
        /// How many categories are declared.
        known: usize,
    },
    /// An id or subject is empty.
    #[error("the {role} is empty")]
    EmptyKey {
        /// `id` or `subject`.
        role: &'static str,
    },
    /// An id or subject is a float that is not whole, or too large to be exact.
    #[error(
        "{value:?} is a floating-point number, which names a record or a person only if it is whole and \
         below 2^{digits} in magnitude: larger ones have lost digits; store the names as integers or text"
    )]
    InexactKey {
        /// The value.
        value: f64,
        /// Binary digits of the type it is stored in.
        digits: u32,
    },
    /// A weight that is negative, not finite or no number.
    #[error("the weight must be a finite number of at least 0, got `{value}`")]
    Weight {
        /// The value.
        value: String,
    },
    /// A number that is no byte, where the model learnt from bytes.
    #[error(
        "{got} is no byte, and the model learnt from the bytes of images, 0 to 255, which it divides \
         by 255 itself: give them as they are"
    )]
    NoByte {
        /// The value given.
        got: f64,
    },
    /// The row has another number of values than the encoder has columns.
    #[error("the row has {got} values, but the schema has {expected} feature columns")]
    Count {
        /// Values given.
        got: usize,
        /// Columns declared.
        expected: usize,
    },
}

/// A label that the task does not allow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelFault {
    /// No label in this row.
    #[error("the label is missing; take rows without one out of the table")]
    Missing,
    /// A word that says that there is no label, in a table whose classes nobody listed.
    #[error(
        "the label `{value}` says that there is none; take such rows out of the table, or write the \
         class, if it is one, in another way"
    )]
    SaysNone {
        /// The value.
        value: String,
    },
    /// Regression: a word.
    #[error("the label must be a number for regression, got `{value}`")]
    NotANumber {
        /// The value.
        value: String,
    },
    /// Regression: a number that is spelled with a decimal comma, a currency or the like.
    #[error("the label must be a plain number, such as `1234.5`, for regression, got `{value}`")]
    NotPlain {
        /// The value.
        value: String,
    },
    /// An infinity.
    #[error("the label must be finite, got {value}")]
    NotFinite {
        /// The value.
        value: f64,
    },
    /// Regression on raw rows: beyond single precision.
    #[error("the label must be at most 3.4e38 in magnitude, got {value:e}")]
    TooLarge {
        /// The value.
        value: f64,
    },
    /// Regression: outside the declared range.
    #[error(
        "the label must be in the declared range [{}, {}], got {}",
        Short(*.low),
        Short(*.high),
        Short(*.value)
    )]
    OutOfRange {
        /// The value.
        value: f64,
        /// Least label declared.
        low: f64,
        /// Greatest label declared.
        high: f64,
    },
    /// Classification: several labels.
    #[error(
        "several labels are numbers to predict together, and this is a classification; use \
         `§mechanism ridge` and `§loss squared`, or name one label"
    )]
    SeveralClasses,
    /// Classification: more classes than a classification has.
    #[error(
        "more than {limit} classes; for a numeric target, use `§loss squared`, and `§target-range LOW,HIGH` \
         where preprocessing is declared"
    )]
    TooManyClasses {
        /// The limit.
        limit: u32,
    },
}

/// An encoded row that the row map refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// Longer than the bound, under `refuse`.
    #[error(
        "the row's norm {norm} exceeds the bound {bound}; declare a larger bound when training, \
         or let longer rows be \
         clipped (`§row-map clip`)"
    )]
    TooLong {
        /// The length, rounded up.
        norm: f64,
        /// The bound.
        bound: f64,
    },
}

/// A number for a message: in scientific notation where it would otherwise have many zeros.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        match value.abs() {
            size if size >= 1e16 || (size > 0.0 && size < 1e-5) => write!(out, "{value:e}"),
            _ => write!(out, "{value}"),
        }
    }
}
