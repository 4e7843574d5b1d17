//! Dense rows in blocks that are allocated once and never move.

mod fill;

use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use crate::change::{ChangeError, Refusal, check_finite, check_removal, refuse};
use crate::kernel::GROUP;
use crate::simd::LANES;
use crate::tree::CHUNK;

pub use fill::Fill;

/// Size of a value in bytes.
const SIZE: usize = size_of::<f32>();
/// Size of a cache line, the unit of alignment and padding.
const LINE: usize = 64;
/// Rows shorter than this are packed without padding.
const PAD_FROM: usize = 2048;
/// A block is at most this long, unless one row is longer.
const BLOCK_BYTES: usize = 4 << 20;

/// A row-major matrix that grows row by row.
///
/// Rows lie in blocks of at most 4 MiB (a power of two of rows, at most [`CHUNK`]), allocated once:
/// pushing never copies a row, and the peak memory is about the data itself. Rows of 2 KiB and more
/// start on a cache line and are an odd number of lines apart, because eight rows at a power-of-two
/// distance would evict one another from the first-level cache.
pub struct Dense {
    cols: usize,
    rows: usize,
    /// Elements from one row to the next.
    stride: usize,
    /// Rows per block, a power of two.
    block_rows: usize,
    blocks: Vec<Block>,
}

/// Room for `block_rows` rows.
struct Block {
    /// Long enough for the rows pushed so far; its capacity, and so its place, never changes.
    buffer: Vec<f32>,
    /// First element that lies on a cache line.
    start: usize,
}

impl Dense {
    /// Returns how many bytes lie from one row of `cols` columns to the next.
    #[must_use]
    pub fn row_bytes(cols: usize) -> usize {
        let bytes = cols.saturating_mul(SIZE);
        if bytes < PAD_FROM { bytes } else { (bytes.div_ceil(LINE) | 1).saturating_mul(LINE) }
    }

    /// Returns an empty matrix of `cols` columns.
    pub fn new(cols: usize) -> Self {
        let stride = Self::row_bytes(cols) / SIZE;
        let fitting = BLOCK_BYTES / stride.saturating_mul(SIZE).max(1);
        let block_rows = match fitting.min(CHUNK) {
            0 => 1,
            rows => 1 << rows.ilog2(),
        };
        Self { cols, rows: 0, stride, block_rows, blocks: Vec::new() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns how many bytes are allocated for the rows, padding and room for further rows included.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.buffer.capacity() * SIZE).sum()
    }

    /// Returns row `i`, `cols()` values.
    ///
    /// # Panics
    /// When `i` is not below `rows()`, like a slice.
    pub fn row(&self, i: usize) -> &[f32] {
        assert!(i < self.rows, "row {i} of {}", self.rows);
        let block = &self.blocks[i / self.block_rows];
        let start = block.start + (i % self.block_rows) * self.stride;
        &block.buffer[start..start + self.cols]
    }

    /// Returns the rows from `start` on, each followed by whatever finite values lie behind it in memory up
    /// to whole registers; `None` if their block ends before.
    pub(crate) fn group(&self, start: usize) -> Option<[&[f32]; GROUP]> {
        let (block, row) = (start / self.block_rows, start % self.block_rows);
        let length = self.cols.next_multiple_of(LANES);
        let block = self.blocks.get(block).filter(|_| row + GROUP <= self.block_rows)?;
        let first = block.start + row * self.stride;
        let rows = block.buffer.get(first..first + (GROUP - 1) * self.stride + length)?;
        Some(std::array::from_fn(|k| &rows[k * self.stride..][..length]))
    }

    /// Appends one row.
    ///
    /// # Errors
    /// Fails if `row` is not `cols()` long, holds a value that is not finite, or does not fit in memory. The
    /// matrix is then unchanged.
    pub fn push_row(&mut self, row: &[f32]) -> Result<(), ChangeError> {
        if row.len() != self.cols {
            refuse!("`row` must have {} values, one per column, got {}", self.cols, row.len());
        }
        // Not `all`, which stops at the first and is slow for that.
        if !row.iter().fold(true, |so_far, value| so_far & value.is_finite()) {
            check_finite(row.iter().map(|value| f64::from(*value)), |column| column)?;
        }
        self.append_row(row)
    }

    /// Appends all rows of a matrix of as many columns. If the blocks of this one are full, those of the
    /// other become its own, and no row is copied.
    ///
    /// # Errors
    /// Fails if the number of columns differs, or if there is no memory. The first of the rows may then be
    /// appended.
    pub fn append(&mut self, rows: Self) -> Result<(), ChangeError> {
        if rows.cols != self.cols {
            refuse!("`row` must have {} values, one per column, got {}", self.cols, rows.cols);
        }
        if self.rows == self.blocks.len() * self.block_rows {
            self.rows += rows.rows;
            self.blocks.extend(rows.blocks);
            return Ok(());
        }
        (0..rows.rows).try_for_each(|row| self.append_row(rows.row(row)))
    }

