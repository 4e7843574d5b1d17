//! A row of the table of settings: what a setting is, what it may be, and whose it is.

use efface_privacy::quantity::Decimal;

use super::{Privacy, Settings};
use crate::error::{Code, Error, Result};

/// A setting.
#[derive(Debug)]
pub struct Row {
    /// Its name in JSON and in Rust, such as `removal_steps`.
    pub name: &'static str,
    /// Its name in messages and on the command line, such as `removal-steps`.
    pub flag: &'static str,
    /// What it says about itself: lines of a sentence, an empty one, lines of a paragraph.
    pub(super) text: &'static [&'static str],
    /// Under which heading it stands.
    pub group: Group,
    /// Whether only programs give it, so that no face offers it.
    pub internal: bool,
    /// What kind of value it has, and which values are allowed.
    pub form: Form,
    /// The code of the error that refuses a value.
    pub(super) code: Code,
    /// What the value is measured in; empty if it has no unit.
    pub unit: &'static str,
    /// What holds if it is not given.
    pub default: Fallback,
    /// The setting and its values that it belongs to; none for a setting of every model.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// What stands for its value in help; empty for what its form says.
    pub placeholder: &'static str,
    pub(super) field: fn(&Settings) -> &dyn Field,
    pub(super) field_mut: fn(&mut Settings) -> &mut dyn Field,
}

efface_privacy::named! {
    /// The heading that settings are listed under.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Group {
        /// The objective: what is minimised, on which rows.
        Model = "Model",
        /// How the model is trained, and how it forgets.
        Mechanism = "Mechanism",
        /// What is promised, and the noise it takes.
        Promise = "Promise",
    }
}

/// What kind of value a setting has, and which values are allowed.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// One of these names.
    Name(fn() -> Vec<&'static str>),
    /// A number.
    Number(Interval),
    /// A whole number: the least and the greatest.
    Count(u64, u64),
    /// Two finite numbers, low then high.
    Pair,
    /// On or off.
    Flag,
    /// The bytes of a file.
    File,
    /// How private something given is.
    Figures,
    /// Lines of text.
    Lines,
    /// Text in a form of its own.
    Text,
}

/// Numbers between two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// Whether the lower end is allowed.
    pub with_low: bool,
    /// The upper end; may be infinite.
    pub high: f64,
    /// Whether the upper end is allowed.
    pub with_high: bool,
}

impl Interval {
    pub(super) const POSITIVE: Self = Self::above(0.0);
    pub(super) const AT_LEAST_ZERO: Self = Self { with_low: true, ..Self::POSITIVE };
    pub(super) const POSITIVE_OR_INFINITE: Self = Self { with_high: true, ..Self::POSITIVE };
    pub(super) const UNIT: Self = Self { high: 1.0, ..Self::POSITIVE };

    pub(super) const fn above(low: f64) -> Self {
        Self { low, with_low: false, high: f64::INFINITY, with_high: false }
    }

    pub(super) const fn up_to(high: f64) -> Self {
        Self { high, with_high: true, ..Self::POSITIVE }
    }

    /// Whether a number is in it.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        (x > self.low || self.with_low && x == self.low)
            && (x < self.high || self.with_high && x == self.high)
    }

    /// The rule in words, to follow `must be`.
    #[must_use]
    pub fn rule(&self) -> String {
        let (low, high) = (Decimal(self.low), Decimal(self.high));
        let least = if self.with_low { format!("at least {low}") } else { format!("above {low}") };
        match (self.high.is_finite(), self.with_high) {
            (true, true) => format!("{least} and at most {high}"),
            (true, false) => format!("{least} and below {high}"),
            (false, true) => least,
            (false, false) => format!("finite and {least}"),
        }
    }
}

/// The bytes of a name with hyphens in place of underscores.
pub(super) const fn hyphens<const N: usize>(name: &str) -> [u8; N] {
    let (mut bytes, mut at) = ([b'-'; N], 0);
    while at < N {
        if name.as_bytes()[at] != b'_' {
            bytes[at] = name.as_bytes()[at];
        }
        at += 1;
    }
    bytes
}

/// What holds if a setting is not given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fallback {
    /// Nothing: what the setting is about is left out.
    Nothing,
    /// A name.
    Name(&'static str),
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// What follows from other settings and public sizes, in words.
    Follows(&'static str),
    /// What is read off the data, in words: an assumption that certificates list.
    Data(&'static str),
}

impl Fallback {
    /// In words; none if there is nothing to say.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Number(x) => Some(Decimal(*x).to_string()),
            Self::Count(x) => Some(x.to_string()),
            Self::Name(text) | Self::Follows(text) | Self::Data(text) => Some((*text).to_owned()),
        }
    }
}

/// A value to be written into settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A name, or text.
    Text(String),
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// Two numbers.
    Pair(f64, f64),
    /// On or off.
    Flag(bool),
    /// The bytes of a file.
    Bytes(Vec<u8>),
    /// How private something given is.
    Figures(Privacy),
    /// Lines of text.
    Lines(Vec<String>),
}

