//! Blocks written to the file, in the place of others or in none.

use crate::block::{Built, RowBlock};
use crate::{Transaction, WriteError};
use rusqlite::MAIN_DB;
use std::ops::Range;

/// Bytes that are compared at a time.
const STEP: usize = 512;

/// Where the features of a block are not those of the one that it was made from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// Anywhere, or of another length.
    All,
    /// There alone.
    Within(Vec<Range<usize>>),
}

impl Changed {
    /// What changed from one block to another.
    pub(crate) fn between(old: &RowBlock, new: &RowBlock) -> Self {
        let (old, new) = (old.features(), new.features());
        if old.len() != new.len() {
            return Self::All;
        }
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, (old, new)) in old.chunks(STEP).zip(new.chunks(STEP)).enumerate() {
            if old == new {
                continue;
            }
            let (start, end) = (at * STEP, at * STEP + new.len());
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        Self::Within(ranges)
    }
}

impl Transaction<'_> {
    /// Writes a block in the place of the one it was made from, of which the file has these features but
    /// where they changed.
    pub(crate) fn write_block(
        &mut self,
        built: &Built,
        changed: &Changed,
    ) -> Result<(), WriteError> {
        let block = &built.block;
        let (head, features, checksum) = block.columns();
        let sql = "INSERT INTO block (first, rows, bytes, checksum, head) \
                   VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (first) DO UPDATE SET \
                   rows = excluded.rows, bytes = excluded.bytes, checksum = excluded.checksum, \
                   head = excluded.head";
        let length = features.len() as i64;
        self.execute(sql, (block.first(), block.len() as i64, length, checksum, head))?;
        match changed {
            Changed::Within(ranges) => {
                let written = self.write_features(block.first(), features, ranges);
                written.or_else(|error| self.give_up(error))?;
            }
            Changed::All => {
                let sql = "INSERT INTO content (first, features) VALUES (?1, ?2) \
                           ON CONFLICT (first) DO UPDATE SET features = excluded.features";
                self.execute(sql, (block.first(), features))?;
            }
        }
        self.note_rewritten(block.first());
        Ok(())
    }

    /// Overwrites features in place, without the others passing through SQLite.
    fn write_features(
        &self,
        first: i64,
        features: &[u8],
        ranges: &[Range<usize>],
    ) -> rusqlite::Result<()> {
        let mut blob = self.connection.blob_open(MAIN_DB, "content", "features", first, false)?;
        for range in ranges {
            blob.write_all_at(&features[range.clone()], range.start)?;
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
