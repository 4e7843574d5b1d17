//! Records of separated text, one at a time, in memory bounded by the limits.

use crate::error::{Fault, LimitFault, ReadError, Spot};
use crate::format::csv::CsvFault;
use crate::limits::Limits;
use crate::lines::Lines;

/// Reads records.
pub(crate) struct Records<'r> {
    lines: Lines<'r>,
    delimiter: u8,
    comment: Option<u8>,
    columns: usize,
    field_bytes: usize,
    record_bytes: u64,
    /// The current line, then further lines of a record that spans several.
    raw: Vec<u8>,
    text: String,
    ends: Vec<usize>,
    first_line: u64,
}

impl<'r> Records<'r> {
    /// Records of these lines.
    pub(crate) fn new(
        lines: Lines<'r>,
        delimiter: u8,
        comment: Option<u8>,
        limits: &Limits,
    ) -> Self {
        Self {
            lines,
            delimiter,
            comment,
            columns: limits.columns as usize,
            field_bytes: limits.field_bytes as usize,
            record_bytes: u64::from(limits.line_bytes),
            raw: Vec::new(),
            text: String::new(),
            ends: Vec::new(),
            first_line: 0,
        }
    }

    /// Sets the delimiter before the next record.
    pub(crate) fn set_delimiter(&mut self, delimiter: u8) {
        self.delimiter = delimiter;
    }

    /// The next line that is not empty and no comment, left to be read again as a record.
    pub(crate) fn peek_line(&mut self) -> Result<Option<&[u8]>, ReadError> {
        self.raw.clear();
        Ok(if self.fill()? { Some(&self.raw) } else { None })
    }

    /// Goes to the next record; `false` after the last.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        if !self.fill()? {
            return Ok(false);
        }
        self.first_line = self.lines.number();
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        self.ends.clear();
        self.split(&mut bytes)?;
        self.raw.clear();
        self.text = String::from_utf8(bytes).map_err(|_| self.fault(CsvFault::NotUtf8))?;
        Ok(true)
    }

    /// How many fields the record has.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field of the record, trimmed unless quoted.
    pub(crate) fn field(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.text.get(start.unwrap_or(0)..end)
    }

    /// The line on which the record begins.
    pub(crate) fn spot(&self) -> Spot {
        Spot::Line(self.first_line)
    }

    /// A fault of this record.
    pub(crate) fn fault(&self, fault: impl Into<Fault>) -> ReadError {
        let mut place = self.lines.place();
        place.spot = Spot::Line(self.first_line.max(1));
        ReadError::at(place, fault)
    }

    fn fill(&mut self) -> Result<bool, ReadError> {
        while self.raw.is_empty() {
            if !self.lines.next(&mut self.raw)? {
                return Ok(false);
            }
            let is_comment = self.comment.is_some_and(|sign| self.raw.first() == Some(&sign));
            if is_comment || self.raw.iter().all(|&byte| byte == b' ') {
                self.raw.clear();
            }
        }
        Ok(true)
    }

    fn split(&mut self, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
        let mut at = 0;
        loop {
            while self.raw.get(at).is_some_and(|&byte| self.is_space(byte)) {
                at += 1;
            }
            let start = bytes.len();
            at = if self.raw.get(at) == Some(&b'"') {
                self.quoted(at + 1, bytes)?
            } else {
                self.plain(at, bytes)?
            };
            let limits = LimitFault::check(
                "bytes in one field",
                (bytes.len() - start) as u64,
                self.field_bytes as u64,
            )
            .and_then(|()| {
                LimitFault::check("columns", self.ends.len() as u64 + 1, self.columns as u64)
            });
            limits.map_err(|fault| self.fault(fault))?;
            self.ends.push(bytes.len());
            if at >= self.raw.len() {
                return Ok(());
            }
            at += 1;
        }
    }

    /// Copies an unquoted field; returns the place of the delimiter or of the end.
    fn plain(&self, at: usize, bytes: &mut Vec<u8>) -> Result<usize, ReadError> {
        let rest = &self.raw[at..];
        let length = rest.iter().position(|&byte| byte == self.delimiter).unwrap_or(rest.len());
        let mut field = &rest[..length];
        while let Some((&last, shorter)) = field.split_last()
            && self.is_space(last)
        {
            field = shorter;
        }
        if field.contains(&b'\r') {
            return Err(self.fault(CsvFault::CarriageReturn { field: self.ends.len() + 1 }));
        }
        bytes.extend_from_slice(field);
        Ok(at + length)
    }

    /// Copies a quoted field from behind its opening quote, over further lines if need be;
    /// returns the place of the delimiter or of the end.
    fn quoted(&mut self, mut at: usize, bytes: &mut Vec<u8>) -> Result<usize, ReadError> {
        loop {
            let rest = &self.raw[at..];
            match rest.iter().position(|&byte| byte == b'"') {
                Some(length) if rest.get(length + 1) == Some(&b'"') => {
                    bytes.extend_from_slice(&rest[..=length]);
                    at += length + 2;
                }
                Some(length) => {
                    bytes.extend_from_slice(&rest[..length]);
                    at += length + 1;
                    break;
                }
                None => {
                    bytes.extend_from_slice(rest);
                    bytes.push(b'\n');
                    LimitFault::check("bytes in one record", bytes.len() as u64, self.record_bytes)
                        .map_err(|fault| self.fault(fault))?;
                    self.raw.clear();
                    at = 0;
                    if !self.lines.next(&mut self.raw)? {
                        return Err(self.fault(CsvFault::UnclosedQuote));
                    }
                }
            }
        }
        while self.raw.get(at).is_some_and(|&byte| self.is_space(byte)) {
            at += 1;
        }
        match self.raw.get(at) {
            Some(&byte) if byte != self.delimiter => {
                Err(self.fault(CsvFault::TextAfterQuote { field: self.ends.len() + 1 }))
            }
            _ => Ok(at),
        }
    }

    fn is_space(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && byte != self.delimiter
    }
}
