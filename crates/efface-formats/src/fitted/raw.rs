//! Raw rows as bytes: one self-contained string of bytes for each record.
//!
//! A row is its target and then its cells.
//!
//! | part | bytes |
//! |---|---|
//! | no target | `00` |
//! | class | `01`, length, UTF-8 name |
//! | number to predict | `02`, f64 |
//! | several of these | `03`, how many as a length, f64 each |
//! | missing cell | `00` |
//! | number that single precision holds | `01`, f32 |
//! | other number | `02`, f64 |
//! | text | `03`, length, UTF-8 without spaces around it |
//! | time | `04`, i64, microseconds since 1970-01-01 UTC |
//!
//! Cells of a dense array are f32 without a tag, NaN if missing; those of a sparse array are pairs of u32
//! index and f32 value, ascending, without zeros. All numbers are little-endian. A length is 7 bits a byte,
//! the lowest first, the top bit set if more follows. Each value has one form, so that equal cells are equal
//! bytes: a text that is the shortest decimal form of a number is stored as that number, and no other text is
//! (`012` and `1.50` stay as they are). A text that would be another number in a column with decimal commas
//! (`7.116`) stays a text, too; as a category it is the same as the number. A text that begins with a whole
//! day, year first, is stored as that time if its column is not declared.

use super::amount::{self, NumberFormat};
use super::frame::Frame;
use super::{number, places};
use crate::cell::number_text;
use crate::error::{Fault, fault};
use crate::time;

pub(super) const MISSING: u8 = 0;
pub(super) const SINGLE: u8 = 1;
pub(super) const DOUBLE: u8 = 2;
pub(super) const TEXT: u8 = 3;
pub(super) const TIME: u8 = 4;

pub(super) const NONE: u8 = 0;
pub(super) const CLASS: u8 = 1;
pub(super) const VALUE: u8 = 2;
pub(super) const VALUES: u8 = 3;

/// The target value of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RawTarget<'a> {
    /// Nothing: rows to predict.
    None,
    /// The name of a class, not empty.
    Class(&'a str),
    /// A number, at most 3.4e38 in magnitude.
    Value(f64),
    /// Two or more such numbers.
    Values(RawValues<'a>),
}

/// The target numbers of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RawValues<'a>(&'a [[u8; 8]]);

impl RawValues<'_> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|bytes| f64::from_le_bytes(*bytes))
    }
}

impl<'a> RawTarget<'a> {
    /// Returns the target of a raw row.
    ///
    /// # Errors
    /// Fails if the bytes do not begin with a target.
    pub fn of(row: &'a [u8]) -> Result<Self, Fault> {
        Reader::new(row).target()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RawCell<'a> {
    Missing,
    Number(f64),
    Text(&'a str),
    Time(i64),
}

impl RawCell<'_> {
    /// Returns what categories call it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Number(value) => number_text(*value),
            Self::Text(text) => (*text).to_owned(),
            Self::Time(micros) => time::text(*micros),
        }
    }
}

/// Reads a row from the left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

type Read<T> = Result<T, Fault>;

impl<'a> Reader<'a> {
    pub(super) fn new(row: &'a [u8]) -> Self {
        Self { rest: row, length: row.len() }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn broken<T>(&self, what: &'static str) -> Read<T> {
        Err(fault!(
            "the stored row is damaged: {what} at byte {at}",
            at = self.length - self.rest.len()
        ))
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((chunk, rest)) => {
                self.rest = rest;
                Ok(*chunk)
            }
            None => self.broken("the row ends early"),
        }
    }

