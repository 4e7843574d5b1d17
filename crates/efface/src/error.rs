//! The error type of the engine: a stable code, a message, a hint.

mod code;

use std::fmt;
use std::path::Path;

pub use code::Code;

/// The kind of failure, which decides the command line's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Understood and refused; nothing was changed (exit 1).
    Refused,
    /// Wrong usage or wrong input; nothing was changed (exit 2).
    Input,
    /// The disk or the vault failed; the vault is as it was (exit 2).
    Storage,
    /// Another program is using the vault; nothing was changed (exit 3).
    Busy,
    /// The work was interrupted; the vault is as it was (exit 2).
    Interrupted,
}

/// An error of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    code: Code,
    message: String,
    hint: Option<String>,
    names: Vec<String>,
}

impl Error {
    /// Returns a refusal: the request was understood and will not be served.
    #[must_use]
    pub fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::of(Kind::Refused, code, message.into())
    }

    /// Returns an error about wrong usage or input.
    #[must_use]
    pub fn input(code: Code, message: impl Into<String>) -> Self {
        Self::of(Kind::Input, code, message.into())
    }

    /// Returns an error about a failure of disk or vault.
    #[must_use]
    pub fn storage(code: Code, message: impl Into<String>) -> Self {
        Self::of(Kind::Storage, code, message.into())
    }

    /// Returns the error for a vault that another program is using.
    #[must_use]
    pub fn busy(message: impl Into<String>) -> Self {
        Self::of(Kind::Busy, Code::InUse, message.into()).hint("try again later")
    }

    /// Returns the error for an interruption by the user.
    #[must_use]
    pub fn interrupted() -> Self {
        let message = "interrupted; nothing was changed".into();
        Self::of(Kind::Interrupted, Code::Interrupted, message)
    }

    fn of(kind: Kind, code: Code, message: String) -> Self {
        Self { kind, code, message, hint: None, names: Vec::new() }
    }

    /// Adds what to do about the error.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds all the names that the error is about.
    #[must_use]
    pub fn about(mut self, names: Vec<String>) -> Self {
        self.names = names;
        self
    }

    /// Adds the vault's name and a hint to the error of a damaged vault, if it lacks them.
    #[must_use]
    pub(crate) fn of_vault(mut self, path: &Path) -> Self {
        if self.code != Code::Damaged {
            return self;
        }
        let name = path.display().to_string();
        if !self.message.contains(&name) {
            self.message = format!("{name}: {}", self.message);
        }
        self.hint.get_or_insert_with(|| CHANGED.to_owned());
        self
    }

    /// Returns the kind of failure.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the code for programs: what the error is about.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns what happened: the value and the rule it broke. Names of settings and commands are marked, so
    /// that a front end can write them in its own words ([`in_words`](crate::in_words)); `Display` writes
    /// them without the marks.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the message without marks.
    #[must_use]
    pub fn said(&self) -> String {
        unmarked(&self.message)
    }

    /// Returns all unknown ids or subjects in the order of the request; empty if the error is about something
    /// else. They are as private as the request.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns what to do, if anything can be done; names are marked as in the message.
    #[must_use]
    pub fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said())?;
        match &self.hint {
            Some(hint) => write!(f, "; {}", unmarked(hint)),
            None => Ok(()),
        }
    }
}

/// Returns a text with setting names as in the table of settings.
fn unmarked(text: &str) -> String {
    text.replace("`§", "`")
}

impl std::error::Error for Error {}

/// Result of the engine's operations.
pub type Result<T> = std::result::Result<T, Error>;

/// What may have happened to a vault that is not as it was left.
const CHANGED: &str = "either another program or the disk changed the file, or it was copied \
                       without its `-journal` after an interruption; `§efface doctor` says what, \
                       `§efface restore` puts a backup in its place, and `§efface delete \
                       --erase-only` still erases records";

