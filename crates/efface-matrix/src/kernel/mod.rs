//! The kernels of the dense passes: eight rows in flight.
//!
//! Lane l of a dot product takes the columns l, l + 8, l + 16, ... in this order, and the lanes are
//! added by [`fold`]. A gradient entry gets the eight rows' products in one addition, after these
//! have been added pairwise. A pass loads each weight once for several rows and updates the
//! gradient once for eight.
//!
//! No closure here calls a [`Simd`] method: a closure is compiled without the
//! caller's instruction set, and each operation in it becomes a call.

use crate::simd::{LANES, Simd, Task};

mod squares;
mod twice;

pub use squares::sum_of_squares;
pub(crate) use twice::{TwiceDots, TwiceUpdate, split, two_sum};

/// Number of rows of a dense pass that are in flight together.
pub const GROUP: usize = 8;

/// Half a group: half of the next group is prefetched while the margins are formed, and the other half while
/// the gradient is updated, so that memory is never idle.
pub(crate) const HALF: usize = GROUP / 2;

/// Adds up the lanes, always in this order.
#[inline(always)]
fn fold(s: [f64; LANES]) -> f64 {
    let halves = [s[0] + s[4], s[1] + s[5], s[2] + s[6], s[3] + s[7]];
    (halves[0] + halves[2]) + (halves[1] + halves[3])
}

/// Returns the last columns, filled up with zeros.
#[inline(always)]
fn fill<T: Copy + Default>(tail: &[T]) -> [T; LANES] {
    let mut filled = [T::default(); LANES];
    filled[..tail.len()].copy_from_slice(tail);
    filled
}

/// Prefetches block `j` of each row, once per cache line.
#[inline(always)]
fn prefetch<S: Simd, T, const N: usize>(simd: S, rows: [&[T]; N], j: usize) {
    if (j * LANES).is_multiple_of(64 / size_of::<T>()) {
        for row in rows {
            simd.prefetch(row, j * LANES);
        }
    }
}

/// The dot products of `R` rows with `weights`; every row is as long. Asks for the rows in `next`
/// meanwhile.
pub(crate) struct Dots<'a, const R: usize, const N: usize> {
    pub(crate) rows: [&'a [f32]; R],
    pub(crate) weights: &'a [f64],
    pub(crate) next: [&'a [f32]; N],
}

/// Adds to `sum` the `R` rows, each times its coefficient; every row is as long as `sum`. Asks for
/// the rows in `next` meanwhile.
pub(crate) struct Update<'a, const R: usize, const N: usize> {
    pub(crate) rows: [&'a [f32]; R],
    pub(crate) coefficients: [f64; R],
    pub(crate) sum: &'a mut [f64],
    pub(crate) next: [&'a [f32]; N],
}

impl Task for Dots<'_, GROUP, HALF> {
    type Out = [f64; GROUP];
    /// Takes four rows at a time: their sums fill half of the registers of AVX2.
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        let [a, b, c, d, e, f, g, h] = self.rows;
        let [i, j, k, l] = self.next;
        let [p, q, r, s] = dots(simd, [a, b, c, d], self.weights, [i, j]);
        let [t, u, v, w] = dots(simd, [e, f, g, h], self.weights, [k, l]);
        [p, q, r, s, t, u, v, w]
    }
}

impl Task for Dots<'_, 1, 0> {
    type Out = [f64; 1];
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        dots(simd, self.rows, self.weights, [])
    }
}

#[inline(always)]
#[allow(clippy::needless_range_loop)] // several arrays share the index
fn dots<S: Simd, const R: usize, const N: usize>(
    simd: S,
    rows: [&[f32]; R],
    weights: &[f64],
    next: [&[f32]; N],
) -> [f64; R] {
    let (w_blocks, w_tail) = weights.as_chunks::<LANES>();
    let blocks = rows.map(|row| &row.as_chunks::<LANES>().0[..w_blocks.len()]);
    let mut sums = [simd.splat(0.0); R];
    for (j, w) in w_blocks.iter().enumerate() {
        let w = simd.load(w);
        prefetch(simd, next, j);
        for k in 0..R {
            let product = simd.mul(simd.load_wide(&blocks[k][j]), w);
            sums[k] = simd.add(sums[k], product);
        }
    }
    if !w_tail.is_empty() {
        let w = simd.load(&fill(w_tail));
        let start = w_blocks.len() * LANES;
        for k in 0..R {
            let x = fill(&rows[k][start..weights.len()]);
            sums[k] = simd.add(sums[k], simd.mul(simd.load_wide(&x), w));
        }
    }
    let mut dots = [0.0; R];
    for k in 0..R {
        let mut lanes = [0.0; LANES];
        simd.store(sums[k], &mut lanes);
        dots[k] = fold(lanes);
    }
    dots
}

impl<const R: usize, const N: usize> Task for Update<'_, R, N> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let length = self.sum.len();
        let (sums, sum_tail) = self.sum.as_chunks_mut::<LANES>();
        let blocks = self.rows.map(|row| &row.as_chunks::<LANES>().0[..sums.len()]);
        let mut coefficients = [simd.splat(0.0); R];
        for (lanes, coefficient) in coefficients.iter_mut().zip(self.coefficients) {
            *lanes = simd.splat(coefficient);
        }
        let start = sums.len() * LANES;
        for (j, sum) in sums.iter_mut().enumerate() {
            prefetch(simd, self.next, j);
            let total = total(simd, std::array::from_fn(|k| &blocks[k][j]), coefficients);
            simd.store(simd.add(simd.load(sum), total), sum);
        }
        if !sum_tail.is_empty() {
            let x = self.rows.map(|row| fill(&row[start..length]));
            let mut sum = fill(sum_tail);
            let total = total(simd, x.each_ref(), coefficients);
            simd.store(simd.add(simd.load(&sum), total), &mut sum);
            sum_tail.copy_from_slice(&sum[..sum_tail.len()]);
        }
    }
}

/// Returns the sum of eight columns of the rows, each times its coefficient: neighbours first, then
/// neighbours of the sums, and so on.
#[inline(always)]
fn total<S: Simd, const R: usize>(
    simd: S,
    x: [&[f32; LANES]; R],
    coefficients: [S::F64; R],
) -> S::F64 {
    let mut terms = coefficients;
    for k in 0..R {
        terms[k] = simd.mul(simd.load_wide(x[k]), coefficients[k]);
    }
    let mut width = R;
    while width > 1 {
        width /= 2;
        for k in 0..width {
            terms[k] = simd.add(terms[2 * k], terms[2 * k + 1]);
        }
    }
    terms[0]
}

#[cfg(test)]
mod tests;
