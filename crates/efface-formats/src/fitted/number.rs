//! The numbers that sums are made of: 48 significant bits each, so that squares are exact.

use num_bigint::BigInt;

/// Significant bits of a number that is summed.
const BITS: u32 = 48;
/// Bits of a binary64 significand below them.
const BELOW: u32 = 53 - BITS;

/// Returns the number that is summed and encoded in place of `value`, which must be finite: rounded to 48
/// significant bits, ties to even; magnitudes below 2^-1022 and -0.0 become 0.
///
/// Every f32 number is itself. Rounding depends on the value alone and twice is once.
pub(crate) fn canonical(value: f64) -> f64 {
    if value.abs() < f64::MIN_POSITIVE {
        return 0.0;
    }
    let bits = value.to_bits();
    let half = 1 << (BELOW - 1);
    let (low, kept) = (bits & (2 * half - 1), bits & !(2 * half - 1));
    let up = low > half || low == half && kept & (2 * half) != 0;
    f64::from_bits(if up { kept + 2 * half } else { kept })
}

/// Returns a [`canonical`] number as `significand * 2^exponent`; the significand has 48 bits, or is 0.
pub(crate) fn parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52) & 0x7ff;
    if exponent == 0 {
        return (0, 0);
    }
    let significand = ((bits & ((1 << 52) - 1) | 1 << 52) >> BELOW) as i64;
    let signed = if bits >> 63 == 0 { significand } else { -significand };
    (signed, exponent as i32 - 1075 + BELOW as i32)
}

/// Returns whether single precision holds the number exactly.
pub(crate) fn is_single(value: f64) -> bool {
    f64::from(value as f32) == value
}

/// Returns the finite number that a text spells, if it is one of at most [`LARGEST`] in magnitude; words such
/// as `inf` and `nan` spell none.
pub(crate) fn spelled(text: &str) -> Option<f64> {
    let first = *text.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| is_stored(*value)).map(|value| value + 0.0)
}

/// The largest magnitude of a number in a named column: differences of two and their quotients by
/// a deviation have room in a binary64 number.
pub(crate) const LARGEST: f64 = 1e300;

