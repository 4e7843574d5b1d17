//! What the faces pass in: clock, randomness, keys, where rows are held, and who watches.

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

    /// The time now.
    pub(crate) fn now(&self) -> String {
        (self.clock)()
    }

    /// Reports progress; an error if the watcher wants to stop.
    pub(crate) fn report(&mut self, progress: Progress) -> Result<()> {
        match (self.watch)(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::interrupted()),
        }
    }
}
