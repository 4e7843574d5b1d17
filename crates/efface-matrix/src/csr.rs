//! Compressed sparse rows in segments that are allocated once and never move.

use std::ops::Range;

use zeroize::Zeroize;

use crate::change::{ChangeError, Refusal, check_finite, check_removal, refuse};

/// Entries per segment, unless one row has more.
const SEGMENT: usize = 1 << 16;

/// A sparse matrix of `u32` column indices and `f32` values, 8 bytes per stored entry.
///
/// Rows lie in segments of 65,536 entries (longer for a longer row), allocated once: pushing never
/// copies a row, and the peak memory is about the data itself.
#[derive(Clone)]
pub struct Csr {
    cols: usize,
    places: Vec<Place>,
    segments: Vec<Segment>,
}

/// Location of a row.
#[derive(Clone, Copy)]
struct Place {
    segment: u32,
    start: u32,
    entries: u32,
}

#[derive(Clone)]
struct Segment {
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Csr {
    /// Returns an empty matrix of `cols` columns.
    pub fn new(cols: usize) -> Self {
        Self { cols, places: Vec::new(), segments: Vec::new() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of stored entries.
    pub fn entries(&self) -> usize {
        self.segments.iter().map(|segment| segment.indices.len()).sum()
    }

    /// Returns how many bytes are allocated, room for further rows included.
    pub fn bytes(&self) -> usize {
        let entries: usize = self.segments.iter().map(|s| s.indices.capacity()).sum();
        entries * 8 + self.places.capacity() * size_of::<Place>()
    }

    /// Returns row `i`: its column indices, strictly increasing, and as many values.
    ///
    /// # Panics
    /// When `i` is not below `rows()`, like a slice.
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let place = self.places[i];
        let segment = &self.segments[place.segment as usize];
        (&segment.indices[place.range()], &segment.values[place.range()])
    }

    /// Appends a row. Explicit zeros are kept as entries.
    ///
    /// # Errors
    /// Fails if the two slices differ in length, if the indices do not increase strictly or reach beyond
    /// `cols()`, if a value is not finite, or if the row does not fit in memory. The matrix is then
    /// unchanged.
    pub fn push_row(&mut self, indices: &[u32], values: &[f32]) -> Result<(), ChangeError> {
        if indices.len() != values.len() {
            refuse!(
                "`values` must have {} entries, one per index, got {}",
                indices.len(),
                values.len()
            );
        }
        for pair in indices.windows(2) {
            if pair[0] >= pair[1] {
                refuse!("`indices` must increase strictly, got {} after {}", pair[1], pair[0]);
            }
        }
        if let Some(&index) = indices.last().filter(|&&index| index as usize >= self.cols) {
            refuse!("`indices` must be below the {} columns, got {index}", self.cols);
        }
        check_finite(values.iter().map(|&value| f64::from(value)), |k| indices[k] as usize)?;
        self.append(indices, values)
    }

    /// Appends all rows of a matrix of as many columns.
    ///
    /// # Errors
    /// Fails if the number of columns differs, or if there is no memory. The first of the rows may then be
    /// appended.
    pub fn append_rows(&mut self, rows: &Self) -> Result<(), ChangeError> {
        if rows.cols != self.cols {
            refuse!("`row` must have {} values, one per column, got {}", self.cols, rows.cols);
        }
        (0..rows.rows()).try_for_each(|row| {
            let (indices, values) = rows.row(row);
            self.append(indices, values)
        })
    }

    /// Removes the rows numbered in `remove` (strictly increasing); the others keep their order.
    /// Segments that held a removed row are closed up in place, what lay behind is overwritten
    /// with zeros, and neighbours that then fit into one segment are merged.
    ///
    /// # Errors
    /// Fails if `remove` does not increase strictly or names a row that does not exist. The matrix is then
    /// unchanged.
    pub fn remove_rows(&mut self, remove: &[usize]) -> Result<(), Refusal> {
        check_removal(remove, self.rows())?;
        let Some(&first) = remove.first() else { return Ok(()) };
        let first_segment = self.places[first].segment as usize;
        self.close_up(remove, first);
        self.merge_from(first_segment);
        Ok(())
    }

    /// Moves the rows that stay to the front of their segments, from row `first` on.
    fn close_up(&mut self, remove: &[usize], first: usize) {
        let mut gone = remove.iter().copied().peekable();
        let mut current = self.places[first].segment;
        let mut fill = self.places[first].start;
        let mut to = first;
        for from in first..self.places.len() {
            let place = self.places[from];
            if place.segment != current {
                self.segments[current as usize].cut(fill as usize);
                (current, fill) = (place.segment, 0);
            }
            if gone.next_if_eq(&from).is_none() {
                self.segments[current as usize].shift(place.range(), fill as usize);
                self.places[to] = Place { start: fill, ..place };
                fill += place.entries;
                to += 1;
            }
        }
        self.segments[current as usize].cut(fill as usize);
        for place in &mut self.places[to..] {
            *place = Place { segment: 0, start: 0, entries: 0 };
        }
        self.places.truncate(to);
    }

    /// Merges each segment behind number `first` into the one before it if it fits.
    fn merge_from(&mut self, first: usize) {
        let first = first.saturating_sub(1);
        let mut moved: Vec<(u32, u32)> = Vec::new();
        let mut kept = first;
        let behind = self.segments.split_off(first);
        for mut segment in behind {
            match self.segments.get_mut(first..).and_then(|kept| kept.last_mut()) {
                Some(last) if last.room() >= segment.indices.len() => {
                    moved.push((kept as u32 - 1, last.indices.len() as u32));
                    last.indices.extend_from_slice(&segment.indices);
                    last.values.extend_from_slice(&segment.values);
                    segment.cut(0);
                }
                _ => {
                    moved.push((kept as u32, 0));
                    self.segments.push(segment);
                    kept += 1;
                }
            }
        }
        for place in &mut self.places {
            if place.segment as usize >= first {
                let (segment, offset) = moved[place.segment as usize - first];
                *place = Place { segment, start: place.start + offset, ..*place };
            }
        }
    }

    /// Appends a checked row.
    fn append(&mut self, indices: &[u32], values: &[f32]) -> Result<(), ChangeError> {
        let refused = || ChangeError::Memory { bytes: indices.len().saturating_mul(8) };
        let entries = u32::try_from(indices.len()).map_err(|_| refused())?;
        if self.segments.last().is_none_or(|segment| segment.room() < indices.len()) {
            u32::try_from(self.segments.len()).map_err(|_| refused())?;
            self.segments.push(Segment::allocate(indices.len().max(SEGMENT))?);
        }
        let last = self.segments.len() - 1;
        let segment = &mut self.segments[last];
        let start = segment.indices.len() as u32;
        let place = Place { segment: last as u32, start, entries };
        segment.indices.extend_from_slice(indices);
        segment.values.extend_from_slice(values);
        self.places.push(place);
        Ok(())
    }
}

impl Place {
    fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.entries as usize
    }
}

impl Segment {
    fn allocate(entries: usize) -> Result<Self, ChangeError> {
        let refused = || ChangeError::Memory { bytes: entries.saturating_mul(8) };
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        indices.try_reserve_exact(entries).map_err(|_| refused())?;
        values.try_reserve_exact(entries).map_err(|_| refused())?;
        Ok(Self { indices, values })
    }

