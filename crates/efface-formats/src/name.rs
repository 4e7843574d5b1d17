//! Names of records, persons and classes.
//!
//! A typed number is named by its shortest decimal form, a truth value as Python writes it, and a text by its
//! characters, without spaces around. In files without types, two texts that spell one number (`01` and `1`)
//! are distinguished by nothing else: they are probably one name, and refused.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use unicode_normalization::UnicodeNormalization;

use crate::cell::{Cell, number_text, quoted, truth_name};
use crate::error::{Fault, fault};
use crate::missing::looks_missing;

/// Start of the name that a record without a subject has instead of one.
pub const NOBODY: &str = "no subject: ";

/// How many pairs of spellings a refusal lists.
const PAIRS: usize = 5;

/// Returns the truth value that is spelled so, in any case.
pub(crate) fn truth(text: &str) -> Option<bool> {
    [false, true].into_iter().find(|value| truth_name(*value).eq_ignore_ascii_case(text))
}

/// Returns the name of the class of a label that is spelled so: its characters without spaces around. Truth
/// values in any case have one name.
#[must_use]
pub fn class_name(text: &str) -> &str {
    let text = text.trim();
    truth(text).map_or(text, |value| truth_name(value))
}

/// Returns the name of the class of a label.
pub(crate) fn label_name(label: Cell<'_>) -> Cow<'_, str> {
    match label {
        Cell::Text(text) => Cow::Borrowed(class_name(text)),
        label => label.text(),
    }
}

/// Sorts the names of classes that were collected from rows: by value if all are numbers, else as
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

/// Returns the name of the number that a text spells, of any size if it is whole.
#[must_use]
pub fn number_name(text: &str) -> Option<Cow<'_, str>> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_whole = digits.first().is_some_and(|first| (b'1'..=b'9').contains(first))
        && digits.iter().all(u8::is_ascii_digit);
    if is_whole || text == "0" {
        return Some(Cow::Borrowed(text));
    }
    if let Ok(integer) = text.parse::<i128>() {
        return Some(Cow::Owned(integer.to_string()));
    }
    let starts_like_a_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.filter(|_| starts_like_a_number).map(|value| Cow::Owned(number_text(value)))
}

/// Returns what names that people take for one have in common: without spaces, capital letters, marks that
/// keep spreadsheets from reading numbers, or the `T` of a time, in Unicode's form NFKC, and as a number
/// without zeros in front.
#[must_use]
pub fn near_key(name: &str) -> String {
    let name = name.trim().trim_start_matches(['=', '\'', '"']).trim_end_matches('"');
    let letters = name.nfkc().flat_map(char::to_lowercase).filter(|c| !c.is_whitespace());
    let plain: Vec<char> = letters.collect();
    let is_digit = |at: usize| plain.get(at).is_some_and(char::is_ascii_digit);
    let is_separator =
        |at: usize| plain[at] == 't' && at > 0 && is_digit(at - 1) && is_digit(at + 1);
    let key: String =
        (0..plain.len()).filter(|at| !is_separator(*at)).map(|at| plain[at]).collect();
    number_name(&key).map(Cow::into_owned).unwrap_or(key)
}

/// The names in one column of texts that spell numbers.
#[derive(Debug)]
pub(crate) struct Spellings {
    /// The role of the column, for messages.
    role: &'static str,
    /// Whether a text that spells no number says that none of them is meant as one.
    settled_by_words: bool,
    is_settled: bool,
    hasher: RandomState,
    /// Hashes of numbers that some text spells in the form of their name.
    plain: HashSet<u64>,
    /// Other spellings by the names of their numbers.
    others: HashMap<String, String>,
    pairs: Vec<(String, String)>,
}

impl Spellings {
    /// Checks names of classes: even among words, `01` and `1` are hardly two classes.
    pub(crate) fn of_classes() -> Self {
        Self::new("labels", false)
    }

    /// Checks names of records or persons: if one of them is no number, these are codes.
    pub(crate) fn of_keys(role: &'static str) -> Self {
        Self::new(role, true)
    }

    fn new(role: &'static str, settled_by_words: bool) -> Self {
        Self {
            role,
            settled_by_words,
            is_settled: false,
            hasher: RandomState::new(),
            plain: HashSet::new(),
            others: HashMap::new(),
            pairs: Vec::new(),
        }
    }

