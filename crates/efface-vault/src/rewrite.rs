//! Writes blocks to the file, as new ones or instead of others.

use crate::block::{AtHand, BlockHead, Built, Flaw, Left};
use crate::buffer_pool::Features;
use crate::record::fault;
use crate::{StoreFault, Transaction, WriteError};
use rusqlite::MAIN_DB;

impl Transaction<'_> {
    /// Writes a block instead of the one that begins with the same number.
    pub(crate) fn write_block(&mut self, built: &Built) -> Result<(), WriteError> {
        let block = &built.block;
        self.write_head(block.head())?;
        let sql = "INSERT INTO content (first, features) VALUES (?1, ?2) \
                   ON CONFLICT (first) DO UPDATE SET features = excluded.features";
        self.execute(sql, (block.first(), block.features()))?;
        Ok(())
    }

    /// Writes what removing rows in place has changed in a block that had this head. SQLite's bytes are
    /// compared with the checksums once more: the earlier bytes were read next to SQLite, which a damaged
    /// page may lead elsewhere.
    pub(crate) fn write_left(&mut self, old: &BlockHead, left: &Left) -> Result<(), WriteError> {
        self.write_head(&left.head)?;
        let written = self.write_zeros(old, left);
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
    fn write_zeros(&self, old: &BlockHead, left: &Left) -> Result<(), WriteError> {
        let checksums = self.checksums.as_ref().ok_or_else(WriteError::locked)?;
        let first = old.first();
        let mut blob = self.connection.blob_open(MAIN_DB, "content", "features", first, false)?;
        for &group in &left.groups {
            let changed = || Flaw::Changed { slots: vec![old.group(group)] };
            let fault = || StoreFault::from(fault(first, old.slots() as u64, &changed()));
            let range = old.span_of_group(group).ok_or_else(fault)?;
            let mut features = Features::from(vec![0; range.len()]);
            blob.read_at_exact(&mut features, range.start)?;
            let at_hand = [(range.start, &*features)];
            if !old.features_hold(group, AtHand(&at_hand), checksums) {
                return Err(fault().into());
            }
        }
        for range in &left.zeros {
            blob.write_all_at(&vec![0; range.len()], range.start)?;
        }
        Ok(blob.close()?)
    }

    pub(crate) fn drop_block(&mut self, first: i64) -> Result<(), WriteError> {
        self.execute("DELETE FROM block WHERE first = ?1", [first])?;
        self.execute("DELETE FROM content WHERE first = ?1", [first])?;
        Ok(())
    }
}