    /// Returns a length, at most 2^28.
    #[inline]
    fn length(&mut self) -> Read<usize> {
        let mut length = 0_u32;
        let mut shift = 0;
        loop {
            let [byte] = self.array()?;
            length |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return self.broken("a length is longer than needed");
                }
                break;
            }
            shift += 7;
            if shift > 21 {
                return self.broken("a text is too long");
            }
        }
        Ok(length as usize)
    }

    fn text(&mut self) -> Read<&'a str> {
        let length = self.length()?;
        let Some((text, rest)) = self.rest.split_at_checked(length) else {
            return self.broken("the row ends within a text");
        };
        let Ok(text) = std::str::from_utf8(text) else {
            return self.broken("a text is not UTF-8");
        };
        self.rest = rest;
        Ok(text)
    }

    pub(super) fn target(&mut self) -> Read<RawTarget<'a>> {
        let [tag] = self.array()?;
        Ok(match tag {
            NONE => RawTarget::None,
            CLASS => match self.text()? {
                "" => return self.broken("a class has no name"),
                name => RawTarget::Class(name),
            },
            VALUE => match self.double()? {
                value if number::is_single_sized(value) => RawTarget::Value(value),
                _ => return self.broken("a number is out of range"),
            },
            VALUES => RawTarget::Values(self.values()?),
            _ => return self.broken("the target has an unknown form"),
        })
    }

    /// Skips the target of a row that was checked.
    #[inline]
    pub(super) fn skip_target(&mut self) -> Read<()> {
        let [tag] = self.array()?;
        let length = match tag {
            NONE => 0,
            CLASS => self.length()?,
            VALUE => 8,
            VALUES => 8 * self.length()?,
            _ => return self.broken("the target has an unknown form"),
        };
        match self.rest.get(length..) {
            Some(rest) => self.rest = rest,
            None => return self.broken("the row ends within its target"),
        }
        Ok(())
    }

    fn values(&mut self) -> Read<RawValues<'a>> {
        let count = self.length()?;
        let Some((bytes, rest)) = self.rest.split_at_checked(8 * count) else {
            return self.broken("the row ends within its targets");
        };
        let (numbers, _) = bytes.as_chunks::<8>();
        let values = RawValues(numbers);
        let minus = |value: f64| value.to_bits() == (-0.0_f64).to_bits();
        if count < 2 || values.iter().any(|value| !number::is_single_sized(value) || minus(value)) {
            return self.broken("a number is out of range");
        }
        self.rest = rest;
        Ok(values)
    }

    #[inline]
    fn double(&mut self) -> Read<f64> {
        let value = f64::from_le_bytes(self.array()?);
        if number::is_stored(value) && value.to_bits() != (-0.0_f64).to_bits() {
            Ok(value)
        } else {
            self.broken("a number is out of range")
        }
    }

    #[inline]
    pub(super) fn cell(&mut self) -> Read<RawCell<'a>> {
        let [tag] = self.array()?;
        Ok(match tag {
            MISSING => RawCell::Missing,
            SINGLE => {
                let value = f32::from_le_bytes(self.array()?);
                if !value.is_finite() || value.to_bits() == (-0.0_f32).to_bits() {
                    return self.broken("a number is out of range");
                }
                RawCell::Number(f64::from(value))
            }
            DOUBLE => RawCell::Number(self.double()?),
            TEXT => RawCell::Text(self.text()?),
            TIME => RawCell::Time(i64::from_le_bytes(self.array()?)),
            _ => return self.broken("a cell has an unknown form"),
        })
    }

    /// Returns the next cell, which must have its one form.
    pub(super) fn checked(&mut self) -> Read<RawCell<'a>> {
        let is_single = self.rest.first() == Some(&SINGLE);
        let cell = self.cell()?;
        let fits = match cell {
            RawCell::Number(value) => is_single == number::is_single(value),
            RawCell::Text(text) => {
                text.trim() == text && !text.is_empty() && stored_number(text).is_none()
            }
            RawCell::Missing | RawCell::Time(_) => true,
        };
        if fits { Ok(cell) } else { self.broken("a cell is not in its one form") }
    }

    /// Checks that what is left are the numbers of an array.
    pub(super) fn numbers(&self, width: u32, sparse: bool) -> Read<()> {
        if sparse {
            let mut least = 0;
            for (index, value) in self.sparse()? {
                if index < least || index >= width || !value.is_finite() || value == 0.0 {
                    return self.broken("an entry is out of range or order");
                }
                least = index + 1;
            }
            return Ok(());
        }
        let fits = |bytes: &[u8; 4]| {
            let bits = u32::from_le_bytes(*bytes);
            let value = f32::from_bits(bits);
            (value.is_finite() & (bits != 1 << 31)) | (bits == f32::NAN.to_bits())
        };
        // Not `all`, which stops at the first.
        if self.dense(width)?.iter().fold(true, |so_far, bytes| so_far & fits(bytes)) {
            Ok(())
        } else {
            self.broken("a number is out of range")
        }
    }

    /// Checks that nothing is left.
    #[inline]
    pub(super) fn end(&self) -> Read<()> {
        if self.rest.is_empty() { Ok(()) } else { self.broken("the row goes on") }
    }

    /// Returns the next cell, if it is a number that single precision holds; else nothing is read.
    #[inline]
    pub(super) fn single(&mut self) -> Option<f32> {
        let (cell, rest) = self.rest.split_first_chunk::<5>()?;
        let [SINGLE, number @ ..] = *cell else { return None };
        let value = f32::from_le_bytes(number);
        // A number that is not in its one form is left to `cell` to refuse.
        if !value.is_finite() || value.to_bits() == 1 << 31 {
            return None;
        }
        self.rest = rest;
        Some(value)
    }

    /// Returns the bytes of the next cell, without checking those of a text.
    #[inline]
    pub(super) fn token(&mut self) -> Read<&'a [u8]> {
        let before = self.rest;
        let [tag] = self.array()?;
        let length = match tag {
            MISSING => 0,
            SINGLE => 4,
            DOUBLE | TIME => 8,
            TEXT => self.length()?,
            _ => return self.broken("a cell has an unknown form"),
        };
        let Some((_, rest)) = self.rest.split_at_checked(length) else {
            return self.broken("the row ends within a cell");
        };
        self.rest = rest;
        Ok(before.get(..before.len() - rest.len()).unwrap_or_default())
    }

    /// Returns the numbers of a dense array, `width` of them to the end of the row.
    #[inline]
    pub(super) fn dense(&self, width: u32) -> Read<&'a [[u8; 4]]> {
        match self.rest.as_chunks::<4>() {
            (numbers, []) if numbers.len() == width as usize => Ok(numbers),
            _ => self.broken("the row has another number of columns"),
        }
    }

    /// Returns the entries of a sparse array.
    #[inline]
    pub(super) fn sparse(&self) -> Read<impl Iterator<Item = (u32, f32)> + use<'a>> {
        let (pairs, more) = self.rest.as_chunks::<8>();
        if !more.is_empty() {
            return self.broken("the row ends within an entry");
        }
        Ok(pairs.iter().map(|&[a, b, c, d, e, f, g, h]| {
            (u32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h]))
        }))
    }
}

