//! Builds blocks from rows.

use super::layout::{
    BY_POSITION, COMMON_LENGTH, IN_FULL, SUBJECTS, TEXTS, checksums_of, group_size,
};
use super::{AtHand, BlockHead, Entry, Name, RowBlock, SPREAD};
use crate::StoreFault;
use crate::buffer_pool::wipe;
use crate::checksum::{Checksums, STORED};
use crate::name::Id;
use zeroize::Zeroize;

/// Takes the rows of a block, slot by slot.
pub(crate) struct Builder {
    first: i64,
    /// Number of rows that are expected to follow.
    expected: usize,
    slots: usize,
    present: Vec<u8>,
    targets: Vec<f64>,
    /// From which slot on, and the version.
    versions: Vec<(u32, u64)>,
    /// From which slot on, in which form, and the position less the slot.
    ids: Vec<(u32, u32, u64)>,
    texts: Texts,
    subjects: Texts,
    with_subject: Vec<u8>,
    features: Vec<u8>,
    /// End offset of the features of each slot.
    ends: Vec<u32>,
    /// Checksums of the groups that are unchanged, with the group size and the common length that they were
    /// made with: under another common length, empty slots take another amount of room in what is hashed.
    known: Vec<Option<[[u8; STORED]; 2]>>,
    known_for: (usize, Option<u32>),
}

/// Texts, and the end offset of each.
#[derive(Default)]
struct Texts {
    any: bool,
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Texts {
    fn push(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.any = true;
            reserve(&mut self.bytes, text.len());
            self.bytes.extend_from_slice(text.as_bytes());
        }
        // A block of more than 2^32 bytes cannot be stored.
        self.ends.push(self.bytes.len() as u32);
    }

    fn write(&self, head: &mut Vec<u8>) {
        head.extend(self.ends.iter().flat_map(|end| end.to_le_bytes()));
        head.extend_from_slice(&self.bytes);
    }
}

/// Makes room for more bytes. What they outgrow is overwritten: threads of a pool, which make blocks, may
/// leave it as it is for as long as they live.
pub(super) fn reserve(bytes: &mut Vec<u8>, more: usize) {
    /// Least growth, so that a few bytes are seldom moved.
    const LEAST: usize = 4096;
    let needed = bytes.len() + more;
    if needed > bytes.capacity() {
        let mut larger = Vec::with_capacity(needed.max(2 * bytes.capacity()).max(LEAST));
        larger.extend_from_slice(bytes);
        bytes.zeroize();
        *bytes = larger;
    }
}

/// A new block, and its share of the sum over all blocks.
pub(crate) struct Built {
    pub(crate) block: RowBlock,
    pub(crate) share: u128,
}

impl Builder {
    pub(crate) fn new(first: i64) -> Self {
        Self {
            first,
            expected: 0,
            slots: 0,
            present: Vec::new(),
            targets: Vec::new(),
            versions: Vec::new(),
            ids: Vec::new(),
            texts: Texts::default(),
            subjects: Texts::default(),
            with_subject: Vec::new(),
            features: Vec::new(),
            ends: Vec::new(),
            known: Vec::new(),
            known_for: (0, None),
        }
    }

    /// Says how many rows will come, if they are as long as the first.
    pub(crate) fn expect(&mut self, rows: usize) {
        self.expected = rows;
    }

    /// Starts from the rows of a block, without those in the slots for which `leaves` returns true. Every row
    /// that stays must have been found to be as it was stored.
    pub(crate) fn of(block: &RowBlock, leaves: impl Fn(usize) -> bool) -> Self {
        let mut builder = Self::new(block.first());
        reserve(&mut builder.features, block.features.len());
        for slot in 0..block.slots() {
            let stays = block.head.is_present(slot) && !leaves(slot);
            builder.push(if stays { block.entry(slot) } else { None });
        }
        let size = block.head.group_size();
        builder.known_for = (size, block.head.common_length());
        // A group changes if later slots join it.
        let whole = block.slots() / size;
        builder.known = (0..whole)
            .map(|group| {
                let stays = |slot| builder.is_present(slot) == block.head.is_present(slot);
                let same = block.head.group(group).all(stays);
                block.head.stored_checksums(group).filter(|_| same)
            })
            .collect();
        builder
    }

    /// Copies the head of a block whose rows lie at equal distances, without those in the slots for which
    /// `leaves` returns true; its checksums are not yet computed.
    pub(super) fn of_head(head: &BlockHead, leaves: impl Fn(usize) -> bool) -> Option<BlockHead> {
        let mut builder = Self::new(head.first());
        for slot in 0..head.slots() {
            let stays = head.is_present(slot) && !leaves(slot);
            let entry = |Name { id, subject, version }| {
                let target = head.target(slot)?;
                // The features stay in their place.
                Some(Entry { id, subject, target, version, features: &[] })
            };
            builder.push(if stays { entry(head.name(slot)?) } else { None });
        }
        let bytes = builder.head(Some(head.common_length()?), head.features());
        BlockHead::parse(head.first(), bytes, head.features(), [0; STORED])
    }

    /// Forgets the known checksums, so that all of them are computed.
    pub(crate) fn anew(self) -> Self {
        Self { known: Vec::new(), ..self }
    }

