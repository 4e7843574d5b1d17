//! One value of a table as the file states it, and the text forms derived from it.

use std::borrow::Cow;

/// One value of a table, before any encoding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Text, as in CSV; spaces around it do not count.
    Text(&'a str),
    /// A binary floating-point number.
    Number(f64),
    /// A binary integer.
    Integer(i128),
    /// A truth value; as a number it is 0 or 1.
    Truth(bool),
    /// A time, in microseconds since 1970-01-01 00:00 UTC.
    Time(i64),
    /// A null of a columnar file; it equals the missing token `""`.
    Null,
}

impl<'a> Cell<'a> {
    /// Returns the text form: what ids, categories and missing tokens are compared by.
    ///
    /// Text is trimmed and otherwise kept; a number that is an integer has no decimal point.
    pub fn text(&self) -> Cow<'a, str> {
        match *self {
            Self::Text(text) => Cow::Borrowed(text.trim()),
            Self::Number(value) => Cow::Owned(number_text(value)),
            Self::Integer(value) => Cow::Owned(value.to_string()),
            Self::Truth(value) => Cow::Borrowed(truth_name(value)),
            Self::Time(micros) => Cow::Owned(crate::time::text(micros)),
            Self::Null => Cow::Borrowed(""),
        }
    }

    /// Returns the number, if this is one; it may be infinite or NaN.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Text(text) => text.trim().parse().ok(),
            Self::Number(value) => Some(value),
            Self::Integer(value) => Some(value as f64),
            Self::Truth(value) => Some(value.into()),
            Self::Time(_) | Self::Null => None,
        }
    }

    /// Returns the cell if it can name a record or a person, else its value. A float that is not whole, or
    /// has lost digits, names none: several names were rounded to it. It holds each whole number below
    /// `2^digits`.
    pub(crate) fn naming(self, digits: u32) -> Result<Self, f64> {
        match self {
            Self::Number(value)
                if value.fract() != 0.0 || value.abs() >= 2.0_f64.powi(digits as i32) =>
            {
                Err(value)
            }
            cell => Ok(cell),
        }
    }
}

/// Returns the name of a truth value, as Python and pandas write it.
pub(crate) fn truth_name(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// Returns the shortest decimal text of a number; integers below 2^53 have no decimal point.
pub(crate) fn number_text(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { value.to_string() }
}

/// Returns the text shortened and escaped for a message of one line.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_their_zeros() {
        assert_eq!(Cell::Text(" 007 ").text(), "007");
        assert_eq!(Cell::Number(7.0).text(), "7");
        assert_eq!(Cell::Number(1e15).text(), "1000000000000000");
    }

    #[test]
    fn long_values_are_shortened_and_escaped() {
        assert_eq!(quoted("a\nb"), "a\\nb");
        assert_eq!(quoted(&"x".repeat(41)), format!("{}...", "x".repeat(40)));
    }
}
