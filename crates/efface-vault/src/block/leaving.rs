//! Rows that leave a block in place.
//!
//! Where rows lie at equal distances their slots become zeros, and nothing else of the features changes. So
//! few of these are needed: those of the rows that share a checksum with one that leaves, in whole segments,
//! which shows that they are as they were stored.

use super::{AtHand, BlockHead, Builder, SEGMENT};
use crate::checksum::Checksums;
use crate::spare::Features;
use std::collections::BTreeSet;
use std::ops::Range;

/// Some rows of a block, not all, that are to leave it in place.
pub(crate) struct Leaving<'a> {
    head: &'a BlockHead,
    slots: &'a BTreeSet<usize>,
    windows: Vec<Range<usize>>,
}

/// A block after rows left it in place.
pub(crate) struct Left {
    pub(crate) head: BlockHead,
    /// Its share of the sum over all blocks.
    pub(crate) share: u128,
    /// Where features became zeros.
    pub(crate) zeros: Vec<Range<usize>>,
}

impl<'a> Leaving<'a> {
    /// The rows in these slots, which are present; none where rows do not lie at equal distances.
    pub(crate) fn of(head: &'a BlockHead, slots: &'a BTreeSet<usize>) -> Option<Self> {
        head.common_length()?;
        let mut windows: Vec<Range<usize>> = Vec::new();
        for &slot in slots {
            let Range { start, end } = head.span_of_group(slot)?;
            let start = start / SEGMENT * SEGMENT;
            let end = end.next_multiple_of(SEGMENT).min(head.features());
            match windows.last_mut() {
                Some(last) if last.end >= start => last.end = last.end.max(end),
                _ => windows.push(start..end),
            }
        }
        Some(Self { head, slots, windows })
    }

    /// Which features are needed.
    pub(crate) fn windows(&self) -> &[Range<usize>] {
        &self.windows
    }

    /// Takes the rows out; `features` are those of the windows. None where these, or the head, are not as
    /// they were stored.
    pub(crate) fn leave(&self, features: &mut [Features], checksums: &Checksums) -> Option<Left> {
        let head = self.head;
        let starts: Vec<usize> = self.windows.iter().map(|window| window.start).collect();
        let concerned: BTreeSet<usize> =
            self.windows.iter().flat_map(|w| w.start / SEGMENT..w.end.div_ceil(SEGMENT)).collect();
        let before = at_hand(&starts, features);
        let holds = |&segment: &usize| head.segment_holds(segment, AtHand(&before), checksums);
        if !concerned.iter().all(holds) {
            return None;
        }
        let mut zeros = Vec::with_capacity(self.slots.len());
        for &slot in self.slots {
            let span = head.span(slot..slot + 1)?;
            let (start, bytes) =
                starts.iter().zip(&mut *features).rfind(|(start, _)| **start <= span.start)?;
            bytes.get_mut(span.start - start..span.end - start)?.fill(0);
            zeros.push(span);
        }
        let groups: BTreeSet<usize> = self.slots.iter().map(|slot| slot / super::GROUP).collect();
        let known = |at: usize| {
            let changes = match at.checked_sub(head.groups()) {
                None => groups.contains(&at),
                Some(segment) => concerned.contains(&segment),
            };
            if changes { None } else { head.stored_checksum(at) }
        };
        let mut left = Builder::of_head(head, |slot| self.slots.contains(&slot))?;
        let share = left.seal(AtHand(&at_hand(&starts, features)), checksums, known)?;
        Some(Left { head: left, share, zeros })
    }
}

fn at_hand<'b>(starts: &[usize], features: &'b [Features]) -> Vec<(usize, &'b [u8])> {
    starts.iter().zip(features).map(|(&start, bytes)| (start, &**bytes)).collect()
}
