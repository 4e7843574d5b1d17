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

/// Consecutive rows that are summed together, as a part of the tree of [`reduce_chunks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The rows: whole chunks, except for the last window's last one.
    pub rows: Range<usize>,
    /// How many merges follow once this window has its total: each time the last two totals become one, the
    /// earlier as `merge`'s first argument.
    pub merges: usize,
}

/// Cuts the tree that [`reduce_chunks`] makes of `rows` rows into parts of at most `most` rows, or of one
/// chunk if that has more, in the order of rows: empty for no rows or an empty `chunk`.
///
/// If rows are reduced window by window, and the totals merged as each window says, the result is that of all
/// rows at once, to the last bit: the tree of a part depends on its number of chunks alone.
///
/// ```
/// let rows = [0.1_f64, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
/// let sum = |x: &[f64]| {
///     efface_matrix::reduce_chunks(x.len(), 2, |r| x[r].iter().sum::<f64>(), |a, b| a + b)
/// };
/// let mut totals = Vec::new();
/// for window in efface_matrix::windows(rows.len(), 2, 4) {
///     totals.extend(sum(&rows[window.rows]));
///     for _ in 0..window.merges {
///         let right: f64 = totals.pop().unwrap_or_default();
///         totals.last_mut().map(|left| *left += right);
///     }
/// }
/// assert_eq!(totals, [sum(&rows).unwrap()]);
/// ```
#[must_use]
pub fn windows(rows: usize, chunk: usize, most: usize) -> Vec<Window> {
    fn cut(chunks: Range<usize>, most: usize, all: &mut Vec<Window>) {
        if chunks.len() <= most.max(1) {
            return all.push(Window { rows: chunks, merges: 0 });
        }
        let middle = chunks.start + chunks.len().div_ceil(2);
        cut(chunks.start..middle, most, all);
        cut(middle..chunks.end, most, all);
        if let Some(last) = all.last_mut() {
            last.merges += 1;
        }
    }
    let mut all = Vec::new();
    if rows > 0 && chunk > 0 {
        cut(0..rows.div_ceil(chunk), most / chunk, &mut all);
    }
    for Window { rows: range, .. } in &mut all {
        *range = range.start * chunk..rows.min(range.end.saturating_mul(chunk));
    }
    all
}

/// Returns the most additions that round any one row's term of a gradient summed over `rows` rows in one
/// pass, however the rows are stored: those of a sparse chunk, row by row, and the levels of the tree. A
/// dense chunk has fewer (see [`Matrix::additions`](crate::Matrix::additions)).
#[must_use]
pub fn additions(rows: usize) -> usize {
    depth(rows, SPARSE_CHUNK, SPARSE_CHUNK)
}

/// Works as [`additions`], for chunks of `chunk` rows in which no term is under more than `inside` additions;
/// never more than the rows themselves, which bound every order.
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

    /// Sums whose bits depend on the order, in windows of every size.
    #[test]
    fn windows_give_the_bits_of_the_whole_tree() {
        let value = |i: usize| 1.0 / (3.0 + i as f64 * 0.7).powi(1 + (i % 5) as i32);
        let sum = |rows: Range<usize>| {
            let first = rows.start;
            let of = |r: Range<usize>| r.map(|i| value(first + i)).sum::<f64>();
            reduce_chunks(rows.len(), 8, of, |a, b| a + b).unwrap()
        };
        for rows in [1, 7, 8, 9, 100, 1000, 1023, 1025] {
            for most in [0, 8, 17, 64, 250, 512, 5000] {
                let (mut totals, mut end) = (Vec::new(), 0);
                for window in windows(rows, 8, most) {
                    assert_eq!(window.rows.start, end);
                    assert!(window.rows.len() <= most.max(8));
                    end = window.rows.end;
                    totals.push(sum(window.rows));
                    for _ in 0..window.merges {
                        let right = totals.pop().unwrap();
                        *totals.last_mut().unwrap() += right;
                    }
                }
                assert_eq!((end, totals), (rows, vec![sum(0..rows)]), "{rows} by {most}");
            }
        }
        assert_eq!((windows(0, 8, 8), windows(8, 0, 8)), (Vec::new(), Vec::new()));
    }

    /// Compares with the longest path that `reduce_chunks` makes.
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
