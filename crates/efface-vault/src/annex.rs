//! Private annexes of certificates: what may be known only until the next deletion.

use crate::column::at_most_one;
use crate::{ReadError, Transaction, Vault, WriteError};

impl Vault {
    /// The annex of the ledger entry at `index`; `None` if it has none or it was erased.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn annex(&self, index: u64) -> Result<Option<String>, ReadError> {
        let Ok(index) = i64::try_from(index) else { return Ok(None) };
        at_most_one(&self.connection, "SELECT body FROM annex WHERE entry = ?1", [index], |row| {
            row.get(0)
        })
    }
}

impl Transaction<'_> {
    /// Stores the annex of a ledger entry, in the place of an earlier one.
    ///
    /// # Errors
    /// [`WriteError::UnknownEntry`] if the ledger has no such entry.
    pub fn set_annex(&mut self, index: u64, json: &str) -> Result<(), WriteError> {
        self.refuse_if_failed()?;
        if self.head()?.is_none_or(|head| head.index < index) {
            return self.give_up(WriteError::UnknownEntry { index });
        }
        let entry = self.number("index", index)?;
        self.execute("DELETE FROM annex WHERE entry = ?1", [entry])?;
        self.execute("INSERT INTO annex (entry, body) VALUES (?1, ?2)", (entry, json))?;
        Ok(())
    }

    /// Erases the annexes of all ledger entries up to and including `index`. Returns how many.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn erase_annexes_up_to(&mut self, index: u64) -> Result<usize, WriteError> {
        self.refuse_if_failed()?;
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        Ok(self.execute("DELETE FROM annex WHERE entry <= ?1", [index])?)
    }

    /// Erases every annex. Returns how many there were.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn erase_all_annexes(&mut self) -> Result<usize, WriteError> {
        self.erase_annexes_up_to(u64::MAX)
    }
}