pub(super) trait Field {
    /// Whether it has a value.
    fn is_given(&self) -> bool;
    fn clear(&mut self);
    /// Takes a value; false if it is of another form.
    fn put(&mut self, value: Value) -> bool;
    fn text(&self) -> Option<&str> {
        None
    }
    fn number(&self) -> Option<f64> {
        None
    }
    fn count(&self) -> Option<u64> {
        None
    }
    fn pair(&self) -> Option<(f64, f64)> {
        None
    }
}

/// The form of a type's values, unless a row says more.
pub(super) trait Plain {
    const FORM: Form;
}

macro_rules! field {
    ($type:ty, $form:expr, $value:pat => $taken:expr $(, $read:ident -> $as:ty: $with:expr)?) => {
        impl Plain for $type {
            const FORM: Form = $form;
        }

        impl Field for $type {
            fn is_given(&self) -> bool {
                *self != Self::default()
            }
            fn clear(&mut self) {
                *self = Self::default();
            }
            fn put(&mut self, value: Value) -> bool {
                let $value = value else { return false };
                *self = $taken;
                true
            }
            $(fn $read(&self) -> $as {
                $with(self)
            })?
        }
    };
}

field!(Option<String>, Form::Text, Value::Text(x) => Some(x), text -> Option<&str>: Option::as_deref);
field!(Option<f64>, Form::Number(Interval::POSITIVE), Value::Number(x) => Some(x), number -> Option<f64>: Clone::clone);
field!(Option<u64>, Form::Count(1, super::MOST_COUNT), Value::Count(x) => Some(x), count -> Option<u64>: Clone::clone);
field!(Option<(f64, f64)>, Form::Pair, Value::Pair(x, y) => Some((x, y)), pair -> Option<(f64, f64)>: Clone::clone);
field!(bool, Form::Flag, Value::Flag(x) => x);
field!(Option<Vec<u8>>, Form::File, Value::Bytes(x) => Some(x));
field!(Option<Privacy>, Form::Figures, Value::Figures(x) => Some(x));
field!(Vec<String>, Form::Lines, Value::Lines(x) => x);

impl Row {
    /// What it is, without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let lines = self.text.iter().map(|line| line.trim());
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// What else there is to say; empty for nothing.
    #[must_use]
    pub fn paragraph(&self) -> String {
        let lines = self.text.iter().map(|line| line.trim());
        lines.skip_while(|line| !line.is_empty()).skip(1).collect::<Vec<_>>().join(" ")
    }

    /// The names it may have; none for other forms.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        if let Form::Name(names) = self.form { names() } else { Vec::new() }
    }

    /// Whether settings have a value for it.
    #[must_use]
    pub fn is_given(&self, settings: &Settings) -> bool {
        (self.field)(settings).is_given()
    }

    /// Writes a value.
    ///
    /// # Errors
    /// A value of another form.
    pub fn put(&self, settings: &mut Settings, value: Value) -> Result<()> {
        if (self.field_mut)(settings).put(value) {
            return Ok(());
        }
        let message = format!("`§{}` takes values of another form", self.flag);
        Err(Error::input(Code::Settings, message))
    }

    pub(super) fn clear(&self, settings: &mut Settings) {
        (self.field_mut)(settings).clear();
    }

    /// Refuses a value that is not allowed.
    pub(super) fn check(&self, settings: &Settings) -> Result<()> {
        let field = (self.field)(settings);
        let wrong = match self.form {
            Form::Name(names) => field.text().filter(|got| !names().contains(got)).map(|got| {
                let shown: String = got.chars().take(60).collect();
                (format!("one of {}", names().join(", ")), format!("`{shown}`"))
            }),
            Form::Number(interval) => {
                let wrong = field.number().filter(|x| !interval.contains(*x));
                wrong.map(|x| (interval.rule(), Decimal(x).to_string()))
            }
            Form::Count(least, most) => {
                field.count().filter(|x| !(least..=most).contains(x)).map(|x| {
                    let most = match most {
                        super::MOST_COUNT => "2^52".to_owned(),
                        most => most.to_string(),
                    };
                    let unit = if self.unit.is_empty() { "" } else { " " };
                    (format!("from {least} to {most}{unit}{}", self.unit), x.to_string())
                })
            }
            Form::Pair => {
                let ascends =
                    |low: f64, high: f64| low < high && low.is_finite() && high.is_finite();
                let wrong = field.pair().filter(|(low, high)| !ascends(*low, *high));
                let rule = "two finite numbers, low then high";
                wrong.map(|(low, high)| (rule.to_owned(), format!("{low},{high}")))
            }
            Form::Flag | Form::File | Form::Figures | Form::Lines | Form::Text => None,
        };
        let Some((rule, got)) = wrong else { return Ok(()) };
        Err(Error::input(self.code, format!("`§{}` must be {rule}, got {got}", self.flag)))
    }
}
