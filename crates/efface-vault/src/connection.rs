//! Connections of SQLite to a vault's file, and the name of its journal.

use crate::OpenError;
use crate::lock::beside;
use crate::stored::MOST_VALUE;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a call waits for readers, or a reader for a commit, before it reports that the vault is
/// busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Opens the file with SQLite. `path` is absolute, so it is never taken for a URI.
pub(crate) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, OpenError> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_VALUE)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Returns the rollback journal of a vault.
pub(crate) fn journal_of(path: &Path) -> PathBuf {
    beside(path, "-journal")
}
