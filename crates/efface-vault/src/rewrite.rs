//! Blocks written to the file, in the place of others or in none.

use crate::block::{BlockHead, Built, Left};
use crate::{Transaction, WriteError};
use rusqlite::MAIN_DB;
use std::ops::Range;

impl Transaction<'_> {
    /// Writes a block, in the place of the one that begins with the same number.
    pub(crate) fn write_block(&mut self, built: &Built) -> Result<(), WriteError> {
        let block = &built.block;
        self.write_head(block.head())?;
        let sql = "INSERT INTO content (first, features) VALUES (?1, ?2) \
                   ON CONFLICT (first) DO UPDATE SET features = excluded.features";
        self.execute(sql, (block.first(), block.features()))?;
        Ok(())
    }

    /// Writes what rows that left in place have changed of a block.
    pub(crate) fn write_left(&mut self, left: &Left) -> Result<(), WriteError> {
        self.write_head(&left.head)?;
        let written = self.write_zeros(left.head.first(), &left.zeros);
        written.or_else(|error| self.give_up(error))
    }

    fn write_head(&mut self, block: &BlockHead) -> Result<(), WriteError> {
        let (head, checksum) = block.columns();
        let sql = "INSERT INTO block (first, rows, bytes, checksum, head) \
                   VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (first) DO UPDATE SET \
                   rows = excluded.rows, bytes = excluded.bytes, checksum = excluded.checksum, \
                   head = excluded.head";
        let (rows, bytes) = (block.len() as i64, block.features() as i64);
        self.execute(sql, (block.first(), rows, bytes, checksum, head))?;
        self.note_rewritten(block.first());
        Ok(())
    }

    /// Overwrites features in place, without the others passing through SQLite.
    fn write_zeros(&self, first: i64, ranges: &[Range<usize>]) -> rusqlite::Result<()> {
        let mut blob = self.connection.blob_open(MAIN_DB, "content", "features", first, false)?;
        for range in ranges {
            blob.write_all_at(&vec![0; range.len()], range.start)?;
        }
        blob.close()
    }

    /// Takes a block out.
    pub(crate) fn drop_block(&mut self, first: i64) -> Result<(), WriteError> {
        self.execute("DELETE FROM block WHERE first = ?1", [first])?;
        self.execute("DELETE FROM content WHERE first = ?1", [first])?;
        Ok(())
    }
}
