//! Vaults whose rows are not those that the last request left: what can still be found out about them, and
//! the one change that they serve, an erasure.
//!
//! Rows whose checksum fails belong to nobody any more: the id, the subject or the contents of one of them
//! are not those that were stored. An erasure removes them together with the rows that it names, so that no
//! row of the people named is left under another name, and the tally is recomputed from what remains.

use crate::block::{Builder, Flaw, RowBlock};
use crate::place::Place;
use crate::record::{Stored, begins_at};
use crate::stored::{Found, Tally};
use crate::vault::integrity;
use crate::{
    ReadError, RecordId, RowFault, StoreFault, StoredRecord, Transaction, Vault, WriteError,
};
use std::collections::BTreeSet;

/// What the rows themselves say, whatever indexes and tally say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// Number of rows in the file.
    pub present: u64,
    /// Rows that cannot be read, or that share a checksum that fails, ascending. A block that cannot be read
    /// at all contributes as many numbers as it had rows.
    pub damaged: Vec<RecordId>,
    /// Number of rows that the last request left, if the tally holds.
    pub certified: Option<u64>,
    /// Whether the tally holds and these are its rows: as many, none of them damaged, and their
    /// checksums add up.
    pub as_left: bool,
}

impl Vault {
    /// Reads every row, and no index, and shows those whose checksum holds to `visit`.
    ///
    /// # Errors
    /// Fails with the visitor's error, or a [`ReadError`] converted to it: [`ReadError::Locked`] without the
    /// key, and what keeps the table itself from being read.
    pub fn survey<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<Survey, E> {
        let mut damaged = Vec::new();
        let mut id = String::new();
        let mut sound = true;
        let found = self.walk(|walked| -> Result<(), E> {
            damaged.extend(walked.damaged());
            sound &= walked.checked.is_ok();
            let Some(block) = &walked.block else { return Ok(()) };
            for slot in block.head().present().filter(|&slot| !walked.is_damaged(slot)) {
                if let Some(entry) = block.entry(slot) {
                    let number = RecordId::new(block.first() + slot as i64);
                    visit(number, entry.record(&mut id))?;
                }
            }
            Ok(())
        })?;
        let tally = self.tally_that_holds()?;
        sound &= self.features_are_of(found.blocks)?;
        Ok(Survey {
            present: found.records,
            certified: tally.map(|tally| tally.records),
            as_left: sound && tally.is_some_and(|tally| tally.compare(&found).is_ok()),
            damaged,
        })
    }

    /// Begins a change of a vault that may be damaged, without these rows and with rebuilt indexes. The tally
    /// is set to what remains, and the commit sweeps the whole file: what another program deleted may have
    /// left traces anywhere. Every row that [`Vault::survey`] calls damaged must be among them.
    ///
    /// # Errors
    /// Fails with [`RowFault::Rows`] if a damaged row remains; [`StoreFault::Damaged`] if more than rows and
    /// their indexes is damaged; a row that is not there.
    pub fn begin_without(&mut self, records: &[RecordId]) -> Result<Transaction<'_>, WriteError> {
        let mut transaction = self.begin_unsealed()?;
        if transaction.checksums.is_none() {
            return Err(WriteError::locked());
        }
        // Otherwise SQLite refuses to delete a row that an index has under another name.
        transaction.connection.execute_batch("PRAGMA writable_schema = ON")?;
        let purged = transaction.purge(records);
        transaction.connection.execute_batch("PRAGMA writable_schema = OFF")?;
        purged?;
        transaction.tally_anew()?;
        if Place::read(&transaction).is_err() {
            // The place where it last served is unknown, so it counts as moved.
            Place::NOWHERE.write(&transaction.connection, 0)?;
        }
        transaction.sweep_whole_file();
        Ok(transaction)
    }

    fn tally_that_holds(&self) -> Result<Option<Tally>, ReadError> {
        match self.tally() {
            Ok(tally) => Ok(Some(tally)),
            // The tally is also lost if it, or what it is bound to, cannot be read.
            Err(ReadError::Store(StoreFault::Rows(RowFault::Tally) | StoreFault::Damaged(_))) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Visits all blocks in the order of their numbers, with what is wrong with each.
    fn walk<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(&Walked) -> Result<(), E>,
    ) -> Result<Found, E> {
        let checksums = self.checksums.as_ref().ok_or(ReadError::Locked)?;
        let (mut blocks, mut records, mut sum) = (0u64, 0u64, 0u128);
        let size = self.block_rows().map_err(E::from)?;
        let work = |stored: Stored| {
            // If no block begins at this number, none of its numbers can stand for a row.
            let (first, rows) = (stored.first, stored.rows.clamp(1, size.unsigned_abs()));
            let rows = if begins_at(first, size) { rows } else { 0 };
            let (block, checked) = stored.checked(checksums);
            Walked { first, rows, block, checked }
        };
        self.each_block(work, |walked| {
            blocks += 1;
            records += walked.rows();
            sum = sum.wrapping_add(*walked.checked.as_ref().unwrap_or(&0));
            visit(&walked)
        })?;
        Ok(Found { blocks, records, sum: Some(sum) })
    }
}

