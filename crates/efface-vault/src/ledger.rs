//! The ledger: append-only, in order, kept for ever. The engine chains and signs the entries.

use crate::column::{at_most_one, text, unsigned};
use crate::{ReadError, Transaction, Vault, WriteError};

/// One entry of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerEntry<'a> {
    /// Position, counted from 0 without gaps.
    pub index: u64,
    /// What it is (such as `certificate` or `export`), in the engine's words.
    pub kind: &'a str,
    /// The entry itself, as JSON text, exactly as it was given.
    pub json: &'a str,
    /// Its hash in the chain.
    pub hash: [u8; 32],
}

/// The last entry's place and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerHead {
    /// Position of the last entry.
    pub index: u64,
    /// Its hash.
    pub hash: [u8; 32],
}

impl Vault {
    /// The last entry's place and hash; `None` for an empty ledger.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn head(&self) -> Result<Option<LedgerHead>, ReadError> {
        let sql = "SELECT entry, hash FROM ledger ORDER BY entry DESC LIMIT 1";
        at_most_one(&self.connection, sql, [], |row| {
            Ok(LedgerHead { index: unsigned(row, 0)?, hash: row.get(1)? })
        })
    }

    /// Shows the entry at `index` to `read` and returns what it makes of it; `None` if the ledger
    /// is shorter.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn ledger_entry<T>(
        &self,
        index: u64,
        read: impl FnOnce(LedgerEntry<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        let Ok(index) = i64::try_from(index) else { return Ok(None) };
        let sql = "SELECT entry, kind, body, hash FROM ledger WHERE entry = ?1";
        at_most_one(&self.connection, sql, [index], |row| Ok(read(entry(row)?)))
    }

    /// Visits the entries in order, from index `from` on. An error of the visitor stops the scan
    /// and is returned.
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it.
    pub fn scan_ledger<E: From<ReadError>>(
        &self,
        from: u64,
        mut visit: impl FnMut(LedgerEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Ok(from) = i64::try_from(from) else { return Ok(()) };
        let sql = "SELECT entry, kind, body, hash FROM ledger WHERE entry >= ?1 ORDER BY entry";
        let mut statement = self.connection.prepare_cached(sql).map_err(ReadError::from)?;
        let mut rows = statement.query([from]).map_err(ReadError::from)?;
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            visit(entry(row).map_err(ReadError::from)?)?;
        }
        Ok(())
    }
}

impl Transaction<'_> {
    /// Appends an entry and returns its index. Entries are never changed or removed, so they must
    /// not contain a public id, a subject or features.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn append_ledger(
        &mut self,
        kind: &str,
        json: &str,
        hash: &[u8; 32],
    ) -> Result<u64, WriteError> {
        self.touch()?;
        let index = self.head()?.map_or(0, |head| head.index + 1);
        let sql = "INSERT INTO ledger (entry, kind, hash, body) VALUES (?1, ?2, ?3, ?4)";
        let entry = self.number("index", index)?;
        self.execute(sql, (entry, kind, hash, json))?;
        Ok(index)
    }
}

fn entry<'r>(row: &'r rusqlite::Row<'_>) -> rusqlite::Result<LedgerEntry<'r>> {
    Ok(LedgerEntry {
        index: unsigned(row, 0)?,
        kind: text(row, 1)?,
        json: text(row, 2)?,
        hash: row.get(3)?,
    })
}
