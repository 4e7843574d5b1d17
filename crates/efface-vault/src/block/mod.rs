//! Rows in blocks, each of which is one row of the file's table `block`.
//!
//! A block has the rows of a fixed range of record numbers, so that which rows share a block says
//! nothing of their contents. A number's place in it is its slot; the slot of a deleted row stays
//! empty. Its bytes are a function of the rows that are present alone, its number of slots excepted,
//! and lie in two columns: `features`, the rows' bytes one after another, and `head`, everything else,
//! little-endian:
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
//! | 16 bytes per [`GROUP`] slots | keyed checksum of these rows |
//! | 16 bytes | keyed checksum of all features |
//!
//! With a common length, which blocks of up to 16 MiB have, the features of an empty slot are zeros, so that a deletion changes few pages;
//! without, an empty slot takes no room and its length is not kept.
//!
//! A whole block is checked by its head and all features at once, which is several times as fast as
//! group by group; the groups' checksums serve single rows, and tell what is damaged.

mod build;
mod layout;
#[cfg(test)]
mod tests;

pub(crate) use build::{Builder, Built};

use crate::checksum::{Checksums, STORED};
use crate::name::Id;
use crate::spare::Features;
use crate::stored::{RecordId, StoredRecord};
use layout::Layout;
use std::ops::Range;
use zeroize::Zeroizing;

/// Rows under one checksum: what a damaged byte makes unusable.
pub(crate) const GROUP: usize = 8;

/// Bytes of features that a block should have: enough for few reads, few enough to write again.
const BYTES: u64 = 128 << 10;

/// Most bytes of features that a block has with its rows at equal distances. Beyond, few long rows among
/// many empty slots would take too much room.
const SPREAD: usize = 16 << 20;

/// Rows per block where a row has about this many bytes. It is fixed with the vault, and to be computed
/// from what is public of rows, such as their columns.
#[must_use]
pub fn rows_per_block(bytes: u64) -> u32 {
    (BYTES / bytes.max(1)).clamp(GROUP as u64, 4096) as u32
}

/// A block as it is stored, whose parts are within their bounds. Its rows are those that were stored
/// once it has been checked: those that [`Vault::scan_blocks`](crate::Vault::scan_blocks) shows have.
#[derive(Debug)]
pub struct RowBlock {
    first: i64,
    head: Vec<u8>,
    features: Features,
    stored: [u8; STORED],
    layout: Layout,
}

/// A row of a block, apart from its names.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSpan {
    /// Its number.
    pub number: RecordId,
    /// Where its features lie in those of the block.
    pub features: Range<usize>,
    /// Its target.
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

/// Who a row is.
#[derive(Debug, Clone, Copy)]
pub struct Name<'a> {
    /// Its id as it is stored.
    pub id: Id<'a>,
    /// Its subject.
    pub subject: Option<&'a str>,
    /// The version that first saw it.
    pub version: u64,
}

/// The head of a block, which has the names of its rows, without their features. It is the one that was
/// stored once it has been checked: those that [`Vault::scan_heads`](crate::Vault::scan_heads) shows are.
#[derive(Debug)]
pub struct BlockHead {
    first: i64,
    bytes: Vec<u8>,
    stored: [u8; STORED],
    layout: Layout,
}

impl BlockHead {
    /// A head as it was read, with the bytes of the block's features. `None` if its parts are not
    /// within their bounds.
    pub(crate) fn parse(
        first: i64,
        bytes: Vec<u8>,
        features: usize,
        stored: [u8; STORED],
    ) -> Option<Self> {
        let layout = Layout::parse(&bytes, features)?;
        Some(Self { first, bytes, stored, layout })
    }

    /// The number of the row in the first slot.
    pub(crate) fn first(&self) -> i64 {
        self.first
    }

    /// Slots, empty ones included.
    pub(crate) fn slots(&self) -> usize {
        self.layout.slots
    }

