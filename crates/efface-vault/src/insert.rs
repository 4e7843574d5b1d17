//! Putting records into a vault.

use crate::block::{Builder, Built, Entry, RowBlock};
use crate::checksum::Checksums;
use crate::index::Listing;
use crate::ordered_parallel::{WINDOW_BYTES, ordered_parallel};
use crate::record::first_of;
use crate::stored::{RecordId, StoredRecord};
use crate::{StoreFault, Transaction, WriteError};
use std::cell::Cell;

/// Number of blocks that are built at a time until the size of one is known.
const FIRST: usize = 2;

/// Shows the record of a row, counted from 0, to a visitor. Called from any core and in any order.
pub type Records<'a> = dyn Fn(usize, &mut dyn FnMut(&StoredRecord<'_>)) + Sync + 'a;

/// What one block is made of.
struct Job {
    first: i64,
    /// The block as it is, if there is one, and its share of the sum.
    old: Option<(RowBlock, u128)>,
    /// The numbers of new rows in it.
    from: i64,
    until: i64,
}

/// A block that is ready to be written.
struct Made {
    built: Built,
    old: (u64, u128),
    listing: Listing,
}

impl Job {
    /// Returns the block with its new rows; `start` is the first of these over all blocks.
    fn make(
        self,
        start: i64,
        records: &Records<'_>,
        checksums: &Checksums,
    ) -> Result<Made, WriteError> {
        let mut builder = match &self.old {
            Some((block, _)) => Builder::of(block, |_| false),
            None => Builder::new(self.first),
        };
        let slots = self.old.as_ref().map_or(0, |(block, _)| block.slots() as i64);
        if self.first + slots > self.from {
            let taken = "the highest number of a record is below that of a row".into();
            return Err(StoreFault::Damaged(taken).into());
        }
        for _ in self.first + slots..self.from {
            builder.push(None);
        }
        builder.expect((self.until - self.from) as usize);
        let mut listing = Listing::default();
        let mut refused: Option<WriteError> = None;
        for number in self.from..self.until {
            records((number - start) as usize, &mut |record| {
                if !record.target.is_finite() {
                    refused = Some(WriteError::Refused(format!(
                        "`target` must be finite, got {}",
                        record.target
                    )));
                }
                if i64::try_from(record.added_version).is_err() {
                    let (name, value) = ("added_version", record.added_version);
                    refused = Some(WriteError::out_of_range(name, value));
                }
                let entry = Entry::of(record);
                listing.push(number, entry.id, entry.subject);
                builder.push(Some(entry));
            });
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        let none = || StoreFault::Damaged("a new block has no rows".into());
        let built = builder.finish(checksums)?.ok_or_else(none)?;
        let old = self.old.map_or((0, 0), |(block, share)| (block.len() as u64, share));
        Ok(Made { built, old, listing })
    }
}

impl Transaction<'_> {
    /// Adds a record and returns its number. Many are added faster
    /// [at once](Transaction::insert_records).
    ///
    /// # Errors
    /// Fails as that does.
    pub fn insert_record(&mut self, record: &StoredRecord<'_>) -> Result<RecordId, WriteError> {
        self.insert_records(1, &|_, show| show(record))
    }

    /// Adds `rows` records, which get consecutive numbers in the order of rows, and returns the first
    /// number.
    ///
    /// # Errors
    /// Fails with [`WriteError::DuplicateId`], if a target is not finite, or if the store fails; with
    /// [`RowFault::Rows`](crate::RowFault::Rows) if rows that share a block with the new ones are not as they
    /// were stored.
    pub fn insert_records(
        &mut self,
        rows: usize,
        records: &Records<'_>,
    ) -> Result<RecordId, WriteError> {
        self.touch()?;
        match self.insert_all(rows, records) {
            Ok(first) => Ok(RecordId::new(first)),
            Err(error) => self.give_up(error),
        }
    }

    fn insert_all(&mut self, rows: usize, records: &Records<'_>) -> Result<i64, WriteError> {
        let size = self.block_rows()?;
        let start = self.number("record", self.last_number()?.saturating_add(1))?;
        let end = self.number("record", (start as u64).saturating_add(rows as u64))?;
        let checksums = self.checksums.clone().ok_or_else(WriteError::locked)?;
        self.check_names_once()?;
        let mut listing = Listing::default();
        // Only the first block can have rows already.
        let mut old = self.sound_block(first_of(start, size))?;
        let (mut from, bytes) = (start, Cell::new(WINDOW_BYTES / FIRST));
        let next = || {
            let first = first_of(from, size);
            let until = end.min(first.saturating_add(size));
            let job = Job { first, old: old.take(), from, until };
            let more = from < end;
            from = until;
            Ok(more.then_some((bytes.get(), job)))
        };
        let make = |job: Job| job.make(start, records, &checksums);
        ordered_parallel(next, make, |made| {
            let Made { built, old, listing: names } = made?;
            let (head, _) = built.block.head().columns();
            bytes.set(head.len() + built.block.features().len());
            self.write_block(&built)?;
            self.exchange_block(old, (built.block.len() as u64, built.share));
            if let Some(writeback) = &mut self.writeback {
                writeback.add(bytes.get()).map_err(StoreFault::from)?;
            }
            listing.append(names);
            Ok::<_, WriteError>(())
        })?;
        self.set_last_number(end - 1)?;
        self.list(listing)?;
        Ok(start)
    }
}
