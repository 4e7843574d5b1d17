//! Typed inputs: what a row of the table states of an input, and how its value is read.

use std::marker::PhantomData;

use serde_json::{Map, Value};

use super::form::malformed;
use super::{CaseError, Form, Input, Presence, Result};

/// An input whose value is read as `T`. Its name is that of the variable that a row binds it to.
pub(super) struct Given<T> {
    input: Input,
    value: PhantomData<T>,
}

impl<T> Given<T> {
    const fn new(form: Form, unit: &'static str, meaning: &'static str) -> Self {
        let input = Input { name: "", form, unit, meaning, presence: Presence::Required };
        Self { input, value: PhantomData }
    }

    /// Gives the same input another meaning.
    pub(super) const fn meaning(mut self, meaning: &'static str) -> Self {
        self.input.meaning = meaning;
        self
    }

    /// Gives the same input a default value.
    pub(super) const fn or(mut self, value: &'static str) -> Self {
        self.input.presence = Presence::Default(value);
        self
    }

    /// Makes the input optional; leaving it out means `this`.
    pub(super) const fn unless_given(mut self, this: &'static str) -> Given<Option<T>> {
        self.input.presence = Presence::Optional(this);
        Given { input: self.input, value: PhantomData }
    }

    /// Returns the documentation of the input under its name.
    pub(super) const fn named(mut self, name: &'static str) -> Input {
        self.input.name = name;
        self.input
    }

    /// Returns the value of the input `name` in the inputs of a case.
    pub(super) fn read(self, name: &str, fields: &Map<String, Value>) -> Result<T>
    where
        T: Read,
    {
        let Input { form, presence, .. } = self.input;
        let refused = |value: &Value| malformed(name, form.rule(), value);
        match (fields.get(name), presence) {
            (Some(value), _) => T::read(form, value).map_err(refused),
            (None, Presence::Default(text)) => T::read(form, &text.into()).map_err(refused),
            (None, _) => T::LEFT_OUT.ok_or_else(|| missing(name)),
        }
    }
}

impl Given<u64> {
    /// Reads the same whole number as a float, for formulas.
    pub(super) const fn real(self) -> Given<f64> {
        Given { input: self.input, value: PhantomData }
    }
}

/// Refuses inputs that are not documented, and the lack of those that must be given.
pub(super) fn check(known: &[Input], fields: &Map<String, Value>) -> Result<()> {
    if let Some(name) = fields.keys().find(|name| known.iter().all(|k| k.name != **name)) {
        let names: Vec<_> = known.iter().map(|input| input.name).collect();
        let names = names.join(", ");
        let text = format!("`{name}` is not an input of this kind, whose inputs are {names}");
        return Err(CaseError(text));
    }
    let lacks = |k: &&Input| k.presence == Presence::Required && !fields.contains_key(k.name);
    known.iter().find(lacks).map_or(Ok(()), |input| Err(missing(input.name)))
}

fn missing(name: &str) -> CaseError {
    CaseError(format!("`{name}` is missing"))
}

/// A type that values of inputs are read as.
pub(super) trait Read: Sized {
    /// What an omitted value is read as, if it may be omitted.
    const LEFT_OUT: Option<Self> = None;

    /// Reads `value`. An error holds the part of it that is not of the form.
    fn read(form: Form, value: &Value) -> Result<Self, &Value>;
}

impl Read for f64 {
    fn read(form: Form, value: &Value) -> Result<Self, &Value> {
        form.number(value).ok_or(value)
    }
}

impl Read for u64 {
    fn read(form: Form, value: &Value) -> Result<Self, &Value> {
        f64::read(form, value).map(|count| count as u64)
    }
}

impl Read for &'static str {
    fn read(form: Form, value: &Value) -> Result<Self, &Value> {
        let word = form.words().iter().find(|word| value.as_str() == Some(word));
        word.copied().ok_or(value)
    }
}

/// An id as text: a whole number and its digits are the same id.
impl Read for String {
    fn read(_: Form, value: &Value) -> Result<Self, &Value> {
        match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) if number.is_u64() || number.is_i64() => Ok(number.to_string()),
            other => Err(other),
        }
    }
}

impl Read for Map<String, Value> {
    fn read(_: Form, value: &Value) -> Result<Self, &Value> {
        value.as_object().cloned().ok_or(value)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(form: Form, value: &Value) -> Result<Self, &Value> {
        value.as_array().ok_or(value)?.iter().map(|value| T::read(form, value)).collect()
    }
}

impl<T: Read> Read for Option<T> {
    const LEFT_OUT: Option<Self> = Some(None);

    fn read(form: Form, value: &Value) -> Result<Self, &Value> {
        T::read(form, value).map(Some)
    }
}

/// Writes the constructors of inputs, each with the form and the type of its values.
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident($($free:ident: $type:ty),*) -> $value:ty = $form:expr;)*) => {$(
        $(#[$doc])*
        pub(super) const fn $name(
            $($free: $type,)*
            unit: &'static str,
            meaning: &'static str,
        ) -> Given<$value> {
            Given::new($form, unit, meaning)
        }
    )*};
}

constructors! {
    /// A finite number of at least 0.
    nonnegative() -> f64 = Form::Nonnegative;
    /// A finite number above 0.
    positive() -> f64 = Form::Positive;
    /// A finite number above 1.
    above_one() -> f64 = Form::AboveOne;
    /// A number in (0, 1).
    probability() -> f64 = Form::Probability;
    /// A whole number of at least `least`.
    count(least: u64) -> u64 = Form::Count(least);
    /// A list of finite numbers of at least 0.
    numbers() -> Vec<f64> = Form::Numbers;
    /// A list of whole numbers of at least 1.
    counts() -> Vec<u64> = Form::Counts;
}

/// One of `words`.
pub(super) const fn word(
    words: &'static [&'static str],
    meaning: &'static str,
) -> Given<&'static str> {
    Given::new(Form::Word(words), "", meaning)
}

/// A list of requests, each of which is read by [`phases`](super::requests::phases).
pub(super) const fn requests(meaning: &'static str) -> Given<Vec<Map<String, Value>>> {
    Given::new(Form::Requests, "", meaning)
}

/// A list of ids, which are texts or whole numbers.
pub(super) const fn ids(meaning: &'static str) -> Given<Vec<String>> {
    Given::new(Form::Ids, "", meaning)
}

// Inputs of several families.

pub(super) const EPSILON: Given<f64> = nonnegative("nats", "epsilon of (epsilon, delta)");
pub(super) const DELTA: Given<f64> = probability("probability", "delta of (epsilon, delta)");
pub(super) const ETA: Given<f64> = positive("weight^2/loss", "step size");
pub(super) const SIGMA: Given<f64> = positive("sqrt(loss)", "each step adds sqrt(2 eta) sigma Z");
pub(super) const D: Given<f64> = count(1, "", "number of parameters").real();
