//! The kernels of the dense passes: eight rows in flight.
//!
//! Lane l of a dot product takes the columns l, l + 8, l + 16, ... in this order, and the lanes are
//! added by [`fold`]. A gradient entry gets the eight rows' products in one addition, after these
//! have been added pairwise. A pass loads each weight once for several rows and updates the
//! gradient once for eight.
//!
//! No closure here calls a [`Simd`] method: a closure is compiled without the
//! caller's instruction set, and each operation in it becomes a call.

pub(crate) mod narrow;
pub(crate) mod wide;

use crate::simd::{LANES, Simd};

/// Rows in flight.
pub(crate) const GROUP: usize = 8;

/// Half a group: while its margins are formed half of the next group is asked for, while the
/// gradient is updated the other half, so that memory is never idle.
pub(crate) const HALF: usize = GROUP / 2;

/// Adds up the lanes, always in this order.
#[inline(always)]
fn fold(s: [f64; LANES]) -> f64 {
    let halves = [s[0] + s[4], s[1] + s[5], s[2] + s[6], s[3] + s[7]];
    (halves[0] + halves[2]) + (halves[1] + halves[3])
}

/// The last columns, filled up with zeros.
#[inline(always)]
fn fill<T: Copy + Default>(tail: &[T]) -> [T; LANES] {
    let mut filled = [T::default(); LANES];
    filled[..tail.len()].copy_from_slice(tail);
    filled
}

/// Asks for block `j` of each row, once per cache line.
#[inline(always)]
fn prefetch<S: Simd, T, const N: usize>(simd: S, rows: [&[T]; N], j: usize) {
    if (j * LANES).is_multiple_of(64 / size_of::<T>()) {
        for row in rows {
            simd.prefetch(row, j * LANES);
        }
    }
}

#[cfg(test)]
mod tests;
