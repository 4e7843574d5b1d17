//! Numbers as people write them: with separators of thousands, percent signs, signs or codes of
//! currencies or a decimal comma; truth values; and times of day.

use super::number;
use crate::name::truth;
use crate::time;

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberFormat {
    /// A decimal point; commas only between thousands.
    Point,
    /// A decimal comma; points only between thousands.
    Comma,
    /// A time of day, as seconds since midnight.
    Clock,
}

impl NumberFormat {
    pub(super) const ALL: [Self; 3] = [Self::Point, Self::Comma, Self::Clock];
}

/// Signs of currencies that may stand before or behind a number.
const CURRENCIES: [char; 4] = ['$', '€', '£', '¥'];

/// Codes of currencies that may stand before or behind a number, with a space between.
const CODES: [&str; 32] = [
    "USD", "EUR", "GBP", "JPY", "AED", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "HKD",
    "HUF", "IDR", "ILS", "INR", "KRW", "MXN", "MYR", "NOK", "NZD", "PLN", "RON", "RUB", "SAR",
    "SEK", "SGD", "THB", "TRY", "UAH", "ZAR",
];

/// Returns the codes that a text may have: none, if it has no capital letter.
fn codes(text: &str) -> &'static [&'static str] {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) { &CODES } else { &[] }
}

/// Separators of thousands other than comma and point, whatever the decimal sign: two apostrophes, and spaces
/// that do not break a line.
const SEPARATORS: [char; 5] = ['\'', '\u{2019}', '\u{a0}', '\u{202f}', '\u{2009}'];

/// Returns the number that a text spells in a format, at most [`number::LARGEST`] in magnitude.
pub(super) fn spelled(text: &str, format: NumberFormat) -> Option<f64> {
    match format {
        NumberFormat::Point => number::spelled(text)
            .or_else(|| truth(text).map(f64::from))
            .or_else(|| written(text, '.', ',')),
        NumberFormat::Clock => time::of_day(text).map(|micros| micros as f64 / 1e6),
        NumberFormat::Comma => written(text, ',', '.'),
    }
}

/// Returns whether a text that spells no number has the look of one: digits, with few letters and signs
/// around them, as `12.6K`, `>100` or `1 234`. Codes (`A12`, `K-7`) and addresses or versions (`1.0.3`) have
/// not.
pub(super) fn looks_like_number(text: &str) -> bool {
    const LONGEST: usize = 24;
    const LETTERS: usize = 4;
    let count = |fits: fn(char) -> bool| text.chars().filter(|c| fits(*c)).count();
    let digits = count(|c| c.is_ascii_digit());
    text.len() <= LONGEST
        && count(char::is_alphabetic) <= LETTERS
        && 3 * digits >= count(|c| !c.is_whitespace())
        && digits > 0
        && !is_code(text)
        && !is_grouped(text)
}