/// Checks rows of a frame one after the other, and a repeated text only once.
pub(super) struct Checker<'a> {
    frame: &'a Frame,
    /// Texts that have their one form, each at the place of its hash.
    recent: [&'a [u8]; 256],
}

impl<'a> Checker<'a> {
    pub(super) fn new(frame: &'a Frame) -> Self {
        Self { frame, recent: [&[]; 256] }
    }

    /// Checks that the bytes are a row of the frame in its one form.
    pub(super) fn check(&mut self, row: &'a [u8]) -> Read<()> {
        let mut reader = Reader::new(row);
        reader.target()?;
        match *self.frame {
            Frame::Columns(ref columns) => {
                for _ in columns {
                    if reader.single().is_none() {
                        self.cell(&mut reader)?;
                    }
                }
                reader.end()
            }
            Frame::Matrix { width, sparse, .. } => reader.numbers(width, sparse),
        }
    }

    fn cell(&mut self, reader: &mut Reader<'a>) -> Read<()> {
        let mut cell = *reader;
        let token = reader.token()?;
        let place = &mut self.recent[places::hash(token) as usize >> (usize::BITS - 8)];
        if *place != token {
            cell.checked()?;
            *place = token;
        }
        Ok(())
    }
}

/// Appends a row whose class is read as a number, if it is one that can be stored.
pub(super) fn with_number(row: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let mut reader = Reader::new(row);
    let RawTarget::Class(name) = reader.target().ok()? else { return None };
    let value = name.parse::<f64>().ok().filter(|value| number::is_single_sized(*value))?;
    to.push(VALUE);
    // Adding zero makes -0.0 the other one.
    to.extend_from_slice(&(value + 0.0).to_le_bytes());
    to.extend_from_slice(reader.rest);
    Some(())
}

