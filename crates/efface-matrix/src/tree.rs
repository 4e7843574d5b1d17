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

/// The most additions that round any one row's term of a gradient summed over `rows` rows in one
/// pass, however the rows are stored: those of a sparse chunk, row by row, and the levels of the
/// tree. A dense chunk has fewer (see [`Matrix::additions`](crate::Matrix::additions)).
#[must_use]
pub fn additions(rows: usize) -> usize {
    depth(rows, SPARSE_CHUNK, SPARSE_CHUNK)
}

/// As [`additions`], for chunks of `chunk` rows in which no term is under more than `inside`
/// additions; never more than the rows themselves, which bound every order.
pub(crate) fn depth(rows: usize, chunk: usize, inside: usize) -> usize {
    let chunks = rows.div_ceil(chunk).max(1);
    // A range of c chunks is cut in halves rounded up: ceil(log2 c) levels.
    let levels = chunks.next_power_of_two().trailing_zeros() as usize;
    rows.min(inside + levels)
}

/// Adds `right` to `left`, entry by entry.
pub(crate) fn add_into(left: &mut [f64], right: &[f64]) {
    for (l, r) in left.iter_mut().zip(right) {
        *l += r;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the longest path that `reduce_chunks` makes.
    #[test]
    fn the_depth_is_the_longest_path_of_the_tree() {
        for rows in (1..2000).step_by(7) {
            let longest = reduce_chunks(rows, 16, |r| r.len(), |a, b| a.max(b) + 1).unwrap();
            let bound = depth(rows, 16, 16);
            assert!(longest <= bound && bound <= longest.max(rows.min(16)) + 1, "{rows}");
        }
        assert_eq!((additions(0), additions(1), additions(4096)), (0, 1, 4096));
        assert_eq!((additions(4097), additions(10_000_000)), (4097, 4096 + 12));
    }
}
