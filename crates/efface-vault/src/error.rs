//! What can go wrong below a read or a write, in words a caller can act on.

use crate::lock::LockError;
use crate::stored::{MOST_BYTES, MOST_VALUE, RecordId};
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Extended result code of SQLite: a journal waits to be rolled back, but this handle is read-only.
const READONLY_ROLLBACK: i32 = rusqlite::ffi::SQLITE_READONLY_ROLLBACK;

/// A failure of the store itself, whatever was asked of it.
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
    /// Anything else SQLite reports.
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

/// What shows that a vault is not as its last request left it: another program changed it, a disk
/// did, or the file was copied in the middle of a change and without its journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// More rows, or fewer.
    #[error(
        "the vault's rows are not those of its last request: {certified} rows certified, {present} present"
    )]
    Count {
        /// Rows that the last request left.
        certified: u64,
        /// Rows in the file.
        present: u64,
    },
    /// Rows that share a checksum.
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
        /// How many there are.
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
    /// What is kept beside the model.
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
    #[error("`id` must be new, but \"{id}\" is already in the vault")]
    DuplicateId {
        /// The id given.
        id: String,
    },
    /// A target was NaN or infinite.
    #[error("`target` must be finite, got {target}")]
    TargetNotFinite {
        /// The value given.
        target: f64,
    },
    /// A record to delete is not (or no longer) in the vault.
    #[error("`record` must be in the vault, but {record} is not")]
    UnknownRecord {
        /// The record named.
        record: RecordId,
    },
    /// A value is longer than may be read.
    #[error("a value in the vault has at most {MOST_VALUE} bytes, and one of these has more")]
    TooLong,
    /// An entry of the ledger is longer than may be read.
    #[error("an entry of the ledger has at most {MOST_BYTES} bytes, got {bytes}")]
    EntryTooLong {
        /// Bytes of the entry given.
        bytes: usize,
    },
    /// A number does not fit the 63 bits of the store.
    #[error("`{name}` must be below 2^63, got {value}")]
    OutOfRange {
        /// Which argument.
        name: &'static str,
        /// The value given.
        value: u64,
    },
    /// The request id was used before.
    #[error("request id \"{request_id}\" was already used")]
    RequestConflict {
        /// The request id given.
        request_id: String,
    },
    /// The vault must be unlocked first.
    #[error("the vault can only be changed with its keys")]
    Locked,
    /// The vault was opened for reading.
    #[error("vault was opened for reading only")]
    OpenedForReading,
    /// The caller no longer wanted the change.
    #[error("the change was cancelled before its commit; nothing was changed")]
    Stopped,
    /// The change is made and durable, but its journal could not be overwritten.
    #[error(
        "the change is made and durable, but `{}`, which holds what it replaced, could not be \
         overwritten: {fault}; the next opening for writing does it", journal.display()
    )]
    JournalLeft {
        /// The journal.
        journal: PathBuf,
        /// What was in the way.
        fault: StoreFault,
    },
    /// The file was moved or replaced while it was open.
    #[error(
        "the vault that was opened is no longer at `{}`: it was moved, or another file was put in its \
         place; {}{}", path.display(), if *durable { "the change is in the file that was there" } else { "nothing was changed" },
        left_over(journal.as_deref())
    )]
    Moved {
        /// Where it was.
        path: PathBuf,
        /// Whether the change was made, in the file that was there.
        durable: bool,
        /// Its journal, where what it replaced could not be overwritten.
        journal: Option<PathBuf>,
    },
    /// Another program wrote over the file's bytes during the change.
    #[error(
        "another program wrote over the vault at `{}` while it was changed: what is there now is what it \
         wrote, or damaged, and is not known to have forgotten anything{}", path.display(),
        left_over(journal.as_deref())
    )]
    Overwritten {
        /// The vault.
        path: PathBuf,
        /// Its journal, where what it replaced could not be overwritten.
        journal: Option<PathBuf>,
    },
    /// An earlier write of the same transaction failed.
    #[error("transaction was rolled back because an earlier step of it failed")]
    GivenUp,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
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
            Some(ErrorCode::TooBig) => Self::TooLong,
            _ => Self::Store(error.into()),
        }
    }
}