    /// Fills the next slot, or leaves it empty.
    pub(crate) fn push(&mut self, entry: Option<Entry<'_>>) {
        let slot = self.slots;
        self.slots += 1;
        if slot.is_multiple_of(8) {
            self.present.push(0);
            self.with_subject.push(0);
        }
        self.targets.push(entry.map_or(0.0, |entry| entry.target));
        let text = entry.and_then(|entry| match entry.id {
            Id::Text(text) => Some(text),
            Id::Position(_) => None,
        });
        self.texts.push(text);
        self.subjects.push(entry.and_then(|entry| entry.subject));
        if let Some(entry) = entry {
            if self.features.capacity() == 0 {
                let all = entry.features.len().saturating_mul(self.expected.max(1));
                reserve(&mut self.features, all.min(SPREAD));
            }
            reserve(&mut self.features, entry.features.len());
            self.present[slot / 8] |= 1 << (slot % 8);
            self.with_subject[slot / 8] |= u8::from(entry.subject.is_some()) << (slot % 8);
            self.features.extend_from_slice(entry.features);
            if self.versions.last().is_none_or(|(_, version)| *version != entry.version) {
                self.versions.push((slot as u32, entry.version));
            }
            let (form, less) = match entry.id {
                Id::Text(_) => (IN_FULL, 0),
                Id::Position(position) => (BY_POSITION, position.wrapping_sub(slot as u64)),
            };
            if self.ids.last().is_none_or(|(_, f, l)| (*f, *l) != (form, less)) {
                self.ids.push((slot as u32, form, less));
            }
        }
        self.ends.push(self.features.len() as u32);
    }

    fn is_present(&self, slot: usize) -> bool {
        self.present[slot / 8] >> (slot % 8) & 1 == 1
    }

    fn length(&self, slot: usize) -> u32 {
        self.ends[slot] - slot.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Returns the length that all present rows share, if they may lie at equal distances.
    fn common_length(&self) -> Option<u32> {
        let mut lengths = (0..self.slots).filter(|&slot| self.is_present(slot));
        let first = self.length(lengths.next()?);
        let fits = (first as usize).saturating_mul(self.slots) <= SPREAD;
        (fits && lengths.all(|slot| self.length(slot) == first)).then_some(first)
    }

    /// Returns the block; `None` if no row is present.
    ///
    /// # Errors
    /// Fails if the block has more than 4 GiB.
    pub(crate) fn finish(mut self, checksums: &Checksums) -> Result<Option<Built>, StoreFault> {
        let too_large = || StoreFault::Other("a block of rows has more than 4 GiB".into());
        let rows = self.present.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
        if rows == 0 {
            return Ok(None);
        }
        let longest = [&self.features, &self.texts.bytes, &self.subjects.bytes].map(Vec::len);
        if longest.iter().any(|&bytes| u32::try_from(bytes).is_err()) {
            return Err(too_large());
        }
        let common = self.common_length();
        if let Some(length) = common.map(|length| length as usize)
            && rows < self.slots
        {
            let mut spread = Vec::with_capacity(length * self.slots);
            let mut rest = &self.features[..];
            for slot in 0..self.slots {
                if self.is_present(slot) {
                    let (row, after) = rest.split_at(length);
                    spread.extend_from_slice(row);
                    rest = after;
                } else {
                    spread.resize(spread.len() + length, 0);
                }
            }
            wipe(&mut std::mem::replace(&mut self.features, spread));
        }
        if self.known_for != (group_size(self.slots, self.features.len()), common) {
            self.known.clear();
        }
        let head = self.head(common, self.features.len());
        let features = std::mem::take(&mut self.features);
        let block = RowBlock::parse(self.first, head, features, [0; STORED]);
        let mut block = block.ok_or_else(too_large)?;
        let known = |at: usize| self.known.get(at).copied().flatten();
        let all = AtHand(&[(0, &*block.features)]);
        let share = block.head.seal(all, checksums, known).ok_or_else(too_large)?;
        Ok(Some(Built { block, share }))
    }

    /// Returns the head, with room for its checksums, of a block with so many bytes of features.
    fn head(&self, common: Option<u32>, features: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(64 + self.slots * 16);
        let parts = [
            (common.is_some(), COMMON_LENGTH),
            (self.texts.any, TEXTS),
            (self.subjects.any, SUBJECTS),
        ];
        let parts: u32 = parts.iter().filter(|(any, _)| *any).map(|(_, part)| part).sum();
        head.extend((self.slots as u32).to_le_bytes());
        head.extend(parts.to_le_bytes());
        head.extend(common.iter().flat_map(|length| length.to_le_bytes()));
        head.extend_from_slice(&self.present);
        head.extend(self.targets.iter().flat_map(|target| target.to_le_bytes()));
        head.extend((self.versions.len() as u32).to_le_bytes());
        for (slot, version) in &self.versions {
            head.extend(slot.to_le_bytes());
            head.extend(version.to_le_bytes());
        }
        head.extend((self.ids.len() as u32).to_le_bytes());
        for (slot, form, less) in &self.ids {
            head.extend(slot.to_le_bytes());
            head.extend(form.to_le_bytes());
            head.extend(less.to_le_bytes());
        }
        if self.texts.any {
            self.texts.write(&mut head);
        }
        if self.subjects.any {
            head.extend_from_slice(&self.with_subject);
            self.subjects.write(&mut head);
        }
        if common.is_none() {
            head.extend(self.ends.iter().flat_map(|end| end.to_le_bytes()));
        }
        head.resize(head.len() + STORED * checksums_of(self.slots, features), 0);
        head
    }
}
