//! What a kind of case is: its inputs, its results and where its formula is from.

use super::inputs::Inputs;
use super::{Form, Result};

/// One kind of case, as `efface account KIND --help` explains it.
#[derive(Debug)]
pub struct Kind {
    /// The name, as batches spell it.
    pub name: &'static str,
    /// What it computes, in one sentence without a full stop.
    pub summary: &'static str,
    /// Paper and theorem, or the derivation beside the code.
    pub source: &'static str,
    /// How far its numbers may be trusted.
    pub soundness: Soundness,
    /// What its numbers suppose and what to know about them, in sentences.
    pub notes: &'static str,
    /// Everything the computation reads; anything else is refused.
    pub inputs: &'static [Input],
    /// The results that the kind computes.
    pub results: &'static [Answer],
    pub(super) compute: fn(&Inputs<'_>) -> Result,
}

/// How far the numbers of a kind may be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Soundness {
    /// Sound, and the sharpest bound known here.
    Tight,
    /// Sound as its paper states it, or as corrected here; a sharper bound exists.
    Published,
    /// Published, and false: for comparison only.
    NotSound,
}

impl Soundness {
    /// `tight`, `published` or `not sound`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tight => "tight",
            Self::Published => "published",
            Self::NotSound => "not sound",
        }
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
    /// It must.
    Required,
    /// This value stands in for it.
    Default(&'static str),
    /// It may be left out, which means this.
    Optional(&'static str),
}

impl Input {
    pub(super) const fn new(
        name: &'static str,
        form: Form,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, form, unit, meaning, presence: Presence::Required }
    }

    /// The same input with a value that stands in for it.
    pub(super) const fn or(self, value: &'static str) -> Self {
        Self { presence: Presence::Default(value), ..self }
    }

    /// The same input where it may be left out, which means `this`.
    pub(super) const fn unless_given(self, this: &'static str) -> Self {
        Self { presence: Presence::Optional(this), ..self }
    }
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

/// What a result is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// A decimal string.
    Decimal,
    /// A whole number.
    Count,
    /// A list of whole numbers.
    Counts,
}

impl Figure {
    /// `decimal`, `count` or `counts`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decimal => "decimal",
            Self::Count => "count",
            Self::Counts => "counts",
        }
    }
}

impl Answer {
    pub(super) const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Self { name, unit, meaning, figure: Figure::Decimal }
    }

    /// The same result as a whole number, or as a list of them.
    pub(super) const fn written(self, figure: Figure) -> Self {
        Self { figure, ..self }
    }

    /// A whole number of steps.
    pub(super) const fn steps(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, "steps", meaning).written(Figure::Count)
    }
}

/// epsilon, wherever it is an input.
pub(super) const EPSILON: Input =
    Input::new("epsilon", Form::Nonnegative, "nats", "epsilon of (epsilon, delta)");
/// delta, wherever it is an input.
pub(super) const DELTA: Input =
    Input::new("delta", Form::Probability, "probability", "delta of (epsilon, delta)");
