//! What can go wrong below a read or a write, in words a caller can act on.

use crate::lock::LockError;
use crate::stored::{MOST_VALUE, RecordId};
use rusqlite::ErrorCode;
use std::io;
use std::path::Path;

/// Extended result code of SQLite: a journal waits to be rolled back, but this handle is read-only.
const READONLY_ROLLBACK: i32 = rusqlite::ffi::SQLITE_READONLY_ROLLBACK;

/// A failure of the store itself, independent of the operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// Another connection (a reader in the middle of a scan, a database shell) holds the file.
    #[error("vault is busy: another program is reading or changing it; try again")]
    Busy,
    /// The disk, the quota or the size limit of the vault is exhausted; nothing was changed.
    #[error("no space left for the vault; nothing was changed")]
    Full,
    /// The file or its folder cannot be written.
    #[error("vault cannot be written: the file or its folder is read-only")]
    ReadOnly,
    /// A writer was interrupted; the next opening for writing restores the state before it.
    #[error("vault was interrupted in the middle of a change; open it once for writing to recover")]
    NeedsRecovery,
    /// The content contradicts the format.
    #[error("vault is damaged: {0}")]
    Damaged(String),
    /// The operating system refused a read, a write or a lock.
    #[error("reading or writing the vault failed: {0}")]
    Io(String),
    /// What is stored is not what the last request left.
    #[error(transparent)]
    Rows(#[from] RowFault),
    /// Any other error of SQLite.
    #[error("store failed: {0}")]
    Other(String),
}

impl From<rusqlite::Error> for StoreFault {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as E;
        match &error {
            E::SqliteFailure(code, _) => match code.code {
                _ if code.extended_code == READONLY_ROLLBACK => Self::NeedsRecovery,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
                ErrorCode::DiskFull => Self::Full,
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Self::ReadOnly,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                    Self::Damaged(error.to_string())
                }
                ErrorCode::TooBig => {
                    Self::Damaged(format!("a value has more than {MOST_VALUE} bytes"))
                }
                ErrorCode::SystemIoFailure | ErrorCode::CannotOpen => Self::Io(error.to_string()),
                _ => Self::Other(error.to_string()),
            },
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::QueryReturnedNoRows
            | E::Utf8Error(..) => Self::Damaged(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}

impl From<io::Error> for StoreFault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Io(error.to_string()),
        }
    }
}

/// What shows that a vault is not as its last request left it: another program or a disk changed it, or the
/// file was copied in the middle of a change and without its journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// The number of rows differs.
    #[error(
        "the vault's rows are not those of its last request: {certified} rows certified, {present} present"
    )]
    Count {
        /// Number of rows that the last request left.
        certified: u64,
        /// Number of rows in the file.
        present: u64,
    },
    /// A checksum that these rows share fails.
    #[error(
        "rows {first} to {last} of the vault, or one of them, were changed after they were stored: \
         their checksum is another"
    )]
    Rows {
        /// The number of the first.
        first: RecordId,
        /// The number of the last.
        last: RecordId,
    },
    /// As many rows, but not the same.
    #[error(
        "the vault's rows are not those of its last request: there are {records} as certified, but \
         one was put in the place of another"
    )]
    Sum {
        /// Number of records involved.
        records: u64,
    },
    /// Features that belong to no row.
    #[error("the vault has features of rows that no block has: another program put them there")]
    Loose,
    /// An index and its table say different things.
    #[error(
        "the vault's index is damaged: it does not lead to all the rows of the names given, or \
         leads to others; nothing was changed"
    )]
    Index,
    /// The count itself, or what it is bound to.
    #[error(
        "the vault's count of its rows does not fit its model, its ledger and its kept state: it \
         was changed, or only a part of the last request was written"
    )]
    Tally,
    /// A request or the keyed hash of a deleted id.
    #[error(
        "the vault's requests or its hashes of deleted ids were changed after they were stored"
    )]
    Notes,
    /// The state kept next to the model.
    #[error("the vault's kept state was changed after it was stored: its digest is another")]
    Kept,
}

/// Why a read failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The vault must be unlocked first.
    #[error("the vault's checksums can only be checked with its keys")]
    Locked,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Why a write failed. The transaction it belongs to can then only be dropped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A record with this public id is already in the vault.
    #[error("`id` must be new, but \"{0}\" is already in the vault")]
    DuplicateId(String),
    /// This request id was used before.
    #[error("request id \"{0}\" was already used")]
    RequestConflict(String),
    /// The caller no longer wanted the change.
    #[error("the change was cancelled before its commit; nothing was changed")]
    Stopped,
    /// The file was moved, replaced or written over while it was open.
    #[error("{0}")]
    Displaced(String),
    /// A value, a record, the keys or the state of the transaction do not allow it; or a journal
    /// could not be overwritten.
    #[error("{0}")]
    Refused(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
}

