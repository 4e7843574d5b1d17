//! Stores rows in blocks: a block is one row of the file's table `block` and one of `content`.
//!
//! A block has the rows of a fixed range of record numbers, so that sharing a block says nothing of the rows'
//! contents. A number's place in it is its slot; the slot of a deleted row stays empty. Apart from its number
//! of slots, its bytes are a function of the rows that are present alone. They lie in two columns:
//! `content.features`, the rows' bytes one after another, and `block.head`, everything else, little-endian:
//!
//! | | |
//! |---|---|
//! | `u32` | slots |
//! | `u32` | which parts follow: 1 a common length, 2 ids in full, 4 subjects |
//! | `u32` | bytes of each row's features, if all present rows have equally many |
//! | a bit per slot | whether a row is present |
//! | `f64` per slot | target; 0 in an empty slot |
//! | `u32`, and for each `u32 u64` | where another version begins, and the version |
//! | `u32`, and for each `u32 u32 u64` | where other ids begin; 0: in full, 1: positions, less the slot |
//! | `u32` per slot, bytes | where each id ends, ids in full |
//! | a bit per slot, `u32` per slot, bytes | who has a subject, where each ends, subjects |
//! | `u32` per slot | where each row's features end, if there is no common length |
//! | 16 bytes per group of slots | keyed checksum of their features |
//! | 16 bytes per group of slots | keyed checksum of everything else of these rows, and of the one before |
//!
//! Blocks of up to 16 MiB have a common length: the features of an empty slot are zeros, so that a deletion
//! reads and changes few pages ([`Leaving`]). Without a common length, an empty slot takes no room and its
//! length is not kept.
//!
//! A group is [`GROUP`] slots, or as many as have [`TOGETHER`] bytes of features and no row fewer, up to
//! [`LARGEST_GROUP`], if a block has more than twice that: a hash takes so many bytes side by side, several
//! times as fast as a few kilobytes or slightly fewer bytes. A whole block is checked by its head and its
//! features, and so are single rows; if the head is not as it was stored, the checksums of everything else
//! show what is damaged.

mod build;
mod head;
mod layout;
mod leaving;
#[cfg(test)]
mod tests;

pub(crate) use build::{Builder, Built};
pub use head::BlockHead;
pub(crate) use leaving::{Leaving, Left};

use crate::buffer_pool::Features;
use crate::checksum::{Checksums, STORED};
use crate::name::Id;
use crate::stored::{RecordId, StoredRecord};
use std::ops::Range;

/// Rows under one checksum, at least and at most: what a damaged byte makes unusable.
const GROUP: usize = 8;
const LARGEST_GROUP: usize = 64;

/// Bytes of features under one checksum in a large block.
const TOGETHER: usize = 16 << 10;

/// Bytes of features that a block should have: enough to keep reads few, few enough to rewrite.
const BYTES: u64 = 128 << 10;

/// Most bytes of features of a block whose rows lie at equal distances. Beyond that, few long rows among many
/// empty slots would take too much room.
const SPREAD: usize = 16 << 20;

/// Returns the number of rows per block if a row has about this many bytes. The number is fixed with the
/// vault, so `bytes` must follow from public properties of the rows, such as their columns.
#[must_use]
pub fn rows_per_block(bytes: u64) -> u32 {
    (BYTES / bytes.max(1)).clamp(GROUP as u64, 4096) as u32
}

/// A block as it is stored, whose parts are within their bounds. Once it has been checked, its rows are those
/// that were stored; the blocks that [`Vault::scan_blocks`](crate::Vault::scan_blocks) shows have been
/// checked.
#[derive(Debug)]
pub struct RowBlock {
    head: BlockHead,
    features: Features,
}

/// The features of a block that are at hand: pieces of their bytes, and the offset of each.
#[derive(Clone, Copy)]
pub(crate) struct AtHand<'p, 'a>(pub(crate) &'p [(usize, &'a [u8])]);

impl<'a> AtHand<'_, 'a> {
    fn get(&self, range: Range<usize>) -> Option<&'a [u8]> {
        let within = |&(start, bytes): &(usize, &'a [u8])| {
            bytes.get(range.start.checked_sub(start)?..range.end.checked_sub(start)?)
        };
        if range.is_empty() { Some(&[]) } else { self.0.iter().find_map(within) }
    }
}

/// A row of a block, apart from its names.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSpan {
    /// The row's number.
    pub number: RecordId,
    /// Byte range of the row's features in those of the block.
    pub features: Range<usize>,
    /// The row's target value.
    pub target: f64,
}

