//! The values an input takes: the rule that checks them also writes the message.

use serde_json::Value;

use super::{CaseError, Result};
use crate::quantity::Decimal;

/// The most whole numbers a float holds exactly.
const MOST: f64 = 9_007_199_254_740_992.0;

/// Which values an input takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A finite number of at least 0.
    Nonnegative,
    /// A finite number above 0.
    Positive,
    /// A finite number above 1, such as a Rényi order.
    AboveOne,
    /// A number in (0, 1).
    Probability,
    /// A whole number from this one on.
    Count(u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of finite numbers of at least 0.
    Numbers,
    /// A list of whole numbers of at least 1.
    Counts,
    /// A list of requests.
    Requests,
    /// A list of ids.
    Ids,
}

impl Form {
    /// Returns the rule, as it completes "must be ...".
    #[must_use]
    pub fn rule(self) -> String {
        match self {
            Self::Nonnegative => "a finite number of at least 0".to_owned(),
            Self::Positive => "a finite number above 0".to_owned(),
            Self::AboveOne => "a finite number above 1".to_owned(),
            Self::Probability => "in (0, 1)".to_owned(),
            Self::Count(least) => format!("a whole number in {least}..=2^53"),
            Self::Word([]) => "a word".to_owned(),
            Self::Word([word]) => format!("`{word}`"),
            Self::Word([first @ .., last]) => {
                let first: Vec<String> = first.iter().map(|word| format!("`{word}`")).collect();
                format!("{} or `{last}`", first.join(", "))
            }
            Self::Numbers => "a list of finite numbers of at least 0".to_owned(),
            Self::Counts => "a list of whole numbers of at least 1".to_owned(),
            Self::Requests => "a list of objects with `steps`, `delete` and `add`".to_owned(),
            Self::Ids => "a list of ids (texts or whole numbers)".to_owned(),
        }
    }

    /// Returns the form in one word, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nonnegative => "nonnegative",
            Self::Positive => "positive",
            Self::AboveOne => "above-one",
            Self::Probability => "probability",
            Self::Count(_) => "count",
            Self::Word(_) => "word",
            Self::Numbers => "numbers",
            Self::Counts => "counts",
            Self::Requests => "requests",
            Self::Ids => "ids",
        }
    }

    /// Returns the words it allows; empty if it is no word.
    #[must_use]
    pub fn words(self) -> &'static [&'static str] {
        if let Self::Word(words) = self { words } else { &[] }
    }

    /// Reads `value` as a number of this form.
    pub(super) fn number(self, value: &Value) -> Option<f64> {
        let x = read(value)?;
        let holds = match self {
            Self::Nonnegative | Self::Numbers => x >= 0.0 && x.is_finite(),
            Self::Positive => x > 0.0 && x.is_finite(),
            Self::AboveOne => x > 1.0 && x.is_finite(),
            Self::Probability => x > 0.0 && x < 1.0,
            Self::Count(least) => x >= least as f64 && x <= MOST && x.fract() == 0.0,
            Self::Counts => return Self::Count(1).number(value),
            Self::Word(_) | Self::Requests | Self::Ids => false,
        };
        holds.then_some(x)
    }
}

/// Reads a decimal string or a JSON number.
fn read(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse::<Decimal>().ok().map(|decimal| decimal.0),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// Builds the error that refuses a value; a long value is cut.
pub(super) fn malformed(name: &str, rule: impl Into<String>, got: &Value) -> CaseError {
    let mut got = got.to_string();
    if got.len() > 100 {
        let end = (0..=100).rev().find(|&i| got.is_char_boundary(i)).unwrap_or(0);
        got.truncate(end);
        got.push_str("...");
    }
    CaseError(format!("`{name}` must be {}, got {got}", rule.into()))
}

/// Refuses lists, by name and length, that are not as long as the list `first`.
pub(super) fn equally_long(first: &str, length: usize, others: &[(&str, usize)]) -> Result<()> {
    match others.iter().find(|other| other.1 != length) {
        Some(&(name, got)) => Err(malformed(name, format!("as long as `{first}`"), &got.into())),
        None => Ok(()),
    }
}
