//! Public constants for a wanted guarantee: the inverse of the accountants.
//!
//! Each search changes one number of an event and asks about the complete event every time, so
//! that what is found is exactly what a certificate will state; a search that ends early ends on
//! the safe side. `ok` says whether the event with that number meets the target; its errors end
//! the search.
//!
//! ```
//! use efface_privacy::calibrate::least;
//! use efface_privacy::gaussian;
//! use efface_privacy::quantity::{Delta, Mu};
//! # type Failure = Box<dyn std::error::Error>;
//!
//! // The least noise of a Gaussian mechanism of sensitivity 1 that is (1, 1e-6)-DP.
//! let delta = Delta::new(1e-6)?;
//! let ok = |sigma: f64| -> Result<bool, Failure> {
//!     Ok(gaussian::epsilon(Mu::new(1.0 / sigma)?, delta)?.get() <= 1.0)
//! };
//! let sigma = least(1e-3, 1e3, ok)?.ok_or("no noise is enough")?;
//! assert!((4.0..5.0).contains(&sigma));
//! # Ok::<(), Failure>(())
//! ```

/// Returns the largest x in [low, high] with `ok(x)`, for `ok` true below some point, to a relative 1e-9;
/// `None` if it is false at `low`.
///
/// # Errors
/// Returns the errors of `ok`.
pub fn largest<E>(
    low: f64,
    high: f64,
    mut ok: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
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

/// Finds what [`largest`] finds, to the bit, with a quarter of the questions if the `guess` is right to a
/// relative 1e-8: no question is asked whose answer follows from earlier ones.
///
/// # Errors
/// Returns the errors of `ok`.
pub fn largest_near<E>(
    guess: f64,
    low: f64,
    high: f64,
    mut ok: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    let (mut good, mut bad) = (0.0, f64::INFINITY);
    let mut known = |x: f64| {
        if x <= good {
            return Ok(true);
        }
        let fits = x < bad && ok(x)?;
        if fits {
            good = x
        } else {
            bad = bad.min(x)
        }
        Ok(fits)
    };
    for width in [1e-8, 1e-4] {
        let ends = [guess * (1.0 - width), guess * (1.0 + width)];
        if ends.iter().all(|x| (low..=high).contains(x)) && known(ends[0])? && !known(ends[1])? {
            break;
        }
    }
    match largest(low, high, known)? {
        // Rounding may make answers contradict each other.
        Some(found) if !ok(found)? => largest(low, high, ok),
        found => Ok(found),
    }
}

/// Returns the least x in [low, high] with `ok(x)`, for `ok` true above some point, to a relative 1e-9;
/// `None` if it is false at `high`.
///
/// # Errors
/// Returns the errors of `ok`.
pub fn least<E>(
    low: f64,
    high: f64,
    mut ok: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
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

/// Returns the least whole number from 1 on with `ok(count)`, for `ok` true from some number on; `None` if no
/// power of two up to `most` is enough.
///
/// # Errors
/// Returns the errors of `ok`.
pub fn least_count<E>(
    most: u64,
    mut ok: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    let mut high = 1_u64;
    while !ok(high)? {
        if high > most / 2 {
            return Ok(None);
        }
        high *= 2;
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
    use crate::accountant::gdp::{AccountantError, World, mu_noisy_gd};
    use crate::event::{NoisyGd, Normalizer, Phase, Setting};
    use crate::gaussian;
    use crate::quantity::{Decimal, Delta, Epsilon};

    type Found<T> = Result<Option<T>, AccountantError>;

    #[test]
    fn fewest_steps_are_exact() {
        for wanted in [1, 2, 3, 7, 8, 9, 1000, 1 << 20] {
            let found: Found<u64> = least_count(1 << 20, |k| Ok(k >= wanted));
            assert_eq!(found.unwrap(), Some(wanted));
        }
        let found: Found<u64> = least_count(1 << 20, |k| Ok(k > 1 << 20));
        assert_eq!(found.unwrap(), None);
        let found: Found<u64> = least_count(u64::MAX, |_| Ok(false));
        assert_eq!(found.unwrap(), None);
    }

    #[test]
    fn searches_end_on_the_safe_side() {
        let x: Found<f64> = largest(1e-12, 1e12, |x| Ok(x <= 3.0));
        assert!((3.0 * (1.0 - 2e-9)..=3.0).contains(&x.unwrap().unwrap()));
        let x: Found<f64> = least(1e-12, 1e12, |x| Ok(x >= 3.0));
        assert!((3.0..3.0 * (1.0 + 2e-9)).contains(&x.unwrap().unwrap()));
        let none: Found<f64> = largest(1.0, 2.0, |_| Ok(false));
        assert_eq!(none.unwrap(), None);
    }

    #[test]
    fn a_guess_changes_no_answer_and_saves_questions() {
        for point in [1e-13, 1.000_000_1e-12, 0.3, 3.0, 1e11, 1e12, 1e13] {
            let plain: Found<f64> = largest(1e-12, 1e12, |x| Ok(x <= point));
            for near in [0.0, -1.0, 1e-20, 0.5, 0.999_9, 1.0 - 1e-9, 1.0, 1.0 + 1e-5, 2.0, f64::NAN]
            {
                let mut asked = 0;
                let found: Found<f64> = largest_near(near * point, 1e-12, 1e12, |x| {
                    asked += 1;
                    Ok(x <= point)
                });
                assert_eq!(found.unwrap(), plain.as_ref().unwrap().to_owned(), "{near} of {point}");
                let is_near = (near - 1.0).abs() < 1e-8 && (0.3..4.0).contains(&point);
                assert!(asked < if is_near { 11 } else { 45 }, "{near} of {point}: {asked}");
            }
        }
    }

    /// The published MNIST setting, `replaced` of 11982 records: learning, then K steps.
    fn published(replaced: u64, steps: u64) -> NoisyGd {
        let step = 1.0 / 0.261_982;
        let phase = |steps, only_then| Phase {
            steps,
            releases: 1,
            only_then,
            only_now: 0,
            records: Some(11_982),
        };
        NoisyGd {
            setting: Setting {
                parameters: 100,
                normalizer: Normalizer::Fixed { n: 11_982, capacity: 2 * 11_982 },
                lipschitz: Decimal(1.0),
                smoothness: Decimal(0.25),
                strong_convexity: Decimal(0.011_982),
                group: 3,
            },
            step: Decimal(step),
            noise: Decimal((2.0 * step).sqrt() * 0.03),
            grid: Decimal(2f64.powi(-44)),
            rounding: Decimal(1e-13),
            radius: None,
            replaced: None,
            phases: vec![phase(10_000, replaced), phase(steps, 0)],
            longest: 10_000.max(steps),
            learning: 10_000,
            releases: 2,
            batches: None,
        }
    }

    #[test]
    fn sixty_steps_forget_a_hundred_replaced_records() {
        // 45 steps for 100 removed records at epsilon 1, delta 1/n; replacing counts them twice.
        let delta = Delta::new(1.0 / 11_982.0).unwrap();
        let aim = gaussian::mu(Epsilon::new(1.0).unwrap(), delta).unwrap();
        for (differing, steps) in [(100, 45), (200, 60)] {
            let close = |k| Ok(mu_noisy_gd(&published(differing, k), World::Retraining)? <= aim);
            let found: Found<u64> = least_count(1 << 40, close);
            assert_eq!(found.unwrap(), Some(steps));
        }
    }

    #[test]
    fn the_noise_found_is_enough_and_a_little_less_is_not() {
        let mu = |noise: f64| {
            let event = NoisyGd { noise: Decimal(noise), ..published(100, 60) };
            mu_noisy_gd(&event, World::Retraining).map(|mu| mu.get())
        };
        let found = least(1e-4, 1e4, |noise| Ok::<_, AccountantError>(mu(noise)? <= 0.3));
        let noise = found.unwrap().unwrap();
        assert!(mu(noise).unwrap() <= 0.3 && mu(noise * (1.0 - 1e-6)).unwrap() > 0.3);
    }
}
