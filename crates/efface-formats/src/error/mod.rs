//! Why a table could not be read: a place and a rule, as one sentence.

mod place;
mod sink;

pub(crate) use place::Place;
pub use place::Spot;
pub use sink::SinkError;

use std::collections::HashSet;
use std::{fmt, io};

/// A broken rule, as the sentence that a person reads. It may quote one value of the input, so it
/// is private if the data are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(String);

/// A [`Fault`] from the arguments of `format!`.
macro_rules! fault {
    ($($message:tt)+) => { $crate::error::Fault::new(format_args!($($message)+)) };
}
pub(crate) use fault;

impl Fault {
    /// Not inlined, so that code that reads cells stays small enough to be.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(message: fmt::Arguments<'_>) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        fault!("{error}")
    }
}

/// Why reading stopped. Messages name the file, the place in it and the rule that was broken; they may quote
/// one value of the file, so they are private if the data are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// An option, the schema or the content of the file breaks a rule, or it cannot be read.
    #[error("{0}")]
    Refused(#[from] Fault),
    /// The sink took no more rows.
    #[error("{}{source}", before(*position))]
    Sink {
        /// How many rows were read by then, the one that stopped it included.
        position: u64,
        /// The reason that the sink gave.
        source: SinkError,
    },
}

impl ReadError {
    /// Returns the error for a broken rule at a place.
    pub(crate) fn at(place: Place, fault: Fault) -> Self {
        Self::Refused(fault!("{place}: {fault}"))
    }

    /// Returns the error for a fault of a file as a whole.
    pub(crate) fn of_file(file: &str, fault: impl Into<Fault>) -> Self {
        Self::at(Place::file(file), fault.into())
    }
}

/// A value that a column's declaration does not allow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CellFault {
    /// A column declared numeric holds a word.
    #[error("`{value}` is not a number, but the column is numeric in the schema")]
    NotANumber {
        /// The value that was refused.
        value: String,
    },
    /// A value looks missing, but the column declares no such token.
    #[error(
        "`{value}` looks like a missing value, but is not in the column's `missing` list in the schema"
    )]
    UndeclaredMissing {
        /// The value that was refused.
        value: String,
    },
    /// NaN or an infinity.
    #[error("numbers must be finite, got {value}")]
    NotFinite {
        /// The value that was refused.
        value: f64,
    },
    /// Any other broken rule.
    #[error("{0}")]
    Refused(#[from] Fault),
}

impl From<CellFault> for Fault {
    fn from(fault: CellFault) -> Self {
        match fault {
            CellFault::Refused(fault) => fault,
            fault => fault!("{fault}"),
        }
    }
}

/// Why preprocessing cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitFault {
    /// A rule, the frame or the records as a whole do not allow it.
    #[error("{0}")]
    Refused(#[from] Fault),
    /// A row that is damaged.
    #[error("record {row}: {fault}")]
    Row {
        /// The row counted from 0.
        row: usize,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// Returns `Ok` while `got` of `what`, a plural, is within `limit`.
pub(crate) fn within(what: &str, got: u64, limit: u64) -> Result<(), Fault> {
    if got <= limit { Ok(()) } else { Err(fault!("more than {limit} {what}, the limit")) }
}

/// Refuses two columns of one name.
pub(crate) fn check_distinct(names: &[String]) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => {
            Err(fault!("two columns are named `{name}`; give each a name of its own in the file"))
        }
        None => Ok(()),
    }
}

/// Refuses rows of another width than declared.
pub(crate) fn other_width(got: u64, expected: u64) -> Fault {
    fault!("rows have {got} features, but {expected} are declared")
}

/// Refuses a schema of named columns for an array without names, or the reverse.
pub(crate) fn other_shape(schema: &str, file: &str) -> Fault {
    fault!("the schema describes {schema}, but the file has {file}")
}

/// Refuses raw rows of a model with named columns and an array without names, or the reverse.
pub(crate) fn other_rows(model: &str, table: &str) -> Fault {
    fault!("the model's rows have {model}, but the table has {table}")
}

/// Refuses a row without a label.
pub(crate) fn no_label() -> Fault {
    fault!("the label is missing; take rows without one out of the table")
}

/// Refuses a label beyond single precision.
pub(crate) fn large_label(value: f64) -> Fault {
    fault!("the label must be at most 3.4e38 in magnitude, got {value:e}")
}

/// Refuses a float that names a record or a person, and is stored in a type of so many binary digits.
pub(crate) fn inexact_name(value: f64, digits: u32) -> Fault {
    fault!(
        "{value:?} is a floating-point number, which names a record or a person only if it is \
         whole and below 2^{digits} in magnitude: larger ones have lost digits; store the names \
         as integers or text"
    )
}

/// Names the row that a sink stopped at; empty before the first.
fn before(position: u64) -> String {
    if position == 0 { String::new() } else { format!("row:{}: ", position - 1) }
}

/// Refuses a column that is not among `names`, with what the header suggests. `role` says who gave it, as in
/// `numeric in the schema`, `named with --label`.
pub(crate) fn absent(column: &str, role: &str, names: &[String]) -> Fault {
    let same = |name: &&String| name.to_lowercase() == column.to_lowercase();
    let hint = match (names.iter().find(same), names) {
        (Some(name), _) => format!("; did you mean `{}`?", crate::cell::quoted(name)),
        (None, [_]) if role.starts_with("named") => {
            "; the first line must name the columns, with a comma, semicolon, tab or vertical bar \
             between them: take titles and comments above it out of the file"
                .to_owned()
        }
        (None, _) if role.contains("§label") && all_there(column, names) => {
            "; of several labels, give `§label` once for each".to_owned()
        }
        (None, _) => String::new(),
    };
    let present = listed(names);
    fault!("column `{column}` ({role}) is missing; the columns are {present}{hint}")
}

/// Returns whether a text is a list of several of these names, with commas between them.
fn all_there(list: &str, names: &[String]) -> bool {
    let is_name = |part: &str| names.iter().any(|name| name == part.trim());
    list.contains(',') && list.split(',').all(is_name)
}

/// Shortens the names to one line, for a message.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{}`", crate::cell::quoted(name.as_ref())))
        .collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
