//! Records: rows of training data, each with a public id and perhaps a subject.

use crate::block::{BlockHead, Flaw, RowBlock};
use crate::buffer_pool::Features;
use crate::checksum::{Checksums, STORED};
use crate::column::{at_most_one, within};
use crate::schema::FEATURE_BYTES;
use crate::stored::{MOST_VALUE, RecordId};
use crate::{ReadError, RowFault, StoreFault, Vault};

/// Most numbers that a block may have.
const MOST_ROWS: i64 = 1 << 16;

// Not by the index, whose errors would stop a look at what is wrong.

/// Blocks, in the columns that [`Columns::read`] expects.
pub(crate) fn blocks() -> String {
    let features = within("features", format_args!("MIN(bytes, {MOST_VALUE})"));
    format!("SELECT {}, {features} FROM block NOT INDEXED LEFT JOIN content USING (first)", head())
}

/// Returns SQL for the heads of blocks, in the columns that [`Columns::read_head`] expects.
pub(crate) fn heads() -> String {
    format!("SELECT {} FROM block NOT INDEXED", head())
}

fn head() -> String {
    let [checksum, head] = [("checksum", STORED as i32), ("head", MOST_VALUE)]
        .map(|(column, most)| within(column, most));
    format!("block.first, rows, bytes, {checksum}, {head}")
}

/// A block as it is in the file.
pub(crate) struct Stored {
    pub(crate) first: i64,
    pub(crate) rows: u64,
    pub(crate) block: Option<RowBlock>,
    /// Its share of the sum, if it was checked already.
    pub(crate) share: Option<u128>,
    /// Number of rows of the blocks before it, if these were counted.
    pub(crate) before: u64,
}

/// The columns of a block.
pub(crate) struct Columns {
    pub(crate) first: i64,
    rows: u64,
    /// Length in bytes that its features should have.
    pub(crate) length: usize,
    checksum: Vec<u8>,
    pub(crate) head: Vec<u8>,
    /// `None` if they were not read, or are missing.
    pub(crate) features: Option<Features>,
    /// Number of rows of the blocks before it, if these were counted.
    pub(crate) before: u64,
}

impl Columns {
    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let features: Option<Vec<u8>> = row.get(5)?;
        Ok(Self { features: features.map(Features::from), ..Self::read_head(row)? })
    }

    /// Reads a block without its features.
    pub(crate) fn read_head(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            first: row.get(0)?,
            rows: row.get::<_, i64>(1)?.unsigned_abs(),
            length: row.get::<_, i64>(2)?.unsigned_abs() as usize,
            checksum: row.get(3)?,
            head: row.get(4)?,
            features: None,
            before: 0,
        })
    }

    /// Notes how many rows come before it, and adds its own for the next.
    pub(crate) fn after(self, rows: &mut u64) -> Self {
        let before = *rows;
        *rows = before.saturating_add(self.rows);
        Self { before, ..self }
    }

    /// Returns the size of the block in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.head.len().saturating_add(self.length)
    }

    /// Returns a copy without features.
    pub(crate) fn head_again(&self) -> Self {
        let Self { first, rows, length, ref checksum, ref head, before, .. } = *self;
        let (checksum, head) = (checksum.clone(), head.clone());
        Self { first, rows, length, checksum, head, features: None, before }
    }

    /// Parses the head, if it begins where a block of `size` numbers begins and has no more slots.
    pub(crate) fn parse_head(self, size: i64) -> StoredHead {
        let Self { first, rows, length, checksum, head, .. } = self;
        let head = checksum
            .try_into()
            .ok()
            .filter(|_| begins_at(first, size))
            .and_then(|stored| BlockHead::parse(first, head, length, stored))
            .filter(|head| head.slots() as i64 <= size);
        StoredHead { first, rows, head }
    }

    /// Parses the block, if it begins where a block of `size` numbers begins and has no more slots.
    pub(crate) fn parse(self, size: i64) -> Stored {
        let Self { first, rows, length, checksum, head, features, before } = self;
        let block = features
            .filter(|features| features.len() == length && begins_at(first, size))
            .and_then(|features| RowBlock::parse(first, head, features, checksum.try_into().ok()?))
            .filter(|block| block.slots() as i64 <= size);
        Stored { first, rows, block, share: None, before }
    }
}

/// The head of a block as it is in the file.
pub(crate) struct StoredHead {
    first: i64,
    rows: u64,
    head: Option<BlockHead>,
}

impl StoredHead {
    /// Returns the head, whose parts must be within their bounds, and its share of the sum. With the keys, it
    /// must be as it was stored; without, the share is 0.
    pub(crate) fn sound(
        self,
        checksums: Option<&Checksums>,
    ) -> Result<(BlockHead, u128), StoreFault> {
        let flawed = |slots| StoreFault::from(fault(self.first, slots, &Flaw::Unreadable));
        let head = self.head.ok_or_else(|| flawed(self.rows))?;
        if head.len() as u64 != self.rows {
            return Err(flawed(head.slots() as u64));
        }
        let share = checksums.map_or(Some(0), |checksums| head.check(checksums));
        let share = share.ok_or_else(|| flawed(head.slots() as u64))?;
        Ok((head, share))
    }
}