    /// How many rows are present.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.count(&self.bytes)
    }

    /// Whether no row is present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Who the row of a number is, if it is present.
    pub(crate) fn name(&self, record: RecordId) -> Option<Name<'_>> {
        let slot = slot_in(&self.layout, &self.bytes, self.first, record)?;
        self.layout.name(&self.bytes, slot)
    }

    /// The rows that are present, in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (RecordId, Name<'_>)> {
        let present = |slot: &usize| self.layout.is_present(&self.bytes, *slot);
        (0..self.layout.slots).filter(present).filter_map(|slot| {
            let number = RecordId::new(self.first + slot as i64);
            Some((number, self.layout.name(&self.bytes, slot)?))
        })
    }

    /// Its share of the sum over all blocks; none if it is not as it was stored.
    pub(crate) fn check(&self, checksums: &Checksums) -> Option<u128> {
        let checksum = checksums.block(self.first, &self.bytes);
        (checksum.stored == self.stored).then_some(checksum.share)
    }
}

/// The slot of a number, if a row is present there.
fn slot_in(layout: &Layout, head: &[u8], first: i64, record: RecordId) -> Option<usize> {
    let slot = usize::try_from(record.get().checked_sub(first)?).ok()?;
    (slot < layout.slots && layout.is_present(head, slot)).then_some(slot)
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

    /// The row with its id in full.
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
    /// What is in it cannot be told.
    Unreadable,
    /// Something in it is not as it was stored.
    Changed {
        /// The groups whose rows are not, from 0; none if all rows are.
        groups: Vec<usize>,
    },
}

impl RowBlock {
    /// A block as it was read. `None` if its parts are not within their bounds.
    pub(crate) fn parse(
        first: i64,
        head: Vec<u8>,
        features: impl Into<Features>,
        stored: [u8; STORED],
    ) -> Option<Self> {
        let features = features.into();
        let layout = Layout::parse(&head, features.len())?;
        Some(Self { first, head, features, stored, layout })
    }

    /// The number of the row in the first slot.
    pub(crate) fn first(&self) -> i64 {
        self.first
    }

    /// Slots, empty ones included.
    pub(crate) fn slots(&self) -> usize {
        self.layout.slots
    }

    /// The columns `head` and `features`, and the stored half of the checksum.
    pub(crate) fn columns(&self) -> (&[u8], &[u8], [u8; STORED]) {
        (&self.head, &self.features, self.stored)
    }

