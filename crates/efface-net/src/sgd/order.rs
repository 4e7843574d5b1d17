//! The order of rows in each epoch.

use crate::NetError;
use crate::error::length;

/// The rows, to be put into one order after another.
pub(super) struct Order {
    /// Key and row, by key.
    keyed: Vec<(u64, u32)>,
    /// Pairs of place and row.
    placed: Vec<(u64, u32)>,
    rows: Vec<u32>,
}

impl Order {
    /// Refuses keys that are not as many as the rows, or not all different.
    pub(super) fn new(keys: &[u64], rows: usize) -> Result<Self, NetError> {
        length("keys", rows, keys.len())?;
        let mut keyed: Vec<_> = keys.iter().zip(0_u32..).map(|(&key, row)| (key, row)).collect();
        keyed.sort_unstable();
        for pair in keyed.windows(2) {
            if let [(one, first), (other, second)] = *pair
                && one == other
            {
                let (first, second) = (first as usize, second as usize);
                return Err(NetError::Keys { first, second });
            }
        }
        Ok(Self { keyed, placed: Vec::with_capacity(rows), rows: Vec::with_capacity(rows) })
    }

    /// Returns the rows by a public hash of seed, epoch and key: whether one comes before another depends on
    /// these two keys alone.
    pub(super) fn of_epoch(&mut self, seed: u64, epoch: u64) -> &[u32] {
        let tag = mix(mix(seed).wrapping_add(epoch));
        self.placed.clear();
        // Different keys have different places: every step of `mix` can be undone.
        self.placed.extend(self.keyed.iter().map(|&(key, row)| (mix(mix(key) ^ tag), row)));
        self.placed.sort_unstable();
        self.rows.clear();
        self.rows.extend(self.placed.iter().map(|&(_, row)| row));
        &self.rows
    }
}

/// Returns the output function of SplitMix64 (Steele, Lea and Flood 2014), a permutation of all words.
fn mix(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
