//! How a command comes out.

use std::io;
use std::path::Path;

use efface::{Code, Error, Kind};

/// How a command that ran to its end came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is done, or all holds: exit 0.
    Done,
    /// Something does not hold: exit 1.
    DoesNotHold,
    /// It cannot be told: exit 2.
    Undecided,
}

/// Why a command did not run to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error to be shown.
    Error(Error),
    /// Whoever read the output has gone: nothing to say, and no error.
    BrokenPipe,
}

/// Result of commands and of what they are made of.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    /// Standard output could not be written.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::Error(Error::storage(Code::Output, format!("cannot write standard output: {error}")))
    }

    /// The same failure of showing a result, when the request itself has been served.
    pub(crate) fn though_served(self, vault: &Path) -> Self {
        match self {
            Self::Error(error) => {
                let message = format!("the request is served, but {}", error.message());
                let kept = match error.kind() {
                    Kind::Refused => Error::refused(error.code(), message),
                    Kind::Input => Error::input(error.code(), message),
                    Kind::Storage | Kind::Busy | Kind::Interrupted => {
                        Error::storage(error.code(), message)
                    }
                };
                Self::Error(kept.hint(format!(
                    "get its certificate with `efface certificate export {}`",
                    vault.display()
                )))
            }
            Self::BrokenPipe => Self::BrokenPipe,
        }
    }
}

/// A file could not be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Error::input(Code::Unreadable, format!("cannot read `{}`: {error}", path.display())).into()
}
