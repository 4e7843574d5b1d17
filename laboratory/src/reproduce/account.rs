//! Accounting by name, as `efface account` does it.

use efface::{Code, Error, Result};
use efface_privacy::case::compute;
use serde_json::{Map, Value};

/// The answer of one case.
pub(super) fn ask(kind: &str, inputs: &Value) -> Result<Map<String, Value>> {
    let none = Map::new();
    compute(kind, inputs.as_object().unwrap_or(&none))
        .map_err(|problem| Error::refused(Code::Case, format!("`{kind}`: {problem}")))
}

/// One number of the answer.
pub(super) fn number(kind: &str, inputs: &Value, name: &str) -> Result<f64> {
    read(&ask(kind, inputs)?[name])
}

/// A number written as JSON or as text.
pub(super) fn read(value: &Value) -> Result<f64> {
    value
        .as_str()
        .map_or_else(|| value.as_f64(), |text| text.parse().ok())
        .ok_or_else(|| Error::input(Code::Case, format!("a case gives a number, got {value}")))
}

/// The least whole number from 1 on for which `enough` holds, which must hold from there on; none up
/// to `most`.
pub(super) fn least(most: u64, mut enough: impl FnMut(u64) -> Result<bool>) -> Result<Option<u64>> {
    let (mut low, mut high) = (0, 1);
    while !enough(high)? {
        if high >= most {
            return Ok(None);
        }
        (low, high) = (high, (2 * high).min(most));
    }
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if enough(middle)? { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

/// The least number between `low` and `high`, to a relative 1e-9, for which `enough` holds.
pub(super) fn least_real(
    (mut low, mut high): (f64, f64),
    mut enough: impl FnMut(f64) -> Result<bool>,
) -> Result<f64> {
    while high / low > 1.0 + 1e-9 {
        let middle = (low * high).sqrt();
        if enough(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_end_at_the_least() {
        for want in [1, 2, 3, 57, 1000] {
            assert_eq!(least(1000, |k| Ok(k >= want)).unwrap(), Some(want));
        }
        assert_eq!(least(1000, |_| Ok(false)).unwrap(), None);
        let found = least_real((1e-6, 1e6), |x| Ok(x >= 0.3)).unwrap();
        assert!((found / 0.3 - 1.0).abs() < 1e-8);
    }
}
