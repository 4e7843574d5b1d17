//! The extension module `efface._engine`: the engine's operations for Python.
//!
//! It is a face: it takes rows as NumPy arrays and everything structured as JSON of the engine's
//! own types, calls the engine with the interpreter's lock released, and raises the exceptions of
//! `efface._errors`. What users see is written in Python (`python/src/efface`).
#![forbid(unsafe_code)]

mod accounting;
mod copies;
mod error;
mod gradients;
mod key;
mod losses;
mod part;
mod planning;
mod pool;
mod reading;
mod remote;
mod requests;
mod resident;
mod settings;
mod table;
mod unsaved;
mod watch;

use pyo3::prelude::*;

/// The engine of efface.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::accounting::{account, kinds};
    #[pymodule_export]
    use super::copies::{backup, relocate};
    #[pymodule_export]
    use super::error::codes;
    #[pymodule_export]
    use super::gradients::ReleasedSums;
    #[pymodule_export]
    use super::key::{create_key, public_key};
    #[pymodule_export]
    use super::losses::{losses, mechanisms};
    #[pymodule_export]
    use super::part::Part;
    #[pymodule_export]
    use super::planning::{asks_for_declared, fits_preprocessing, plan, plan_page};
    #[pymodule_export]
    use super::reading::{
        bounds, certificate, check_form, doctor, entries, margins, parameter, plan_of, report,
        show, status, verify, verify_ledger, weights,
    };
    #[pymodule_export]
    use super::requests::{
        add, delete, delete_dry_run, export, prepare, refresh, train, train_as_planned, update,
    };
    #[pymodule_export]
    use super::resident::ResidentRows;
    #[pymodule_export]
    use super::settings::settings;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::unsaved::{Unsaved, train_unsaved};

    /// The release of the engine.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
