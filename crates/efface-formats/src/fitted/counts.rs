//! How often each of some values was seen.

use std::borrow::Borrow;
use std::collections::HashMap;

use zeroize::Zeroize;

/// Values and how often each was seen, whatever the order.
#[derive(Debug, Default)]
pub(super) struct Counts(HashMap<Value, u64>);

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
    /// Nothing: values are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

impl Counts {
    #[inline]
    pub(super) fn add(&mut self, value: &[u8]) {
        match self.0.get_mut(value) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(Value(value.into()), 1);
            }
        }
    }

    /// The same counts of other values, those of equal ones together.
    pub(super) fn map(self, other: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Self {
        let mut all = HashMap::with_capacity(self.0.len());
        for (value, count) in self.0 {
            let value = other(&value.0).map_or(value, |bytes| Value(bytes.into()));
            *all.entry(value).or_default() += count;
        }
        Self(all)
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (value, count) in other.0 {
            *self.0.entry(value).or_default() += count;
        }
    }

    /// How many different values there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.0.iter().map(|(value, count)| (&*value.0, *count))
    }

    /// How often each was seen.
    pub(super) fn values(&self) -> impl Iterator<Item = u64> {
        self.0.values().copied()
    }
}
