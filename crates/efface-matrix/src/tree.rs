//! Fixed chunks and the one reduction tree.

use std::ops::Range;

/// Rows per chunk of a dense pass.
pub const CHUNK: usize = 512;

/// Rows per chunk of a sparse pass: longer, because each chunk has a dense gradient of its own.
pub const SPARSE_CHUNK: usize = 4096;

/// Cuts `rows` rows into chunks of `chunk` rows counted from row 0 (the last one may be shorter),
/// maps each with `leaf` and merges the results along one fixed binary tree: a range of c > 1
/// chunks is cut after its first ceil(c / 2) chunks, the left total is `merge`'s first argument.
///
/// The shape depends on `rows` and `chunk` alone, so a floating-point sum has the same bits on any
/// number of threads. Runs on the current rayon pool; at most (threads x log2 chunks) partial
/// results live at a time. Returns `None` for no rows or an empty `chunk`.
///
/// ```
/// let rows = [1.0_f64, 2.0, 3.0, 4.0, 5.0];
/// let sum = efface_matrix::reduce_chunks(5, 2, |r| rows[r].iter().sum::<f64>(), |a, b| a + b);
/// assert_eq!(sum, Some(15.0));
/// ```
pub fn reduce_chunks<P: Send>(
    rows: usize,
    chunk: usize,
    leaf: impl Fn(Range<usize>) -> P + Sync,
    merge: impl Fn(P, P) -> P + Sync,
) -> Option<P> {
    if rows == 0 || chunk == 0 {
        return None;
    }
    let leaf = |index: usize| {
        let start = index * chunk;
        leaf(start..rows.min(start.saturating_add(chunk)))
    };
    Some(join(0..rows.div_ceil(chunk), &leaf, &merge))
}

fn join<P: Send>(
    chunks: Range<usize>,
    leaf: &(impl Fn(usize) -> P + Sync),
    merge: &(impl Fn(P, P) -> P + Sync),
) -> P {
    if chunks.len() <= 1 {
        return leaf(chunks.start);
    }
    let middle = chunks.start + chunks.len().div_ceil(2);
    let (left, right) = rayon::join(
        || join(chunks.start..middle, leaf, merge),
        || join(middle..chunks.end, leaf, merge),
    );
    merge(left, right)
}

/// Adds `right` to `left`, entry by entry.
pub(crate) fn add_into(left: &mut [f64], right: &[f64]) {
    for (l, r) in left.iter_mut().zip(right) {
        *l += r;
    }
}
