//! Copies and moves of whole vaults.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::json;
use crate::resident;
use crate::watch::watched;

/// How long a move or a copy waits for another process that holds the vault.
const WAIT: Duration = Duration::from_secs(60);

/// Copies a vault, as its last request left it, to a file that does not exist yet; JSON of what the
/// copy holds.
#[pyfunction]
pub(crate) fn backup(py: Python<'_>, vault: PathBuf, destination: PathBuf) -> PyResult<String> {
    let made = watched(py, &None, |watch| efface::backup(&vault, &destination, WAIT, watch))?;
    json(&made)
}

/// Moves a vault to a name that is free, and erases the old file.
#[pyfunction]
pub(crate) fn relocate(py: Python<'_>, vault: PathBuf, destination: PathBuf) -> PyResult<()> {
    let before = resident::place(&vault);
    watched(py, &None, |watch| efface::relocate(&vault, &destination, WAIT, watch))?;
    before.inspect(|before| resident::moved(before, &destination));
    Ok(())
}
