//! Rows as bytes, in pieces of memory that never move.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use zeroize::Zeroize;

/// Size in bytes of a piece that rows are appended to one by one, unless one row is longer.
const PIECE: usize = 256 << 10;

/// Rows as bytes, one after the other.
///
/// They lie in pieces of memory that are allocated once and overwritten before they are given back.
/// Copies and [parts](RowBytes::take_front) share the pieces, so that neither costs a copy of a row.
#[derive(Clone, Default)]
pub struct RowBytes {
    segments: VecDeque<Segment>,
    /// Number of rows of the segments that were taken from the front.
    taken: usize,
    rows: usize,
}

/// Consecutive rows of a piece.
#[derive(Clone)]
struct Segment {
    /// The number of its first row, those that are taken included.
    first: usize,
    piece: Arc<Piece>,
    rows: Range<usize>,
}

/// Bytes, and the ranges of the rows in them.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    rows: Vec<Range<usize>>,
}

impl Drop for Piece {
    fn drop(&mut self) {
        // Whole words are wiped far faster than bytes.
        let (start, words, end) = bytemuck::pod_align_to_mut::<u8, u64>(&mut self.bytes);
        start.zeroize();
        words.zeroize();
        end.zeroize();
    }
}

impl Piece {
    fn with_room(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes.max(PIECE)), rows: Vec::new() }
    }

    fn push(&mut self, row: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(row);
        self.rows.push(start..self.bytes.len());
    }

    fn row(&self, at: usize) -> &[u8] {
        let range = self.rows.get(at).cloned().unwrap_or_default();
        self.bytes.get(range).unwrap_or_default()
    }
}

impl RowBytes {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wraps bytes that were read as a whole, and the range of each row in them, in order; a row that is not
    /// within the bytes is empty.
    pub fn of(bytes: Vec<u8>, rows: Vec<Range<usize>>) -> Self {
        let mut made = Self::new();
        made.add(Piece { bytes, rows });
        made
    }

    fn add(&mut self, piece: Piece) {
        let rows = 0..piece.rows.len();
        self.share(Arc::new(piece), rows);
    }

    fn share(&mut self, piece: Arc<Piece>, rows: Range<usize>) {
        if !rows.is_empty() {
            let first = self.taken + self.rows;
            self.rows += rows.len();
            self.segments.push_back(Segment { first, piece, rows });
        }
    }

    /// Appends the bytes of one row.
    pub fn push(&mut self, row: &[u8]) {
        // A piece that others share, or whose end was taken, is not written to.
        let last = self.segments.back_mut().and_then(|segment| {
            let piece = Arc::get_mut(&mut segment.piece)?;
            let fits = piece.bytes.capacity() - piece.bytes.len() >= row.len();
            (fits && segment.rows.end == piece.rows.len()).then_some((piece, &mut segment.rows))
        });
        match last {
            Some((piece, rows)) => {
                piece.push(row);
                rows.end += 1;
                self.rows += 1;
            }
            None => {
                let mut piece = Piece::with_room(row.len());
                piece.push(row);
                self.add(piece);
            }
        }
    }

    /// Appends all rows of another.
    pub fn append(&mut self, rows: Self) {
        for segment in rows.segments {
            self.share(segment.piece, segment.rows);
        }
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the row at a position counted from 0; empty beyond the last.
    pub fn row(&self, at: usize) -> &[u8] {
        let at = self.taken + at;
        let after = self.segments.partition_point(|segment| segment.first <= at);
        match after.checked_sub(1).and_then(|before| self.segments.get(before)) {
            Some(segment) if at - segment.first < segment.rows.len() => {
                segment.piece.row(segment.rows.start + at - segment.first)
            }
            _ => &[],
        }
    }

    /// Returns the rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.range(0..self.rows)
    }

    /// Returns the rows at these positions, in order; nothing beyond the last.
    pub fn range(&self, rows: Range<usize>) -> impl Iterator<Item = &[u8]> {
        self.pieces(rows).flat_map(|(piece, rows)| rows.map(|row| piece.row(row)))
    }

