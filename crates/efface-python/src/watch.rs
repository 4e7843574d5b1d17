//! Runs long work without the interpreter's lock; Ctrl-C stops the work, and a callback receives its
//! progress.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use efface::{Code, Context, Error, Keyring, Kind, MemoryBudget, Progress, Result, RowStore};
use jiff::Timestamp;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::raised;
use crate::remote::Remote;
use crate::resident::{self, Shared, free};
use crate::{key, pool};

/// Interval at which signals are checked and progress is reported.
const TICK: Duration = Duration::from_millis(50);

/// Called with progress: `(phase, done, total, gradient_norm, goal)`.
pub(crate) type Callback = Option<Py<PyAny>>;

/// The location of a request's rows.
#[derive(Clone, Copy)]
pub(crate) enum Where<'a> {
    /// In the vault, or in memory if that was asked for.
    Vault,
    /// In the vault, with no more rows in memory at a time than this allows.
    Within(MemoryBudget),
    /// With the holders of parts.
    Parts(&'a Remote),
}

impl<'a> Where<'a> {
    /// Locates rows in these parts, or in the vault within a limit as people write it.
    pub(crate) fn of(parts: Option<&'a Remote>, memory: Option<&str>) -> PyResult<Self> {
        let memory = memory.map(MemoryBudget::parse).transpose().map_err(|error| raised(&error))?;
        match (parts, memory) {
            (None, None) => Ok(Self::Vault),
            (None, Some(memory)) => Ok(Self::Within(memory)),
            (Some(parts), None) => Ok(Self::Parts(parts)),
            (Some(_), Some(_)) => {
                let message = "`§memory` limits rows of a vault, and these are with Dask workers";
                Err(raised(&Error::refused(Code::Memory, message).hint("leave out `§memory`")))
            }
        }
    }
}

/// Serves a request of a vault whose key file is `key`.
///
/// # Errors
/// Fails as the engine does, or if a memory limit is given for rows that stay in memory.
pub(crate) fn serve<T: Send>(
    py: Python<'_>,
    vault: &Path,
    key: &Path,
    progress: &Callback,
    rows: Where<'_>,
    work: impl FnOnce(&mut Context<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    serve_with(py, &key::read(key)?, resident::of(vault), progress, rows, work)
}

/// Works as [`serve`], with keys that were read and the rows of the vault that stay in memory, if they do.
pub(crate) fn serve_with<T: Send>(
    py: Python<'_>,
    keyring: &Keyring,
    resident: Option<Shared>,
    progress: &Callback,
    rows: Where<'_>,
    work: impl FnOnce(&mut Context<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    let parts = match rows {
        Where::Parts(parts) => Some(parts),
        Where::Within(_) if resident.is_some() => {
            let message = "`§memory` reads rows anew for every pass, and `efface.resident` keeps those \
                           of this vault in memory";
            return Err(raised(&Error::refused(Code::Memory, message).hint("use one of them")));
        }
        Where::Vault | Where::Within(_) => None,
    };
    attended(py, progress, parts, |watch| {
        let held = resident.as_ref().and_then(|rows| free(rows));
        let here = held.as_deref().map_or(RowStore::Vault, RowStore::Resident);
        work(&mut Context {
            clock: &now,
            entropy: &mut |bytes| key::random(bytes),
            keyring,
            watch,
            wait: Duration::ZERO,
            rows: match rows {
                Where::Vault => here,
                Where::Within(memory) => RowStore::Within(memory),
                Where::Parts(parts) => RowStore::Parts(parts),
            },
        })
    })
}

/// Runs work on a thread of its own while this one, which alone hears signals, waits for it.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: &Callback,
    work: impl FnOnce(&mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<T> + Send,
) -> PyResult<T> {
    attended(py, progress, None, work)
}

/// Works as [`watched`], for work that waits for parts in Python: they are told to stop, too, and their
/// exceptions are raised again.
pub(crate) fn attended<T: Send>(
    py: Python<'_>,
    progress: &Callback,
    parts: Option<&Remote>,
    work: impl FnOnce(&mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<T> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let latest = Mutex::new(None);
    let mut tell = |progress: &Progress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let (result, stopped_by) = py.detach(|| {
        thread::scope(|scope| {
            let (working, ended) = channel::<()>();
            let worker = scope.spawn(|| {
                let _until_the_end = working;
                pool::within(|| work(&mut tell))
            });
            let mut stopped_by = None;
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let report = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
                let asked = Python::attach(|py| {
                    py.check_signals()?;
                    show(py, progress, report)
                });
                if let Err(error) = asked {
                    stop.store(true, Ordering::Relaxed);
                    parts.inspect(|parts| parts.stop());
                    stopped_by.get_or_insert(error);
                }
            }
            (worker.join(), stopped_by)
        })
    });
    let result = result.unwrap_or_else(|panic| resume_unwind(panic));
    let raised_there = parts.and_then(Remote::raised);
    match (result, stopped_by) {
        (Err(error), Some(cause))
            if error.kind() == Kind::Interrupted || raised_there.is_some() =>
        {
            Err(cause)
        }
        (Err(_), None) if let Some(error) = raised_there => Err(error),
        (result, cause) => {
            if let Some(cause) = cause {
                too_late(py, cause);
            }
            result.map_err(|error| raised(&error))
        }
    }
}

/// Handles work that had ended when it was asked to stop: its result stands, and the cause of the stop is not
/// lost.
fn too_late(py: Python<'_>, cause: PyErr) {
    let again = if cause.is_instance_of::<PyKeyboardInterrupt>(py) {
        py.import("_thread").and_then(|module| module.call_method0("interrupt_main")).map(drop)
    } else {
        Err(cause)
    };
    if let Err(error) = again {
        error.write_unraisable(py, None);
    }
}

fn show(py: Python<'_>, callback: &Callback, report: Option<Progress>) -> PyResult<()> {
    let (Some(callback), Some(report)) = (callback, report) else { return Ok(()) };
    type Told = (&'static str, u64, Option<u64>, Option<f64>, Option<f64>);
    let told: Told = match report {
        Progress::Reading { rows } => ("reading", rows, None, None, None),
        Progress::Learning { passes, total, gradient_norm, goal } => {
            ("learning", passes, total, Some(gradient_norm), goal)
        }
        Progress::Training { step, total } => ("training", step, Some(total), None, None),
        Progress::Waiting => ("waiting", 0, None, None, None),
        Progress::Changing { records } => ("changing", records, None, None, None),
        Progress::Copying => ("copying", 0, None, None, None),
        Progress::Storing => ("storing", 0, None, None, None),
    };
    callback.call1(py, told).map(drop)
}

/// Returns the current time: UTC, RFC 3339, whole seconds; the engine refuses any other form.
fn now() -> String {
    let now = Timestamp::try_from(SystemTime::now());
    now.and_then(|now| Timestamp::from_second(now.as_second()))
        .map_or_else(|error| error.to_string(), |now| now.to_string())
}
