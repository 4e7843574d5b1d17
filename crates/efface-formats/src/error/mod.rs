//! Why a table could not be read: a place and a rule.

mod arrays;
mod column;
mod columnar;
mod csv;
mod feature_map;
mod fitted;
mod idx;
mod libsvm;
mod memory;
mod npy;
mod npz;
mod place;
mod png;
mod row;
mod schema;
mod sink;

pub use arrays::ArrayFault;
pub use column::{ColumnFault, OptionFault};
pub use columnar::ColumnarFault;
pub use csv::CsvFault;
pub use feature_map::FeatureMapError;
pub use fitted::{FitFault, FittedError, RawFault};
pub use idx::IdxFault;
pub use libsvm::LibsvmFault;
pub use memory::MemoryFault;
pub use npy::NpyFault;
pub use npz::NpzFault;
pub use place::{Place, Spot};
pub use png::PngFault;
pub use row::{CellFault, LabelFault, RowFault};
pub use schema::SchemaError;
pub use sink::SinkError;

pub(crate) use column::listed;

use std::{fmt, io};

use crate::input::Format;

/// Why reading stopped. Messages name the file, the place in it and the rule that was broken;
/// they may quote one value of the file, so they are private where the data is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system or the decompressor failed.
    #[error("{file}: {source}")]
    Io {
        /// The file as the user named it.
        file: String,
        /// What failed.
        source: io::Error,
    },
    /// An option contradicts itself, another one, or the kind of input.
    #[error("{0}")]
    Option(#[from] OptionFault),
    /// Neither name nor content tells the format.
    #[error(
        "{file}: the format is recognised neither by name nor by content; say which it is with \
         `§format`: csv, npy, npz, idx, libsvm, png, parquet or arrow"
    )]
    UnknownFormat {
        /// The file as the user named it.
        file: String,
    },
    /// The format is known, but this build cannot read it.
    #[error("{file}: this build does not read {format} files: it lacks the `parquet` feature")]
    NotBuilt {
        /// The file as the user named it.
        file: String,
        /// The format asked for.
        format: Format,
    },
    /// The schema contradicts itself.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// The content breaks a rule.
    #[error("{0}")]
    Malformed(Box<Malformed>),
    /// The sink took no more rows.
    #[error("{}{source}", before(*position))]
    Sink {
        /// How many rows were read by then, the one that stopped it included.
        position: u64,
        /// The sink's reason.
        source: SinkError,
    },
}

/// A broken rule and where it was broken.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct Malformed {
    /// Place in the input where the rule was broken.
    pub place: Place,
    /// Which rule, and what was found instead.
    pub fault: Fault,
}

/// The rule that was broken, by the stage that checks it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Text in another encoding.
    #[error("the text is UTF-16; save the file as UTF-8 (in a spreadsheet: `CSV UTF-8`)")]
    Utf16,
    /// A limit.
    #[error(transparent)]
    Limit(#[from] LimitFault),
    /// More memory than a table of this file may take.
    #[error(transparent)]
    Expansion(#[from] ExpansionFault),
    /// Columns and their roles.
    #[error(transparent)]
    Column(#[from] ColumnFault),
    /// One value.
    #[error(transparent)]
    Cell(#[from] CellFault),
    /// One label.
    #[error(transparent)]
    Label(#[from] LabelFault),
    /// One encoded row.
    #[error(transparent)]
    Row(#[from] RowFault),
    /// The syntax of CSV.
    #[error(transparent)]
    Csv(#[from] CsvFault),
    /// The data of NPY and IDX.
    #[error(transparent)]
    Array(#[from] ArrayFault),
    /// The header of NPY.
    #[error(transparent)]
    Npy(#[from] NpyFault),
    /// The archive of NPZ.
    #[error(transparent)]
    Npz(#[from] NpzFault),
    /// A rule of folders of PNG images.
    #[error(transparent)]
    Png(#[from] PngFault),
    /// The header of IDX.
    #[error(transparent)]
    Idx(#[from] IdxFault),
    /// The syntax of LIBSVM.
    #[error(transparent)]
    Libsvm(#[from] LibsvmFault),
    /// The layout of a table in memory.
    #[error(transparent)]
    Memory(#[from] MemoryFault),
    /// Parquet and Arrow.
    #[error(transparent)]
    Columnar(#[from] ColumnarFault),
    /// One raw row.
    #[error(transparent)]
    Raw(#[from] RawFault),
    /// A map to random features that does not suit the rows.
    #[error(transparent)]
    FeatureMap(#[from] FeatureMapError),
}

/// The input is larger than the limits allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {limit} {what}, the limit")]
pub struct LimitFault {
    /// What there is too much of, in the plural.
    pub what: &'static str,
    /// Largest value allowed, in the unit of `what`.
    pub limit: u64,
}

/// The table takes more memory than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpansionFault {
    /// Most bytes of memory the table may take.
    pub limit: u64,
    /// The multiple of the file's size that is allowed, where that is what binds.
    pub times: Option<u64>,
    /// Bytes allowed however small the file is.
    pub free: u64,
}

impl std::error::Error for ExpansionFault {}

impl fmt::Display for ExpansionFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, more) = (size(self.limit), size(self.limit.saturating_mul(4)));
        match self.times {
            None => write!(
                out,
                "the table needs more than {limit} of memory, the limit; raise it with \
                 `§max-decoded`, for example `§max-decoded {more}`"
            ),
            Some(times) => write!(
                out,
                "decompressed, the table needs more than {limit} of memory; the limit is {times} \
                 times the file size, and at least {}; if you trust the file, raise it with \
                 `§max-decoded`, for example `§max-decoded {more}`",
                size(self.free)
            ),
        }
    }
}

/// Bytes in the largest binary unit that leaves at least 1, rounded up: `--max-decoded` reads it.
fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}{name}", bytes.div_ceil(unit)),
        None => format!("{bytes}B"),
    }
}

/// The row a sink stopped at; none before the first.
fn before(position: u64) -> String {
    if position == 0 { String::new() } else { format!("row:{}: ", position - 1) }
}

impl LimitFault {
    /// `Ok` while `got` is within `limit`.
    pub(crate) fn check(what: &'static str, got: u64, limit: u64) -> Result<(), Self> {
        if got <= limit { Ok(()) } else { Err(Self { what, limit }) }
    }
}

impl ReadError {
    /// A broken rule at a place.
    pub(crate) fn at(place: Place, fault: impl Into<Fault>) -> Self {
        Self::Malformed(Box::new(Malformed { place, fault: fault.into() }))
    }

    /// A failed read; a limit that the stream itself enforces becomes a broken rule.
    pub(crate) fn io(file: &str, source: io::Error) -> Self {
        let inner = source.get_ref();
        if let Some(&limit) = inner.and_then(|inner| inner.downcast_ref::<LimitFault>()) {
            return Self::at(Place::file(file), limit);
        }
        if let Some(&limit) = inner.and_then(|inner| inner.downcast_ref::<ExpansionFault>()) {
            return Self::at(Place::file(file), limit);
        }
        Self::Io { file: file.to_owned(), source }
    }
}