    fn append_row(&mut self, row: &[f32]) -> Result<(), ChangeError> {
        if self.rows == self.blocks.len() * self.block_rows {
            let block = Block::allocate(self.stride, self.block_rows)?;
            self.blocks.push(block);
        }
        let block = &mut self.blocks[self.rows / self.block_rows];
        let start = block.start + (self.rows % self.block_rows) * self.stride;
        block.buffer.resize(start, 0.0);
        block.buffer.extend_from_slice(row);
        self.rows += 1;
        Ok(())
    }

    /// Removes the rows numbered in `remove` (strictly increasing); the others keep their order. What lay
    /// behind the last row that is left is overwritten with zeros before its memory is given back. Costs one
    /// move of everything behind the first removed row, by all threads of the pool if few rows are removed;
    /// these then take memory for at most an eighth of the matrix.
    ///
    /// # Errors
    /// Fails if `remove` does not increase strictly or names a row that does not exist. The matrix is then
    /// unchanged.
    pub fn remove_rows(&mut self, remove: &[usize]) -> Result<(), Refusal> {
        check_removal(remove, self.rows)?;
        let Some(&first) = remove.first() else { return Ok(()) };
        let left = self.rows - remove.len();
        if left == 0 {
            self.blocks.par_iter_mut().for_each(|block| block.buffer.zeroize());
            self.blocks.clear();
            self.rows = 0;
            return Ok(());
        }
        // Number of rows that move from a block to the one before it.
        let over = |block| remove.partition_point(|&row| row < block * self.block_rows);
        let over: usize = (first / self.block_rows + 1..self.blocks.len()).map(over).sum();
        if remove.len() <= self.block_rows / 2 && 8 * over <= self.rows {
            self.close_up(remove);
        } else {
            self.move_up(remove, first);
        }
        self.rows = left;
        self.blocks.truncate(left.div_ceil(self.block_rows));
        if let Some(block) = self.blocks.last_mut() {
            let used = left - (left - 1) / self.block_rows * self.block_rows;
            block.buffer.truncate(block.start + used * self.stride);
        }
        Ok(())
    }

    /// Overwrites these rows, which ascend, with zeros in place.
    ///
    /// # Errors
    /// Fails as [`remove_rows`](Self::remove_rows) does.
    pub fn clear_rows(&mut self, rows: &[usize]) -> Result<(), Refusal> {
        check_removal(rows, self.rows)?;
        rows.iter().for_each(|&row| self.row_mut(row).zeroize());
        Ok(())
    }

    /// Moves rows over those that are removed, one by one, and overwrites what is then behind the last.
    fn move_up(&mut self, remove: &[usize], first: usize) {
        let mut gone = remove.iter().copied().peekable();
        let mut to = first;
        for from in first..self.rows {
            if gone.next_if_eq(&from).is_none() {
                self.move_row(from, to);
                to += 1;
            }
        }
        for row in to..self.rows {
            self.row_mut(row).zeroize();
        }
    }

    /// Does the same for all blocks at once: each gives the rows that the one before it has room for, which
    /// are copied first, closes up, and takes those of the next. At most half as many may be removed as a
    /// block has, so that none of it goes further.
    fn close_up(&mut self, remove: &[usize]) {
        let (rows, block_rows) = (self.rows, self.block_rows);
        let first = remove[0] / block_rows;
        let before = |block: usize| remove.partition_point(|&row| row < block * block_rows);
        let (stride, cols) = (self.stride, self.cols);
        let gone = |block: usize| {
            let gone = &remove[before(block)..before(block + 1)];
            gone.iter().map(move |row| row - block * block_rows)
        };
        let count = |block: usize| block_rows.min(rows - block * block_rows);
        let given: Vec<Zeroizing<Vec<f32>>> = (first + 1..self.blocks.len())
            .map(|block| {
                let here = &self.blocks[block];
                let kept = runs(gone(block), count(block)).flatten().take(before(block));
                let mut given = Zeroizing::new(Vec::with_capacity(before(block) * cols));
                for row in kept {
                    let start = here.start + row * stride;
                    given.extend_from_slice(&here.buffer[start..start + cols]);
                }
                given
            })
            .collect();
        let blocks = self.blocks[first..].par_iter_mut().enumerate();
        blocks.for_each(|(at, block)| {
            let number = first + at;
            let place = |start: usize, row: usize| start + row * stride;
            // The first block gives none.
            let (mut given_away, mut to) = (if at == 0 { 0 } else { before(number) }, 0);
            for run in runs(gone(number), count(number)) {
                let from = run.start + given_away.min(run.len());
                given_away -= from - run.start;
                if from == run.end {
                    continue;
                }
                let end = place(block.start, run.end - 1) + cols;
                block.buffer.copy_within(place(block.start, from)..end, place(block.start, to));
                to += run.end - from;
            }
            for row in given.get(at).into_iter().flat_map(|rows| rows.chunks_exact(cols.max(1))) {
                let start = place(block.start, to);
                block.buffer[start..start + cols].copy_from_slice(row);
                to += 1;
            }
            if to < count(number) {
                let end = place(block.start, count(number) - 1) + cols;
                block.buffer[place(block.start, to)..end].zeroize();
            }
        });
    }

