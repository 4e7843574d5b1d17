//! Timing shared by the benchmarks.

use std::time::{Duration, Instant};

/// Best time of one call, over at least five calls and half a second.
pub(crate) fn best(mut call: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    let mut calls = 0;
    while calls < 5 || begin.elapsed() < Duration::from_millis(500) {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed());
        calls += 1;
    }
    best.as_secs_f64()
}
