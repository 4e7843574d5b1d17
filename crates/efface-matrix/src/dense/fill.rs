//! Fills dense rows from several threads.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zeroize::Zeroize;

use super::{Block, Dense};
use crate::change::{ChangeError, check_finite, refusal, refuse};
use crate::kernel::sum_of_squares;

/// A matrix of a known number of rows, which threads write in any order: [`Dense`] once all are written.
pub struct Fill {
    cols: usize,
    rows: usize,
    stride: usize,
    block_rows: usize,
    blocks: Vec<Mutex<Part>>,
}

/// A block, which is allocated when its first row is written, and which of its rows were written.
struct Part {
    block: Option<Block>,
    written: Vec<bool>,
}

impl Fill {
    /// Reserves places for so many rows of `cols` columns, in memory that is not allocated before they are
    /// written.
    ///
    /// # Errors
    /// Fails if there is no memory for a list of them.
    pub fn new(rows: usize, cols: usize) -> Result<Self, ChangeError> {
        Self::over(Dense::new(cols), rows)
    }

    /// Does the same in the memory of another matrix, and allocates what that lacks. What is not written over
    /// is overwritten with zeros.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub fn over(used: Dense, rows: usize) -> Result<Self, ChangeError> {
        let Dense { cols, stride, block_rows, blocks, .. } = used;
        let mut blocks = blocks.into_iter();
        let count = rows.div_ceil(block_rows);
        let mut parts = Vec::new();
        let bytes = count.saturating_mul(size_of::<Mutex<Part>>());
        parts.try_reserve_exact(count).map_err(|_| ChangeError::Memory { bytes })?;
        for first in (0..rows).step_by(block_rows) {
            let here = block_rows.min(rows - first);
            let block = blocks.next().map(|used| used.of_rows(here, stride, block_rows));
            parts.push(Mutex::new(Part { block, written: vec![false; here] }));
        }
        blocks.for_each(|mut block| block.buffer.zeroize());
        Ok(Self { cols, rows, stride, block_rows, blocks: parts })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns how many bytes are allocated for the rows once all are written.
    pub fn bytes(&self) -> usize {
        let numbers = |part: &Mutex<Part>| match &lock(part).block {
            Some(block) => block.buffer.capacity(),
            None => Block::length(self.stride, self.block_rows),
        };
        self.blocks.iter().map(|part| numbers(part) * super::SIZE).sum()
    }

    /// Calls `write` with the place of each of these rows, one after another, and the number of rows before
    /// it; each has `cols` values, which are zeros or an earlier row. `squares` is then called with their
    /// [sum of squares](sum_of_squares), in that order.
    ///
    /// # Errors
    /// Fails with the error of `write`, if rows are not among them all, if a row has a value that is not
    /// finite, or if there is no memory. Rows before that one are written then.
    pub fn write<E: From<ChangeError>>(
        &self,
        rows: Range<usize>,
        mut write: impl FnMut(usize, &mut [f32]) -> Result<(), E>,
        mut squares: impl FnMut((f64, f64)),
    ) -> Result<(), E> {
        if rows.end > self.rows {
            let beyond = refusal!("rows must end at {} at most, got {}", self.rows, rows.end);
            return Err(ChangeError::from(beyond).into());
        }
        let mut row = rows.start;
        while row < rows.end {
            let (number, first) = (row / self.block_rows, row % self.block_rows);
            let count = (self.block_rows - first).min(rows.end - row);
            let mut part = lock(&self.blocks[number]);
            let Part { block, written } = &mut *part;
            let block = match block {
                Some(block) => block,
                None => {
                    let (stride, rows) = (self.stride, self.block_rows);
                    let new = Block::zeroed(stride, rows)?;
                    block.insert(new.of_rows(written.len(), stride, rows))
                }
            };
            for (here, written) in written.iter_mut().enumerate().skip(first).take(count) {
                let start = block.start + here * self.stride;
                let values = &mut block.buffer[start..start + self.cols];
                write(row - rows.start, values)?;
                let sum = sum_of_squares(values);
                // It overflows for no finite values.
                if !sum.0.is_finite() {
                    check_finite(values.iter().map(|&value| value.into()), |column| column)?;
                }
                squares(sum);
                *written = true;
                row += 1;
            }
        }
        Ok(())
    }

    /// Returns the filled matrix.
    ///
    /// # Errors
    /// Fails if a row was not written.
    pub fn finish(self) -> Result<Dense, ChangeError> {
        let Self { cols, rows, stride, block_rows, blocks } = self;
        let mut done = Vec::with_capacity(blocks.len());
        for (number, part) in blocks.into_iter().enumerate() {
            let Part { block, written } = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            let missing = written.iter().position(|written| !written);
            match (missing, block) {
                (None, Some(block)) => done.push(block),
                (at, _) => {
                    refuse!("row {} was not written", number * block_rows + at.unwrap_or(0));
                }
            }
        }
        Ok(Dense { cols, rows, stride, block_rows, blocks: done })
    }
}

