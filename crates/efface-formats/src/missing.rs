//! Which texts say that there is no value.

use crate::cell::Cell;

/// The default texts, in any case: of files, databases, spreadsheets, Python and R.
const USUAL: [&str; 17] = [
    "?", "-", "--", ".", "na", "n/a", "n.a.", "nan", "nat", "none", "null", "nil", "<na>", "#n/a",
    "(null)", "[null]", "\\n",
];

const LONGEST: usize = 6;

/// The texts that say that a cell has no value. An empty cell says so, whatever is listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing(Option<Vec<String>>);

impl Missing {
    /// Returns the texts of a list with commas between them, and no others.
    #[must_use]
    pub fn listed(words: &str) -> Self {
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        Self(Some(words.map(str::to_owned).collect()))
    }

    /// Returns whether the texts were listed by the user.
    pub(crate) fn is_listed(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether a cell has no value: a null, NaN, or a text that says so.
    pub(crate) fn is(&self, cell: Cell<'_>) -> bool {
        match cell {
            Cell::Text(text) => self.says(text.trim()),
            Cell::Number(value) => value.is_nan(),
            Cell::Null => true,
            Cell::Integer(_) | Cell::Truth(_) | Cell::Time(_) => false,
        }
    }

    /// Returns whether a text without spaces around says that there is no value.
    pub(crate) fn says(&self, text: &str) -> bool {
        match &self.0 {
            None => looks_missing(text),
            Some(words) => text.is_empty() || words.iter().any(|word| word == text),
        }
    }
}

/// Returns whether a text is one that tables commonly use for "no value".
pub(crate) fn looks_missing(text: &str) -> bool {
    let text = text.trim();
    // Most texts are numbers.
    let may_say = text.len() <= LONGEST && !text.starts_with(|c: char| c.is_ascii_digit());
    may_say && (text.is_empty() || USUAL.iter().any(|word| word.eq_ignore_ascii_case(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_words_say_it_unless_others_are_listed() {
        let usual = Missing::default();
        for text in ["", "NA", "None", "nan", "?", "\\N", "#N/A"] {
            assert!(usual.says(text), "{text}");
        }
        for text in ["unknown", "0", "nope", "n"] {
            assert!(!usual.says(text), "{text}");
        }
        let listed = Missing::listed("unknown, -9");
        assert!(["", "unknown", "-9"].iter().all(|text| listed.says(text)));
        assert!(!["NA", "Unknown", "9"].iter().any(|text| listed.says(text)));
        assert!(Missing::listed("").says("") && !Missing::listed("").says("NA"));
    }
}
