//! Tombstones, which say that something was deleted and not what.

use crate::column::{at_most_one, unsigned};
use crate::{ReadError, Transaction, Vault, WriteError};

impl Vault {
    /// Returns the ledger index of the certificate for the deletion that left this tombstone, if any.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn tombstone(&self, hmac: &[u8; 32]) -> Result<Option<u64>, ReadError> {
        let sql = "SELECT entry FROM tombstone WHERE mac = ?1";
        at_most_one(&self.connection, sql, [hmac], |row| unsigned(row, 0))
    }

    /// Visits every tombstone with the ledger index of its certificate, in no particular order.
    ///
    /// # Errors
    /// Fails with the visitor's error, or a [`ReadError`] converted to it.
    pub fn scan_tombstones<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut([u8; 32], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        // The table itself: its index may have been changed.
        let sql = "SELECT mac, entry FROM tombstone NOT INDEXED";
        let mut statement = self.connection.prepare_cached(sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            let read = || -> rusqlite::Result<_> { Ok((row.get(0)?, unsigned(row, 1)?)) };
            let (mac, entry) = read().map_err(ReadError::from)?;
            visit(mac, entry)?;
        }
        Ok(())
    }
}

impl Transaction<'_> {
    /// Notes that what `hmac` stands for was deleted with the certificate at `entry_index`, and replaces an
    /// earlier note. The HMAC's key must be kept outside the vault, or ids could be guessed from it.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn set_tombstone(&mut self, hmac: [u8; 32], entry_index: u64) -> Result<(), WriteError> {
        self.touch()?;
        let share = |entry| {
            self.checksums.as_ref().map_or(0, |checksums| checksums.tombstone(&hmac, entry).share)
        };
        let (old, new) = (self.tombstone(&hmac)?.map(share), share(entry_index));
        self.exchange_note(old, new);
        let entry = self.number("entry_index", entry_index)?;
        let sql = "INSERT INTO tombstone (mac, entry) VALUES (?1, ?2) \
                   ON CONFLICT (mac) DO UPDATE SET entry = excluded.entry";
        self.execute(sql, (hmac, entry))?;
        Ok(())
    }
}
