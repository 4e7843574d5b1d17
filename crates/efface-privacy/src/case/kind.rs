//! What a kind of case is, and the table whose rows are kinds.

use serde_json::{Map, Value};

use super::{Form, Result};
use crate::quantity::Decimal;

/// One kind of case, as `efface account KIND --help` explains it.
#[derive(Debug)]
pub struct Kind {
    /// The name, as batches spell it.
    pub name: &'static str,
    /// What it computes, in one sentence without a full stop.
    pub summary: &'static str,
    /// Paper and theorem, or the derivation next to the code.
    pub source: &'static str,
    /// How far its numbers may be trusted.
    pub soundness: Soundness,
    /// What its numbers suppose and what to know about them, in sentences.
    pub notes: &'static str,
    /// Everything the computation reads; anything else is refused.
    pub inputs: &'static [Input],
    /// The results that the kind computes.
    pub results: &'static [Answer],
    pub(super) compute: fn(&Map<String, Value>) -> Result,
}

crate::named! {
    /// How far the numbers of a kind may be trusted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Soundness {
        /// Sound, and the sharpest bound known here.
        Tight = "tight",
        /// Sound as its paper states it, or as corrected here; a sharper bound exists.
        Published = "published",
        /// Published, and false: for comparison only.
        NotSound = "not sound",
    }
}

/// One input of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    /// The name, as batches spell it.
    pub name: &'static str,
    /// The form and range of allowed values.
    pub form: Form,
    /// Its unit; empty for a pure number or a word.
    pub unit: &'static str,
    /// Meaning of the input in words, with its unit.
    pub meaning: &'static str,
    /// Whether it must be given.
    pub presence: Presence,
}

/// Whether an input must be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The input must be given.
    Required,
    /// This value stands in for it.
    Default(&'static str),
    /// It may be left out, which means this.
    Optional(&'static str),
}

/// One result of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The name, as results spell it.
    pub name: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// Meaning of the result in words.
    pub meaning: &'static str,
    /// What it is written as.
    pub figure: Figure,
}

crate::named! {
    /// What a result is written as.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Figure {
        /// A decimal string.
        Decimal = "decimal",
        /// A whole number.
        Count = "count",
        /// A list of whole numbers.
        Counts = "counts",
    }
}

impl Answer {
    /// Gives the same result another name.
    pub(super) const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// A list of such numbers.
    pub(super) const fn of_each(self) -> Self {
        Self { figure: Figure::Counts, ..self }
    }
}

/// A result that is a number in `unit`.
pub(super) const fn number(unit: &'static str, meaning: &'static str) -> Answer {
    Answer { name: "", unit, meaning, figure: Figure::Decimal }
}

/// A result that is a whole number of steps.
pub(super) const fn steps(meaning: &'static str) -> Answer {
    Answer { figure: Figure::Count, ..number("steps", meaning) }
}

/// The value of a result, as JSON holds it.
pub(super) trait Written {
    fn written(self) -> Value;
}

impl Written for f64 {
    fn written(self) -> Value {
        Decimal(self).to_string().into()
    }
}

macro_rules! written_as_json_has_them {
    ($($type:ty),*) => {$(
        impl Written for $type {
            fn written(self) -> Value {
                self.into()
            }
        }
    )*};
}

written_as_json_has_them!(u64, Vec<u64>, Value);

/// Returns exp(`ln`) as a result, even if it is out of the range of floats.
pub(super) fn exp(ln: f64) -> Value {
    if ln == f64::NEG_INFINITY || (-690.0..=700.0).contains(&ln) || !ln.is_finite() {
        return libm::exp(ln).written();
    }
    let tens = ln / std::f64::consts::LN_10;
    let exponent = tens.floor();
    let mantissa = libm::exp((tens - exponent) * std::f64::consts::LN_10);
    format!("{mantissa}e{exponent}").into()
}

/// Lines of a documentation comment, joined, without the blank before the first.
pub(super) const fn prose(lines: &'static str) -> &'static str {
    match lines.split_at_checked(1) {
        Some((_, text)) => text,
        None => lines,
    }
}

/// Writes the kinds of a family, `KINDS`, from the rows of a table:
///
/// ```text
/// /// Summary in one line
/// ///
/// /// Notes in sentences.
/// "kind": Soundness, "source", NOTES_OF_SEVERAL_KINDS_IF_ANY;
/// inputs { radius: positive("weight", "meaning"), steps: count(0, "steps", "meaning") }
/// where steps "what it must be": steps as f64 <= radius;
/// compute { let variance = radius * radius; }
/// results { "sigma": number("weight", "meaning") => variance.sqrt() }
/// ```
///
/// The comment is what users read. Every input is a variable of the type that its form has. Inputs
/// are read in order, then conditions between them are checked, then `compute` prepares the
/// results. `where` and `compute` may be left out.
macro_rules! table {
    ($(
        #[doc = $summary:literal]
        $(#[doc = $note:literal])*
        $kind:literal: $soundness:ident, $source:expr $(, $notes:expr)?;
        inputs { $($input:ident: $given:expr),* $(,)? }
        $(where $culprit:ident $rule:literal: $holds:expr;)*
        $(compute { $($steps:tt)* })?
        results { $($result:literal: $answer:expr => $value:expr),* $(,)? }
    )*) => {
        pub(super) const KINDS: &[$crate::case::Kind] = &[$($crate::case::Kind {
            name: $kind,
            summary: $crate::case::kind::prose($summary),
            source: $source,
            soundness: $crate::case::Soundness::$soundness,
            notes: [$($notes,)? $crate::case::kind::prose(concat!($($note),*))][0],
            inputs: &[$($given.named(stringify!($input))),*],
            results: &[$($answer.named($result)),*],
            compute: |fields| {
                $(let $input = $given.read(stringify!($input), fields)?;)*
                $(
                    let holds: bool = $holds;
                    if !holds {
                        let name = stringify!($culprit);
                        let got = fields.get(name).cloned().unwrap_or_default();
                        return Err($crate::case::form::malformed(name, $rule, &got));
                    }
                )*
                $($($steps)*)?
                let results =
                    [$(($result.to_owned(), $crate::case::kind::Written::written($value))),*];
                Ok(results.into_iter().collect())
            },
        }),*];
    };
}

pub(super) use table;
