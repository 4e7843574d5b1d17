//! Tombstones: that something was deleted, without saying what.

use crate::column::{at_most_one, unsigned};
use crate::{ReadError, Transaction, Vault, WriteError};

impl Vault {
    /// Ledger index of the certificate for the deletion that left this tombstone, if any.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn tombstone(&self, hmac: &[u8; 32]) -> Result<Option<u64>, ReadError> {
        let sql = "SELECT entry FROM tombstone WHERE mac = ?1";
        at_most_one(&self.connection, sql, [hmac], |row| unsigned(row, 0))
    }
}

impl Transaction<'_> {
    /// Notes that what `hmac` stands for was deleted with the certificate at `entry_index`, in the
    /// place of an earlier note. The HMAC's key must be kept outside the vault, or ids could be
    /// guessed from it.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn set_tombstone(&mut self, hmac: [u8; 32], entry_index: u64) -> Result<(), WriteError> {
        self.refuse_if_failed()?;
        let entry = self.number("entry_index", entry_index)?;
        let sql = "INSERT INTO tombstone (mac, entry) VALUES (?1, ?2) \
                   ON CONFLICT (mac) DO UPDATE SET entry = excluded.entry";
        self.execute(sql, (hmac, entry))?;
        Ok(())
    }
}
