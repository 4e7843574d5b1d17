//! Finite numbers written as their shortest decimal text, so that reading them back is exact with any JSON
//! reader.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serializer, de};

pub(super) fn serialize<S: Serializer>(value: &f64, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(&format_args!("{value:e}"))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let text = Cow::<'de, str>::deserialize(from)?;
    let value: f64 = text.parse().map_err(de::Error::custom)?;
    if value.is_finite() && format!("{value:e}") == text {
        Ok(value)
    } else {
        Err(de::Error::custom(format_args!("`{text}` is not the shortest form of a number")))
    }
}