/// A block, and what is wrong with it.
struct Walked {
    first: i64,
    /// Number of rows that the file states, limited to what the block can have.
    rows: u64,
    block: Option<RowBlock>,
    checked: Result<u128, Flaw>,
}

impl Walked {
    /// Returns how many rows it has.
    fn rows(&self) -> u64 {
        self.block.as_ref().map_or(self.stand_ins().count() as u64, |block| block.len() as u64)
    }

    /// Returns the numbers that stand for the rows of a block that cannot be read.
    fn stand_ins(&self) -> impl Iterator<Item = RecordId> {
        (0..self.rows as i64).map(|row| RecordId::new(self.first.saturating_add(row)))
    }

    /// Returns the numbers of its rows.
    fn numbers(&self) -> Vec<RecordId> {
        match &self.block {
            Some(block) => block.numbers().collect(),
            None => self.stand_ins().collect(),
        }
    }

    /// Returns whether the row of a slot shares a checksum with one that is not as it was stored.
    fn is_damaged(&self, slot: usize) -> bool {
        match &self.checked {
            Err(Flaw::Changed { slots }) => slots.iter().any(|group| group.contains(&slot)),
            Err(Flaw::Unreadable) => true,
            Ok(_) => false,
        }
    }

    /// Returns the numbers of its damaged rows.
    fn damaged(&self) -> Vec<RecordId> {
        match &self.block {
            None => self.stand_ins().collect(),
            Some(block) => {
                let slots = block.head().present().filter(|&slot| self.is_damaged(slot));
                slots.map(|slot| RecordId::new(self.first + slot as i64)).collect()
            }
        }
    }
}

impl Transaction<'_> {
    fn purge(&mut self, records: &[RecordId]) -> Result<(), WriteError> {
        let checksums = self.checksums.clone().ok_or_else(WriteError::locked)?;
        let going: BTreeSet<RecordId> = records.iter().copied().collect();
        let mut met: BTreeSet<RecordId> = BTreeSet::new();
        let mut changed = Vec::new();
        let walked = self.walk(|walked| -> Result<(), ReadError> {
            let named = walked.numbers().into_iter().filter(|number| going.contains(number));
            let named: BTreeSet<RecordId> = named.collect();
            let damaged = walked.damaged();
            if let Some(&left) = damaged.iter().find(|number| !named.contains(number)) {
                return Err(StoreFault::from(RowFault::Rows { first: left, last: left }).into());
            }
            if named.is_empty() && walked.checked.is_ok() {
                return Ok(());
            }
            let kept = match &walked.block {
                None => None,
                Some(block) => {
                    let leaves = |slot| named.contains(&RecordId::new(block.first() + slot as i64));
                    // A group without rows may have a wrong checksum, too.
                    Builder::of(block, leaves).anew().finish(&checksums)?
                }
            };
            changed.push((walked.first, kept));
            met.extend(named);
            Ok(())
        });
        if let Err(error) = walked {
            return self.give_up(error);
        }
        if let Some(&record) = going.difference(&met).next() {
            return self.give_up(WriteError::unknown_record(record));
        }
        for (first, kept) in changed {
            match kept {
                Some(built) => self.write_block(&built)?,
                None => self.drop_block(first)?,
            }
        }
        self.list_anew()?;
        match integrity(&self.connection)?.into_iter().next() {
            Some(complaint) => Err(StoreFault::Damaged(complaint).into()),
            None => Ok(()),
        }
    }

    /// Sets the tally to the rows that are there. Requests and tombstones stay counted as they were, so that
    /// a change of them by another program is still found, unless the tally itself does not hold.
    fn tally_anew(&mut self) -> Result<(), WriteError> {
        let notes = match self.tally_that_holds()? {
            Some(tally) => tally.notes,
            None => self.sum_of_notes()?,
        };
        let mut last = self.last_number().unwrap_or(0);
        let found = self.walk(|walked| -> Result<(), ReadError> {
            // The numbers of empty slots were given, too.
            let slots = walked.block.as_ref().map_or(0, RowBlock::slots) as i64;
            last = last.max((walked.first + slots - 1).unsigned_abs());
            match walked.damaged().first() {
                Some(&row) => {
                    Err(StoreFault::from(RowFault::Rows { first: row, last: row }).into())
                }
                None => Ok(()),
            }
        })?;
        let rows = found.sum.unwrap_or(0);
        self.vault_mut().pending = Some(Tally { records: found.records, rows, notes });
        self.touch()?;
        // The highest numbers ever given may have been changed, too. Rows that are named by their position
        // have one each.
        let position = self.next_position().unwrap_or(0).max(last);
        let (last, position) = (self.number("record", last)?, self.number("position", position)?);
        self.execute("DELETE FROM counter", [])?;
        let sql = "INSERT INTO counter (one, record, position) VALUES (1, ?1, \
                   MAX(?2, (SELECT COALESCE(MAX(first + count), 0) FROM run)))";
        self.execute(sql, [last, position])?;
        // The request that brought a damaged row is unknown.
        self.erase_bodies(None)
    }
}
