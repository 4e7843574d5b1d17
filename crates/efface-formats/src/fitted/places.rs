//! Places of categories, found by the bytes of cells.

use std::collections::HashMap;

/// Slots that a key may be away from that of its hash.
const REACH: usize = 4;

/// Places of keys that are known beforehand: a key's place is usually found by one comparison, and by at most
/// [`REACH`] comparisons and one lookup in an ordinary map, whatever the keys are.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// Which of the entries is in each slot; at most half of the slots have one.
    slots: Vec<Option<u32>>,
    entries: Vec<(Box<[u8]>, u32)>,
    /// Keys that have no slot.
    others: HashMap<Box<[u8]>, u32>,
}

impl Places {
    /// Builds the table; if a key has several entries, the first counts.
    pub(super) fn new(all: impl Iterator<Item = (Vec<u8>, u32)>) -> Self {
        let all: Vec<_> = all.collect();
        let mut places = Self {
            slots: vec![None; (2 * all.len()).next_power_of_two().max(2)],
            entries: Vec::with_capacity(all.len()),
            others: HashMap::new(),
        };
        for (key, place) in all {
            let key = key.into_boxed_slice();
            if places.get(&key).is_some() {
                continue;
            }
            match places.near(&key).find(|slot| places.slots[*slot].is_none()) {
                Some(slot) => {
                    places.slots[slot] = Some(places.entries.len() as u32);
                    places.entries.push((key, place));
                }
                None => {
                    places.others.insert(key, place);
                }
            }
        }
        places
    }

    /// Returns the slots that may have a key.
    #[inline]
    fn near(&self, key: &[u8]) -> impl Iterator<Item = usize> + use<> {
        let last = self.slots.len() - 1;
        let first = (hash(key) >> (u64::BITS - self.slots.len().trailing_zeros())) as usize;
        (first..first + REACH).map(move |slot| slot & last)
    }

    /// Returns the place of a key, if it has one.
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<u32> {
        for slot in self.near(key) {
            let (known, place) = self.entries.get(self.slots[slot]? as usize)?;
            if **known == *key {
                return Some(*place);
            }
        }
        self.others.get(key).copied()
    }
}

/// Returns a quick hash of both ends of some bytes, the upper bits of which are spread. Collisions are easily
/// found: the caller must not slow down if there are many.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let ends = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29)
        }
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
            }
            _ => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
        },
    };
    let spread = (ends ^ (bytes.len() as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Inputs that differ in their upper bits alone have products that differ there alone.
    (spread ^ spread >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_key_has_its_place_and_no_other_has_one(
            keys in prop::collection::hash_set(prop::collection::vec(0_u8..3, 0..12), 0..200),
            asked in prop::collection::vec(prop::collection::vec(0_u8..3, 0..12), 0..50),
        ) {
            let all: HashMap<Vec<u8>, u32> = keys.into_iter().zip(7..).collect();
            let places = Places::new(all.iter().map(|(key, place)| (key.clone(), *place)));
            for key in all.keys().chain(&asked) {
                prop_assert_eq!(places.get(key), all.get(key).copied());
            }
        }
    }

    /// Keys whose hashes are all the same: both ends and the length are.
    #[test]
    fn keys_that_collide_are_told_apart() {
        let key = |at: u32| [&[1; 8][..], &at.to_le_bytes(), &[2; 8]].concat();
        assert_eq!(hash(&key(1)), hash(&key(2)));
        let places = Places::new((0..1000).map(|at| (key(at), at)));
        assert!(places.others.len() > 900);
        assert!((0..1000).all(|at| places.get(&key(at)) == Some(at)));
        assert_eq!(places.get(&key(1000)), None);
    }

    #[test]
    fn of_two_entries_the_first_counts() {
        let places = Places::new([(vec![1], 5), (vec![1], 6)].into_iter());
        assert_eq!(places.get(&[1]), Some(5));
    }
}
