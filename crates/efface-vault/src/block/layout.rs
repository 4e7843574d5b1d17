//! Locates the parts of a block's head.

use super::{GROUP, LARGEST_GROUP, Name, TOGETHER};
use crate::checksum::STORED;
use crate::name::Id;
use std::ops::Range;

/// Flags of the parts that a head may have.
pub(super) const COMMON_LENGTH: u32 = 1;
pub(super) const TEXTS: u32 = 2;
pub(super) const SUBJECTS: u32 = 4;

/// Forms of an id in the list that says where ids of another form begin.
pub(super) const IN_FULL: u32 = 0;
pub(super) const BY_POSITION: u32 = 1;

/// Offsets into a head.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) slots: usize,
    length: Length,
    present: usize,
    targets: usize,
    /// From which slot on, and the version.
    versions: Vec<(usize, u64)>,
    /// From which slot on: positions, less the slot, or ids in full.
    ids: Vec<(usize, Option<u64>)>,
    texts: Option<Texts>,
    subjects: Option<(usize, Texts)>,
    /// Bytes of the features of all rows.
    pub(super) features: usize,
    /// Number of slots of a group.
    pub(super) group: usize,
    /// Offset of the checksums: of the features of each group, then of everything else of each.
    pub(super) checksums: usize,
}

/// How long the features of each row are.
#[derive(Debug)]
enum Length {
    Common(usize),
    /// Offset of the list of end offsets, one for each slot.
    Ends(usize),
}

/// Offsets of the list of the texts' ends, and of the texts.
#[derive(Debug)]
struct Texts {
    ends: usize,
    bytes: Range<usize>,
}

/// Reads one part after the other.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn skip(&mut self, bytes: usize) -> Option<usize> {
        let at = self.at;
        self.at = at.checked_add(bytes).filter(|&end| end <= self.bytes.len())?;
        Some(at)
    }

    fn u32(&mut self) -> Option<u32> {
        let at = self.skip(4)?;
        word(self.bytes, at)
    }

    fn u64(&mut self) -> Option<u64> {
        let at = self.skip(8)?;
        double(self.bytes, at)
    }

    /// Reads a list of the ascending slots at which runs begin.
    fn runs<T>(
        &mut self,
        slots: usize,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<(usize, T)>> {
        let count = self.u32()? as usize;
        let mut runs: Vec<(usize, T)> = Vec::with_capacity(count.min(slots));
        for _ in 0..count {
            let slot = self.u32()? as usize;
            if slot >= slots || runs.last().is_some_and(|(last, _)| *last >= slot) {
                return None;
            }
            runs.push((slot, read(self)?));
        }
        Some(runs)
    }

    /// Locates the end offsets of `slots` texts, and the texts.
    fn texts(&mut self, slots: usize) -> Option<Texts> {
        let ends = self.skip(4 * slots)?;
        let length = last_end(self.bytes, ends, slots)?;
        let start = self.skip(length)?;
        Some(Texts { ends, bytes: start..start + length })
    }
}

/// Returns the end of the last of `slots` parts, if their ends ascend.
fn last_end(bytes: &[u8], ends: usize, slots: usize) -> Option<usize> {
    let mut last = 0;
    for end in bytes.get(ends..ends + 4 * slots)?.as_chunks::<4>().0 {
        let end = u32::from_le_bytes(*end);
        if end < last {
            return None;
        }
        last = end;
    }
    Some(last as usize)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn double(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn bit(bytes: &[u8], at: usize, slot: usize) -> bool {
    bytes.get(at + slot / 8).is_some_and(|byte| byte >> (slot % 8) & 1 == 1)
}

/// Returns what is in force at a slot.
fn run<T: Copy>(runs: &[(usize, T)], slot: usize) -> Option<T> {
    let after = runs.partition_point(|(first, _)| *first <= slot);
    Some(runs.get(after.checked_sub(1)?)?.1)
}

impl Texts {
    fn get<'a>(&self, head: &'a [u8], slot: usize) -> Option<&'a str> {
        let range = part(head, self.ends, slot)?;
        std::str::from_utf8(head.get(self.bytes.clone())?.get(range)?).ok()
    }
}

/// Returns which bytes the part of a slot has.
fn part(head: &[u8], ends: usize, slot: usize) -> Option<Range<usize>> {
    let start = match slot.checked_sub(1) {
        Some(before) => word(head, ends + 4 * before)?,
        None => 0,
    };
    Some(start as usize..word(head, ends + 4 * slot)? as usize)
}

