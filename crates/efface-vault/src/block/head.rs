//! Heads of blocks: all of their rows but the features.

use super::layout::Layout;
use super::{AtHand, Entry, GROUP, Name, SEGMENT};
use crate::checksum::{Checksums, STORED};
use crate::name::Id;
use crate::stored::RecordId;
use std::ops::Range;
use zeroize::Zeroizing;

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

    /// Bytes of the block's features.
    pub(crate) fn features(&self) -> usize {
        self.layout.features
    }

    /// The column `head`, and the stored half of its checksum.
    pub(crate) fn columns(&self) -> (&[u8], [u8; STORED]) {
        (&self.bytes, self.stored)
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

    /// The slots of the rows that are present.
    pub(crate) fn present(&self) -> impl Iterator<Item = usize> {
        (0..self.layout.slots).filter(|&slot| self.is_present(slot))
    }

    pub(super) fn is_present(&self, slot: usize) -> bool {
        self.layout.is_present(&self.bytes, slot)
    }

    /// The slot of a number, if a row is present there.
    pub(crate) fn slot_of(&self, record: RecordId) -> Option<usize> {
        let slot = usize::try_from(record.get().checked_sub(self.first)?).ok()?;
        (slot < self.layout.slots && self.is_present(slot)).then_some(slot)
    }

    /// Who the row in a slot is.
    pub(crate) fn name(&self, slot: usize) -> Option<Name<'_>> {
        self.layout.name(&self.bytes, slot)
    }

    /// The rows that are present, in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (RecordId, Name<'_>)> {
        self.present()
            .filter_map(|slot| Some((RecordId::new(self.first + slot as i64), self.name(slot)?)))
    }

    pub(super) fn target(&self, slot: usize) -> Option<f64> {
        self.layout.target(&self.bytes, slot)
    }

    /// The bytes of each row's features, if all have equally many.
    pub(super) fn common_length(&self) -> Option<u32> {
        self.layout.common_length()
    }

    /// Where the features of consecutive slots lie.
    pub(super) fn span(&self, slots: Range<usize>) -> Option<Range<usize>> {
        self.layout.span(&self.bytes, slots)
    }

    /// Where the features lie of the rows that share a checksum with that of a slot.
    pub(crate) fn span_of_group(&self, slot: usize) -> Option<Range<usize>> {
        self.span(self.group(slot / GROUP))
    }

    /// The row in a slot, whose features are at hand.
    pub(crate) fn entry<'a>(&'a self, features: AtHand<'_, 'a>, slot: usize) -> Option<Entry<'a>> {
        let Name { id, subject, version } = self.name(slot)?;
        let features = features.get(self.span(slot..slot + 1)?)?;
        Some(Entry { id, subject, target: self.target(slot)?, version, features })
    }

    /// Its share of the sum over all blocks; none if it is not as it was stored.
    pub(crate) fn check(&self, checksums: &Checksums) -> Option<u128> {
        let checksum = checksums.block(self.first, &self.bytes);
        (checksum.stored == self.stored).then_some(checksum.share)
    }

    pub(super) fn groups(&self) -> usize {
        self.layout.groups()
    }

    pub(super) fn segments(&self) -> usize {
        self.layout.segments()
    }

    /// The slots of a group.
    fn group(&self, group: usize) -> Range<usize> {
        group * GROUP..((group + 1) * GROUP).min(self.layout.slots)
    }

    /// Where a segment of the features lies.
    pub(super) fn segment(&self, segment: usize) -> Range<usize> {
        segment * SEGMENT..((segment + 1) * SEGMENT).min(self.layout.features)
    }

    /// Where a checksum is: those of groups come first, then those of segments.
    fn place(&self, checksum: usize) -> Range<usize> {
        let at = self.layout.checksums + checksum * STORED;
        at..at + STORED
    }

    /// One of its checksums.
    pub(super) fn stored_checksum(&self, checksum: usize) -> Option<[u8; STORED]> {
        self.bytes.get(self.place(checksum))?.try_into().ok()
    }

    /// Whether the rows of a group are those of the head.
    pub(crate) fn group_holds(
        &self,
        group: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> bool {
        let found = self.group_checksum(group, features, checksums);
        found.is_some() && found == self.stored_checksum(group)
    }

    /// Whether the features of a segment are those of the head.
    pub(super) fn segment_holds(
        &self,
        segment: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> bool {
        let found = self.segment_checksum(segment, features, checksums);
        found.is_some() && found == self.stored_checksum(self.groups() + segment)
    }

    fn segment_checksum(
        &self,
        segment: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> Option<[u8; STORED]> {
        let features = features.get(self.segment(segment))?;
        Some(checksums.segment(self.first, segment as u64, features))
    }

    fn group_checksum(
        &self,
        group: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> Option<[u8; STORED]> {
        let slots = self.group(group);
        let all = features.get(self.span(slots.clone())?)?;
        let mut rest = Zeroizing::new(Vec::with_capacity(64 * GROUP));
        rest.extend((self.first + slots.start as i64).to_le_bytes());
        for slot in slots {
            // A length that no row can have marks an empty slot.
            if !self.is_present(slot) {
                rest.extend(u64::MAX.to_le_bytes());
                continue;
            }
            let entry = self.entry(features, slot)?;
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
        Some(checksums.group(all, &rest))
    }

    /// Puts its checksums into the head, and the stored half of its own beside it. Returns its share of the
    /// sum. `known` has those that are as they were, the features of others are at hand.
    pub(super) fn seal(
        &mut self,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
        known: impl Fn(usize) -> Option<[u8; STORED]>,
    ) -> Option<u128> {
        let groups = self.groups();
        for at in 0..groups + self.segments() {
            let found = match known(at) {
                Some(known) => known,
                None if at < groups => self.group_checksum(at, features, checksums)?,
                None => self.segment_checksum(at - groups, features, checksums)?,
            };
            let place = self.place(at);
            self.bytes.get_mut(place)?.copy_from_slice(&found);
        }
        let checksum = checksums.block(self.first, &self.bytes);
        self.stored = checksum.stored;
        Some(checksum.share)
    }
}
