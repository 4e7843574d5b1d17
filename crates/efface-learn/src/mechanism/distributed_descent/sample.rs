//! The bootstrap sample: B draws with replacement, kept uniform under deletions and additions.

use rand_core::Rng;

use super::uniform::below;

/// B positions, each with the key of the record it holds a copy of. Part j is a run of positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    keys: Vec<u64>,
}

/// The records after a request, and what the request changed.
#[derive(Debug, Clone, Copy)]
pub struct Membership<'a> {
    /// Keys of the records now, ascending.
    pub present: &'a [u64],
    /// Keys that the request added, ascending; all of them are present.
    pub added: &'a [u64],
    /// Keys that the request removed, ascending; none of them is present.
    pub removed: &'a [u64],
}

impl Sample {
    /// Makes `size` independent uniform draws from `present`, which must not be empty.
    pub(super) fn draw(size: usize, present: &[u64], rng: &mut (impl Rng + ?Sized)) -> Self {
        let count = present.len() as u64;
        Self { keys: (0..size).map(|_| present[below(count, rng) as usize]).collect() }
    }

    /// Returns the keys as they were kept.
    pub(super) fn from_keys(keys: Vec<u64>) -> Self {
        Self { keys }
    }

    /// Returns the key at every position.
    #[must_use]
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Makes a uniform sample of the records before a request one of the records after it, and
    /// returns the positions that changed, ascending.
    pub(super) fn change(
        &mut self,
        records: Membership<'_>,
        rng: &mut (impl Rng + ?Sized),
    ) -> Vec<usize> {
        self.redraw(records, |bound| below(bound, rng))
    }

    /// Does the work of [`change`](Self::change), with `draw(b)` uniform below b.
    fn redraw(&mut self, records: Membership<'_>, mut draw: impl FnMut(u64) -> u64) -> Vec<usize> {
        let Membership { present, added, removed } = records;
        let count = present.len() as u64;
        let mut changed = Vec::new();
        for (position, key) in self.keys.iter_mut().enumerate() {
            if removed.binary_search(key).is_ok() {
                *key = present[draw(count) as usize];
            } else if !added.is_empty()
                && let Some(&new) = added.get(draw(count) as usize)
            {
                *key = new;
            } else {
                continue;
            }
            changed.push(position);
        }
        changed
    }
}

/// Returns the positions of part `part` of `parts` among `size`: sizes differ by at most one.
pub(super) fn positions(size: usize, parts: usize, part: usize) -> std::ops::Range<usize> {
    let bound = |part: usize| (size as u128 * part as u128 / parts as u128) as usize;
    bound(part)..bound(part + 1)
}

/// Returns the part that holds `position`.
pub(super) fn part_of(size: usize, parts: usize, position: usize) -> usize {
    // The last part that does not begin behind the position.
    ((((position as u128 + 1) * parts as u128) - 1) / size as u128) as usize
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
