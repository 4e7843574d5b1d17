//! LIBSVM: sparse text, `label index:value ...`.
//!
//! Indices ascend strictly from 1; `#` begins a comment; empty lines are skipped. The width is
//! declared, or it is the largest index of the file, found in a first pass.

use crate::cell::quoted;
use crate::error::{Fault, ReadError};
use crate::limits::Limits;
use crate::lines::Lines;
use crate::schema::Row;
use crate::source::Stream;

/// A LIBSVM file that breaks a rule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LibsvmFault {
    /// Not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// No label at the start of the line.
    #[error("the line must start with a label, got `{token}`")]
    NoLabel {
        /// What it starts with.
        token: String,
    },
    /// A query id.
    #[error("query ids (`qid`) belong to ranking, which is not supported")]
    QueryId,
    /// Not `index:value`.
    #[error("`{token}` is not `index:value`")]
    Pair {
        /// The token.
        token: String,
    },
    /// An index of 0.
    #[error("indices are counted from 1, got 0")]
    ZeroIndex,
    /// An index out of order.
    #[error("indices must ascend, got {got} after {before}")]
    Order {
        /// The index.
        got: u32,
        /// The one before.
        before: u32,
    },
    /// An index beyond the width.
    #[error("index {got} is beyond the declared width {width}")]
    BeyondWidth {
        /// The index.
        got: u32,
        /// The width.
        width: u32,
    },
    /// NaN or an infinity.
    #[error("index {index}: numbers must be finite, got {value}")]
    NotFinite {
        /// The index.
        index: u32,
        /// The value.
        value: f64,
    },
    /// Beyond single precision.
    #[error("index {index}: numbers must be at most 3.4e38 in size after encoding, got {value:e}")]
    TooLarge {
        /// The index.
        index: u32,
        /// The value.
        value: f64,
    },
    /// The file holds no index, so that its width is 0.
    #[error("no line holds an index, so the file has no features")]
    NoFeatures,
}

/// Lines of a LIBSVM file.
pub(crate) struct LibsvmLines<'r> {
    lines: Lines<'r>,
    raw: Vec<u8>,
    text: String,
}

impl<'r> LibsvmLines<'r> {
    /// The lines of an open file.
    pub(crate) fn open(file: &str, stream: Stream<'r>, limits: &Limits) -> Result<Self, ReadError> {
        let lines = Lines::new(file, stream.input, limits.line_bytes)?;
        Ok(Self { lines, raw: Vec::new(), text: String::new() })
    }

    /// Goes to the next line with content; `false` after the last.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            self.raw = std::mem::take(&mut self.text).into_bytes();
            self.raw.clear();
            if !self.lines.next(&mut self.raw)? {
                return Ok(false);
            }
            if let Some(comment) = self.raw.iter().position(|&byte| byte == b'#') {
                self.raw.truncate(comment);
            }
            self.text = String::from_utf8(std::mem::take(&mut self.raw))
                .map_err(|_| self.fault(LibsvmFault::NotUtf8))?;
            if !self.text.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    /// The label, and the pairs after it. A line may start with a pair where no label is wanted.
    pub(crate) fn parts(
        &self,
        label_required: bool,
    ) -> Result<(Option<&str>, Pairs<'_>), ReadError> {
        let text = self.text.trim_ascii();
        let (first, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        if first.contains(':') {
            if label_required {
                return Err(self.fault(LibsvmFault::NoLabel { token: quoted(first) }));
            }
            return Ok((None, Pairs { rest: text, before: 0 }));
        }
        Ok((Some(first), Pairs { rest, before: 0 }))
    }

    /// The line's number.
    pub(crate) fn number(&self) -> u64 {
        self.lines.number()
    }

    /// A fault of this line.
    pub(crate) fn fault(&self, fault: impl Into<Fault>) -> ReadError {
        ReadError::at(self.lines.place(), fault)
    }
}

/// The pairs of one line.
pub(crate) struct Pairs<'a> {
    rest: &'a str,
    before: u32,
}

impl Pairs<'_> {
    /// The next index, counted from 1, and its value.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, f64)>, LibsvmFault> {
        let rest = self.rest.trim_ascii_start();
        if rest.is_empty() {
            return Ok(None);
        }
        let (token, rest) =
            rest.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((rest, ""));
        self.rest = rest;
        let pair = || LibsvmFault::Pair { token: quoted(token) };
        let (index, value) = token.split_once(':').ok_or_else(pair)?;
        if index == "qid" {
            return Err(LibsvmFault::QueryId);
        }
        if !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(pair());
        }
        let index: u32 = index.parse().map_err(|_| pair())?;
        let value: f64 = value.parse().map_err(|_| pair())?;
        if index == 0 {
            return Err(LibsvmFault::ZeroIndex);
        }
        if index <= self.before {
            return Err(LibsvmFault::Order { got: index, before: self.before });
        }
        self.before = index;
        Ok(Some((index, value)))
    }

    /// Encodes all pairs into a sparse row.
    pub(crate) fn encode(
        mut self,
        width: u32,
        divide: f64,
        row: &mut Row,
    ) -> Result<(), LibsvmFault> {
        row.clear(width);
        while let Some((index, value)) = self.next()? {
            if index > width {
                return Err(LibsvmFault::BeyondWidth { got: index, width });
            }
            if !value.is_finite() {
                return Err(LibsvmFault::NotFinite { index, value });
            }
            let value = value / divide;
            let stored = value as f32;
            if !stored.is_finite() {
                return Err(LibsvmFault::TooLarge { index, value });
            }
            row.put(index - 1, stored);
        }
        Ok(())
    }
}

/// The largest index of the file.
pub(crate) fn largest_index(
    file: &str,
    stream: Stream<'_>,
    limits: &Limits,
) -> Result<u32, ReadError> {
    let mut lines = LibsvmLines::open(file, stream, limits)?;
    let mut largest = 0;
    while lines.advance()? {
        let (_, mut pairs) = lines.parts(false)?;
        while let Some((index, _)) = pairs.next().map_err(|fault| lines.fault(fault))? {
            largest = largest.max(index);
        }
    }
    if largest == 0 { Err(lines.fault(LibsvmFault::NoFeatures)) } else { Ok(largest) }
}