/// Returns the number that is stored for a text: that whose shortest decimal form it is, unless it could be
/// another one in a column of numbers with a decimal comma.
pub(super) fn stored_number(text: &str) -> Option<f64> {
    if amount::is_ambiguous(text) { None } else { shortest_number(text) }
}

/// Returns the number whose shortest decimal form a text is.
pub(super) fn shortest_number(text: &str) -> Option<f64> {
    let value = number::spelled(text)?;
    (is_shortest(text) || number_text(value) == text).then_some(value)
}

/// Returns whether a text is for certain the shortest decimal form of the number that it spells: no sign or
/// zero too many, and at most 15 digits. No two such texts are the same binary64 number, so none is shorter.
fn is_shortest(text: &str) -> bool {
    let is_negative = text.starts_with('-');
    let digits = &text.as_bytes()[usize::from(is_negative)..];
    let (whole, part) = match digits.iter().position(|byte| *byte == b'.') {
        Some(point) => (&digits[..point], Some(&digits[point + 1..])),
        None => (digits, None),
    };
    let behind = part.unwrap_or_default();
    whole.len() + behind.len() <= 15
        && whole.iter().chain(behind).all(u8::is_ascii_digit)
        && part.is_none_or(|part| part.last().is_some_and(|last| *last != b'0'))
        && match whole {
            [b'0'] => part.is_some() || !is_negative,
            [first, ..] => *first != b'0',
            [] => false,
        }
}

/// Returns the cell of the bytes that were counted.
pub(super) fn of_key(key: &[u8]) -> RawCell<'_> {
    Reader::new(key).cell().unwrap_or(RawCell::Missing)
}

/// Returns the number in a cell of a column of numbers.
#[inline]
pub(super) fn numeric(cell: RawCell<'_>, format: NumberFormat) -> Option<f64> {
    match cell {
        RawCell::Number(value) => Some(number::canonical(value)),
        RawCell::Text(text) => amount::spelled(text, format).map(number::canonical),
        RawCell::Missing | RawCell::Time(_) => None,
    }
}

impl Frame {
    /// Checks that all of these are raw rows of it, each value in its one form.
    ///
    /// # Errors
    /// Fails if some bytes are no such row.
    pub fn check_rows<'a>(&'a self, mut rows: impl Iterator<Item = &'a [u8]>) -> Result<(), Fault> {
        let mut checker = Checker::new(self);
        rows.try_for_each(|row| checker.check(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shortest_forms_are_told_by_their_look() {
        for text in ["0", "7", "-12", "0.5", "-0.25", "999999999999999", "12.0000000000001"] {
            assert!(is_shortest(text), "{text}");
        }
        for text in ["-0", "+7", "07", "00", "5.", ".5", "1.50", "2.0", "1e5", "", "-", "1\u{2212}"]
        {
            assert!(!is_shortest(text), "{text}");
        }
        assert!(!is_shortest("1234567890.123456") && !is_shortest("1000000000000000"));
    }

    proptest! {
        #[test]
        fn what_looks_like_the_shortest_form_is_it(text in "-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,15})?") {
            let value: f64 = text.parse().unwrap();
            if is_shortest(&text) {
                prop_assert_eq!(number_text(value), text.as_str());
            }
            prop_assert_eq!(shortest_number(&text).is_some(), number_text(value) == text);
        }
    }
}
