//! Threads for the kernels, even in a process that was forked after they had been started.
//!
//! A fork copies memory but no threads: in the child, the pool of the parent would wait for ever.

use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use efface::{Code, Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process whose threads the default pool has.
static HOME: OnceLock<u32> = OnceLock::new();

/// The pool of a forked process, and which.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs work whose parallel parts need threads.
pub(crate) fn within<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let here = process::id();
    if *HOME.get_or_init(process::id) == here {
        return work();
    }
    forked(here)?.install(work)
}

fn forked(here: u32) -> Result<Arc<ThreadPool>> {
    let mut held = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*held {
        Some((process, pool)) if *process == here => Ok(pool.clone()),
        _ => {
            let pool = ThreadPoolBuilder::new()
                .build()
                .map_err(|error| Error::storage(Code::Threads, error.to_string()))?;
            let pool = Arc::new(pool);
            // A pool from before another fork has no threads to end.
            std::mem::forget(held.replace((here, pool.clone())));
            Ok(pool)
        }
    }
}