    /// How many rows are present.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.count(&self.head)
    }

    /// Whether no row is present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot of a number, if a row is present there.
    pub(crate) fn slot_of(&self, record: RecordId) -> Option<usize> {
        slot_in(&self.layout, &self.head, self.first, record)
    }

    /// The slots of the rows that are present.
    pub(crate) fn present(&self) -> impl Iterator<Item = usize> {
        (0..self.layout.slots).filter(|&slot| self.layout.is_present(&self.head, slot))
    }

    /// The numbers of the rows that are present, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = RecordId> {
        self.present().map(|slot| RecordId::new(self.first + slot as i64))
    }

    /// The row in a slot.
    pub(crate) fn entry(&self, slot: usize) -> Option<Entry<'_>> {
        self.layout.entry(&self.head, &self.features, slot)
    }

    /// Who the rows are that are present, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = Name<'_>> {
        self.present().filter_map(|slot| self.layout.name(&self.head, slot))
    }

    /// The features of all rows.
    #[must_use]
    pub fn features(&self) -> &[u8] {
        &self.features
    }

    /// Where the features of each row that is present lie in [those of all](Self::features), in the order
    /// of their numbers.
    pub fn spans(&self) -> impl Iterator<Item = RowSpan> {
        self.present().filter_map(|slot| {
            let features = self.layout.span(&self.head, slot..slot + 1)?;
            let target = self.layout.target(&self.head, slot)?;
            Some(RowSpan { number: RecordId::new(self.first + slot as i64), features, target })
        })
    }

    /// The [features of all rows](Self::features), and [where those of each lie](Self::spans).
    #[must_use]
    pub fn into_contents(self) -> (Vec<u8>, Vec<RowSpan>) {
        let rows = self.spans().collect();
        (self.features.into_bytes(), rows)
    }

    /// Shows each row that is present, in the order of their numbers.
    ///
    /// # Errors
    /// The visitor's.
    pub fn for_each<E>(
        &self,
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut id = String::new();
        for slot in self.present() {
            if let Some(entry) = self.entry(slot) {
                visit(RecordId::new(self.first + slot as i64), entry.record(&mut id))?;
            }
        }
        Ok(())
    }

    /// Its share of the sum over all blocks, once every row has been found to be as it was stored.
    pub(crate) fn check(&self, checksums: &Checksums) -> Result<u128, Flaw> {
        let checksum = checksums.block(self.first, &self.head);
        let whole = checksums.features(self.first, &self.features);
        if checksum.stored == self.stored && self.stored_checksum(self.groups()) == Some(whole) {
            return Ok(checksum.share);
        }
        let groups = (0..self.groups()).filter(|&group| !self.group_holds(group, checksums));
        Err(Flaw::Changed { groups: groups.collect() })
    }

    /// Whether the head and the row of one slot are as they were stored.
    pub(crate) fn check_slot(&self, slot: usize, checksums: &Checksums) -> bool {
        checksums.block(self.first, &self.head).stored == self.stored
            && self.group_holds(slot / GROUP, checksums)
    }

    /// The checksum that the head has for a group; for the one after the last, that of all features.
    fn stored_checksum(&self, group: usize) -> Option<[u8; STORED]> {
        let at = self.layout.checksums + group * STORED;
        self.head.get(at..at + STORED)?.try_into().ok()
    }

    fn groups(&self) -> usize {
        self.layout.slots.div_ceil(GROUP)
    }

    fn group_holds(&self, group: usize, checksums: &Checksums) -> bool {
        let found = self.group_checksum(group, checksums);
        found.is_some() && found == self.stored_checksum(group)
    }

    fn group_checksum(&self, group: usize, checksums: &Checksums) -> Option<[u8; STORED]> {
        let slots = group * GROUP..((group + 1) * GROUP).min(self.layout.slots);
        let features = self.layout.features_of(&self.head, &self.features, slots.clone())?;
        let mut rest = Zeroizing::new(Vec::with_capacity(64 * GROUP));
        rest.extend((self.first + slots.start as i64).to_le_bytes());
        for slot in slots {
            // A length that no row can have marks an empty slot.
            if !self.layout.is_present(&self.head, slot) {
                rest.extend(u64::MAX.to_le_bytes());
                continue;
            }
            let entry = self.entry(slot)?;
            rest.extend((entry.features.len() as u64).to_le_bytes());
            rest.extend(entry.version.to_le_bytes());
            rest.extend(entry.target.to_le_bytes());
            rest.push(u8::from(matches!(entry.id, Id::Text(_))));
            match entry.id {
                Id::Position(position) => rest.extend(position.to_le_bytes()),
                Id::Text(text) => crate::checksum::put(&mut rest, Some(text.as_bytes())),
            }
            crate::checksum::put(&mut rest, entry.subject.map(str::as_bytes));
        }
        Some(checksums.group(features, &rest))
    }

    /// Puts the checksums of all groups and of all features into the head, and the stored half of its own
    /// beside it. Returns its share of the sum. `known` has those of groups that are as they were.
    fn seal(&mut self, checksums: &Checksums, known: &[Option<[u8; STORED]>]) -> Option<u128> {
        for group in 0..=self.groups() {
            let found = match known.get(group) {
                Some(Some(known)) => *known,
                _ if group == self.groups() => checksums.features(self.first, &self.features),
                _ => self.group_checksum(group, checksums)?,
            };
            let at = self.layout.checksums + group * STORED;
            self.head.get_mut(at..at + STORED)?.copy_from_slice(&found);
        }
        let checksum = checksums.block(self.first, &self.head);
        self.stored = checksum.stored;
        Some(checksum.share)
    }
}