/// Returns whether a text begins with letters that a digit follows, at once or behind a sign, as codes do:
/// `A0017`, `K-00017`.
fn is_code(text: &str) -> bool {
    let behind = text.trim_start_matches(char::is_alphabetic);
    let digits = behind.strip_prefix(['-', '_', '/', '.', '#']).unwrap_or(behind);
    behind.len() < text.len() && digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns whether a text is at least three groups of digits with points between, as addresses and versions
/// are, or with hyphens or strokes, as numbers of people and telephones are.
fn is_grouped(text: &str) -> bool {
    let digits = |group: &str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    ['.', '-', '/']
        .into_iter()
        .any(|sign| text.matches(sign).count() > 1 && text.split(sign).all(digits))
}

/// Returns whether a text spells a number, and not as programs write it: `10,17`, `$1,200`, `3.9 %`.
#[must_use]
pub fn is_number_in_words(text: &str) -> bool {
    let text = text.trim();
    text.parse::<f64>().is_err()
        && truth(text).is_none()
        && matches!(formats(text), [true, ..] | [_, true, _])
}

/// Returns whether a text has nothing that no number has, and a digit, or is a truth value: what most words
/// fail at once.
fn may_be_number(text: &str) -> bool {
    let mut digits = false;
    let may_be = text.chars().all(|c| match c {
        '0'..='9' => {
            digits = true;
            true
        }
        '.' | ',' | '+' | '-' | '%' | '(' | ')' | ':' | '\u{2212}' => true,
        c => {
            c.is_ascii_alphabetic()
                || c.is_whitespace()
                || CURRENCIES.contains(&c)
                || SEPARATORS.contains(&c)
        }
    });
    may_be && digits || truth(text).is_some()
}

/// Returns whether a text spells a number in each of [the formats](NumberFormat::ALL).
pub(super) fn formats(text: &str) -> [bool; 3] {
    if !may_be_number(text) {
        return [false; 3];
    }
    NumberFormat::ALL.map(|format| spelled(text, format).is_some())
}

/// Returns whether a number is a decimal with a point, and thousands if the decimal sign is a comma: `7.116`.
pub(super) fn is_ambiguous(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let [whole @ .., b'.', a, b, c] = digits else { return false };
    matches!(whole, [b'1'..=b'9', rest @ ..] if rest.len() <= 2 && rest.iter().all(u8::is_ascii_digit))
        && [a, b, c].into_iter().all(u8::is_ascii_digit)
}

/// Returns in which formats a number that is stored as one may have been spelled.
pub(super) fn formats_of(value: f64) -> [bool; 3] {
    [true, value.fract() == 0.0, false]
}

/// Reads `-1,234.50`, `$ 12`, `12 %`, `3,5 €`, `CHF 95'521.50`, and `(1,200)` for -1,200, as accounts have
/// it.
fn written(text: &str, decimal: char, thousands: char) -> Option<f64> {
    let inside = in_parentheses(text);
    let (text, is_negative) = sign(inside.unwrap_or(text));
    let text = text.strip_prefix(CURRENCIES).map_or(text, str::trim_start);
    let code = codes(text).iter().find_map(|code| spaced(text.strip_prefix(code)?));
    let text = code.unwrap_or(text);
    let (text, is_negative_too) = sign(text);
    let behind = |text: &str| text.ends_with('%') || text.ends_with(CURRENCIES);
    let text = if behind(text) {
        text.trim_end_matches(|c| c == '%' || CURRENCIES.contains(&c)).trim_end()
    } else {
        codes(text).iter().find_map(|code| spaced(text.strip_suffix(code)?)).unwrap_or(text)
    };
    let (whole, part) = match text.split_once(decimal) {
        Some((whole, part)) => (whole, Some(part)),
        None => (text, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let minuses = [is_negative, is_negative_too, inside.is_some()];
    let minuses = minuses.into_iter().filter(|is_minus| *is_minus).count();
    if part.is_some_and(|part| !is_digits(part)) || minuses > 1 {
        return None;
    }
    let separator = whole.chars().find(|c| SEPARATORS.contains(c));
    let between = separator.unwrap_or(thousands);
    let digits = match whole.split_once(between) {
        None => is_digits(whole).then(|| whole.to_owned()),
        Some((first, rest)) => {
            let groups = || rest.split(between);
            // Four groups with points are an address, and no whole number begins with a zero.
            let is_address = between == '.' && part.is_none() && groups().count() == 3;
            let is_other = is_address || first.starts_with('0');
            let fits = is_digits(first)
                && first.len() <= 3
                && !is_other
                && groups().all(|group| is_digits(group) && group.len() == 3);
            fits.then(|| std::iter::once(first).chain(groups()).collect())
        }
    }?;
    let value = number::spelled(&format!("{digits}.{}", part.unwrap_or("0")))?;
    Some(if minuses == 1 { 0.0 - value } else { value })
}

/// Returns what is in parentheses, behind a currency or not.
fn in_parentheses(text: &str) -> Option<&str> {
    let text = text.strip_prefix(CURRENCIES).map_or(text, str::trim_start);
    text.strip_prefix('(')?.strip_suffix(')').map(str::trim)
}

/// Returns a text without the spaces at either end, if it has some.
fn spaced(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    (trimmed.len() < text.len()).then_some(trimmed)
}

/// Returns the text behind its sign, and whether that is a minus.
fn sign(text: &str) -> (&str, bool) {
    match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (rest, true),
        None => (text.strip_prefix('+').unwrap_or(text), false),
    }
}

#[cfg(test)]
mod tests {
    use super::NumberFormat::{Clock, Comma, Point};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn amounts_are_numbers() {
        let all = [
            ("1,234", 1234.0),
            ("-1,234,567.5", -1_234_567.5),
            ("$12", 12.0),
            ("-$1,200.00", -1200.0),
            ("$-3", -3.0),
            ("(1,200)", -1200.0),
            ("$(1,200.50)", -1200.5),
            ("($3)", -3.0),
            ("(12 %)", -12.0),
            ("12 %", 12.0),
            ("0.5%", 0.5),
            ("\u{2212}7 €", -7.0),
            ("1e3", 1000.0),
            ("+4", 4.0),
            ("CHF 95'521.50", 95521.5),
            ("-CHF\u{a0}95\u{2019}521", -95521.0),
            ("EUR -3", -3.0),
            ("1\u{202f}234\u{202f}567.5 USD", 1_234_567.5),
            ("1\u{a0}234", 1234.0),
            ("1,023", 1023.0),
            ("True", 1.0),
            ("FALSE", 0.0),
        ];
        for (text, value) in all {
            assert_eq!(spelled(text, Point), Some(value), "{text}");
        }
        let all = [
            ("2,6", 2.6),
            ("1.234,5", 1234.5),
            ("-0,25 %", -0.25),
            ("17", 17.0),
            ("7.116", 7116.0),
            ("-1.580 €", -1580.0),
            ("1.234.567", 1_234_567.0),
            ("1\u{202f}234,50 €", 1234.5),
            ("95'521,25", 95521.25),
            ("12 SEK", 12.0),
        ];
        let all = all.map(|(text, value)| (text, value, Comma));
        let clocks =
            [("00:00", 0.0), ("9:30", 34200.0), ("23:59:59.5", 86399.5), ("1:05 pm", 47100.0)];
        let clocks = clocks.map(|(text, value)| (text, value, Clock));
        for (text, value, format) in all.into_iter().chain(clocks) {
            assert_eq!(spelled(text, format), Some(value), "{text}");
        }
        for text in ["24:00", "12:60", "1:2", "10:00Z", "10:00+01:00", "16:9", "1230", "12"] {
            assert!(!formats(text)[2], "{text}");
        }
        let none = [
            "12,34,5",
            "1234,567.8",
            "$",
            "%",
            "",
            "-",
            "1,2345",
            "a1",
            "1.2.3",
            "--1",
            "(-1)",
            "((1))",
            "(1",
            "()",
            "(a)",
            "1,",
            ",5",
            "1'23",
            "0'123",
            "12'345'67",
            "1'234,567",
            "1'234\u{a0}567",
            "CHF95",
            "95CHF",
            "CHF ",
            "XYZ 5",
            "12.6K",
        ];
        for text in none.into_iter().chain(["-$-1", "192.168.100.200", "1 234", "12:30", "1/2"]) {
            assert_eq!(spelled(text, Point), None, "{text}");
        }
        for text in ["0.123", "1.5", "1234.567", "1,2,3", "1,5.000", "192.168.100.200", "3,"] {
            assert_eq!(spelled(text, Comma), None, "{text}");
        }
        for text in ["12.6K", ">100", "1 234", "25:13", "12 kg", "10-20", "~1.2e"] {
            assert!(looks_like_number(text), "{text}");
        }
        for text in [
            "",
            "kg",
            "ABC1",
            "12 Main Street",
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "??",
            "A0017",
            "K-00017",
            "No_7",
            "078-05-1120",
            "0171/555/12",
            "10.0.0.204",
            "1.0.3",
        ] {
            assert!(!looks_like_number(text), "{text}");
        }
        for text in ["10,17", "$2,008.10", "3.9 %", "1'200", " 12 EUR", "1.234.567"] {
            assert!(is_number_in_words(text), "{text}");
        }
        for text in ["10.17", "-3", "1e5", "nan", "true", "12.6K", "9:30", "yes", ""] {
            assert!(!is_number_in_words(text), "{text}");
        }
        for text in ["1,234", "1'234", "7.116"] {
            assert_eq!(formats(text), [true, true, false], "{text}");
        }
        for text in ["2,6", "0,123", "1.234.567"] {
            assert_eq!(formats(text), [false, true, false], "{text}");
        }
        for text in ["1.5", "0.123"] {
            assert_eq!(formats(text), [true, false, false], "{text}");
        }
        assert_eq!(formats("12:30"), [false, false, true]);
        for text in ["7.116", "-12.345", "999.100"] {
            assert!(is_ambiguous(text), "{text}");
        }
        for text in
            ["0.116", "7.16", "1234.567", "7.1160", "7.116.200", "7,116", ".116", "-.116", "1.a16"]
        {
            assert!(!is_ambiguous(text), "{text}");
        }
        assert_eq!(spelled("-0 %", Point).map(f64::to_bits), Some(0));
    }

    proptest! {
        #[test]
        fn what_cannot_be_a_number_is_none(
            text in "[0-9.,+()'%: $€A-Za-z<=\u{a0}\u{2212}\u{2019}]{0,9}|(-?\\$|CHF )?[0-9]{1,3}[,.'][0-9]{3}( ?%)?",
        ) {
            let all = NumberFormat::ALL.map(|format| spelled(&text, format).is_some());
            prop_assert_eq!(formats(&text), all);
        }
    }
}
