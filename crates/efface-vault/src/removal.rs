//! Records that are deleted: out of their blocks, and of the tables of names.

use crate::block::{Builder, Built, RowBlock};
use crate::checksum::Checksums;
use crate::in_order::in_order;
use crate::record::{Stored, first_of};
use crate::rewrite::Changed;
use crate::stored::RecordId;
use crate::straight::Wanted;
use crate::two_steps::Begun;
use crate::{StoreFault, Transaction, WriteError};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

impl Transaction<'_> {
    /// Deletes records, and with them the digest of the request that brought them: it is a function
    /// of their contents. Their bytes are gone from the file when the change is committed. What the
    /// caller computed from them (caches, its own copies) is the caller's to erase.
    ///
    /// # Errors
    /// [`WriteError::UnknownRecord`] if one is not in the vault or is named twice;
    /// [`RowFault::Rows`](crate::RowFault::Rows) if one, or one that shares a block with it, is not as it was
    /// stored;
    /// [`RowFault::Index`](crate::RowFault::Index) if it is not listed under its names.
    pub fn delete_records(&mut self, records: &[RecordId]) -> Result<(), WriteError> {
        self.touch()?;
        let size = self.block_rows()?;
        let mut going: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for &record in records {
            if !going.entry(first_of(record.get(), size)).or_default().insert(record.get()) {
                return self.give_up(WriteError::UnknownRecord { record });
            }
        }
        match self.delete_from(going) {
            Ok(versions) => self.erase_bodies(Some(&versions)),
            Err(error) => self.give_up(error),
        }
    }

    /// Takes numbers out of the blocks that begin with these: all cores check and make the next blocks while
    /// one is written. Returns the versions that brought what is gone.
    fn delete_from(
        &mut self,
        going: BTreeMap<i64, BTreeSet<i64>>,
    ) -> Result<BTreeSet<u64>, WriteError> {
        let checksums = self.checksums.clone().ok_or(WriteError::Locked)?;
        let (mut versions, mut going) = (BTreeSet::new(), going.into_iter());
        let (mut beginning, ending) = self.in_two_steps(Wanted::Few, &checksums)?;
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
        let make = |(begun, numbers): (Option<Begun>, BTreeSet<i64>)| match begun
            .map(|begun| ending.block(begun))
            .transpose()
        {
            Ok(stored) => Ok(Lessened::of(stored, &numbers, &checksums)),
            Err(again) => Err((again, numbers)),
        };
        in_order(read, make, |made| {
            let mut this = this.borrow_mut();
            let made = made.unwrap_or_else(|(again, numbers)| {
                Lessened::of(this.stored_block(again.first)?, &numbers, &checksums)
            });
            let Lessened { block, share, slots, built, changed } = made?;
            for &slot in &slots {
                let (number, entry) = (block.first() + slot as i64, block.entry(slot));
                let gone = || WriteError::UnknownRecord { record: RecordId::new(number) };
                let entry = entry.ok_or_else(gone)?;
                versions.insert(entry.version);
                this.unlist(number, &entry)?;
            }
            let old = (block.len() as u64, share);
            let Some(built) = built else {
                this.drop_block(block.first())?;
                this.exchange_block(old, (0, 0));
                return Ok(());
            };
            this.write_block(&built, &changed)?;
            this.exchange_block(old, (built.block.len() as u64, built.share));
            Ok::<_, WriteError>(())
        })?;
        Ok(versions)
    }
}

/// A block from which rows are taken.
struct Lessened {
    block: RowBlock,
    /// Its share of the sum over all blocks.
    share: u128,
    /// Where those rows are that go.
    slots: BTreeSet<usize>,
    /// The block without them; none where no row is left.
    built: Option<Built>,
    /// Where its features are others.
    changed: Changed,
}

impl Lessened {
    fn of(
        stored: Option<Stored>,
        numbers: &BTreeSet<i64>,
        checksums: &Checksums,
    ) -> Result<Self, WriteError> {
        let unknown = |number: &i64| WriteError::UnknownRecord { record: RecordId::new(*number) };
        let stored = stored.ok_or_else(|| unknown(numbers.first().unwrap_or(&0)))?;
        let (block, share) = stored.sound(checksums)?;
        let slot =
            |number: &i64| block.slot_of(RecordId::new(*number)).ok_or_else(|| unknown(number));
        let slots: BTreeSet<usize> = numbers.iter().map(slot).collect::<Result<_, _>>()?;
        let built = if slots.len() == block.len() {
            None
        } else {
            let built = Builder::of(&block, |slot| slots.contains(&slot)).finish(checksums)?;
            let none = || StoreFault::Damaged("a block with rows has none".into());
            Some(built.ok_or_else(none)?)
        };
        let changed = built.as_ref().map(|built| Changed::between(&block, &built.block));
        Ok(Self { block, share, slots, built, changed: changed.unwrap_or(Changed::All) })
    }
}
