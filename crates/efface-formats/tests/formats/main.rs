//! Every format through the public functions.
// The lint knows test functions, not the functions that tests share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod bombs;
mod collect;
#[cfg(feature = "parquet")]
mod columnar;
mod csv;
mod csv_fields;
mod encoding;
mod feature_maps;
mod fitted;
mod fitted_forgets;
mod fitted_kinds;
#[cfg(feature = "parquet")]
mod golden;
mod gzip;
mod idx;
mod images;
mod libsvm;
mod many_rows;
mod memory;
mod memory_limits;
mod mutation;
mod npy;
mod npz;
mod options;
mod png;
#[path = "../../../../laboratory/fuzz/promises.rs"]
mod promises;
mod real;
mod schema;
mod schema_drafts;
mod several_labels;
mod weights;
