//! Lines of text of bounded length.

use std::io::{BufRead, Read};

use crate::error::{Place, ReadError, Spot, within};

/// Reads lines and counts them.
pub(crate) struct Lines<'r> {
    file: String,
    input: Box<dyn BufRead + 'r>,
    number: u64,
    limit: u64,
}

impl<'r> Lines<'r> {
    /// Reads lines of `input`, none longer than `limit` bytes; a byte order mark is skipped.
    pub(crate) fn new(
        file: &str,
        mut input: Box<dyn BufRead + 'r>,
        limit: u32,
    ) -> Result<Self, ReadError> {
        let mark = input.fill_buf().map_err(|error| ReadError::of_file(file, error))?;
        if mark.starts_with(&[0xef, 0xbb, 0xbf]) {
            input.consume(3);
        }
        Ok(Self { file: file.to_owned(), input, number: 0, limit: u64::from(limit) })
    }

    /// Appends the next line without its end (LF or CR LF) to `text`; `false` after the last.
    pub(crate) fn next(&mut self, text: &mut Vec<u8>) -> Result<bool, ReadError> {
        let before = text.len();
        let mut limited = (&mut self.input).take(self.limit + 2);
        let read = limited
            .read_until(b'\n', text)
            .map_err(|error| ReadError::of_file(&self.file, error))?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        if text.ends_with(b"\n") {
            text.pop();
            if text.len() > before && text.ends_with(b"\r") {
                text.pop();
            }
        }
        within("bytes in one line", (text.len() - before) as u64, self.limit)
            .map_err(|fault| ReadError::at(self.place(), fault))?;
        Ok(true)
    }

    /// Returns the number of the last line, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the place of the last line.
    pub(crate) fn place(&self) -> Place {
        Place::new(&self.file, Spot::Line(self.number))
    }
}
