//! Raw rows in memory, one after the other.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::frame::Frame;
use super::raw::{self, RawCell, of_key};
use super::{number, places};
use crate::error::{Fault, fault};
use crate::row_bytes::RowBytes;
use crate::time;

/// How a column tells rows apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TellingApart {
    /// Whether each row has a value that no other row has; else nine rows in ten have one.
    pub in_every_row: bool,
    /// Whether the values are whole numbers that fill at least half of their range, as those of a
    /// counter do.
    pub dense: bool,
}

/// Returns whether a text spells a time or a number that is not whole.
fn is_measured(text: &str) -> bool {
    time::is_spelled(text) || number::spelled(text).is_some_and(|value| value.fract() != 0.0)
}

/// Raw rows of one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRows {
    frame: Arc<Frame>,
    bytes: RowBytes,
}

/// The bytes of the rows, to read.
impl Deref for RawRows {
    type Target = RowBytes;

    fn deref(&self) -> &RowBytes {
        &self.bytes
    }
}

impl RawRows {
    /// Creates an empty collection of rows of this frame.
    pub fn new(frame: Frame) -> Self {
        Self { frame: Arc::new(frame), bytes: RowBytes::new() }
    }

    /// Creates an empty collection of rows of the same frame.
    #[must_use]
    pub fn none_like(&self) -> Self {
        Self { frame: Arc::clone(&self.frame), bytes: RowBytes::new() }
    }

    /// Returns what the rows are made of.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the same rows for regression, their classes read as numbers; `None` if one is none, or has no
    /// class.
    pub fn with_numbers_as_targets(&self) -> Option<Self> {
        let mut rows = self.none_like();
        for row in self.iter() {
            // Takes its full length at once, so that growing leaves no copy behind.
            let mut buffer = Zeroizing::new(Vec::with_capacity(row.len() + 16));
            raw::with_number(row, &mut buffer)?;
            rows.bytes.push(&buffer);
        }
        Some(rows)
    }

    /// Returns how far the values of a named column, counted from 0, identify their rows, as names of records
    /// do. Returns `None` if a cell is a time or a number that is not whole, if more than one cell in ten is
    /// missing or has the value of another row, for fewer than two rows, and for arrays.
    pub fn telling_apart(&self, column: usize) -> Option<TellingApart> {
        if !matches!(*self.frame, Frame::Columns(_)) || self.len() < 2 {
            return None;
        }
        let spared = self.len() / 10;
        let mut seen = HashSet::new();
        let (mut missing, mut again) = (0, 0);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for row in self.iter() {
            let key = self.key_in(row, column)?;
            match of_key(key) {
                RawCell::Missing => missing += 1,
                _ if !seen.insert(key) => again += 1,
                RawCell::Number(value) if value.fract() == 0.0 => {
                    least = least.min(value);
                    greatest = greatest.max(value);
                }
                RawCell::Text(text) if !is_measured(text) => greatest = f64::INFINITY,
                _ => return None,
            }
            if missing > spared || again > spared {
                return None;
            }
        }
        let dense = greatest - least < 2.0 * seen.len() as f64;
        Some(TellingApart { in_every_row: missing + again == 0, dense })
    }

    /// Returns whether the cells of a named column, counted from 0, are whole numbers or texts that are no
    /// measurements, or missing, with at least so many different ones; false for arrays.
    pub fn lists_names(&self, column: usize, least: usize) -> bool {
        let mut seen = HashSet::new();
        // Cells that were examined, each at the place of its hash.
        let mut recent: [&[u8]; 256] = [&[]; 256];
        for row in self.iter() {
            let Some(key) = self.key_in(row, column) else { return false };
            let place = &mut recent[(places::hash(key) >> (u64::BITS - 8)) as usize];
            if *place == key {
                continue;
            }
            *place = key;
            match of_key(key) {
                RawCell::Missing => continue,
                RawCell::Number(value) if value.fract() == 0.0 => {}
                RawCell::Text(text) if !is_measured(text) => {}
                _ => return false,
            }
            if seen.len() < least {
                seen.insert(key);
            }
        }
        seen.len() >= least
    }

    /// Returns whether a named column, counted from 0, has the same cell in all of two or more rows; false
    /// for arrays.
    pub fn is_constant(&self, column: usize) -> bool {
        let Some(first) = self.key(0, column).filter(|_| self.len() > 1) else { return false };
        (1..self.len()).all(|row| self.key(row, column) == Some(first))
    }

    /// Returns the bytes of a cell of a named column.
    fn key(&self, row: usize, column: usize) -> Option<&[u8]> {
        self.key_in(self.row(row), column)
    }

    /// Returns the bytes of a cell of one of these rows.
    fn key_in<'a>(&self, row: &'a [u8], column: usize) -> Option<&'a [u8]> {
        if !matches!(*self.frame, Frame::Columns(_)) {
            return None;
        }
        let mut reader = raw::Reader::new(row);
        reader.skip_target().ok()?;
        for _ in 0..column {
            reader.token().ok()?;
        }
        reader.token().ok()
    }

    /// Appends one row after checking it.
    ///
    /// # Errors
    /// Fails if the bytes are no row of the frame. Nothing is appended then.
    pub fn push(&mut self, row: &[u8]) -> Result<(), Fault> {
        self.frame.check_rows(std::iter::once(row))?;
        self.bytes.push(row);
        Ok(())
    }

    /// Appends several rows after checking them.
    ///
    /// # Errors
    /// Fails if some of the bytes are no row of the frame. Nothing is appended then.
    pub fn extend(&mut self, rows: RowBytes) -> Result<(), Fault> {
        self.frame.check_rows(rows.iter())?;
        self.bytes.append(rows);
        Ok(())
    }

    /// Appends all rows of the same frame.
    ///
    /// # Errors
    /// Fails if the rows have another frame. Nothing is appended then.
    pub fn append(&mut self, rows: Self) -> Result<(), Fault> {
        if !Arc::ptr_eq(&rows.frame, &self.frame) && rows.frame != self.frame {
            return Err(fault!("the rows are made of other columns"));
        }
        self.bytes.append(rows.bytes);
        Ok(())
    }

    /// Takes out the first rows, at most so many.
    #[must_use]
    pub fn take_front(&mut self, rows: usize) -> Self {
        Self { frame: Arc::clone(&self.frame), bytes: self.bytes.take_front(rows) }
    }

    /// Removes the rows at these positions, which ascend; the bytes that they were in are overwritten,
    /// once no copy shares them.
    pub fn remove(&mut self, rows: &[usize]) {
        self.bytes = self.bytes.without(rows);
    }

    /// Removes all rows; their bytes are overwritten, once no copy shares them.
    pub fn clear(&mut self) {
        self.bytes = RowBytes::new();
    }
}