impl WriteError {
    /// Builds the error for a vault that was opened for reading.
    pub fn opened_for_reading() -> Self {
        Self::Refused("vault was opened for reading only".into())
    }

    /// Builds the error for a vault that must be unlocked first.
    pub(crate) fn locked() -> Self {
        Self::Refused("the vault can only be changed with its keys".into())
    }

    /// Builds the error for a record to delete that is not (or no longer) in the vault.
    pub(crate) fn unknown_record(record: RecordId) -> Self {
        Self::Refused(format!("`record` must be in the vault, but {record} is not"))
    }

    /// Builds the error for a number that does not fit the 63 bits of the store.
    pub(crate) fn out_of_range(name: &str, value: u64) -> Self {
        Self::Refused(format!("`{name}` must be below 2^63, got {value}"))
    }

    /// Builds the error for a file that was moved or replaced while it was open; `durable` says whether the
    /// change was made, in the file that was there. `journal` could not be overwritten.
    pub(crate) fn moved(path: &Path, durable: bool, journal: Option<&Path>) -> Self {
        let outcome = if durable {
            "the change is in the file that was there"
        } else {
            "nothing was changed"
        };
        Self::Displaced(format!(
            "the vault that was opened is no longer at `{}`: it was moved, or another file was put in \
             its place; {outcome}{}",
            path.display(),
            left_over(journal)
        ))
    }

    /// Builds the error for a file whose bytes another program overwrote during the change. `journal` could
    /// not be overwritten.
    pub(crate) fn overwritten(path: &Path, journal: Option<&Path>) -> Self {
        Self::Displaced(format!(
            "another program wrote over the vault at `{}` while it was changed: what is there now is \
             what it wrote, or damaged, and is not known to have forgotten anything{}",
            path.display(),
            left_over(journal)
        ))
    }
}

fn left_over(journal: Option<&Path>) -> String {
    journal.map_or_else(String::new, |journal| {
        let name = journal.display();
        format!("; `{name}`, which holds what was replaced, could not be overwritten")
    })
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::TooBig) => Self::Refused(format!(
                "a value in the vault has at most {MOST_VALUE} bytes, and one of these has more"
            )),
            _ => Self::Store(error.into()),
        }
    }
}

impl From<ReadError> for WriteError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Locked => Self::locked(),
            ReadError::Store(fault) => Self::Store(fault),
        }
    }
}

/// Why a vault could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing is there, or only what was to become a vault of this name.
    #[error("{0}")]
    NotFound(String),
    /// A folder, a device, or a file that is no vault.
    #[error("{0}")]
    NotAVault(String),
    /// The vault was written by a newer version of this program.
    #[error("{0}")]
    Newer(String),
    /// The vault was written by an earlier development version of this program.
    #[error("{0}")]
    Older(String),
    /// The file has several names, and the journal of an interrupted change only one.
    #[error("{0}")]
    SeveralNames(String),
    /// The journal next to the file does not fit it: the file was replaced after a crash.
    #[error("{0}")]
    ForeignJournal(String),
    /// The file is in the middle of a change, and what undoes the change is not as it was written.
    #[error("{0}")]
    DamagedJournal(String),
    /// The file is in the middle of a change, and what undoes the change is missing.
    #[error("{0}")]
    WithoutJournal(String),
    /// The operating system does not let the file be read or written.
    #[error("{0}")]
    Refused(String),
    /// Another writer has the vault, or its lock file cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
}

impl OpenError {
    pub(crate) fn not_found(path: &Path) -> Self {
        Self::NotFound(format!("{} does not exist", path.display()))
    }

    pub(crate) fn not_a_vault(path: &Path, reason: &str) -> Self {
        Self::NotAVault(format!("{} is not a vault: {reason}", path.display()))
    }

    pub(crate) fn foreign_journal(vault: &Path, journal: &Path) -> Self {
        Self::ForeignJournal(format!(
            "{} is not the journal of {}: the vault was replaced after a request was interrupted; to \
             keep the vault that is here now, remove the journal (it holds rows of the other one); to \
             have the interrupted one, put it back first",
            journal.display(),
            vault.display()
        ))
    }

    /// Builds the error for a refusal of the operating system to examine the file.
    pub(crate) fn io(path: &Path, source: &io::Error) -> Self {
        Self::Refused(format!("{} cannot be opened: {source}", path.display()))
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Returns whether a statement failed because a value must be unique and is not.
pub(crate) fn is_duplicate(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(code, _)
        if code.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
            || code.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}
