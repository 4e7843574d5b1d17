//! Removes rows from a block in place.
//!
//! If rows lie at equal distances, the slots of removed rows become zeros, and nothing else of the features
//! changes. So few features are needed: those of the rows that share a checksum with a removed one, to show
//! that they are as they were stored.

use super::{AtHand, BlockHead, Builder};
use crate::buffer_pool::Features;
use crate::checksum::Checksums;
use std::collections::BTreeSet;
use std::ops::Range;

/// Some rows of a block, but not all, that are to be removed in place.
pub(crate) struct Leaving<'a> {
    head: &'a BlockHead,
    slots: &'a BTreeSet<usize>,
    /// Their groups, and the byte ranges of the features of these.
    groups: BTreeSet<usize>,
    windows: Vec<Range<usize>>,
}

/// A block after rows left it in place.
pub(crate) struct Left {
    pub(crate) head: BlockHead,
    /// Its share of the sum over all blocks.
    pub(crate) share: u128,
    /// The groups whose features changed, by the head before, and the byte ranges that became zeros.
    pub(crate) groups: BTreeSet<usize>,
    pub(crate) zeros: Vec<Range<usize>>,
}

impl<'a> Leaving<'a> {
    /// Selects the rows in these slots, which are present, of a head that is as it was stored. Returns `None`
    /// if rows do not lie at equal distances.
    pub(crate) fn of(head: &'a BlockHead, slots: &'a BTreeSet<usize>) -> Option<Self> {
        head.common_length()?;
        let groups: BTreeSet<usize> = slots.iter().map(|&slot| head.group_of(slot)).collect();
        let windows = groups.iter().map(|&group| head.span_of_group(group)).collect::<Option<_>>();
        Some(Self { head, slots, groups, windows: windows? })
    }

    /// Returns the byte ranges of the features that are needed.
    pub(crate) fn windows(&self) -> &[Range<usize>] {
        &self.windows
    }

    /// Removes the rows; `features` are those of the windows. Returns `None` if these do not match the head.
    pub(crate) fn leave(&self, features: &mut [Features], checksums: &Checksums) -> Option<Left> {
        let head = self.head;
        let before = at_hand(&self.windows, features);
        let holds = |&group: &usize| head.features_hold(group, AtHand(&before), checksums);
        if !self.groups.iter().all(holds) {
            return None;
        }
        let mut zeros = Vec::with_capacity(self.slots.len());
        for &slot in self.slots {
            let span = head.span(slot..slot + 1)?;
            if span.is_empty() {
                continue;
            }
            let at = self.windows.partition_point(|window| window.end <= span.start);
            let (window, bytes) = (self.windows.get(at)?, features.get_mut(at)?);
            bytes.get_mut(span.start - window.start..span.end - window.start)?.fill(0);
            zeros.push(span);
        }
        let known = |group: usize| {
            let stays = !self.groups.contains(&group);
            if stays { head.stored_checksums(group) } else { None }
        };
        let mut left = Builder::of_head(head, |slot| self.slots.contains(&slot))?;
        let share = left.seal(AtHand(&at_hand(&self.windows, features)), checksums, known)?;
        Some(Left { head: left, share, groups: self.groups.clone(), zeros })
    }
}

fn at_hand<'b>(windows: &[Range<usize>], features: &'b [Features]) -> Vec<(usize, &'b [u8])> {
    windows.iter().zip(features).map(|(window, bytes)| (window.start, &**bytes)).collect()
}