    fn row_mut(&mut self, i: usize) -> &mut [f32] {
        let block = &mut self.blocks[i / self.block_rows];
        let start = block.start + (i % self.block_rows) * self.stride;
        &mut block.buffer[start..start + self.cols]
    }

    /// Copies row `from` over row `to`, `to < from`.
    fn move_row(&mut self, from: usize, to: usize) {
        let (cols, stride, block_rows) = (self.cols, self.stride, self.block_rows);
        let (from_block, to_block) = (from / block_rows, to / block_rows);
        let (from_row, to_row) = (from % block_rows, to % block_rows);
        if from_block == to_block {
            let block = &mut self.blocks[to_block];
            let source = block.start + from_row * stride;
            block.buffer.copy_within(source..source + cols, block.start + to_row * stride);
        } else {
            let (left, right) = self.blocks.split_at_mut(from_block);
            let (target, source) = (&mut left[to_block], &right[0]);
            let (t, s) = (target.start + to_row * stride, source.start + from_row * stride);
            target.buffer[t..t + cols].copy_from_slice(&source.buffer[s..s + cols]);
        }
    }
}

/// Returns the runs of rows between those that are gone, which ascend, up to `count`.
fn runs(
    gone: impl Iterator<Item = usize>,
    count: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut from = 0;
    gone.chain([count]).map(move |row| std::mem::replace(&mut from, row + 1)..row)
}

impl Block {
    /// Returns an empty block; its memory is reserved but not yet touched.
    fn allocate(stride: usize, rows: usize) -> Result<Self, ChangeError> {
        let length = Self::length(stride, rows);
        let mut buffer: Vec<f32> = Vec::new();
        buffer
            .try_reserve_exact(length)
            .map_err(|_| ChangeError::Memory { bytes: length.saturating_mul(SIZE) })?;
        Ok(Self::in_place(buffer))
    }

    /// Returns a block of zeros; the memory is not yet touched if the system gives zeros.
    fn zeroed(stride: usize, rows: usize) -> Result<Self, ChangeError> {
        let length = Self::length(stride, rows);
        let buffer: Vec<f32> = bytemuck::allocation::try_zeroed_vec(length)
            .map_err(|()| ChangeError::Memory { bytes: length.saturating_mul(SIZE) })?;
        Ok(Self { start: aligned(&buffer), buffer })
    }

    /// Sets its length to so many rows of the `block_rows` that it has room for; what is behind them becomes
    /// zeros.
    fn of_rows(mut self, rows: usize, stride: usize, block_rows: usize) -> Self {
        let end = self.start + rows * stride;
        if rows < block_rows {
            let end = end.min(self.buffer.len());
            self.buffer[end..].zeroize();
            self.buffer.truncate(end);
        }
        self.buffer.resize(end.max(self.buffer.len()), 0.0);
        self
    }

    fn length(stride: usize, rows: usize) -> usize {
        stride.saturating_mul(rows).saturating_add(LINE / SIZE)
    }

    fn in_place(mut buffer: Vec<f32>) -> Self {
        let start = aligned(&buffer);
        buffer.resize(start, 0.0);
        Self { buffer, start }
    }
}

/// Returns the first element that lies on a cache line.
fn aligned(buffer: &[f32]) -> usize {
    match buffer.as_ptr().align_offset(LINE) {
        start if start <= LINE / SIZE => start,
        _ => 0,
    }
}

impl Clone for Dense {
    /// Copies the rows into blocks of their own, aligned afresh.
    fn clone(&self) -> Self {
        let mut copy = Self { blocks: Vec::new(), ..*self };
        for block in &self.blocks {
            let mut own = Block::in_place(Vec::with_capacity(block.buffer.capacity()));
            own.buffer.extend_from_slice(&block.buffer[block.start..]);
            copy.blocks.push(own);
        }
        copy
    }
}

