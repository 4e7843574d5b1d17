//! Numbers of either precision, as arrays have them.

use std::ops::Range;

/// Numbers in single or double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers<'a> {
    /// Numbers of 32 bits each.
    Single(&'a [f32]),
    /// 64 bits each; stored as the nearest 32 bits.
    Double(&'a [f64]),
}

impl<'a> Numbers<'a> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Single(all) => all.len(),
            Self::Double(all) => all.len(),
        }
    }

    /// Returns the numbers in a range; empty if it goes beyond the end.
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::Single(all) => Self::Single(all.get(range).unwrap_or_default()),
            Self::Double(all) => Self::Double(all.get(range).unwrap_or_default()),
        }
    }

    /// Returns the number at a position counted from 0.
    pub(crate) fn get(self, at: usize) -> Option<f64> {
        match self {
            Self::Single(all) => all.get(at).map(|&value| value.into()),
            Self::Double(all) => all.get(at).copied(),
        }
    }

    /// Returns all of them in double precision; `buffer` is used if they are in single precision.
    pub(crate) fn doubles<'n>(self, buffer: &'n mut Vec<f64>) -> &'n [f64]
    where
        'a: 'n,
    {
        match self {
            Self::Double(all) => all,
            Self::Single(all) => {
                buffer.clear();
                buffer.extend(all.iter().map(|&value| f64::from(value)));
                buffer
            }
        }
    }

    /// Writes them in single precision; `false` if `row` has room for another number of them, or if one
    /// is not finite then.
    pub(crate) fn put(self, row: &mut [f32]) -> bool {
        if self.len() != row.len() {
            return false;
        }
        match self {
            Self::Single(all) => row.copy_from_slice(all),
            Self::Double(all) => {
                row.iter_mut().zip(all).for_each(|(own, &value)| *own = value as f32);
            }
        }
        // Not `all`, which stops at the first and is slow for that.
        row.iter().fold(true, |so_far, value| so_far & value.is_finite())
    }
}
