//! Texts that people read as numbers or dates and this crate does not.

/// Bytes of the longest text that can be a number or a date.
const LONGEST: usize = 64;

/// What a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// `2024-01-31`, `31.1.2024`, `1/31/24`, also with a time after it.
    Date,
    /// `3,5` or `1,234.50`.
    Comma,
    /// `12 %`.
    Percent,
    /// Anything else.
    Word,
}

impl Look {
    /// What is wrong with such a text in a column of numbers, and what to do about it.
    pub(crate) fn notation(self) -> Option<&'static str> {
        match self {
            Self::Date => Some(
                "is a date: write it as a number (days since a fixed day, the month), or declare \
                 the column categorical or hashed in a schema",
            ),
            Self::Comma => Some(
                "is written with a comma: write numbers with a decimal point and nothing between \
                 thousands",
            ),
            Self::Percent => Some("has a percent sign: write the number without it"),
            Self::Word => None,
        }
    }
}

/// What a text that is no number looks like.
pub(crate) fn look(text: &str) -> Look {
    let text = text.trim();
    if text.len() > LONGEST {
        Look::Word
    } else if is_date(text) {
        Look::Date
    } else if text.strip_suffix('%').is_some_and(|rest| is_amount(rest.trim_end())) {
        Look::Percent
    } else if text.contains(',') && is_amount(text) {
        Look::Comma
    } else {
        Look::Word
    }
}

/// Whether a number is a day written as year, month and day.
pub(crate) fn is_calendar(number: f64) -> bool {
    if number.fract() != 0.0 || !(19_000_101.0..=21_001_231.0).contains(&number) {
        return false;
    }
    let day = number as u32;
    (1..=12).contains(&(day / 100 % 100)) && (1..=31).contains(&(day % 100))
}

/// Digits with points, commas, spaces or apostrophes between them.
fn is_amount(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    ends(digits.chars().next())
        && ends(digits.chars().next_back())
        && digits.chars().all(|c| c.is_ascii_digit() || ".,\' \u{a0}\u{202f}\u{2019}".contains(c))
}

/// Three groups of digits with the same sign between them, one of which can be a year.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    ['-', '/', '.'].into_iter().any(|sign| {
        let groups: Vec<&str> = day.split(sign).collect();
        let digits = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
        let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        groups.iter().all(digits)
            && matches!(lengths[..], [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 2 | 4])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart() {
        for text in ["2024-01-31", "31.1.2024", "1/31/24", "2024-01-31T10:00:00Z", "2024/1/2 3:04"]
        {
            assert_eq!(look(text), Look::Date, "{text}");
        }
        for text in ["3,5", "-1,234.50", "1.234,5", "1 234,5"] {
            assert_eq!(look(text), Look::Comma, "{text}");
        }
        for text in ["12%", "12 %", "-0,5 %"] {
            assert_eq!(look(text), Look::Percent, "{text}");
        }
        for text in ["a,b", ",5", "%", "10.0.0.1", "1-2", "x", "", "12%x"] {
            assert_eq!(look(text), Look::Word, "{text}");
        }
    }

    #[test]
    fn calendars_need_months_and_days() {
        assert!(is_calendar(20_240_131.0));
        for number in [20_241_331.0, 20_240_132.0, 20_240_131.5, 1.0, 99_990_101.0] {
            assert!(!is_calendar(number), "{number}");
        }
    }
}