    fn room(&self) -> usize {
        let free = self.indices.capacity() - self.indices.len();
        free.min(self.values.capacity() - self.values.len())
    }

    /// Moves the entries in `from` to start at `to`.
    fn shift(&mut self, from: Range<usize>, to: usize) {
        self.indices.copy_within(from.clone(), to);
        self.values.copy_within(from, to);
    }

    /// Zeroes and drops everything from entry `fill` on.
    fn cut(&mut self, fill: usize) {
        self.indices[fill..].zeroize();
        self.values[fill..].zeroize();
        self.indices.truncate(fill);
        self.values.truncate(fill);
    }
}

impl std::fmt::Debug for Csr {
    /// Shows the shape alone: rows are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Csr")
            .field("rows", &self.rows())
            .field("cols", &self.cols)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Csr {
    fn eq(&self, other: &Self) -> bool {
        self.cols == other.cols
            && self.rows() == other.rows()
            && (0..self.rows()).all(|i| self.row(i) == other.row(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn removed_rows_leave_nothing_behind() {
        let mut x = Csr::new(100);
        for i in 0..20_u32 {
            x.push_row(&[i, i + 50], &[i as f32 + 1.0, i as f32 + 0.5]).unwrap();
        }
        x.remove_rows(&[0, 7, 19]).unwrap();
        for spare in &mut x.segments[0].values.spare_capacity_mut()[..6] {
            // SAFETY: 40 values have been written there, 34 are left.
            assert_eq!(unsafe { spare.assume_init() }, 0.0);
        }
        for spare in &mut x.segments[0].indices.spare_capacity_mut()[..6] {
            // SAFETY: as above.
            assert_eq!(unsafe { spare.assume_init() }, 0);
        }
        for value in [1.0, 0.5, 8.0, 7.5, 20.0, 19.5] {
            assert!(!x.segments[0].values.contains(&value));
        }
    }
}
