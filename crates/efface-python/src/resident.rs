//! Rows that stay in memory between the requests of this process, as long as Python asks for it.

use std::collections::BTreeMap;
use std::fs::canonicalize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use efface::{Code, Error, Resident};
use pyo3::prelude::*;

use crate::error::raised;

/// Rows of a vault, which one request at a time uses.
pub(crate) type Shared = Arc<Mutex<Resident>>;

/// Whose rows stay, by the vaults' places.
static HELD: Mutex<BTreeMap<PathBuf, Weak<Mutex<Resident>>>> = Mutex::new(BTreeMap::new());

/// Keeps the rows of a vault in memory from its next request on, until it is closed; several that are for
/// the same vault share them.
#[pyclass(frozen)]
pub(crate) struct ResidentRows(Mutex<Option<Shared>>);

#[pymethods]
impl ResidentRows {
    #[new]
    fn new(vault: PathBuf) -> PyResult<Self> {
        let place = canonicalize(&vault).map_err(|error| {
            let message = format!("{} cannot be found: {error}", vault.display());
            raised(&Error::input(Code::NotFound, message))
        })?;
        let mut held = whole(&HELD);
        held.retain(|_, rows| rows.strong_count() > 0);
        let rows = held.get(&place).and_then(Weak::upgrade).unwrap_or_default();
        held.insert(place, Arc::downgrade(&rows));
        Ok(Self(Mutex::new(Some(rows))))
    }

    /// How many rows are in memory now; waits for a request that uses them.
    #[getter]
    fn rows(&self, py: Python<'_>) -> usize {
        self.asked(py, Resident::rows)
    }

    /// How often they were read from the vault.
    #[getter]
    fn readings(&self, py: Python<'_>) -> u64 {
        self.asked(py, Resident::readings)
    }

    /// Overwrites them, unless another keeps the same; no request is served from them after that.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(whole(&self.0).take()));
    }
}

impl ResidentRows {
    fn asked<T: Default + Send>(&self, py: Python<'_>, ask: fn(&Resident) -> T) -> T {
        py.detach(|| whole(&self.0).as_ref().map(|rows| ask(&whole(rows))).unwrap_or_default())
    }
}

/// Returns the rows of a vault that stay in memory, if they do.
pub(crate) fn of(vault: &Path) -> Option<Shared> {
    let place = canonicalize(vault).ok()?;
    whole(&HELD).get(&place).and_then(Weak::upgrade)
}

/// Notes that a vault has moved, with its rows; `before` as [`place`] gave it.
pub(crate) fn moved(before: &Path, after: &Path) {
    let mut held = whole(&HELD);
    if let (Some(rows), Ok(after)) = (held.remove(before), canonicalize(after)) {
        held.insert(after, rows);
    }
}

/// Returns the path by which a vault is known before it is moved.
pub(crate) fn place(vault: &Path) -> Option<PathBuf> {
    canonicalize(vault).ok()
}

/// Returns what is behind a lock that is free: another request of this process may hold it, or one of the
/// process that this one was forked from, whose rows must not be used here.
pub(crate) fn free(lock: &Mutex<Resident>) -> Option<MutexGuard<'_, Resident>> {
    match lock.try_lock() {
        Ok(rows) => Some(rows),
        Err(TryLockError::Poisoned(rows)) => Some(rows.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Returns what is behind a lock, even if a thread panicked while holding it: an unfinished request leaves
/// nothing that a later one would use.
pub(crate) fn whole<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
