//! Passes over the heads of all blocks, which name the rows, without their features, which are most of the
//! file.
//!
//! A head has the keyed checksums of its block's features, and the sum over all blocks is one of heads. So
//! the heads alone show that each row is there under its own name, that no removed row is still there, and
//! that no row was taken away, put back or exchanged by another program; whether the features are as they
//! were stored is seen when they are read.

use crate::block::BlockHead;
use crate::direct_read::HeadsAhead;
use crate::ordered_parallel::{WINDOW_BYTES, in_order_within};
use crate::record::{Columns, StoredHead, heads};
use crate::stored::{Found, RecordId};
use crate::{ReadError, StoreFault, Vault};

impl Vault {
    /// Reads the head of every block in the order of numbers. `read` makes something of each, on any core
    /// and in any order; `take` is given these in order, and an error of it stops the scan and is returned.
    ///
    /// The number of rows is checked, and once the vault is [unlocked](Vault::unlock) each head before it is
    /// shown and the sum of all at the end: use nothing of what was taken before this returns. Features are
    /// not read, and may be damaged.
    ///
    /// # Errors
    /// Fails with the error of `take`, or a [`ReadError`] converted to it; a [`RowFault`](crate::RowFault) if
    /// rows are not those that the last request left.
    pub fn scan_heads<T: Send, E: From<ReadError> + Send>(
        &self,
        read: impl Fn(&BlockHead) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let checksums = self.checksums.as_ref();
        let mut found = Found { blocks: 0, records: 0, sum: checksums.map(|_| 0) };
        let work = |stored: StoredHead| {
            let (head, share) = stored.sound(checksums)?;
            Ok::<_, StoreFault>((head.len() as u64, share, read(&head)))
        };
        self.heads(work, |done| {
            let (rows, share, made) = done.map_err(ReadError::from)?;
            found.blocks += 1;
            found.records += rows;
            found.sum = found.sum.map(|sum| sum.wrapping_add(share));
            take(made)
        })?;
        let faults = self.tally()?.compare(&found).map_err(StoreFault::from);
        Ok(faults.map_err(ReadError::from)?)
    }

    /// Shows every head that can be read, unchecked against the sum, in the order of numbers.
    pub(crate) fn each_head(&self, mut visit: impl FnMut(&BlockHead)) -> Result<(), ReadError> {
        self.heads(
            |stored| stored.sound(None),
            |head| {
                visit(&head?.0);
                Ok(())
            },
        )
    }

    /// Returns the numbers of all records, ascending.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn record_numbers(&self) -> Result<Vec<RecordId>, ReadError> {
        let mut numbers = Vec::new();
        self.each_head(|head| numbers.extend(head.rows().map(|(number, _)| number)))?;
        Ok(numbers)
    }

    fn heads<T: Send, E: From<ReadError>>(
        &self,
        work: impl Fn(StoredHead) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = self.block_rows().map_err(E::from)?;
        let sql = format!("{} ORDER BY first", heads());
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        let mut ahead = HeadsAhead::of(self);
        let read = || {
            ahead.go_on();
            let Some(row) = rows.next().map_err(ReadError::from)? else { return Ok(None) };
            let columns = Columns::read_head(row).map_err(ReadError::from)?;
            Ok(Some((columns.bytes(), columns)))
        };
        let head = |columns: Columns| work(columns.parse_head(size));
        in_order_within(WINDOW_BYTES, read, head, take)
    }
}
