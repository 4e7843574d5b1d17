//! What the faces pass in: clock, randomness, keys, where rows are held, and who watches.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::time::Duration;

use efface_vault::Keyring;

use crate::error::{Code, Error, Result};
use crate::rows::RowStore;

/// Clock, randomness, keys, row store and watcher of one operation.
pub struct Context<'a> {
    /// The time now, UTC, RFC 3339 with seconds.
    pub clock: &'a dyn Fn() -> String,
    /// Fills a buffer with randomness of the operating system.
    pub entropy: &'a mut dyn FnMut(&mut [u8]) -> std::result::Result<(), String>,
    /// Signing key and the secret of tombstones.
    pub keyring: &'a Keyring,
    /// Told about progress; may stop the work.
    pub watch: &'a mut Watch<'a>,
    /// How long to wait for a vault that another program has.
    pub wait: Duration,
    /// Where the rows of the model are.
    pub rows: RowStore<'a>,
}

/// Told about progress; may stop the work.
pub type Watch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// How far long work has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// Rows read so far.
    Reading {
        /// Rows.
        rows: u64,
    },
    /// Passes over the data so far.
    Learning {
        /// Gradient passes done.
        passes: u64,
        /// Passes in all, where known beforehand.
        total: Option<u64>,
        /// Norm of the gradient, in units of the objective.
        gradient_norm: f64,
        /// Norm at which the work ends, where it ends so.
        goal: Option<f64>,
    },
    /// Steps of a network's training so far.
    Training {
        /// Steps done.
        step: u64,
        /// Steps in all.
        total: u64,
    },
    /// Another program has the vault.
    Waiting,
    /// Records named by a request found, taken out or marked so far.
    Changing {
        /// Records.
        records: u64,
    },
    /// Pages of a vault copied.
    Copying,
    /// Writing the result.
    Storing,
}

impl Context<'_> {
    /// N random bytes.
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

    /// The time now, which documents have room for in the years 0 to 9999.
    pub(crate) fn now(&self) -> Result<String> {
        let now = (self.clock)();
        let form = now.len() == 20 && now.bytes().take(4).all(|byte| byte.is_ascii_digit());
        form.then_some(now.clone()).ok_or_else(|| {
            let message = format!("the system clock must be in the years 0 to 9999, got `{now}`");
            Error::storage(Code::Clock, message).hint("set the clock, and repeat the request")
        })
    }

    /// Reports progress; an error if the watcher wants to stop.
    pub(crate) fn report(&mut self, progress: Progress) -> Result<()> {
        match (self.watch)(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::interrupted()),
        }
    }
}

/// A watcher that is told of learning and, between two reports of that, asked by what reads rows for it.
pub(crate) struct Watched<'a> {
    watch: RefCell<&'a mut Watch<'a>>,
    /// What was told of learning last.
    learning: Cell<Option<Progress>>,
}

impl<'a> Watched<'a> {
    pub(crate) fn by(watch: &'a mut Watch<'a>) -> Self {
        Self { watch: RefCell::new(watch), learning: Cell::new(None) }
    }

    /// Tells how far learning has come.
    pub(crate) fn tell(&self, progress: &Progress) -> ControlFlow<()> {
        self.learning.set(Some(*progress));
        self.ask(progress)
    }

    /// Asks whether to go on reading; who watches is told of the rows until something is learnt from them,
    /// and then once more how far that has come.
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