/// Returns a thread that failed while it wrote has left a row that does not count as written.
fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Fill {
    /// Shows the shape alone, as of [`Dense`].
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fill")
            .field("rows", &self.rows)
            .field("cols", &self.cols)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(row: usize, column: usize) -> f32 {
        (row * 31 + column) as f32
    }

    fn write(fill: &Fill, rows: Range<usize>) {
        let first = rows.start;
        let mut told = Vec::new();
        let write = |at, values: &mut [f32]| {
            values.iter_mut().enumerate().for_each(|(j, v)| *v = value(first + at, j));
            Ok::<_, ChangeError>(())
        };
        fill.write(rows.clone(), write, |squares| told.push(squares)).unwrap();
        let row = |row| (0..fill.cols).map(|j| value(row, j)).collect::<Vec<_>>();
        assert!(rows.map(|at| sum_of_squares(&row(at))).eq(told));
    }

    fn pushed(rows: usize, cols: usize) -> Dense {
        let mut x = Dense::new(cols);
        for row in 0..rows {
            x.push_row(&(0..cols).map(|j| value(row, j)).collect::<Vec<_>>()).unwrap();
        }
        x
    }

    #[test]
    fn rows_in_their_places_are_the_matrix_of_rows_in_order() {
        for cols in [0, 1, 3, 600, 1 << 20] {
            let block_rows = Dense::new(cols).block_rows;
            for rows in [0, 1, block_rows, 2 * block_rows + 1] {
                let fill = Fill::new(rows, cols).unwrap();
                let cuts = [0, rows / 3, rows / 2, rows];
                // Any order, on several threads.
                std::thread::scope(|scope| {
                    for cut in cuts.windows(2).rev() {
                        let (fill, rows) = (&fill, cut[0]..cut[1]);
                        scope.spawn(move || write(fill, rows));
                    }
                });
                let mut x = fill.finish().unwrap();
                let mut expected = pushed(rows, cols);
                assert_eq!(x, expected, "{rows} x {cols}");
                // It grows and shrinks as any other.
                for matrix in [&mut x, &mut expected] {
                    matrix.push_row(&vec![0.5; cols]).unwrap();
                    matrix.remove_rows(&[0]).unwrap();
                }
                assert_eq!(x, expected);
            }
        }
    }

    #[test]
    fn memory_is_used_again_and_what_is_left_of_it_is_zero() {
        let used = pushed(1500, 100);
        let places: Vec<_> = used.blocks.iter().map(|block| block.buffer.as_ptr()).collect();
        let fill = Fill::over(used, 700).unwrap();
        write(&fill, 0..700);
        let x = fill.finish().unwrap();
        assert_eq!(x, pushed(700, 100));
        assert!(x.blocks.iter().zip(&places).all(|(block, &place)| block.buffer.as_ptr() == place));
        let last = &x.blocks[1];
        assert!(last.buffer[last.start + (700 - 512) * 100..].iter().all(|&v| v == 0.0));
        let grown = Fill::over(x, 1500).unwrap();
        write(&grown, 0..1500);
        assert_eq!(grown.finish().unwrap(), pushed(1500, 100));
    }

    #[test]
    fn what_is_missing_or_does_not_fit_is_refused() {
        let fill = Fill::new(600, 3).unwrap();
        write(&fill, 0..599);
        let nothing = |_, _: &mut [f32]| Ok::<_, ChangeError>(());
        let beyond = fill.write(599..601, nothing, |_| ()).unwrap_err();
        assert_eq!(beyond.to_string(), "rows must end at 600 at most, got 601");
        for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let with = |_, values: &mut [f32]| {
                values.copy_from_slice(&[f32::MAX, f32::MIN, wrong]);
                Ok(())
            };
            let nan: ChangeError =
                fill.write(599..600, with, |_| panic!("told of no row")).unwrap_err();
            let said = format!("`row` must hold finite values, got {wrong} in column 2");
            assert_eq!(nan.to_string(), said);
        }
        assert_eq!(fill.finish().unwrap_err().to_string(), "row 599 was not written");
        assert!(matches!(Fill::new(usize::MAX / 2, 1000), Err(ChangeError::Memory { .. })));
        let wide = Fill::new(1, usize::MAX / 8).and_then(|fill| fill.write(0..1, nothing, |_| ()));
        assert!(matches!(wide, Err(ChangeError::Memory { .. })));
    }
}
