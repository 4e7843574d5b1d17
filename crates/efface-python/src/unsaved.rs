//! Models that are in no vault: records and keys are in the memory of this process.

use std::path::PathBuf;
use std::sync::Mutex;

use efface::Settings;
use pyo3::prelude::*;

use crate::error::parsed;
use crate::key::NewKeys;
use crate::requests::{Answer, told};
use crate::resident::whole;
use crate::table::Table;
use crate::watch::{Callback, Where, serve_with, watched};

/// A model that was trained with keys of its own, and has no vault until it is saved.
#[pyclass(frozen, module = "efface._engine")]
pub(crate) struct Unsaved {
    model: Mutex<efface::Unsaved>,
    keys: NewKeys,
}

#[pymethods]
impl Unsaved {
    /// What was served, as of a training with a vault.
    #[getter]
    fn answer<'py>(&self, py: Python<'py>) -> PyResult<Answer<'py>> {
        told(py, whole(&self.model).served())
    }

    /// Whether it is in a vault, and its records here no more: also where an interrupt came after that.
    #[getter]
    fn saved(&self) -> bool {
        whole(&self.model).is_saved()
    }

    /// Writes the key file, which may not be there: before the vault, which is useless without.
    fn write_key(&self, key: PathBuf) -> PyResult<()> {
        self.keys.write(&key).map(drop)
    }

    /// Makes the vault, which may not be there and is not after a failure.
    fn save(&self, py: Python<'_>, vault: PathBuf) -> PyResult<()> {
        let keyring = self.keys.keyring();
        watched(py, &None, |_| whole(&self.model).save(&vault, &keyring)).map(drop)
    }
}

/// Trains a model with keys of its own and leaves it in memory; `settings` is JSON of the engine's
/// settings.
#[pyfunction]
#[pyo3(signature = (table, settings, *, start=None, progress=None))]
pub(crate) fn train_unsaved(
    py: Python<'_>,
    table: &Table,
    settings: &str,
    start: Option<Vec<u8>>,
    progress: Callback,
) -> PyResult<Unsaved> {
    let settings = Settings { start, ..parsed("settings", settings)? };
    let keys = NewKeys::make()?;
    let model = table.lend(py, |source| {
        serve_with(py, &keys.keyring(), None, &progress, Where::Vault, |around| {
            efface::train_unsaved(source, settings, around)
        })
    })?;
    Ok(Unsaved { model: Mutex::new(model), keys })
}
