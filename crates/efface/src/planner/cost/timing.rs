//! What a pass takes: measured on synthetic rows, or counted where its time was given.

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Time of one pass over all records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassTime {
    /// Milliseconds of one pass over all records.
    pub ms: f64,
    /// Whether the time was given, measured or counted.
    pub origin: TimeOrigin,
}

/// Where a time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOrigin {
    /// The user.
    Given,
    /// Passes over this many synthetic rows on this machine, scaled to all.
    Measured {
        /// Rows.
        rows: u64,
    },
    /// The time that was given, by the numbers of multiplications.
    Counted,
}

impl PassTime {
    /// Of so many seconds, counted and not measured.
    pub(crate) fn counted(seconds: f64) -> Self {
        Self { ms: (seconds * 1000.0).max(1e-9), origin: TimeOrigin::Counted }
    }

    /// Seconds of one pass over all records.
    pub(crate) fn seconds(&self) -> f64 {
        self.ms / 1000.0
    }
}

/// How passes are timed that are no gradients of the objective.
pub(crate) enum Timing<'a> {
    /// By a clock that tells seconds since some fixed moment.
    Measured(&'a mut dyn FnMut() -> f64),
    /// By seconds for each multiplication.
    Counted(f64),
}

/// Seconds that work is repeated for.
const LONG_ENOUGH: f64 = 0.1;

/// Seconds of one turn of `work`, which is told how many turns to make.
pub(crate) fn seconds_of(
    clock: &mut dyn FnMut() -> f64,
    mut work: impl FnMut(u64) -> Result<()>,
) -> Result<f64> {
    work(1)?;
    let mut count = 1;
    loop {
        let start = clock();
        work(count)?;
        let taken = clock() - start;
        if taken >= LONG_ENOUGH || count >= 1 << 20 {
            return Ok(taken / count as f64);
        }
        count *= 2;
    }
}

/// Numbers held by the synthetic rows of a network: more than caches hold.
const MOST_ENTRIES: u64 = 1 << 22;

/// At most so many rows of `width` numbers in [-1, 1], one behind another, with a class for each.
pub(crate) fn synthetic(width: usize, classes: u32, most: u64) -> (Vec<f32>, Vec<u32>) {
    let rows = (MOST_ENTRIES / width.max(1) as u64).min(most).max(1) as usize;
    let numbers = (0..rows * width).map(|at| ((at * 37 % 101) as f32 - 50.0) / 50.0).collect();
    (numbers, (0..rows).map(|row| row as u32 % classes.max(1)).collect())
}