    /// Returns the rows at these positions, which share the memory of these; nothing beyond the last.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let mut slice = Self::new();
        self.pieces(rows).for_each(|(piece, rows)| slice.share(Arc::clone(piece), rows));
        slice
    }

    /// Returns the pieces that have the rows at these positions, and the range of these in each piece.
    fn pieces(&self, rows: Range<usize>) -> impl Iterator<Item = (&Arc<Piece>, Range<usize>)> {
        let (start, end) = (self.taken + rows.start, self.taken + rows.end);
        let before = self.segments.partition_point(|segment| segment.first <= start);
        let segments = self.segments.range(before.saturating_sub(1)..);
        segments.take_while(move |segment| segment.first < end).map(move |segment| {
            let place = |number: usize| {
                let within = number.saturating_sub(segment.first).min(segment.rows.len());
                segment.rows.start + within
            };
            (&segment.piece, place(start)..place(end))
        })
    }

    /// Returns how many bytes all rows have.
    pub fn bytes(&self) -> usize {
        self.iter().map(<[u8]>::len).sum()
    }

    /// Takes out the first rows, at most so many.
    pub fn take_front(&mut self, rows: usize) -> Self {
        let mut front = Self::new();
        while front.rows < rows
            && let Some(mut segment) = self.segments.pop_front()
        {
            let count = segment.rows.len().min(rows - front.rows);
            let middle = segment.rows.start + count;
            let left = middle..segment.rows.end;
            if left.is_empty() {
                front.share(segment.piece, segment.rows);
            } else {
                front.share(Arc::clone(&segment.piece), segment.rows.start..middle);
                (segment.first, segment.rows) = (segment.first + count, left);
                self.segments.push_front(segment);
            }
            self.taken += count;
            self.rows -= count;
        }
        front
    }

    /// Returns the same rows without those at these positions, which ascend. Pieces that had one of them are
    /// built again from their other rows.
    #[must_use]
    pub fn without(&self, rows: &[usize]) -> Self {
        let mut kept = Self::new();
        let mut gone = rows.iter().map(|row| self.taken + row).peekable();
        for segment in &self.segments {
            let end = segment.first + segment.rows.len();
            if gone.peek().is_none_or(|row| *row >= end) {
                kept.share(Arc::clone(&segment.piece), segment.rows.clone());
                continue;
            }
            let bytes = segment.rows.clone().map(|row| segment.piece.row(row).len()).sum();
            let mut piece = Piece::with_room(bytes);
            for (at, row) in (segment.first..end).zip(segment.rows.clone()) {
                if gone.next_if_eq(&at).is_none() {
                    piece.push(segment.piece.row(row));
                }
            }
            kept.add(piece);
        }
        kept
    }
}

impl PartialEq for RowBytes {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for RowBytes {
    /// Shows the count alone: rows are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowBytes").field("rows", &self.rows).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_piece_that_was_read_keeps_its_rows_apart() {
        let rows = RowBytes::of(b"one, two".to_vec(), vec![0..3, 5..8, 8..8, 7..9]);
        assert_eq!(rows.iter().collect::<Vec<_>>(), [&b"one"[..], b"two", b"", b""]);
        assert_eq!((rows.len(), rows.bytes(), rows.row(4)), (4, 6, &b""[..]));
    }

    #[test]
    fn a_row_longer_than_a_piece_has_one_of_its_own() {
        let mut rows = RowBytes::new();
        let long = vec![7; PIECE + 1];
        for row in [&b"a"[..], &long, b"b"] {
            rows.push(row);
        }
        assert_eq!(rows.segments.len(), 3);
        assert_eq!((rows.row(1), rows.row(2)), (&long[..], &b"b"[..]));
    }

    proptest! {
        /// Compares with a list of lists, whatever is done in whatever order.
        #[test]
        fn they_are_the_rows_that_were_put_in(
            steps in prop::collection::vec((0..5_u8, prop::collection::vec(0..40_usize, 0..12)), 0..40),
        ) {
            let (mut rows, mut plain) = (RowBytes::new(), Vec::<Vec<u8>>::new());
            for (step, numbers) in steps {
                let list = numbers.iter().map(|n| vec![*n as u8; n % 7]);
                match step {
                    0 => list.for_each(|row| { rows.push(&row); plain.push(row); }),
                    1 => {
                        let bytes: Vec<u8> = list.clone().flatten().collect();
                        let mut end = 0;
                        let ranges = list.clone().map(|row| { end += row.len(); end - row.len()..end });
                        rows.append(RowBytes::of(bytes, ranges.collect()));
                        plain.extend(list);
                    }
                    2 => {
                        let count = numbers.len();
                        let front = rows.take_front(count);
                        let left = plain.split_off(count.min(plain.len()));
                        prop_assert_eq!(front.iter().collect::<Vec<_>>(), plain);
                        plain = left;
                    }
                    3 => {
                        let mut gone: Vec<usize> = numbers.into_iter().filter(|n| *n < plain.len()).collect();
                        gone.sort_unstable();
                        gone.dedup();
                        let shared = rows.clone();
                        rows = rows.without(&gone);
                        prop_assert_eq!(shared.len(), plain.len());
                        let mut at = 0;
                        plain.retain(|_| { at += 1; gone.binary_search(&(at - 1)).is_err() });
                    }
                    _ => rows = { let mut copy = RowBytes::new(); copy.append(rows.clone()); copy },
                }
                prop_assert_eq!(rows.iter().collect::<Vec<_>>(), plain.clone());
                prop_assert_eq!(rows.len(), plain.len());
                for (at, row) in plain.iter().enumerate() {
                    prop_assert_eq!(rows.row(at), &row[..]);
                    let range = at..(at + 5).min(plain.len());
                    prop_assert_eq!(rows.range(range.clone()).collect::<Vec<_>>(), &plain[range.clone()]);
                    let slice = rows.slice(range.clone());
                    prop_assert_eq!(slice.iter().collect::<Vec<_>>(), &plain[range]);
                }
            }
        }
    }
}
