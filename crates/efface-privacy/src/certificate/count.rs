//! How many records a request touched: a number written as a string, or `not stated` if it is private.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// The text written for a private number.
const HIDDEN: &str = "not stated";

/// Digits of the largest number: canonical JSON tells integers apart up to 2^53.
const DIGITS: usize = 16;

pub(super) fn serialize<S: Serializer>(
    count: &Option<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match count {
        Some(count) => serializer.collect_str(count),
        None => serializer.serialize_str(HIDDEN),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text == HIDDEN {
        return Ok(None);
    }
    match text.parse::<u64>() {
        Ok(count) if text.len() <= DIGITS && count.to_string() == text => Ok(Some(count)),
        _ => {
            let shown: String = text.chars().take(40).collect();
            Err(D::Error::custom(format!(
                "a number of records must be a whole number without sign, spaces or leading zeros, or \
                 `{HIDDEN}`, got `{shown}`"
            )))
        }
    }
}
