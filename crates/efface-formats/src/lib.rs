//! Readers for tables, and the row encoder that turns a row into numbers without looking at any
//! other row.
//!
//! CSV, NPY, NPZ, IDX and LIBSVM, plain or gzipped, from a file or a stream; Parquet and Arrow
//! IPC with the cargo feature `parquet`; and tables in memory. Rows go one at a time to a [`Sink`]. A malformed file
//! gives an error that names the file, the place and the rule; limits are checked before memory
//! is taken.
//!
//! Rows are either encoded by a schema, which looks at no row, or read as they are
//! ([`ReadOptions::frame`]) and encoded by what is fitted to all of them ([`Fitted`]).
//!
//! ```
//! use efface_formats::{Format, Layout, ReadOptions, Record, Sink, SinkError, read_from};
//!
//! struct Lengths(Vec<f64>);
//! impl Sink for Lengths {
//!     fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
//!         assert_eq!(layout.width, 2);
//!         Ok(())
//!     }
//!     fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
//!         self.0.push(efface_formats::row_norm(record.features.values()));
//!         Ok(())
//!     }
//! }
//!
//! let table = "a,b,who,y\n3,4,ann,1\n0,0.5,bob,0\n";
//! let options = ReadOptions {
//!     label: Some("y".into()),
//!     subject: Some("who".into()),
//!     ..ReadOptions::default()
//! };
//! let mut lengths = Lengths(Vec::new());
//! let summary =
//!     read_from("table.csv", table.as_bytes(), Some(Format::Csv), &options, &mut lengths)?;
//! assert_eq!(summary.rows_kept, 2);
//! assert_eq!(summary.classes.map(|classes| classes.names), Some(vec!["0".into(), "1".into()]));
//! assert!(lengths.0.iter().all(|&length| length <= 1.0)); // rows are clipped to norm 1
//! # Ok::<(), efface_formats::ReadError>(())
//! ```
#![forbid(unsafe_code)]

mod budget;
mod cell;
mod delivery;
mod draft;
mod error;
mod feature_map;
mod fitted;
mod format;
mod image;
mod input;
mod label;
mod lengths;
mod limits;
mod lines;
mod matrix;
mod memory;
mod missing;
mod name;
mod numbers;
mod options;
mod read;
mod record;
mod row_bytes;
mod row_map;
mod rows;
mod schema;
mod source;
mod summary;
mod table;
mod texts;
mod time;

pub use cell::Cell;
pub use draft::{Draft, draft, draft_from};
pub use error::{CellFault, Fault, FitFault, ReadError, SinkError, Spot};

pub use feature_map::{FeatureMap, MOST_FEATURES, RowFeatures};
pub use fitted::{
    ColumnKind, Declared, Fitted, FittedTarget, Frame, FrameColumn, FrameRequest, RawRows,
    RawSource, RawTarget, RawValues, Rules, Spelling, TellingApart, Typing, Unlike,
    is_number_in_words,
};
pub use format::npy::read_npy_floats;
pub use image::ImageShape;
pub use input::{Format, Input, PathOrStdin};
pub use lengths::Lengths;
pub use limits::Limits;
pub use memory::{
    ColumnValues, MemoryColumn, MemoryRows, MemoryTable, Values, read_memory, read_memory_part,
};
pub use missing::Missing;
pub use name::{NOBODY, class_name, near_key, number_name};
pub use numbers::Numbers;
pub use options::{ReadOptions, Task};
pub use read::{read, read_from};
pub use record::{DenseRows, FeatureNames, Features, LabelRef, Layout, Record, RowWriter, Sink};
pub use row_bytes::RowBytes;
pub use row_map::{Mapped, RowMap, RowMapMode, row_norm};
pub use schema::{
    Body, Column, CsvShape, Header, Kind, Matrix, Onto, Origin, Other, Row, RowEncoder, Scaling,
    Schema, Storage,
};
pub use summary::{ClassTable, PrivateEvidence, Summary};
pub use texts::column_texts;
pub use time::TimeUnit;
