//! Records of separated text, one at a time, in memory bounded by the limits.
//!
//! The state machine of `csv-core` splits lines into fields and undoes quotes. It accepts any text as some
//! record, so what it is lenient about is checked here: text after a closing quote, a quote that is never
//! closed, a lone carriage return.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};

use crate::error::{Fault, ReadError, Spot, fault, within};
use crate::limits::Limits;
use crate::lines::Lines;

pub(crate) struct Records<'r> {
    lines: Lines<'r>,
    delimiter: u8,
    machine: Reader,
    comment: Option<u8>,
    columns: u64,
    field_bytes: u64,
    record_bytes: u64,
    /// The current line, the first or a further one of the record.
    raw: Vec<u8>,
    text: String,
    ends: Vec<usize>,
    first_line: u64,
}

impl<'r> Records<'r> {
    pub(crate) fn new(
        lines: Lines<'r>,
        delimiter: u8,
        comment: Option<u8>,
        limits: &Limits,
    ) -> Self {
        Self {
            lines,
            delimiter,
            machine: machine(delimiter),
            comment,
            columns: u64::from(limits.columns),
            field_bytes: u64::from(limits.field_bytes),
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
        self.machine = machine(delimiter);
    }

    /// Returns the next line that is not empty and no comment, left to be read again as a record.
    pub(crate) fn peek_line(&mut self) -> Result<Option<&[u8]>, ReadError> {
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
        self.text = String::from_utf8(bytes).map_err(|_| {
            self.fault(fault!(
                "the text is not UTF-8; save the file as UTF-8, or make one that is: `iconv -f \
                 WINDOWS-1252 -t UTF-8 FILE > OTHER` for most that a spreadsheet saved"
            ))
        })?;
        Ok(true)
    }

    /// Returns how many fields the record has.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a field of the record, trimmed unless quoted.
    pub(crate) fn field(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.text.get(start.unwrap_or(0)..end)
    }

    /// Returns the line on which the record begins.
    pub(crate) fn spot(&self) -> Spot {
        Spot::Line(self.first_line)
    }

    /// Returns a fault of this record.
    pub(crate) fn fault(&self, fault: Fault) -> ReadError {
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
        self.raw.push(b'\n');
        // Undoing quotes makes nothing longer, so room for a line is enough for its fields.
        bytes.resize(self.raw.len(), 0);
        let (mut at, mut end, mut last) = (0, 0, false);
        while !last {
            let start = end;
            last = self.next_field(&mut at, bytes, &mut end)?;
            within("bytes in one field", (end - start) as u64, self.field_bytes)
                .and_then(|()| within("columns", self.ends.len() as u64 + 1, self.columns))
                .map_err(|fault| self.fault(fault))?;
            self.ends.push(end);
        }
        bytes.truncate(end);
        Ok(())
    }

    /// Copies the field at `at` of the line to `end` of `bytes` and moves both behind it, over
    /// further lines if it is quoted; returns whether it is the last of the record.
    fn next_field(
        &mut self,
        at: &mut usize,
        bytes: &mut Vec<u8>,
        end: &mut usize,
    ) -> Result<bool, ReadError> {
        while self.raw.get(*at).is_some_and(|&byte| self.is_space(byte)) {
            *at += 1;
        }
        if self.ends.is_empty() && self.raw.get(*at) == Some(&b'\n') {
            // The machine would skip the line as empty.
            return Ok(true);
        }
        let quoted = self.raw.get(*at) == Some(&b'"');
        let (start, mut quotes) = (*end, 0);
        let (part, record_end) = loop {
            if *at == self.raw.len() {
                self.continue_record(*end)?;
                *at = 0;
                bytes.resize(*end + self.raw.len(), 0);
            }
            let rest = &self.raw[*at..];
            let (result, read, written) = self.machine.read_field(rest, &mut bytes[*end..]);
            *at += read;
            *end += written;
            quotes += count_quotes(&rest[..read]);
            if let ReadFieldResult::Field { record_end } = result {
                // Without the delimiter or line end.
                break (&rest[..read.saturating_sub(1)], record_end);
            }
        };
        let spaces = part.iter().rev().take_while(|&&byte| self.is_space(byte)).count();
        *end -= spaces.min(*end - start);
        let (field, number) = (&bytes[start..*end], self.ends.len() + 1);
        if quoted {
            // A quote inside quotes stands for two, one after the closing quote for itself.
            let closed = part[..part.len() - spaces].ends_with(b"\"")
                && quotes == 2 * count_quotes(field) + 2;
            if !closed && part.windows(2).any(|pair| pair == b"\\\"") {
                return Err(self.fault(fault!(
                    "field {number} has a quote behind a backslash; CSV files write a quote inside quotes twice \
                     (`\"\"`): write the file without an escape character (pandas: without `escapechar`)"
                )));
            }
            if !closed {
                return Err(self.fault(fault!("field {number} has text after its closing quote")));
            }
        } else if field.contains(&b'\r') {
            return Err(self.fault(fault!(
                "field {number} has a carriage return that no line feed follows; save the file \
                 with line ends of LF or CR LF"
            )));
        }
        Ok(record_end)
    }

    /// Goes to the next line of a record that holds `length` bytes so far.
    fn continue_record(&mut self, length: usize) -> Result<(), ReadError> {
        within("bytes in one record", length as u64, self.record_bytes)
            .map_err(|fault| self.fault(fault))?;
        self.raw.clear();
        if !self.lines.next(&mut self.raw)? {
            return Err(self.fault(fault!("a quoted field is never closed")));
        }
        self.raw.push(b'\n');
        Ok(())
    }

    fn is_space(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && byte != self.delimiter
    }
}

fn machine(delimiter: u8) -> Reader {
    ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(b'\n')).build()
}

fn count_quotes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'"').count()
}
