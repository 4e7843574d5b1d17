//! What callers pass to an operation: clock, randomness, keys, row store, and a watcher.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::time::Duration;

use efface_vault::Keyring;

use crate::error::{Code, Error, Result};
use crate::rows::RowStore;

/// Clock, randomness, keys, row store and watcher of one operation.
pub struct Context<'a> {
    /// Returns the current time: UTC, RFC 3339 with seconds.
    pub clock: &'a dyn Fn() -> String,
    /// Fills a buffer with randomness from the operating system.
    pub entropy: &'a mut dyn FnMut(&mut [u8]) -> std::result::Result<(), String>,
    /// Signing key, and the secret behind tombstones.
    pub keyring: &'a Keyring,
    /// Receives progress; may stop the work.
    pub watch: &'a mut Watch<'a>,
    /// How long to wait for a vault that another program is using.
    pub wait: Duration,
    /// Where the rows of the model are.
    pub rows: RowStore<'a>,
}

/// Called with progress now and then; `Break` stops the work.
pub type Watch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// How far the work has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// Reading rows: how many so far.
    Reading {
        /// Number of rows read.
        rows: u64,
    },
    /// Learning by passes over the data.
    Learning {
        /// Number of gradient passes done.
        passes: u64,
        /// Number of passes in all, if known beforehand.
        total: Option<u64>,
        /// Norm of the gradient, in units of the objective.
        gradient_norm: f64,
        /// Norm at which the work ends, if it ends at one.
        goal: Option<f64>,
    },
    /// Training a network, step by step.
    Training {
        /// Number of steps done.
        step: u64,
        /// Number of steps in all.
        total: u64,
    },
    /// Waiting while another program uses the vault.
    Waiting,
    /// Finding, removing or marking the records that a request names.
    Changing {
        /// Number of records processed.
        records: u64,
    },
    /// Copying the pages of a vault.
    Copying,
    /// Writing the result to disk.
    Storing,
}

impl Context<'_> {
    /// Returns N random bytes.
    pub(crate) fn random<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0u8; N];
        (self.entropy)(&mut bytes).map_err(|error| {
            Error::storage(
                Code::Randomness,
                format!("the operating system gave no randomness: {error}"),
            )
        })?;
        Ok(bytes)
    }

    /// Returns the current time, which must be in the years 0 to 9999 for documents to hold it.
    pub(crate) fn now(&self) -> Result<String> {
        let now = (self.clock)();
        let form = now.len() == 20 && now.bytes().take(4).all(|byte| byte.is_ascii_digit());
        form.then_some(now.clone()).ok_or_else(|| {
            let message = format!("the system clock must be in the years 0 to 9999, got `{now}`");
            Error::storage(Code::Clock, message).hint("set the clock, and repeat the request")
        })
    }

    /// Reports progress; returns an error if the watcher wants to stop.
    pub(crate) fn report(&mut self, progress: Progress) -> Result<()> {
        match (self.watch)(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::interrupted()),
        }
    }
}

/// A watcher that receives the progress of learning and, between two such reports, is asked by the reader of
/// rows whether to continue.
pub(crate) struct Watched<'a> {
    watch: RefCell<&'a mut Watch<'a>>,
    /// The last report on learning.
    learning: Cell<Option<Progress>>,
}

impl<'a> Watched<'a> {
    pub(crate) fn by(watch: &'a mut Watch<'a>) -> Self {
        Self { watch: RefCell::new(watch), learning: Cell::new(None) }
    }

    /// Reports how far learning has come.
    pub(crate) fn tell(&self, progress: &Progress) -> ControlFlow<()> {
        self.learning.set(Some(*progress));
        self.ask(progress)
    }

    /// Asks whether to continue reading. The watcher sees rows read until learning has begun, then the last
    /// report on learning again.
    pub(crate) fn read(&self, rows: u64) -> ControlFlow<()> {
        self.ask(&self.learning.get().unwrap_or(Progress::Reading { rows }))
    }

    fn ask(&self, progress: &Progress) -> ControlFlow<()> {
        (self.watch.borrow_mut())(progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_of_until_something_is_learnt() {
        let told = RefCell::new(Vec::new());
        let mut watch = |progress: &Progress| {
            told.borrow_mut().push(*progress);
            match progress {
                Progress::Reading { rows: 9 } => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let watched = Watched::by(&mut watch);
        let step = Progress::Training { step: 1, total: 9 };
        assert!(watched.read(7).is_continue() && watched.read(9).is_break());
        assert!(watched.tell(&step).is_continue() && watched.read(9).is_continue());
        let read = |rows: u64| Progress::Reading { rows };
        assert_eq!(told.into_inner(), [read(7), read(9), step, step]);
    }
}
