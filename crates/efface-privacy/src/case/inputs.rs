//! The inputs of one case, read by name with the rules of their kind.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::form::malformed;
use super::{Input, Presence, Problem};
use crate::quantity::Decimal;

/// The named inputs of one case, against what its kind documents.
pub(super) struct Inputs<'a> {
    known: &'static [Input],
    fields: &'a Map<String, Value>,
    /// What has been read so far, so that a test can compare it with what is documented.
    read: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Inputs<'a> {
    /// Takes `fields` if every one of them is documented and none that must be given is missing.
    pub(super) fn new(
        known: &'static [Input],
        fields: &'a Map<String, Value>,
    ) -> Result<Self, Problem> {
        if let Some(name) = fields.keys().find(|name| known.iter().all(|k| k.name != **name)) {
            let names = known.iter().map(|input| input.name).collect();
            return Err(Problem::UnknownInput { name: name.clone(), names });
        }
        let missing = |k: &&Input| k.presence == Presence::Required && !fields.contains_key(k.name);
        if let Some(input) = known.iter().find(missing) {
            return Err(Problem::Missing { name: input.name.to_owned() });
        }
        Ok(Self { known, fields, read: RefCell::default() })
    }

    /// The names read so far.
    #[cfg(test)]
    pub(super) fn read(&self) -> BTreeSet<&'static str> {
        self.read.borrow().clone()
    }

    /// Whether an input that may be left out is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The input and its value, or the value that stands in for it. What is not documented is
    /// missing, whatever the case holds.
    fn find(&self, name: &str) -> Result<(Input, Cow<'a, Value>), Problem> {
        let missing = || Problem::Missing { name: name.to_owned() };
        let input = *self.known.iter().find(|input| input.name == name).ok_or_else(missing)?;
        self.read.borrow_mut().insert(input.name);
        let value = match (self.fields.get(name), input.presence) {
            (Some(value), _) => Cow::Borrowed(value),
            (None, Presence::Default(text)) => Cow::Owned(Value::String(text.to_owned())),
            (None, _) => return Err(missing()),
        };
        Ok((input, value))
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Result<f64, Problem> {
        let (input, value) = self.find(name)?;
        input.form.number(&value).ok_or_else(|| malformed(name, input.form.rule(), &value))
    }

    /// A number that may be left out.
    pub(super) fn optional(&self, name: &str) -> Result<Option<f64>, Problem> {
        if let Some(input) = self.known.iter().find(|input| input.name == name) {
            self.read.borrow_mut().insert(input.name);
        }
        if self.has(name) { self.number(name).map(Some) } else { Ok(None) }
    }

    /// A whole number.
    pub(super) fn count(&self, name: &str) -> Result<u64, Problem> {
        Ok(self.number(name)? as u64)
    }

    /// One of the words of the input.
    pub(super) fn word(&self, name: &str) -> Result<&'static str, Problem> {
        let (input, value) = self.find(name)?;
        let words = input.form.words();
        let word = value.as_str().and_then(|text| words.iter().find(|word| **word == text));
        word.copied().ok_or_else(|| malformed(name, input.form.rule(), &value))
    }

    /// A list as it stands.
    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], Problem> {
        let (input, value) = self.find(name)?;
        match value {
            Cow::Borrowed(Value::Array(list)) => Ok(list),
            other => Err(malformed(name, input.form.rule(), &other)),
        }
    }

    /// A list of numbers.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>, Problem> {
        let (input, _) = self.find(name)?;
        let form = input.form;
        let one = |value| form.number(value).ok_or_else(|| malformed(name, form.rule(), value));
        self.list(name)?.iter().map(one).collect()
    }

    /// The refusal of the value of `name`, by a rule that involves other inputs.
    pub(super) fn refuse(&self, name: &str, rule: &str) -> Problem {
        match self.find(name) {
            Ok((_, value)) => malformed(name, rule, &value),
            Err(missing) => missing,
        }
    }
}

/// A named result as a decimal string.
pub(super) fn decimal(name: &str, value: f64) -> (String, Value) {
    (name.to_owned(), Value::String(Decimal(value).to_string()))
}

/// A named result that is a whole number.
pub(super) fn whole(name: &str, value: u64) -> (String, Value) {
    (name.to_owned(), value.into())
}

/// exp(`ln`) as a decimal string, also where it is no float.
pub(super) fn decimal_of_ln(name: &str, ln: f64) -> (String, Value) {
    if ln == f64::NEG_INFINITY || (-690.0..=700.0).contains(&ln) || !ln.is_finite() {
        return decimal(name, libm::exp(ln));
    }
    let tens = ln / std::f64::consts::LN_10;
    let exponent = tens.floor();
    let mantissa = libm::exp((tens - exponent) * std::f64::consts::LN_10);
    (name.to_owned(), Value::String(format!("{mantissa}e{exponent}")))
}