/// Slots of a group, of so many with so many bytes of features.
pub(super) fn group_size(slots: usize, features: usize) -> usize {
    if features <= 2 * TOGETHER {
        return GROUP;
    }
    (TOGETHER * slots).div_ceil(features).clamp(GROUP, LARGEST_GROUP)
}

/// Returns how many checksums a head has.
pub(super) fn checksums_of(slots: usize, features: usize) -> usize {
    2 * slots.div_ceil(group_size(slots, features))
}

impl Layout {
    pub(super) fn groups(&self) -> usize {
        self.slots.div_ceil(self.group)
    }

    /// Reads the parts of a head, which must be used up and fit the features. Names that are not valid text
    /// are found only when their row is read.
    pub(super) fn parse(head: &[u8], features: usize) -> Option<Self> {
        let mut cursor = Cursor { bytes: head, at: 0 };
        let slots = cursor.u32()? as usize;
        let parts = cursor.u32()?;
        // Every slot has a bit and a target, so that a wrong number of slots is found before it is used.
        let bits = slots.div_ceil(8);
        if head.len() < bits.checked_add(slots.checked_mul(8)?)? || parts & !7 != 0 {
            return None;
        }
        let common = match parts & COMMON_LENGTH {
            0 => None,
            _ => Some(cursor.u32()? as usize),
        };
        let present = cursor.skip(bits)?;
        let targets = cursor.skip(8 * slots)?;
        let versions = cursor.runs(slots, Cursor::u64)?;
        let ids = cursor.runs(slots, |cursor| {
            let (kind, less) = (cursor.u32()?, cursor.u64()?);
            match kind {
                IN_FULL => Some(None),
                BY_POSITION => Some(Some(less)),
                _ => None,
            }
        })?;
        let texts = match parts & TEXTS {
            0 => None,
            _ => Some(cursor.texts(slots)?),
        };
        let subjects = match parts & SUBJECTS {
            0 => None,
            _ => {
                let with = cursor.skip(bits)?;
                Some((with, cursor.texts(slots)?))
            }
        };
        let (length, bytes) = match common {
            Some(length) => (Length::Common(length), length.checked_mul(slots)?),
            None => {
                let ends = cursor.skip(4 * slots)?;
                (Length::Ends(ends), last_end(head, ends, slots)?)
            }
        };
        if bytes != features {
            return None;
        }
        let group = group_size(slots, features);
        let checksums = cursor.skip(STORED * checksums_of(slots, features))?;
        (cursor.at == head.len()).then_some(Self {
            slots,
            length,
            present,
            targets,
            versions,
            ids,
            texts,
            subjects,
            features,
            group,
            checksums,
        })
    }

    pub(super) fn is_present(&self, head: &[u8], slot: usize) -> bool {
        bit(head, self.present, slot)
    }

    pub(super) fn count(&self, head: &[u8]) -> usize {
        let bits = head.get(self.present..self.present + self.slots.div_ceil(8));
        bits.unwrap_or_default().iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Returns the bytes of each row's features, if all have equally many.
    pub(super) fn common_length(&self) -> Option<u32> {
        match self.length {
            Length::Common(length) => u32::try_from(length).ok(),
            Length::Ends(_) => None,
        }
    }

    /// Returns the byte range of the features of consecutive slots.
    pub(super) fn span(&self, head: &[u8], slots: Range<usize>) -> Option<Range<usize>> {
        Some(match self.length {
            Length::Common(length) => length * slots.start..length * slots.end,
            Length::Ends(_) if slots.is_empty() => 0..0,
            Length::Ends(ends) => {
                part(head, ends, slots.start)?.start..part(head, ends, slots.end - 1)?.end
            }
        })
    }

    pub(super) fn target(&self, head: &[u8], slot: usize) -> Option<f64> {
        Some(f64::from_bits(double(head, self.targets + 8 * slot)?))
    }

    /// Returns the names of the row in a slot.
    pub(super) fn name<'a>(&self, head: &'a [u8], slot: usize) -> Option<Name<'a>> {
        let id = match run(&self.ids, slot)? {
            Some(less) => Id::Position(less.wrapping_add(slot as u64)),
            None => Id::Text(self.texts.as_ref()?.get(head, slot)?),
        };
        let subject = match &self.subjects {
            Some((with, texts)) if bit(head, *with, slot) => Some(texts.get(head, slot)?),
            _ => None,
        };
        Some(Name { id, subject, version: run(&self.versions, slot)? })
    }
}