impl From<efface_vault::OpenError> for Error {
    fn from(error: efface_vault::OpenError) -> Self {
        use efface_vault::{LockError, OpenError as E};
        let error = match error {
            E::Lock(LockError::InUse(_)) => return Self::busy(error.to_string()),
            E::Store(fault) => return fault.into(),
            error => error,
        };
        let code = match &error {
            E::NotFound(_) => Code::NotFound,
            E::Lock(_) => Code::Lock,
            E::NotAVault(_) => Code::NotAVault,
            E::Newer(_) => Code::Newer,
            E::Older(_) => Code::Older,
            E::ForeignJournal(_) => Code::ForeignJournal,
            E::DamagedJournal(_) => Code::Damaged,
            E::WithoutJournal(_) => Code::JournalMissing,
            E::SeveralNames(_) => Code::SeveralNames,
            _ => Code::Vault,
        };
        let older = matches!(error, E::Older(_));
        let error = Self::storage(code, error.to_string());
        let hint = "train a new model from the table with `§efface train`, or serve this one with the version \
                    that made it";
        if older { error.hint(hint) } else { error }
    }
}

impl From<efface_vault::UnlockError> for Error {
    fn from(error: efface_vault::UnlockError) -> Self {
        use efface_vault::UnlockError as E;
        match error {
            E::Read(error) => error.into(),
            other => Self::refused(Code::Key, other.to_string())
                .hint("give the right key with `§key`, or restore the key file from your copy"),
        }
    }
}

impl From<efface_vault::ReadError> for Error {
    fn from(error: efface_vault::ReadError) -> Self {
        match error {
            efface_vault::ReadError::Store(fault) => fault.into(),
            other => Self::storage(Code::Vault, other.to_string()),
        }
    }
}

impl From<efface_vault::StoreFault> for Error {
    fn from(fault: efface_vault::StoreFault) -> Self {
        use efface_vault::StoreFault as F;
        match fault {
            F::Busy => Self::busy(fault.to_string()),
            F::Rows(fault) => Self::storage(Code::Damaged, fault.to_string()).hint(CHANGED),
            F::Full => Self::storage(Code::Vault, fault.to_string()).hint(
                "free some disk space: training writes about as many bytes as its rows and model \
                 have; any other request writes at most as many as the vault has, plus what it \
                 adds",
            ),
            F::Damaged(_) => Self::storage(Code::Damaged, fault.to_string()).hint(CHANGED),
            other => Self::storage(Code::Vault, other.to_string()),
        }
    }
}

impl From<efface_vault::WriteError> for Error {
    fn from(error: efface_vault::WriteError) -> Self {
        use efface_vault::WriteError as E;
        let text = error.to_string();
        match error {
            E::DuplicateId(_) => Self::refused(Code::DuplicateId, text),
            E::RequestConflict(_) => Self::input(Code::RequestConflict, text)
                .hint("use a new request id for a new request"),
            E::Stopped => Self::interrupted(),
            E::Store(fault) => fault.into(),
            E::Displaced(_) => Self::storage(Code::Vault, text)
                .hint("ask again, of the file that is there now and of any other copy"),
            _ => Self::storage(Code::Vault, text),
        }
    }
}

impl From<efface_vault::CreateError> for Error {
    fn from(error: efface_vault::CreateError) -> Self {
        use efface_vault::{CreateError as E, LockError};
        let text = error.to_string();
        match error {
            E::AlreadyExists(_) => {
                Self::storage(Code::Exists, text).hint("give another name, or remove it yourself")
            }
            E::Reserved(_) => Self::input(Code::Unwritable, text),
            E::Lock(LockError::InUse(_)) => Self::busy(text),
            E::Write(error) => error.into(),
            E::Open(error) => error.into(),
            _ => Self::storage(Code::Vault, text),
        }
    }
}

impl From<efface_formats::FitFault> for Error {
    fn from(error: efface_formats::FitFault) -> Self {
        match error {
            // Rows are checked before they are stored.
            efface_formats::FitFault::Row { .. } => damaged(error),
            _ => Self::refused(Code::Preprocessing, error.to_string()),
        }
    }
}

/// Fails with these words if something does not hold.
pub(crate) fn ensure(holds: bool, otherwise: &str) -> std::result::Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// Returns the error for stored data that cannot be valid.
pub(crate) fn damaged(error: impl std::fmt::Display) -> Error {
    Error::storage(Code::Damaged, format!("the vault holds a row that cannot be read: {error}"))
}

/// An error while scanning, from the engine or the vault.
pub(crate) struct Stopped(pub(crate) Error);

impl From<efface_vault::ReadError> for Stopped {
    fn from(error: efface_vault::ReadError) -> Self {
        Self(error.into())
    }
}