    pub(crate) fn see(&mut self, name: &str) {
        if self.is_settled {
            return;
        }
        let Some(number) = number_name(name) else {
            if self.settled_by_words && !looks_missing(name) {
                *self = Self { is_settled: true, ..Self::new(self.role, true) };
            }
            return;
        };
        let hash = self.hasher.hash_one(&*number);
        let mut other = self.others.get(&*number).filter(|other| *other != name).cloned();
        if number == name {
            // A repeated name has reported its pair already.
            let is_new = self.plain.insert(hash);
            other = other.filter(|_| is_new);
        } else if !self.others.contains_key(&*number) {
            other = self.plain.contains(&hash).then(|| number.to_string());
            self.others.insert(number.into_owned(), name.to_owned());
        }
        if let Some(other) = other.filter(|_| self.pairs.len() < PAIRS) {
            self.pairs.push((other, name.to_owned()));
        }
    }

    /// Accepts the names as they are, for a user who lists them.
    pub(crate) fn allow(&mut self) {
        self.pairs.clear();
    }

    /// Returns some pairs of names that are equal as numbers.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Refuses names that are equal as numbers.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.pairs.is_empty() { Ok(()) } else { Err(in_two_ways(self.role, &self.pairs)) }
    }
}

/// Returns the refusal of names that are equal as numbers.
pub(crate) fn in_two_ways(role: &str, pairs: &[(String, String)]) -> Fault {
    let pair =
        |(one, other): &(String, String)| format!("`{}` and `{}`", quoted(one), quoted(other));
    let pairs: Vec<String> = pairs.iter().map(pair).collect();
    fault!(
        "{role} that are one number in two spellings: {}; write each in one way, or declare them texts: give the \
         table as Parquet, or list all classes with `§classes`",
        pairs.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(mut names: Spellings, texts: &[&str]) -> Option<String> {
        texts.iter().for_each(|text| names.see(text));
        names.check().err().map(|fault| fault.to_string())
    }

    #[test]
    fn classes_are_named_by_their_characters() {
        for text in ["3", "3.0", "+3", "003", ">50K", "nan", "yes"] {
            assert_eq!(class_name(&format!(" {text} ")), text);
        }
        for text in ["True", "TRUE", " true "] {
            assert_eq!(class_name(text), "True", "{text}");
        }
    }

    #[test]
    fn typed_labels_have_one_name() {
        assert_eq!(label_name(Cell::Number(3.0)), "3");
        assert_eq!(label_name(Cell::Integer(3)), "3");
        assert_eq!(label_name(Cell::Text("true")), label_name(Cell::Truth(true)));
        assert_eq!(label_name(Cell::Truth(false)), "False");
    }

    #[test]
    fn numbers_have_one_name() {
        for text in ["3", "3.0", "+3", "3e0", "003"] {
            assert_eq!(number_name(text).unwrap(), "3", "{text}");
        }
        let long = "123456789012345678901234567890123456789012";
        assert_eq!(number_name(long).unwrap(), long);
        assert_eq!(number_name("-0.0").unwrap(), "0");
        assert_eq!(number_name(".50").unwrap(), "0.5");
        for text in ["nan", "inf", "1e999", "1x", "", "-", "True"] {
            assert_eq!(number_name(text), None, "{text}");
        }
    }

    #[test]
    fn names_that_are_near_have_one_key() {
        for (asked, stored) in [
            ("1001", "1001.0"),
            ("100000", "1e+05"),
            ("123", "00123"),
            ("00123", "=\"00123\""),
            ("00124", "'00124"),
            ("bo", " Bo "),
            ("anna  schmidt", "Anna Schmidt"),
            ("ju\u{308}rgen@example", "jürgen@example"),
            ("2024-01-31 10:00:00", "2024-01-31T10:00:00"),
        ] {
            assert_eq!(near_key(asked), near_key(stored), "{asked}");
        }
        for (asked, other) in [("1", "10"), ("a1", "a01"), ("anna", "ann"), ("1t2", "1u2")] {
            assert_ne!(near_key(asked), near_key(other), "{asked}");
        }
    }

    #[test]
    fn two_spellings_of_a_number_are_refused_with_both() {
        let told = refused(Spellings::of_classes(), &["01", "1", "1E5", "b", "100000", "1", "2"]);
        let told = told.unwrap();
        let wanted =
            "labels that are one number in two spellings: `01` and `1`, `1E5` and `100000`; write";
        assert!(told.starts_with(wanted), "{told}");
        for texts in [&["7", "7.0"][..], &["7.0", "7"], &["07", "7.0"], &["07", "na", "7"]] {
            assert!(refused(Spellings::of_keys("ids"), texts).is_some(), "{texts:?}");
        }
    }

    #[test]
    fn codes_and_single_spellings_are_taken() {
        for texts in [&["07", "7", "a7"][..], &["a", "0e1", "0e2"], &["01", "02", "01"], &[]] {
            assert_eq!(refused(Spellings::of_keys("ids"), texts), None, "{texts:?}");
        }
        assert_eq!(refused(Spellings::of_classes(), &["01", "02", "1x", "01"]), None);
    }
}