/// A row of a block, its id as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) id: Id<'a>,
    pub(crate) subject: Option<&'a str>,
    pub(crate) target: f64,
    pub(crate) version: u64,
    pub(crate) features: &'a [u8],
}

/// The identity of a row.
#[derive(Debug, Clone, Copy)]
pub struct Name<'a> {
    /// Its id as it is stored.
    pub id: Id<'a>,
    /// Subject of the record, if it has one.
    pub subject: Option<&'a str>,
    /// Version of the model that first saw the record.
    pub version: u64,
}

impl<'a> Entry<'a> {
    pub(crate) fn of(record: &StoredRecord<'a>) -> Self {
        Self {
            id: Id::of(record.id),
            subject: record.subject,
            // The sign of zero is not kept.
            target: record.target + 0.0,
            version: record.added_version,
            features: record.features,
        }
    }

    /// Returns the row with its id in full.
    pub(crate) fn record<'b>(&self, id: &'b mut String) -> StoredRecord<'b>
    where
        'a: 'b,
    {
        StoredRecord {
            id: self.id.text(id),
            subject: self.subject,
            target: self.target,
            features: self.features,
            added_version: self.version,
        }
    }
}

/// What is wrong with a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The contents cannot be read.
    Unreadable,
    /// Something in it is not as it was stored.
    Changed {
        /// The slots of the rows that are not as they were stored; empty if all rows are.
        slots: Vec<Range<usize>>,
    },
}

impl RowBlock {
    /// Parses a block as it was read. Returns `None` if its parts are not within their bounds.
    pub(crate) fn parse(
        first: i64,
        head: Vec<u8>,
        features: impl Into<Features>,
        stored: [u8; STORED],
    ) -> Option<Self> {
        let features = features.into();
        Some(Self { head: BlockHead::parse(first, head, features.len(), stored)?, features })
    }

    /// Returns the number of the row in the first slot.
    pub(crate) fn first(&self) -> i64 {
        self.head.first()
    }

    /// Returns the number of slots, empty ones included.
    pub(crate) fn slots(&self) -> usize {
        self.head.slots()
    }

    pub(crate) fn head(&self) -> &BlockHead {
        &self.head
    }

    pub(crate) fn into_head(self) -> BlockHead {
        self.head
    }

    /// Returns how many rows are present.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len()
    }

    /// Returns whether no row is present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the numbers of the rows that are present, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = RecordId> {
        self.head.present().map(|slot| RecordId::new(self.first() + slot as i64))
    }

    /// Returns the row in a slot.
    pub(crate) fn entry(&self, slot: usize) -> Option<Entry<'_>> {
        self.head.entry(AtHand(&[(0, &self.features)]), slot)
    }

    /// Returns the names of the rows that are present, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = Name<'_>> {
        self.head.rows().map(|(_, name)| name)
    }

    /// Returns the features of all rows.
    #[must_use]
    pub fn features(&self) -> &[u8] {
        &self.features
    }

    /// Returns where the features of each present row lie in [those of all](Self::features), in the order of
    /// the rows' numbers.
    pub fn spans(&self) -> impl Iterator<Item = RowSpan> {
        self.head.present().filter_map(|slot| {
            let (features, target) = (self.head.span(slot..slot + 1)?, self.head.target(slot)?);
            Some(RowSpan { number: RecordId::new(self.first() + slot as i64), features, target })
        })
    }

    /// Returns the [features of all rows](Self::features) and [where those of each lie](Self::spans).
    #[must_use]
    pub fn into_contents(self) -> (Vec<u8>, Vec<RowSpan>) {
        let rows = self.spans().collect();
        (self.features.into_bytes(), rows)
    }

    /// Calls a function with each present row, in the order of their numbers.
    ///
    /// # Errors
    /// Fails with the visitor's error.
    pub fn for_each<E>(
        &self,
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut id = String::new();
        for slot in self.head.present() {
            if let Some(entry) = self.entry(slot) {
                visit(RecordId::new(self.first() + slot as i64), entry.record(&mut id))?;
            }
        }
        Ok(())
    }

    /// Checks every row and returns the block's share of the sum over all blocks.
    pub(crate) fn check(&self, checksums: &Checksums) -> Result<u128, Flaw> {
        let all = [(0, &*self.features)];
        let all = AtHand(&all);
        let head = &self.head;
        let mut groups = 0..head.groups();
        if let Some(share) = head.check(checksums)
            && groups.all(|group| head.features_hold(group, all, checksums))
        {
            return Ok(share);
        }
        let groups = 0..head.groups();
        let changed = groups.filter(|&group| !head.group_holds(group, all, checksums));
        Err(Flaw::Changed { slots: changed.map(|group| head.group(group)).collect() })
    }
}