/// Returns whether a number can be stored in a named column: finite, and at most [`LARGEST`] in magnitude.
pub(crate) fn is_stored(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// Returns whether a number can be stored in an array or as a target: finite, and no larger than single
/// precision holds.
pub(crate) fn is_single_sized(value: f64) -> bool {
    value.abs() <= f64::from(f32::MAX)
}

/// Returns whether a text spells an infinity.
pub(crate) fn is_infinity(text: &str) -> bool {
    let word = text.strip_prefix(['+', '-']).unwrap_or(text);
    word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity")
}

/// Computes `numerator / denominator * 2^exponent`, rounded once to the nearest binary64 number, ties to
/// even; the denominator must be above 0. Beyond the range it is infinite or 0.
pub(crate) fn ratio(numerator: &BigInt, denominator: &BigInt, exponent: i64) -> f64 {
    let (quotient, exponent) = leading(numerator, denominator, exponent);
    if quotient == 0 {
        return 0.0;
    }
    // A 64-bit quotient has 11 bits more than the result; a subnormal result has fewer.
    let least = -1074 - exponent;
    let magnitude = if least > 11 {
        let drop = least.min(66) as u32;
        let wide = u128::from(quotient) << 2;
        let (kept, rest) = (wide >> (drop + 2), wide & ((1 << (drop + 2)) - 1));
        let half = 1_u128 << (drop + 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        f64::from_bits((kept + u128::from(up)) as u64)
    } else {
        scaled(quotient as f64, exponent)
    };
    if numerator.sign() == num_bigint::Sign::Minus { -magnitude } else { magnitude }
}

/// Returns the square root of `numerator / denominator * 2^exponent`, which is rounded once before the root
/// is taken; neither underflows before the root does. Both must be at least 0, the denominator above.
pub(crate) fn root_of_ratio(numerator: &BigInt, denominator: &BigInt, exponent: i64) -> f64 {
    let (quotient, mut exponent) = leading(numerator, denominator, exponent);
    let mut value = quotient as f64;
    if exponent % 2 != 0 {
        value *= 2.0;
        exponent -= 1;
    }
    scaled(value.sqrt(), exponent / 2)
}

/// Returns the quotient as 64 bits times a power of two, the last bit set if anything follows it.
fn leading(numerator: &BigInt, denominator: &BigInt, exponent: i64) -> (u64, i64) {
    let (numerator, denominator) = (numerator.magnitude(), denominator.magnitude());
    if numerator.bits() == 0 {
        return (0, 0);
    }
    // Between 2^64 and 2^66 times the divisor, so that the quotient has 65 or 66 bits.
    let shift = 65 + denominator.bits() as i64 - numerator.bits() as i64;
    let (numerator, denominator) = if shift >= 0 {
        (numerator << shift as u64, denominator.clone())
    } else {
        (numerator.clone(), denominator << shift.unsigned_abs())
    };
    let quotient = &numerator / &denominator;
    let rest = numerator != &quotient * &denominator;
    let digits = quotient.to_u64_digits();
    let wide = u128::from(digits.first().copied().unwrap_or(0))
        | u128::from(digits.get(1).copied().unwrap_or(0)) << 64;
    let drop = 128 - wide.leading_zeros() - 64;
    let sticky = rest || wide & ((1 << drop) - 1) != 0;
    ((wide >> drop) as u64 | u64::from(sticky), exponent - shift + i64::from(drop))
}

/// Computes `value * 2^exponent`, exact if the result is a normal number.
fn scaled(mut value: f64, mut exponent: i64) -> f64 {
    // Each factor is a normal number, and no step goes below the result.
    while exponent > 0 && value.is_finite() {
        let step = exponent.min(1023);
        value *= power(step);
        exponent -= step;
    }
    while exponent < 0 && value != 0.0 {
        let step = exponent.max(-1022);
        value *= power(step);
        exponent -= step;
    }
    value
}

/// Returns 2^exponent for -1022 to 1023.
fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(value: i64) -> BigInt {
        BigInt::from(value)
    }

    #[test]
    fn small_ratios_are_those_of_the_processor() {
        for (a, b) in [(1, 3), (-2, 3), (1, 1), (0, 7), (i64::MAX, 3), (5, i64::MAX), (1, 1 << 62)]
        {
            let big = i64::MAX >> 11;
            if a.abs() <= big && b <= big {
                assert_eq!(ratio(&of(a), &of(b), 0), a as f64 / b as f64, "{a}/{b}");
            }
        }
        assert_eq!(ratio(&of(1), &of(1), -1074), 5e-324);
        assert_eq!(ratio(&of(1), &of(2), -1074), 0.0); // a tie goes to even
        assert_eq!(ratio(&of(3), &of(2), -1074), 1e-323);
        assert_eq!(ratio(&of(3), &of(4), -1074), 5e-324);
        assert_eq!(ratio(&of(1), &of(1), -1200), 0.0);
        assert_eq!(ratio(&of(1), &of(1), 2000), f64::INFINITY);
        assert_eq!(
            ratio(&of(1), &of(3), -1050),
            (1.0 / 3.0) * 2.0_f64.powi(-1000) * 2.0_f64.powi(-50)
        );
    }

    #[test]
    fn roots_do_not_underflow_early() {
        assert_eq!(root_of_ratio(&of(1), &of(1), -2000), 2.0_f64.powi(-1000));
        assert_eq!(root_of_ratio(&of(9), &of(4), 0), 1.5);
        assert_eq!(root_of_ratio(&of(2), &of(1), 0), 2.0_f64.sqrt());
        assert_eq!(root_of_ratio(&of(0), &of(1), 0), 0.0);
    }

    #[test]
    fn texts_that_are_no_numbers() {
        for text in ["inf", "nan", "", "-", "1e301", "x1", "-inf", "1 2", "0x10"] {
            assert_eq!(spelled(text), None, "{text}");
        }
        assert_eq!(spelled("-0").map(f64::to_bits), Some(0));
        assert_eq!(spelled("012"), Some(12.0));
        assert!(is_infinity("-Infinity") && is_infinity("inf") && !is_infinity("info"));
    }

    proptest! {
        #[test]
        fn canonical_numbers_are_their_parts(value in any::<f64>()) {
            prop_assume!(is_stored(value));
            let kept = canonical(value);
            prop_assert_eq!(canonical(kept).to_bits(), kept.to_bits());
            let (significand, exponent) = parts(kept);
            let least = exponent.min(0).unsigned_abs();
            let numerator = BigInt::from(significand) << exponent.max(0);
            prop_assert_eq!(ratio(&numerator, &(BigInt::from(1) << least), 0), kept);
            prop_assert!((kept - value).abs() <= value.abs() * 2.0_f64.powi(-48) || value.abs() < 1e-300);
        }

        #[test]
        fn single_precision_is_kept(value in any::<f32>()) {
            prop_assume!(value.is_finite());
            prop_assert_eq!(canonical(f64::from(value)), f64::from(value));
        }

        #[test]
        fn ratios_of_floats_are_correctly_rounded(a in -(1_i64 << 53)..1 << 53, b in 1_i64..1 << 53) {
            prop_assert_eq!(ratio(&of(a), &of(b), 0), a as f64 / b as f64);
        }
    }
}
