//! Searches for the least noise, the fewest steps or the largest distance that meets a target.
//!
//! Each asks the accountant itself about a complete event, so what is found is exactly what a
//! certificate will state; a search that ends early ends on the safe side.

use crate::error::Result;

/// The most steps a request may be given.
pub(crate) const MOST_STEPS: u64 = 1 << 32;

/// The largest x in [low, high] with `ok(x)`, for `ok` true below some point, to a relative 1e-9;
/// none when it is false at `low`.
pub(super) fn largest(
    low: f64,
    high: f64,
    mut ok: impl FnMut(f64) -> Result<bool>,
) -> Result<Option<f64>> {
    if !ok(low)? {
        return Ok(None);
    }
    let (mut good, mut bad) = (low, high);
    while bad / good > 1.0 + 1e-9 {
        let middle = good.sqrt() * bad.sqrt();
        if ok(middle)? { good = middle } else { bad = middle }
    }
    Ok(Some(good))
}

/// The least x in [low, high] with `ok(x)`, for `ok` true above some point, to a relative 1e-9;
/// none when it is false at `high`.
pub(super) fn least(
    low: f64,
    high: f64,
    mut ok: impl FnMut(f64) -> Result<bool>,
) -> Result<Option<f64>> {
    if !ok(high)? {
        return Ok(None);
    }
    let (mut bad, mut good) = (low, high);
    while good / bad > 1.0 + 1e-9 {
        let middle = good.sqrt() * bad.sqrt();
        if ok(middle)? { good = middle } else { bad = middle }
    }
    Ok(Some(good))
}

/// The fewest steps, at least 1, with `ok(steps)`; none when even [`MOST_STEPS`] are not enough.
pub(crate) fn least_steps(mut ok: impl FnMut(u64) -> Result<bool>) -> Result<Option<u64>> {
    let mut high = 1;
    while !ok(high)? {
        high *= 2;
        if high > MOST_STEPS {
            return Ok(None);
        }
    }
    let mut low = high / 2; // not enough, or 0
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if ok(middle)? { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_steps_are_exact() {
        for wanted in [1, 2, 3, 7, 8, 9, 1000, 1 << 20] {
            assert_eq!(least_steps(|k| Ok(k >= wanted)).unwrap(), Some(wanted));
        }
        assert_eq!(least_steps(|_| Ok(false)).unwrap(), None);
    }

    #[test]
    fn searches_end_on_the_safe_side() {
        let x = largest(1e-12, 1e12, |x| Ok(x <= 3.0)).unwrap().unwrap();
        assert!((3.0 * (1.0 - 2e-9)..=3.0).contains(&x));
        let x = least(1e-12, 1e12, |x| Ok(x >= 3.0)).unwrap().unwrap();
        assert!((3.0..3.0 * (1.0 + 2e-9)).contains(&x));
        assert_eq!(largest(1.0, 2.0, |_| Ok(false)).unwrap(), None);
    }
}
