//! Whole numbers as people type them.

/// The largest count that a float64 holds exactly, as all that is computed from it supposes.
const MOST: u64 = 1 << 53;

/// A whole number of at least 0, also written as `1e6` or `1_000_000`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let plain = text.trim().replace('_', "");
    if let Ok(number) = plain.parse::<u64>() {
        return Ok(number);
    }
    match plain.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.fract() == 0.0 && number <= MOST as f64 => {
            Ok(number as u64)
        }
        Ok(number) if number < 0.0 => Err("a count must be at least 0".to_owned()),
        Ok(number) if number.fract() == 0.0 => Err(format!("a count must be at most {MOST}")),
        _ => Err("a whole number is needed, such as 1000 or 1e6".to_owned()),
    }
}

/// As [`count`], at least 1.
pub(crate) fn at_least_one(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("must be at least 1".to_owned()),
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers() {
        for (text, number) in
            [("0", 0), ("17", 17), ("1e6", 1_000_000), ("1_000", 1000), ("2.5e1", 25)]
        {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in ["-1", "1.5", "x", "", "inf", "NaN", "1e300", "--"] {
            let told = count(text).unwrap_err();
            assert!(!told.contains("digit"), "{text}: {told}");
        }
        assert!(at_least_one("0").is_err());
    }
}
