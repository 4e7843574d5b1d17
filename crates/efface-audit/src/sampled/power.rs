//! How much too little noise must be for counted tests to find it.

use std::f64::consts::TAU;
use std::ops::Range;

use efface::Result;
use efface_privacy::accountant::pld::Segment;
use rand_chacha::rand_core::Rng;
use rayon::prelude::*;

use super::canaries::Ratio;
use super::{ROUND, told};
use crate::examine::{Budget, error_of};
use crate::statistics::Errors;
use crate::worlds::{Ended, Seeds, Side, Worlds};

/// Number of parts of the noise that are tried.
const PARTS: u64 = 20;

/// Returns the largest part of the stated noise that the tests refute, `epsilon` being certified at `delta`,
/// in at least 19 of 20 audits of so many runs; `None` if no part is refuted. Runs are drawn from their law,
/// without the engine.
pub(super) fn found_noise(
    stated: Segment,
    (epsilon, delta): (f64, f64),
    seed: [u8; 32],
    budget: &Budget<'_>,
) -> Result<Option<f64>> {
    let (mut found, mut missed) = (0, PARTS);
    while missed - found > 1 {
        let middle = (found + missed) / 2;
        let noise = stated.noise * middle as f64 / PARTS as f64;
        let worlds = Drawn {
            ratio: Ratio::new(stated),
            actual: Segment { noise, ..stated },
            seeds: Seeds::new(seed),
        };
        let tests = told(&worlds, delta, budget)?.tests;
        let refuted = tests.iter().any(|test| {
            let shown = unlucky(test.errors).show(delta, error_of(1));
            shown.epsilon_lower > epsilon
        });
        *(if refuted { &mut found } else { &mut missed }) = middle;
    }
    Ok((found > 0).then_some(found as f64 / PARTS as f64))
}

/// Returns more errors than another audit makes 19 times of 20: both counts vary, with variances below the
/// counts, so three roots of a count are more than two standard deviations of their difference.
fn unlucky(errors: Errors) -> Errors {
    let more =
        |count: u64, of: u64| (count + (3.0 * (count as f64 + 1.0).sqrt()).ceil() as u64).min(of);
    Errors {
        false_positives: more(errors.false_positives, errors.reference_runs),
        false_negatives: more(errors.false_negatives, errors.deletion_runs),
        ..errors
    }
}

/// Trainings whose sums are drawn from their law, represented by the loss at the stated noise.
struct Drawn {
    ratio: Ratio,
    actual: Segment,
    seeds: Seeds,
}

impl Worlds for Drawn {
    fn parameters(&self) -> usize {
        1
    }

    fn round(&self) -> u64 {
        ROUND
    }

    fn releases(&self, side: Side, runs: Range<u64>, _: &Ended<'_>) -> Result<Vec<f64>> {
        let Segment { steps, noise, rate, group } = self.actual;
        let canaries = if side == Side::Deleted { group } else { 0 };
        let run = |run| -> f64 {
            let mut rng = self.seeds.generator(side, run);
            let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            let mut step = |_| {
                let there = (0..canaries).filter(|_| uniform() < rate).count() as f64;
                let radius = (-2.0 * (-uniform()).ln_1p()).sqrt();
                self.ratio.at(there + noise * radius * (TAU * uniform()).cos())
            };
            (0..steps).map(&mut step).sum()
        };
        Ok(runs.into_par_iter().map(run).collect())
    }
}
