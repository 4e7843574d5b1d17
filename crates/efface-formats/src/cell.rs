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
    /// The text form: what ids, categories and missing tokens are compared by.
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

    /// The number, if this is one; it may be infinite or NaN.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Text(text) => text.trim().parse().ok(),
            Self::Number(value) => Some(value),
            Self::Integer(value) => Some(value as f64),
            Self::Truth(value) => Some(value.into()),
            Self::Time(_) | Self::Null => None,
        }
    }

    /// The same if it can name a record or a person, else its value. A float that is not whole, or has lost
    /// digits, names none: several names were rounded to it. It holds each whole number below `2^digits`.
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

    /// The name of the class: as [`Cell::text`], but equal numbers have equal names, so that
    /// `3`, `3.0` and `+3` are one class.
    pub(crate) fn class_name(&self) -> Cow<'a, str> {
        match *self {
            Self::Text(text) => class_name(text),
            _ => self.text(),
        }
    }
}

/// The shortest decimal text of a number; integers below 2^53 have no decimal point.
pub(crate) fn number_text(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { value.to_string() }
}

/// The truth value that is spelled so, in any case.
pub(crate) fn truth(text: &str) -> Option<bool> {
    [false, true].into_iter().find(|value| truth_name(*value).eq_ignore_ascii_case(text))
}

/// The name of a truth value, as Python and pandas write it.
fn truth_name(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// The name of the class of a label that is spelled so: without spaces around. Equal numbers have equal
/// names, so that `3`, `3.0` and `+3` are one class, and so have truth values in any case.
#[must_use]
pub fn class_name(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if let Some(value) = truth(text) {
        return Cow::Borrowed(truth_name(value));
    }
    if let Ok(integer) = text.parse::<i128>() {
        return same_or_owned(text, integer.to_string());
    }
    let starts_like_a_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && starts_like_a_number => {
            same_or_owned(text, number_text(value))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Sorts the names of classes that were collected from rows: by value where all are numbers, else as
/// text.
pub(crate) fn sort_classes<T: AsRef<str>>(names: &mut [T]) {
    let value = |name: &T| name.as_ref().parse::<f64>().ok().filter(|value| value.is_finite());
    if names.iter().all(|name| value(name).is_some()) {
        let number = |name: &T| value(name).unwrap_or(f64::NAN);
        names.sort_by(|a, b| {
            number(a).total_cmp(&number(b)).then_with(|| a.as_ref().cmp(b.as_ref()))
        });
    } else {
        names.sort_by(|a, b| a.as_ref().cmp(b.as_ref()));
    }
}

fn same_or_owned(text: &str, name: String) -> Cow<'_, str> {
    if text == name { Cow::Borrowed(text) } else { Cow::Owned(name) }
}

/// Whether the text is one that tables commonly use for "no value".
pub(crate) fn looks_missing(text: &str) -> bool {
    const TOKENS: [&str; 9] = ["", "?", "na", "n/a", "nan", "null", "none", "-", "."];
    let text = text.trim();
    text.len() <= 4 && TOKENS.iter().any(|token| token.eq_ignore_ascii_case(text))
}

/// The text shortened and escaped for a message of one line.
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
    fn equal_numbers_are_one_class() {
        for text in ["3", "3.0", "+3", "3e0", " 3 ", "003"] {
            assert_eq!(class_name(text), "3", "{text}");
        }
        assert_eq!(Cell::Number(3.0).class_name(), "3");
        assert_eq!(Cell::Integer(3).class_name(), "3");
        assert_eq!(class_name("-0.0"), "0");
        assert_eq!(class_name("0.5"), "0.5");
    }

    #[test]
    fn truth_values_have_one_name() {
        for text in ["True", "TRUE", " true "] {
            assert_eq!(class_name(text), Cell::Truth(true).class_name(), "{text}");
        }
        assert_eq!(Cell::Truth(false).text(), "False");
    }

    #[test]
    fn words_stay_words() {
        for text in [">50K", "nan", "inf", "infinity", "1e999", "yes"] {
            assert_eq!(class_name(text), text);
        }
    }

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
