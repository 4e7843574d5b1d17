//! Heads of blocks: all of their rows but the features.

use super::build::reserve;
use super::layout::Layout;
use super::{AtHand, Entry, Name};
use crate::checksum::{Checksums, STORED, put};
use crate::name::Id;
use crate::stored::RecordId;
use std::ops::Range;
use zeroize::Zeroizing;

/// The head of a block: the names of its rows, without their features. Once it has been checked, it is the
/// one that was stored; the heads that [`Vault::scan_heads`](crate::Vault::scan_heads) shows have been
/// checked.
#[derive(Debug)]
pub struct BlockHead {
    first: i64,
    bytes: Vec<u8>,
    stored: [u8; STORED],
    layout: Layout,
}

impl BlockHead {
    /// Returns a head as it was read, with the bytes of the block's features. `None` if its parts are not
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

    /// Returns the number of the row in the first slot.
    pub(crate) fn first(&self) -> i64 {
        self.first
    }

    /// Returns the number of slots, empty ones included.
    pub(crate) fn slots(&self) -> usize {
        self.layout.slots
    }

    /// Returns how many bytes the block's features have.
    pub(crate) fn features(&self) -> usize {
        self.layout.features
    }

    /// Returns the column `head`, and the stored half of its checksum.
    pub(crate) fn columns(&self) -> (&[u8], [u8; STORED]) {
        (&self.bytes, self.stored)
    }

