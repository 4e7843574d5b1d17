//! The inputs of one case, read by name with their rules.

use serde_json::{Map, Value};

use super::Problem;
use crate::quantity::Decimal;

/// The most whole numbers a float holds exactly.
const MOST: f64 = 9_007_199_254_740_992.0;

/// The named inputs of one case.
pub(super) struct Inputs<'a> {
    fields: &'a Map<String, Value>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(fields: &'a Map<String, Value>) -> Self {
        Self { fields }
    }

    pub(super) fn get(&self, name: &str) -> Result<&'a Value, Problem> {
        self.fields.get(name).ok_or_else(|| Problem::Missing { name: name.to_owned() })
    }

    fn number(
        &self,
        name: &str,
        rule: &'static str,
        holds: impl Fn(f64) -> bool,
    ) -> Result<f64, Problem> {
        let value = self.get(name)?;
        read(value).filter(|&x| holds(x)).ok_or_else(|| malformed(name, rule, value))
    }

    /// A finite number of at least 0.
    pub(super) fn nonnegative(&self, name: &str) -> Result<f64, Problem> {
        self.number(name, "a finite number of at least 0", |x| x >= 0.0 && x.is_finite())
    }

    /// A finite number above 0.
    pub(super) fn positive(&self, name: &str) -> Result<f64, Problem> {
        self.number(name, "a finite number above 0", |x| x > 0.0 && x.is_finite())
    }

    /// A Rényi order.
    pub(super) fn order(&self, name: &str) -> Result<f64, Problem> {
        self.number(name, "a finite number above 1", |x| x > 1.0 && x.is_finite())
    }

    /// A delta.
    pub(super) fn delta(&self) -> Result<f64, Problem> {
        self.number("delta", "in (0, 1)", |x| x > 0.0 && x < 1.0)
    }

    /// A whole number of at least `least`.
    pub(super) fn count(&self, name: &str, least: u64) -> Result<u64, Problem> {
        let rule =
            if least == 0 { "a whole number in 0..=2^53" } else { "a whole number in 1..=2^53" };
        let x = self.number(name, rule, |x| x >= least as f64 && x <= MOST && x.fract() == 0.0)?;
        Ok(x as u64)
    }

    /// A text.
    pub(super) fn text(&self, name: &str, rule: &'static str) -> Result<&'a str, Problem> {
        let value = self.get(name)?;
        value.as_str().ok_or_else(|| malformed(name, rule, value))
    }

    /// A list.
    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], Problem> {
        let value = self.get(name)?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| malformed(name, "a list", value))
    }

    /// A list of finite numbers of at least 0.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>, Problem> {
        let one = |value| {
            read(value)
                .filter(|&x| x >= 0.0 && x.is_finite())
                .ok_or_else(|| malformed(name, "a list of finite numbers of at least 0", value))
        };
        self.list(name)?.iter().map(one).collect()
    }
}

/// A decimal string, or a JSON number.
fn read(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse::<Decimal>().ok().map(|decimal| decimal.0),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

pub(super) fn malformed(name: &str, rule: &'static str, got: &Value) -> Problem {
    let mut got = got.to_string();
    if got.len() > 100 {
        let end = (0..=100).rev().find(|&i| got.is_char_boundary(i)).unwrap_or(0);
        got.truncate(end);
        got.push_str("...");
    }
    Problem::Malformed { name: name.to_owned(), rule, got }
}

/// A named result as a decimal string.
pub(super) fn decimal(name: &str, value: f64) -> (String, Value) {
    (name.to_owned(), Value::String(Decimal(value).to_string()))
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
