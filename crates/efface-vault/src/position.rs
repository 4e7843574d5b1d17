//! Numbers for rows without ids of their own.

use crate::column::{at_most_one, unsigned};
use crate::{ReadError, Transaction, Vault, WriteError};

impl Vault {
    /// Returns the number that the next row without an id gets: how many were given out, from 0.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn next_position(&self) -> Result<u64, ReadError> {
        let sql = "SELECT position FROM counter";
        Ok(at_most_one(&self.connection, sql, [], |row| unsigned(row, 0))?.unwrap_or(0))
    }

    /// Returns the highest record number ever given; 0 before the first.
    pub(crate) fn last_number(&self) -> Result<u64, ReadError> {
        let sql = "SELECT record FROM counter";
        Ok(at_most_one(&self.connection, sql, [], |row| unsigned(row, 0))?.unwrap_or(0))
    }
}

impl Transaction<'_> {
    /// Gives out `count` consecutive numbers and returns the first. No number is given out twice, even after
    /// the record that had it is deleted.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn take_positions(&mut self, count: u64) -> Result<u64, WriteError> {
        self.touch()?;
        let first = match self.next_position() {
            Ok(first) => first,
            Err(error) => return self.give_up(error),
        };
        let next = self.number("position", first.saturating_add(count))?;
        let sql = "INSERT INTO counter (one, record, position) VALUES (1, 0, ?1) \
                   ON CONFLICT (one) DO UPDATE SET position = excluded.position";
        self.execute(sql, [next])?;
        Ok(first)
    }

    /// Notes the highest record number ever given.
    pub(crate) fn set_last_number(&mut self, last: i64) -> Result<(), WriteError> {
        let sql = "INSERT INTO counter (one, record, position) VALUES (1, ?1, 0) \
                   ON CONFLICT (one) DO UPDATE SET record = excluded.record";
        self.execute(sql, [last])?;
        Ok(())
    }
}