    /// Returns how many rows are present.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.count(&self.bytes)
    }

    /// Returns whether no row is present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the slots of the rows that are present.
    pub(crate) fn present(&self) -> impl Iterator<Item = usize> {
        (0..self.layout.slots).filter(|&slot| self.is_present(slot))
    }

    pub(super) fn is_present(&self, slot: usize) -> bool {
        self.layout.is_present(&self.bytes, slot)
    }

    /// Returns the slot of a number, if a row is present there.
    pub(crate) fn slot_of(&self, record: RecordId) -> Option<usize> {
        let slot = usize::try_from(record.get().checked_sub(self.first)?).ok()?;
        (slot < self.layout.slots && self.is_present(slot)).then_some(slot)
    }

    /// Returns the names of the row in a slot.
    pub(crate) fn name(&self, slot: usize) -> Option<Name<'_>> {
        self.layout.name(&self.bytes, slot)
    }

    /// Returns the rows that are present, in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (RecordId, Name<'_>)> {
        self.present()
            .filter_map(|slot| Some((RecordId::new(self.first + slot as i64), self.name(slot)?)))
    }

    pub(super) fn target(&self, slot: usize) -> Option<f64> {
        self.layout.target(&self.bytes, slot)
    }

    /// Returns the number of slots of a group.
    pub(super) fn group_size(&self) -> usize {
        self.layout.group
    }

    /// Returns the bytes of each row's features, if all have equally many.
    pub(super) fn common_length(&self) -> Option<u32> {
        self.layout.common_length()
    }

    /// Returns the byte range of the features of consecutive slots.
    pub(super) fn span(&self, slots: Range<usize>) -> Option<Range<usize>> {
        self.layout.span(&self.bytes, slots)
    }

    /// Returns the row in a slot, whose features are at hand.
    pub(crate) fn entry<'a>(&'a self, features: AtHand<'_, 'a>, slot: usize) -> Option<Entry<'a>> {
        let Name { id, subject, version } = self.name(slot)?;
        let features = features.get(self.span(slot..slot + 1)?)?;
        Some(Entry { id, subject, target: self.target(slot)?, version, features })
    }

    /// Returns its share of the sum over all blocks; `None` if it is not as it was stored.
    pub(crate) fn check(&self, checksums: &Checksums) -> Option<u128> {
        let checksum = checksums.block(self.first, &self.bytes);
        (checksum.stored == self.stored).then_some(checksum.share)
    }

    pub(super) fn groups(&self) -> usize {
        self.layout.groups()
    }

    /// Returns the group of a slot.
    pub(crate) fn group_of(&self, slot: usize) -> usize {
        slot / self.layout.group
    }

    /// Returns the slots of a group.
    pub(crate) fn group(&self, group: usize) -> Range<usize> {
        let size = self.layout.group;
        group * size..((group + 1) * size).min(self.layout.slots)
    }

    /// Returns the byte range of a group's features.
    pub(crate) fn span_of_group(&self, group: usize) -> Option<Range<usize>> {
        self.span(self.group(group))
    }

    fn place(&self, checksum: Of, group: usize) -> Range<usize> {
        let before = match checksum {
            Of::Features => group,
            Of::Rest => self.groups() + group,
        };
        let at = self.layout.checksums + before * STORED;
        at..at + STORED
    }

    /// Reads one of a group's stored checksums.
    fn stored_checksum(&self, checksum: Of, group: usize) -> Option<[u8; STORED]> {
        self.bytes.get(self.place(checksum, group))?.try_into().ok()
    }

    pub(super) fn stored_checksums(&self, group: usize) -> Option<[[u8; STORED]; 2]> {
        Some([self.stored_checksum(Of::Features, group)?, self.stored_checksum(Of::Rest, group)?])
    }

    /// Returns whether the features of a group match the head.
    pub(crate) fn features_hold(
        &self,
        group: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> bool {
        let found = self.checksum_of_features(group, features, checksums);
        found.is_some() && found == self.stored_checksum(Of::Features, group)
    }

    /// Returns whether the rows of a group are those that were stored, even if other parts of the head are
    /// not.
    pub(crate) fn group_holds(
        &self,
        group: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> bool {
        let sums = self.checksums(group, features, checksums);
        sums.is_some() && sums == self.stored_checksums(group)
    }

    fn checksum_of_features(
        &self,
        group: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> Option<[u8; STORED]> {
        let slots = self.group(group);
        let features = features.get(self.span(slots.clone())?)?;
        Some(checksums.features(self.first + slots.start as i64, features))
    }

    /// Computes a group's checksums: one of its features, and one of everything else together with the first.
    fn checksums(
        &self,
        group: usize,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
    ) -> Option<[[u8; STORED]; 2]> {
        let of_features = self.checksum_of_features(group, features, checksums)?;
        let slots = self.group(group);
        let mut rest = Zeroizing::new(Vec::with_capacity(64 * slots.len()));
        rest.extend(of_features);
        rest.extend((self.first + slots.start as i64).to_le_bytes());
        for slot in slots {
            // An empty slot is marked by a length that no row can have.
            if !self.is_present(slot) {
                rest.extend(u64::MAX.to_le_bytes());
                continue;
            }
            let (Name { id, subject, version }, span) =
                (self.name(slot)?, self.span(slot..slot + 1)?);
            let texts = match id {
                Id::Position(_) => 8,
                Id::Text(text) => text.len(),
            };
            reserve(&mut rest, 64 + texts + subject.map_or(0, str::len));
            rest.extend((span.len() as u64).to_le_bytes());
            rest.extend(version.to_le_bytes());
            rest.extend(self.target(slot)?.to_le_bytes());
            rest.push(u8::from(matches!(id, Id::Text(_))));
            match id {
                Id::Position(position) => rest.extend(position.to_le_bytes()),
                Id::Text(text) => put(&mut rest, Some(text.as_bytes())),
            }
            put(&mut rest, subject.map(str::as_bytes));
        }
        Some([of_features, checksums.group(&rest)])
    }

    /// Writes the groups' checksums into the head and the stored half of its own next to it. Returns its
    /// share of the sum. `known` has the checksums of unchanged groups; the features of all others are at
    /// hand.
    pub(super) fn seal(
        &mut self,
        features: AtHand<'_, '_>,
        checksums: &Checksums,
        known: impl Fn(usize) -> Option<[[u8; STORED]; 2]>,
    ) -> Option<u128> {
        for group in 0..self.groups() {
            let sums = match known(group) {
                Some(known) => known,
                None => self.checksums(group, features, checksums)?,
            };
            for (of, sum) in [Of::Features, Of::Rest].into_iter().zip(sums) {
                let place = self.place(of, group);
                self.bytes.get_mut(place)?.copy_from_slice(&sum);
            }
        }
        let checksum = checksums.block(self.first, &self.bytes);
        self.stored = checksum.stored;
        Some(checksum.share)
    }
}

/// What of a group a checksum is of.
#[derive(Clone, Copy)]
enum Of {
    Features,
    Rest,
}
