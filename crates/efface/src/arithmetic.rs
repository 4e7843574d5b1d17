//! Checks that this process rounds numbers as IEEE 754 requires.
//!
//! Distances, exact sums and the bits of networks depend on it. A processor can be set to round differently,
//! thread by thread: libraries built with `-ffast-math` do so when they are loaded, and PyTorch on request.

use std::hint::black_box;

use crate::error::{Code, Error, Result};

/// Checks the current thread and all worker threads.
///
/// # Errors
/// Fails if numbers near zero become zero, or results are not rounded to the nearest number.
pub(crate) fn check() -> Result<()> {
    let others = rayon::broadcast(|_| fault());
    let Some(fault) = fault().or_else(|| others.into_iter().flatten().next()) else {
        return Ok(());
    };
    let message =
        format!("a thread of this process does not compute as IEEE 754 requires: {fault}");
    Err(Error::refused(Code::Arithmetic, message).hint(
        "a library changed this (one built with `-ffast-math`, or `torch.set_flush_denormal`): undo \
         it, or use a process without it",
    ))
}

/// Returns what is wrong with this thread.
fn fault() -> Option<&'static str> {
    let half_of_least = black_box(f64::MIN_POSITIVE) * black_box(0.5);
    let from_subnormal = black_box(f64::from_bits(1)) * black_box(9_007_199_254_740_992.0);
    let (singly, from_single) = (
        black_box(f32::MIN_POSITIVE) * black_box(0.5),
        black_box(f32::from_bits(1)) * black_box(8_388_608.0),
    );
    if half_of_least == 0.0 || from_subnormal == 0.0 || singly == 0.0 || from_single == 0.0 {
        return Some("numbers near zero become zero");
    }
    // Just below and just above the midpoint of two numbers, on both sides of zero.
    let (below, above) = (black_box(0.9 * HALF_STEP), black_box(1.1 * HALF_STEP));
    let nearest = black_box(1.0) + below == 1.0
        && black_box(1.0) + above > 1.0
        && black_box(-1.0) - below == -1.0
        && black_box(-1.0) - above < -1.0;
    (!nearest).then_some("results are not rounded to the nearest number")
}

/// Half of the distance from 1 to the next number.
const HALF_STEP: f64 = f64::EPSILON / 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_process_is_taken() {
        assert_eq!(fault(), None);
        check().expect("no thread was told otherwise");
    }
}
