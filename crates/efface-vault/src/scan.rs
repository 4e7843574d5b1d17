//! Passes over all records, block by block, on all cores.

use crate::block::{Flaw, RowBlock};
use crate::direct_read::Wanted;
use crate::ordered_parallel::{WINDOW_BYTES, in_order_within};
use crate::record::{Columns, Stored, blocks, fault, heads};
use crate::split_read::{Beginning, Ending, Retry};
use crate::stored::{Found, RecordId, StoredRecord};
use crate::{ReadError, RowFault, StoreFault, Vault};

impl Vault {
    /// Reads every block in the order of numbers, and has `work` done on each by all cores while the next
    /// are read and what came out of earlier ones is taken, in order. Few blocks are in memory at a time.
    pub(crate) fn each_block<T: Send, E: From<ReadError>>(
        &self,
        work: impl Fn(Stored) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_block_within(WINDOW_BYTES, work, take)
    }

    /// Works as [`Vault::each_block`] with about so many bytes of blocks ahead.
    fn each_block_within<T: Send, E: From<ReadError>>(
        &self,
        ahead: usize,
        work: impl Fn(Stored) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = self.block_rows().map_err(E::from)?;
        let sql = format!("{} ORDER BY first", blocks());
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        let mut before = 0;
        let read = || {
            let Some(row) = rows.next().map_err(ReadError::from)? else { return Ok(None) };
            let columns = Columns::read(row).map_err(ReadError::from)?.after(&mut before);
            Ok(Some((columns.bytes(), columns)))
        };
        in_order_within(ahead, read, |columns: Columns| work(columns.parse(size)), take)
    }

    /// Works as the scan above with features that are read directly from the file, and again with SQLite if
    /// they do not match the block's head.
    fn each_block_read_directly<T: Send, E: From<ReadError>>(
        &self,
        ahead: usize,
        mut beginning: Beginning,
        ending: Ending,
        work: impl Fn(Stored) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = format!("{} ORDER BY first", heads());
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        let mut before = 0;
        let read = || {
            let Some(row) = rows.next().map_err(ReadError::from)? else { return Ok(None) };
            let columns = Columns::read_head(row).map_err(ReadError::from)?.after(&mut before);
            Ok(Some((columns.bytes(), beginning.block(self, columns)?)))
        };
        in_order_within(
            ahead,
            read,
            |begun| ending.block(begun).map(&work),
            |came| match came {
                Ok(made) => take(made),
                Err(Retry { first, before }) => {
                    let gone = || ReadError::from(rusqlite::Error::QueryReturnedNoRows);
                    let stored = self.stored_block(first)?.ok_or_else(gone)?;
                    take(work(Stored { before, ..stored }))
                }
            },
        )
    }

    /// Reads every block in the order of numbers. `read` is called with each block and the number of rows
    /// before it, on any core and in any order; `take` is given the results in order. An error of either
    /// stops the scan and is returned. About `ahead` bytes of blocks, or one block, are read beyond those
    /// that were taken, and at most 16 MiB.
    ///
    /// The number of rows is checked, and once the vault is [unlocked](Vault::unlock) each block
    /// before it is shown and the sum of all at the end: use nothing of what was taken before this
    /// returns. So is the number of rows before a block, which until then is what the file says.
    ///
    /// # Errors
    /// Fails with the error of `read` or `take`, or a [`ReadError`] converted to it; a
    /// [`RowFault`](crate::RowFault) if rows are not those that the last request left.
    pub fn scan_blocks<T: Send, E: From<ReadError> + Send>(
        &self,
        ahead: usize,
        read: impl Fn(RowBlock, u64) -> Result<T, E> + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let ahead = ahead.min(WINDOW_BYTES);
        let checksums = self.checksums.as_ref();
        let mut found = Found { blocks: 0, records: 0, sum: checksums.map(|_| 0) };
        let work = |stored: Stored| -> Result<(u64, u128, T), E> {
            let (first, slots, before) = (stored.first, stored.rows, stored.before);
            let refused = |slots, flaw: &Flaw| {
                let fault = StoreFault::from(fault(first, slots, flaw));
                E::from(ReadError::from(fault))
            };
            let share = stored.share;
            let block = stored.block.ok_or_else(|| refused(slots, &Flaw::Unreadable))?;
            if block.len() as u64 != stored.rows {
                return Err(refused(block.slots() as u64, &Flaw::Unreadable));
            }
            let check = |checksums| share.map_or_else(|| block.check(checksums), Ok);
            let share = checksums.map_or(Ok(0), check);
            let share = share.map_err(|flaw| refused(block.slots() as u64, &flaw))?;
            let rows = block.len() as u64;
            Ok((rows, share, read(block, before)?))
        };
        let take = |done: Result<(u64, u128, T), E>| {
            let (rows, share, made) = done?;
            found.blocks += 1;
            found.records += rows;
            found.sum = found.sum.map(|sum| sum.wrapping_add(share));
            take(made)
        };
        let steps =
            checksums.map(|checksums| self.split_reads(Wanted::All, checksums)).transpose()?;
        match steps.filter(|(beginning, _)| beginning.is_direct()) {
            Some((beginning, ending)) => {
                self.each_block_read_directly(ahead, beginning, ending, work, take)?
            }
            None => self.each_block_within(ahead, work, take)?,
        }
        let faults = self.tally()?.compare(&found).map_err(StoreFault::from);
        faults.map_err(ReadError::from)?;
        match self.features_are_of(found.blocks)? {
            true => Ok(()),
            false => Err(E::from(ReadError::from(StoreFault::from(RowFault::Loose)))),
        }
    }

    /// Visits every record in the order of insertion, checked as in
    /// [`scan_blocks`](Vault::scan_blocks). An error of the visitor stops the scan and is returned.
    ///
    /// # Errors
    /// Fails with the visitor's error, and as [`Vault::scan_blocks`] does.
    pub fn scan<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut stopped = None;
        let scanned = self.scan_blocks(
            WINDOW_BYTES,
            |block, _| Ok(block),
            |block: RowBlock| {
                block.for_each(&mut visit).map_err(|error| {
                    stopped = Some(error);
                    Interrupted::Stopped
                })
            },
        );
        match (stopped, scanned) {
            (Some(error), _) => Err(error),
            (None, Err(Interrupted::Read(error))) => Err(error.into()),
            (None, _) => Ok(()),
        }
    }
}

/// Why a scan ended early: the reason of its visitor is kept apart, since it need not be sent between
/// threads.
enum Interrupted {
    Stopped,
    Read(ReadError),
}

impl From<ReadError> for Interrupted {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}
