//! Raw rows in memory, one after the other.

use std::collections::HashSet;

use zeroize::Zeroize;

use super::frame::Frame;
use super::number;
use super::raw::{self, RawCell};
use crate::error::RawFault;
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

/// Whether a text spells a time or a number that is not whole.
fn is_measured(text: &str) -> bool {
    time::orders(text) != 0 || number::spelled(text).is_some_and(|value| value.fract() != 0.0)
}

/// Raw rows of one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRows {
    frame: Frame,
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl RawRows {
    /// No rows.
    pub fn new(frame: Frame) -> Self {
        Self { frame, bytes: Vec::new(), ends: Vec::new() }
    }

    /// What the rows are made of.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The same rows for regression, their classes read as numbers; `None` where one is none, or has no
    /// class.
    pub fn with_numbers_as_targets(&self) -> Option<Self> {
        let mut rows = Self::new(self.frame.clone());
        for row in self.iter() {
            raw::with_number(row, &mut rows.bytes)?;
            rows.ends.push(rows.bytes.len());
        }
        Some(rows)
    }

    /// How far the values of a named column, counted from 0, are another in each row, as names of
    /// records are. `None` where a cell is a time or a number that is not whole, where more than one
    /// cell in ten is missing or has the value of another row, for fewer than two rows, and for arrays.
    pub fn telling_apart(&self, column: usize) -> Option<TellingApart> {
        if !matches!(self.frame, Frame::Columns(_)) || self.len() < 2 {
            return None;
        }
        let spared = self.len() / 10;
        let mut seen = HashSet::new();
        let (mut missing, mut again) = (0, 0);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for row in self.iter() {
            let mut reader = raw::Reader::new(row);
            reader.target().ok()?;
            for _ in 0..column {
                reader.cell().ok()?;
            }
            let (key, cell) = reader.keyed().ok()?;
            match cell {
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

    /// Whether a named column, counted from 0, has the same cell in all of two or more rows; false for
    /// arrays.
    pub fn is_constant(&self, column: usize) -> bool {
        let Some(first) = self.key(0, column).filter(|_| self.len() > 1) else { return false };
        (1..self.len()).all(|row| self.key(row, column) == Some(first))
    }

    /// The bytes of a cell of a named column.
    fn key(&self, row: usize, column: usize) -> Option<&[u8]> {
        if !matches!(self.frame, Frame::Columns(_)) {
            return None;
        }
        let mut reader = raw::Reader::new(self.row(row));
        reader.target().ok()?;
        for _ in 0..column {
            reader.cell().ok()?;
        }
        reader.keyed().ok().map(|(key, _)| key)
    }

    /// Appends a row.
    ///
    /// # Errors
    /// Bytes that are no row of the frame. Nothing is appended then.
    pub fn push(&mut self, row: &[u8]) -> Result<(), RawFault> {
        raw::check(&self.frame, row)?;
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Appends all rows of the same frame.
    ///
    /// # Errors
    /// Rows of another frame. Nothing is appended then.
    pub fn append(&mut self, rows: &Self) -> Result<(), RawFault> {
        if rows.frame != self.frame {
            return Err(RawFault::Frame);
        }
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&rows.bytes);
        self.ends.extend(rows.ends.iter().map(|end| before + end));
        Ok(())
    }

    /// The row at a position counted from 0; empty beyond the last.
    pub fn row(&self, index: usize) -> &[u8] {
        let start = match index.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(self.bytes.len()),
            None => 0,
        };
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Bytes of all rows.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Removes the rows at these positions, which ascend, and overwrites what is behind the rest.
    pub fn remove(&mut self, rows: &[usize]) {
        let mut gone = rows.iter().copied().peekable();
        let (mut to, mut kept) = (0, 0);
        let mut start = 0;
        for index in 0..self.ends.len() {
            let end = self.ends[index];
            if gone.next_if_eq(&index).is_none() {
                self.bytes.copy_within(start..end, to);
                to += end - start;
                self.ends[kept] = to;
                kept += 1;
            }
            start = end;
        }
        self.bytes[to..].zeroize();
        self.bytes.truncate(to);
        self.ends.truncate(kept);
    }

    /// Overwrites and removes all rows.
    pub fn clear(&mut self) {
        self.bytes.zeroize();
        self.ends.clear();
    }
}

impl Drop for RawRows {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}