impl Stored {
    /// Returns whether all of it is as it was stored, which then need not be found out again.
    pub(crate) fn holds(&mut self, checksums: &Checksums) -> bool {
        let share = self.block.as_ref().and_then(|block| block.check(checksums).ok());
        self.share = share;
        share.is_some()
    }

    /// Returns the block, whose parts must be within their bounds and whose rows as they were stored, and its
    /// share of the sum.
    pub(crate) fn sound(self, checksums: &Checksums) -> Result<(RowBlock, u128), StoreFault> {
        let (first, rows) = (self.first, self.rows);
        let block = self.block.ok_or_else(|| fault(first, rows, &Flaw::Unreadable))?;
        match self.share.map_or_else(|| block.check(checksums), Ok) {
            Ok(share) => Ok((block, share)),
            Err(flaw) => Err(fault(first, block.slots() as u64, &flaw).into()),
        }
    }

    /// Returns the block and its share of the sum, or what is wrong with it.
    pub(crate) fn checked(self, checksums: &Checksums) -> (Option<RowBlock>, Result<u128, Flaw>) {
        let Some(block) = self.block else { return (None, Err(Flaw::Unreadable)) };
        let mut checked = block.check(checksums);
        if checked.is_ok() && block.len() as u64 != self.rows {
            checked = Err(Flaw::Changed { slots: Vec::new() });
        }
        (Some(block), checked)
    }
}

/// Returns the rows that a flaw makes unusable: the first of them that share a checksum.
pub(crate) fn fault(first: i64, slots: u64, flaw: &Flaw) -> RowFault {
    let group = match flaw {
        Flaw::Changed { slots } => slots.first(),
        Flaw::Unreadable => None,
    };
    let last = first.saturating_add_unsigned(slots.max(1) - 1);
    let (first, last) = match group {
        None => (first, last),
        Some(group) => {
            let last_of_group = first.saturating_add_unsigned(group.end as u64) - 1;
            (first + group.start as i64, last.min(last_of_group))
        }
    };
    RowFault::Rows { first: RecordId::new(first), last: RecordId::new(last) }
}

impl Vault {
    /// Returns how many record numbers share a block.
    pub(crate) fn block_rows(&self) -> Result<i64, ReadError> {
        let sql = "SELECT block_rows FROM genesis";
        let rows: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        match rows {
            1..=MOST_ROWS => Ok(rows),
            _ => Err(StoreFault::Damaged(format!("blocks have {rows} rows")).into()),
        }
    }

    /// Returns a block by the number of its first row.
    pub(crate) fn stored_block(&self, first: i64) -> Result<Option<Stored>, ReadError> {
        let sql = format!("{} WHERE first = ?1", blocks());
        let read = at_most_one(&self.connection, &sql, [first], Columns::read)?;
        let size = self.block_rows()?;
        Ok(read.map(|columns| columns.parse(size)))
    }

    /// Returns the columns of a block's head, by the number of its first row.
    pub(crate) fn head_columns(&self, first: i64) -> Result<Option<Columns>, ReadError> {
        let sql = format!("{} WHERE first = ?1", heads());
        at_most_one(&self.connection, &sql, [first], Columns::read_head)
    }

    /// Returns the features of a block, by the number of its first row.
    pub(crate) fn features_of(&self, first: i64) -> Result<Option<Vec<u8>>, ReadError> {
        let features = within("features", MOST_VALUE);
        let sql = format!("SELECT {features} FROM content WHERE first = ?1");
        at_most_one(&self.connection, &sql, [first], |row| row.get(0))
    }

    /// Returns the head of a block, checked once the vault is unlocked, by the number of its first row.
    pub(crate) fn head_of(&self, first: i64) -> Result<Option<BlockHead>, ReadError> {
        let Some(columns) = self.head_columns(first)? else { return Ok(None) };
        let stored = columns.parse_head(self.block_rows()?);
        Ok(Some(stored.sound(self.checksums.as_ref())?.0))
    }

    /// Returns a block all of whose rows are as they were stored, and its share of the sum.
    pub(crate) fn sound_block(&self, first: i64) -> Result<Option<(RowBlock, u128)>, ReadError> {
        let checksums = self.checksums.as_ref().ok_or(ReadError::Locked)?;
        let Some(stored) = self.stored_block(first)? else { return Ok(None) };
        Ok(Some(stored.sound(checksums)?))
    }

    /// Returns how many bytes the features of all rows have, empty slots of deleted rows included. No block
    /// is read.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn feature_bytes(&self) -> Result<u64, ReadError> {
        let bytes: i64 = self.connection.query_row(FEATURE_BYTES, [], |row| row.get(0))?;
        Ok(bytes.unsigned_abs())
    }
}

/// Returns the number of the first row of a record's block; numbers begin with 1.
pub(crate) fn first_of(record: i64, size: i64) -> i64 {
    (record.saturating_sub(1).div_euclid(size)).saturating_mul(size).saturating_add(1)
}

/// Returns whether a block may begin with this number, with room for all of its own.
pub(crate) fn begins_at(first: i64, size: i64) -> bool {
    first >= 1 && first_of(first, size) == first && first.checked_add(size).is_some()
}
