//! How often each of some values was seen.

use std::borrow::Borrow;

use indexmap::IndexMap;
use zeroize::Zeroize;

use super::places::hash;

/// Values and how often each was seen, whatever the order.
#[derive(Debug, Default)]
pub(super) struct Counts {
    values: IndexMap<Value, u64>,
    /// Which value was last seen of those with the same upper bits of a quick hash.
    recent: Vec<u32>,
}

/// Values that are found again by one comparison, most often.
const RECENT: usize = 256;

/// Bytes that are overwritten when they are given back.
#[derive(PartialEq, Eq, Hash)]
struct Value(Box<[u8]>);

impl Borrow<[u8]> for Value {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl std::fmt::Debug for Value {
    /// Shows nothing: values are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

/// Returns the position of a value among the recent ones.
#[inline]
fn place(value: &[u8]) -> usize {
    (hash(value) >> (u64::BITS - RECENT.trailing_zeros())) as usize
}

impl Counts {
    /// Counts a value once, if it was counted before and is found quickly; whether it was.
    #[inline]
    pub(super) fn add_known(&mut self, value: &[u8]) -> bool {
        if let Some(&at) = self.recent.get(place(value))
            && let Some((known, count)) = self.values.get_index_mut(at as usize)
            && *known.0 == *value
        {
            *count += 1;
            return true;
        }
        false
    }

    #[inline]
    pub(super) fn add(&mut self, value: &[u8]) {
        if !self.add_known(value) {
            self.add_times(value, 1);
        }
    }

    /// Counts a value so often.
    pub(super) fn add_times(&mut self, value: &[u8], times: u64) {
        let at = match self.values.get_index_of(value) {
            Some(at) => at,
            None => self.values.insert_full(Value(value.into()), 0).0,
        };
        self.values[at] += times;
        self.recent.resize(RECENT, 0);
        self.recent[place(value)] = at as u32;
    }

    /// Maps the values and adds the counts of those that become equal.
    pub(super) fn map(self, other: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Self {
        let mut all = IndexMap::with_capacity(self.values.len());
        for (value, count) in self.values {
            let value = other(&value.0).map_or(value, |bytes| Value(bytes.into()));
            *all.entry(value).or_default() += count;
        }
        Self { values: all, recent: Vec::new() }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (value, count) in other.values {
            *self.values.entry(value).or_default() += count;
        }
    }

    /// Returns how many different values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.values.iter().map(|(value, count)| (&*value.0, *count))
    }

    /// Returns how often each was seen.
    pub(super) fn values(&self) -> impl Iterator<Item = u64> {
        self.values.values().copied()
    }
}
