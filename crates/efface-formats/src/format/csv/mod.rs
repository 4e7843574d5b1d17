//! CSV: separated text as RFC 4180 has it, read strictly.
//!
//! The first line names the columns unless the schema says otherwise. Fields may be quoted; a
//! quoted field may hold delimiters, line ends and doubled quotes. Spaces around fields do not
//! count. Empty lines are skipped. A quote that is never closed, text after a closing quote and
//! rows of another length than the header are errors.

mod records;
mod table;

pub(crate) use table::CsvTable;