impl From<ReadError> for WriteError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Locked => Self::Locked,
            ReadError::Store(fault) => Self::Store(fault),
        }
    }
}

/// Why a vault could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing is there.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The path given.
        path: PathBuf,
    },
    /// Nothing is there but what was to become a vault of this name.
    #[error(
        "{} does not exist; `{}` beside it is of a training, a copy or a move of this name (`save` in \
         Python) that still runs or was interrupted, and may hold records: wait, or, where none runs, \
         make the vault again under this name, which overwrites it, or remove it", path.display(), partial.display()
    )]
    Unfinished {
        /// The path given.
        path: PathBuf,
        /// What is there.
        partial: PathBuf,
    },
    /// A folder, a device or the like is there.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// The path given.
        path: PathBuf,
    },
    /// The file is not a vault.
    #[error("{} is not a vault: {reason}", path.display())]
    NotAVault {
        /// The path given.
        path: PathBuf,
        /// What shows it.
        reason: String,
    },
    /// The vault was written by a newer version of this program.
    #[error("{} has format {found}; this program reads formats up to {supported}", path.display())]
    Newer {
        /// The path given.
        path: PathBuf,
        /// Format of the file.
        found: i32,
        /// Newest format known here.
        supported: i32,
    },
    /// The vault was written by an earlier development version of this program.
    #[error(
        "{} has format {found}, made by an earlier development version of efface; this version \
         reads only format {supported}",
        path.display()
    )]
    Older {
        /// The path given.
        path: PathBuf,
        /// Format of the file.
        found: i32,
        /// The format known here.
        supported: i32,
    },
    /// The file has several names, and the journal of an interrupted change only one.
    #[error(
        "{} has {names} names (hard links), and a change interrupted under one of them could not \
         be undone under another; keep one name and remove the others", path.display()
    )]
    SeveralNames {
        /// The path given.
        path: PathBuf,
        /// How many.
        names: u64,
    },
    /// The journal beside the file does not fit it: the file was replaced after a crash.
    #[error(
        "{} is not the journal of {}: the vault was replaced after a request was interrupted; to \
         keep the vault that is here now, remove the journal (it holds rows of the other one); to \
         have the interrupted one, put it back first",
        journal.display(), path.display()
    )]
    ForeignJournal {
        /// The vault.
        path: PathBuf,
        /// The journal.
        journal: PathBuf,
    },
    /// The file is in the middle of a change, and what undoes the change is not as it was written.
    #[error(
        "{} does not undo the request in which {} was interrupted: it is damaged, or that of another \
         vault, and was not played back; remove both files and put a backup in their place with \
         `§efface restore`", journal.display(), path.display()
    )]
    DamagedJournal {
        /// The vault.
        path: PathBuf,
        /// The journal.
        journal: PathBuf,
    },
    /// The file is in the middle of a change, and what undoes the change is missing.
    #[error(
        "{} was copied or moved in the middle of a request, without its journal; bring `{}` here \
         from where the vault was, or put a backup in its place with `§efface restore`", path.display(), journal.display()
    )]
    WithoutJournal {
        /// The vault.
        path: PathBuf,
        /// What is missing.
        journal: PathBuf,
    },
    /// The file is not writable; reading it may still be possible.
    #[error("{} cannot be written; it can only be opened for reading", path.display())]
    NotWritable {
        /// The path given.
        path: PathBuf,
    },
    /// Another writer has the vault, or its lock file cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// The operating system refused to look at the file.
    #[error("{} cannot be opened: {source}", path.display())]
    Io {
        /// The path given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Whether a statement failed because a value must be unique and is not.
pub(crate) fn is_duplicate(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(code, _)
        if code.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
            || code.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}
