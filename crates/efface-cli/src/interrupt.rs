//! Ctrl-C and termination: the first asks the work to stop, the second ends the process.
//!
//! Either is safe for the vault: a request is one transaction, and what was not committed never
//! happened.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use efface::{Code, Error};

use crate::failure::Result;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first signal is noted instead of ending the process. Where the caller ignores
/// signals, as scripts do for what they start in the background, they stay ignored.
pub(crate) fn listen() -> Result<()> {
    let noted = ctrlc::try_set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            process::exit(2);
        }
    });
    match noted {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => {
            Err(Error::storage(Code::Signals, format!("cannot listen for Ctrl-C: {error}")).into())
        }
    }
}

/// Whether the work was asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