impl std::fmt::Debug for Dense {
    /// Shows the shape alone: rows are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dense")
            .field("rows", &self.rows)
            .field("cols", &self.cols)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Dense {
    fn eq(&self, other: &Self) -> bool {
        self.cols == other.cols
            && self.rows == other.rows
            && (0..self.rows).all(|i| self.row(i) == other.row(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn removed_rows_leave_nothing_behind() {
        for cols in [3, 600] {
            let mut x: Dense = Dense::new(cols);
            for i in 0..20 {
                x.push_row(&vec![i as f32 + 1.0; cols]).unwrap();
            }
            let written = x.blocks[0].buffer.len();
            x.remove_rows(&[2, 5, 19]).unwrap();
            let buffer = &mut x.blocks[0].buffer;
            let held = |value: f32| buffer.iter().filter(|&&v| v == value).count();
            for i in 0..20 {
                let expected = if [2, 5, 19].contains(&i) { 0 } else { cols };
                assert_eq!(held(i as f32 + 1.0), expected, "row {i}");
            }
            let behind = written - buffer.len();
            assert!(behind >= 2 * cols);
            for spare in &mut buffer.spare_capacity_mut()[..behind] {
                // SAFETY: `written` values have been written, `behind` of them lie here.
                assert_eq!(unsafe { spare.assume_init() }, 0.0);
            }
        }
    }

    /// Tests blocks of one row, of few and of many; most of a block, or all of it, may be removed.
    #[test]
    #[allow(unsafe_code)]
    fn rows_that_are_left_close_up_over_blocks() {
        for cols in [1 << 20, 1 << 17, 1 << 15, 600] {
            let block_rows = Dense::new(cols).block_rows;
            let rows = 3 * block_rows + block_rows.div_ceil(3);
            let value = |row: usize| row as f32 + 1.0;
            let make = |rows: &mut dyn Iterator<Item = usize>| {
                let mut x = Dense::new(cols);
                rows.for_each(|row| x.push_row(&vec![value(row); cols]).unwrap());
                x
            };
            let all = make(&mut (0..rows));
            for step in [1, 2, 3, block_rows / 2 + 1, block_rows + 1, rows / 2] {
                for (from, until) in [(0, rows), (rows - 1, rows), (1, 3), (block_rows, rows)] {
                    let gone: Vec<usize> = (from..until.min(rows)).step_by(step.max(1)).collect();
                    let kept = |row: &usize| gone.binary_search(row).is_err();
                    let mut x = all.clone();
                    x.remove_rows(&gone).unwrap();
                    assert!(x == make(&mut (0..rows).filter(kept)), "{cols} columns: {gone:?}");
                    x.push_row(&vec![0.5; cols]).unwrap();
                    x.remove_rows(&[x.rows() - 1]).unwrap();
                    let Some(last) = x.blocks.last_mut() else { continue };
                    let held = last.buffer.len();
                    let written =
                        x.stride * block_rows.min(rows - (x.rows - 1) / block_rows * block_rows);
                    let behind = (last.start + written).saturating_sub(held + x.stride);
                    for spare in &mut last.buffer.spare_capacity_mut()[..behind] {
                        // SAFETY: so many values behind the last were written when all rows were there.
                        assert_eq!(unsafe { spare.assume_init() }, 0.0);
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_appended_with_their_memory_or_copied() {
        for cols in [3, 600, 1 << 20] {
            let block_rows = Dense::new(cols).block_rows;
            for before in [0, 1, block_rows, block_rows + 1] {
                let make = |range: std::ops::Range<usize>| {
                    let mut x = Dense::new(cols);
                    range.for_each(|i| x.push_row(&vec![i as f32; cols]).unwrap());
                    x
                };
                let end = before + block_rows + 2;
                let (mut x, more) = (make(0..before), make(before..end));
                let places = more.blocks.iter().map(|block| block.buffer.as_ptr());
                let places: Vec<_> = places.collect();
                x.append(more).unwrap();
                x.push_row(&vec![end as f32; cols]).unwrap();
                assert_eq!(x, make(0..end + 1));
                let adopted = x.blocks.iter().any(|block| places.contains(&block.buffer.as_ptr()));
                assert_eq!(adopted, before % block_rows == 0);
                x.remove_rows(&[0]).unwrap();
                assert_eq!(x, make(1..end + 1));
            }
        }
    }

    #[test]
    fn one_row_touches_one_row_of_memory() {
        let mut x: Dense = Dense::new(784);
        x.push_row(&[1.0; 784]).unwrap();
        assert!(x.blocks[0].buffer.len() <= 784 + 16);
        assert!(x.blocks[0].buffer.capacity() >= CHUNK * 784);
    }
}
