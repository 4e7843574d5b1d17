//! Deletes records from their blocks and from the tables of names.

use crate::block::{BlockHead, Builder, Built, Leaving, Left};
use crate::checksum::Checksums;
use crate::direct_read::Wanted;
use crate::ordered_parallel::ordered_parallel;
use crate::record::{Stored, first_of};
use crate::split_read::{Ending, Part, Pending};
use crate::stored::RecordId;
use crate::{StoreFault, Transaction, WriteError};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

impl Transaction<'_> {
    /// Deletes records, and with them the digest of the request that brought them: it is a function of their
    /// contents. Their bytes are gone from the file when the change is committed. The caller must erase what
    /// it computed from them (caches, its own copies).
    ///
    /// # Errors
    /// Fails if a record is not in the vault or is named twice; with
    /// [`RowFault::Rows`](crate::RowFault::Rows) if one, or one that shares a checksum with it, is not as it
    /// was stored; with [`RowFault::Index`](crate::RowFault::Index) if it is not listed under its names.
    pub fn delete_records(&mut self, records: &[RecordId]) -> Result<(), WriteError> {
        self.touch()?;
        let size = self.block_rows()?;
        let mut going: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for &record in records {
            if !going.entry(first_of(record.get(), size)).or_default().insert(record.get()) {
                return self.give_up(WriteError::unknown_record(record));
            }
        }
        match self.delete_from(going) {
            Ok(versions) => self.erase_bodies(Some(&versions)),
            Err(error) => self.give_up(error),
        }
    }

    /// Deletes numbers from the blocks that begin with these: all cores check and build the next blocks while
    /// one is written. Returns the versions that brought the deleted rows.
    fn delete_from(
        &mut self,
        going: BTreeMap<i64, BTreeSet<i64>>,
    ) -> Result<BTreeSet<u64>, WriteError> {
        let checksums = self.checksums.clone().ok_or_else(WriteError::locked)?;
        let (mut versions, mut going) = (BTreeSet::new(), going.into_iter());
        let (mut beginning, ending) = self.split_reads(Wanted::Few, &checksums)?;
        // Blocks are read between writings, by the same thread.
        let this = RefCell::new(self);
        let read = || {
            let Some((first, numbers)) = going.next() else { return Ok(None) };
            let this = this.borrow();
            let Some(columns) = this.head_columns(first)? else {
                return Ok(Some((0, (None, numbers))));
            };
            let bytes = columns.bytes();
            let begun = beginning.block(&this, columns)?;
            Ok(Some((bytes, (Some(begun), numbers))))
        };
        let make = |(begun, numbers): (Option<Pending>, BTreeSet<i64>)| {
            let Some(begun) = begun else { return Ok(Err(unknown(numbers.first().copied()))) };
            if let Pending::Part(part) = &begun
                && let Some(lessened) = ending.in_place(part, &numbers)
            {
                return Ok(Ok(lessened));
            }
            match ending.block(begun) {
                Ok(stored) => Ok(Lessened::of(stored, &numbers, &checksums)),
                Err(again) => Err((again, numbers)),
            }
        };
        ordered_parallel(read, make, |made| {
            let mut this = this.borrow_mut();
            let Lessened { old, share, slots, left } =
                made.unwrap_or_else(|(again, numbers)| {
                    let gone = || unknown(numbers.first().copied());
                    let stored = this.stored_block(again.first)?.ok_or_else(gone)?;
                    Lessened::of(stored, &numbers, &checksums)
                })?;
            for &slot in &slots {
                let number = old.first() + slot as i64;
                let name = old.name(slot).ok_or_else(|| unknown(Some(number)))?;
                versions.insert(name.version);
                this.unlist(number, &name)?;
            }
            let new = match &left {
                Rest::Nothing => (0, 0),
                Rest::InPlace(left) => (left.head.len() as u64, left.share),
                Rest::Anew(built) => (built.block.len() as u64, built.share),
            };
            match left {
                Rest::Nothing => this.drop_block(old.first())?,
                Rest::InPlace(left) => this.write_left(&old, &left)?,
                Rest::Anew(built) => this.write_block(&built)?,
            }
            this.exchange_block((old.len() as u64, share), new);
            Ok::<_, WriteError>(())
        })?;
        Ok(versions)
    }
}

/// A block from which rows are taken.
struct Lessened {
    old: BlockHead,
    /// Its share of the sum over all blocks.
    share: u128,
    /// Slots of the rows that are deleted.
    slots: BTreeSet<usize>,
    left: Rest,
}

/// What is left of it.
enum Rest {
    Nothing,
    InPlace(Left),
    Anew(Built),
}

fn unknown(number: Option<i64>) -> WriteError {
    WriteError::unknown_record(RecordId::new(number.unwrap_or(0)))
}

fn slots_of(head: &BlockHead, numbers: &BTreeSet<i64>) -> Result<BTreeSet<usize>, WriteError> {
    let slot = |&number| head.slot_of(RecordId::new(number)).ok_or_else(|| unknown(Some(number)));
    numbers.iter().map(slot).collect()
}

impl Lessened {
    fn of(
        stored: Stored,
        numbers: &BTreeSet<i64>,
        checksums: &Checksums,
    ) -> Result<Self, WriteError> {
        let (block, share) = stored.sound(checksums)?;
        let slots = slots_of(block.head(), numbers)?;
        let left = if slots.len() == block.len() {
            Rest::Nothing
        } else {
            let built = Builder::of(&block, |slot| slots.contains(&slot)).finish(checksums)?;
            let none = || StoreFault::Damaged("a block with rows has none".into());
            Rest::Anew(built.ok_or_else(none)?)
        };
        Ok(Self { old: block.into_head(), share, slots, left })
    }
}

impl Ending {
    /// Removes rows from a block by reading few of its features; `None` if that is impossible, or if what was
    /// read is not as it was stored.
    fn in_place(&self, part: &Part, numbers: &BTreeSet<i64>) -> Option<Lessened> {
        let (old, share) = self.head(part)?;
        let slots = slots_of(&old, numbers).ok()?;
        if slots.len() == old.len() {
            // If all of its features go, all of them are read and checked.
            return None;
        }
        let leaving = Leaving::of(&old, &slots)?;
        let mut features = self.features(part, leaving.windows())?;
        let left = leaving.leave(&mut features, &self.checksums)?;
        Some(Lessened { old, share, slots, left: Rest::InPlace(left) })
    }
}
