//! Checked quantities: numbers that must not be mixed up, each with one constructor.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value outside the range of its quantity.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{name}` must be {rule}, got {}", Decimal(*.got))]
pub struct QuantityError {
    /// Name of the quantity as users type it.
    pub name: &'static str,
    /// The rule that the value breaks, in words.
    pub rule: &'static str,
    /// The value that was given.
    pub got: f64,
}

macro_rules! quantity {
    ($(#[$doc:meta])* $type:ident, $name:literal, $rule:literal, |$x:ident| $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $type(f64);

        impl $type {
            /// Returns the checked value.
            ///
            /// # Errors
            #[doc = concat!("When the value is not ", $rule, ".")]
            pub fn new($x: f64) -> Result<Self, QuantityError> {
                if $check {
                    Ok(Self($x))
                } else {
                    Err(QuantityError { name: $name, rule: $rule, got: $x })
                }
            }

            /// Returns the number as a float.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

quantity!(
    /// The epsilon of (epsilon, delta)-indistinguishability, in nats; infinity says "no bound".
    Epsilon, "epsilon", "at least 0", |x| x >= 0.0);
quantity!(
    /// The delta of (epsilon, delta)-indistinguishability, a probability.
    Delta, "delta", "in (0, 1)", |x| x > 0.0 && x < 1.0);
quantity!(
    /// The mu of Gaussian differential privacy; infinity says "no bound".
    Mu, "mu", "at least 0", |x| x >= 0.0);
quantity!(
    /// The order alpha (or q) of a Rényi divergence.
    RenyiOrder, "order", "finite and above 1", |x| x > 1.0 && x.is_finite());

/// A number written in JSON as a decimal string that reads back to the same bits.
///
/// Certificates are compared byte by byte; JSON numbers are not safe for that.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Decimal(pub f64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.0;
        if x == f64::INFINITY {
            f.write_str("inf")
        } else if x != 0.0 && !(1e-4..1e15).contains(&x.abs()) {
            write!(f, "{x:e}")
        } else {
            write!(f, "{x}")
        }
    }
}

/// Returns a bound for people: at most four significant digits, never below the exact number.
#[must_use]
pub fn rounded_up(x: f64) -> String {
    if !x.is_finite() {
        return "infinity".to_owned();
    }
    let text = format!("{x:.3e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let below = text.parse::<f64>().is_ok_and(|nearest| nearest < x);
    let digits = mantissa.replace('.', "").parse::<i64>().map(|digits| digits + i64::from(below));
    let exponent = exponent.parse::<i32>();
    match (digits, exponent) {
        (Ok(digits), Ok(exponent)) => {
            let shown = format!("{digits}e{}", exponent - 3).parse().unwrap_or(x);
            Decimal(shown).to_string()
        }
        _ => text,
    }
}

impl Decimal {
    /// Reads the one spelling that [`Display`](fmt::Display) writes: what has two spellings can be
    /// changed without a trace.
    ///
    /// # Errors
    /// Fails if the text is no number, or spelled otherwise.
    pub fn canonical(text: &str) -> Result<Self, String> {
        let number: Self = text.parse()?;
        let spelling = number.to_string();
        if spelling == text {
            return Ok(number);
        }
        let shown: String = text.chars().take(40).collect();
        Err(format!("`{shown}` must be spelled `{spelling}`"))
    }
}

impl std::str::FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        match text.parse::<f64>() {
            Ok(x) if plain && x.is_finite() => Ok(Self(x)),
            _ if text == "inf" => Ok(Self(f64::INFINITY)),
            _ => {
                let shown: String = text.chars().take(40).collect();
                Err(format!("expected a decimal number or `inf`, got `{shown}`"))
            }
        }
    }
}

impl Serialize for Decimal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::canonical(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Numbers that are written as [`Decimal`] writes them: `#[serde(with = "as_decimal")]`.
pub mod as_decimal {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Decimal;

    /// Writes the number's one spelling.
    ///
    /// # Errors
    /// Returns the errors of the serializer.
    pub fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        Decimal(*number).serialize(to)
    }

    /// Reads the number's one spelling.
    ///
    /// # Errors
    /// Fails as [`Decimal::canonical`] does.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Decimal::deserialize(from).map(|number| number.0)
    }

    /// Optional numbers in the same form: `#[serde(with = "as_decimal::option")]`.
    pub mod option {
        use super::{Decimal, Deserialize, Deserializer, Serialize, Serializer};

        /// Writes the number's one spelling, or nothing.
        ///
        /// # Errors
        /// Returns the errors of the serializer.
        pub fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
            number.map(Decimal).serialize(to)
        }

        /// Reads the number's one spelling, or nothing.
        ///
        /// # Errors
        /// Fails as [`Decimal::canonical`] does.
        pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
            Ok(Option::<Decimal>::deserialize(from)?.map(|number| number.0))
        }
    }
}
