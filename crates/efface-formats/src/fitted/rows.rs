//! Raw rows in memory, one after the other.

use std::collections::HashSet;

use zeroize::Zeroize;

use super::frame::Frame;
use super::raw;
use crate::error::RawFault;

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

    /// Whether a column, counted from 0, has another whole number in each of two or more rows.
    pub fn numbers_rows(&self, column: usize) -> bool {
        if !matches!(self.frame, Frame::Columns(_)) || self.len() < 2 {
            return false;
        }
        let number = |row| {
            let mut reader = raw::Reader::new(row);
            reader.target().ok()?;
            for _ in 0..column {
                reader.cell().ok()?;
            }
            match reader.cell().ok()? {
                raw::RawCell::Number(value) if value.fract() == 0.0 => Some(value.to_bits()),
                _ => None,
            }
        };
        let mut seen = HashSet::new();
        self.iter().all(|row| number(row).is_some_and(|number| seen.insert(number)))
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
