//! What a memory will take, from public constants, before there is one.

use super::pass::{HESSIANS, PASSES_PER_PARAMETER, TRIES};
use super::serve::SMALL;
use crate::constants::Constants;
use crate::outward;
use crate::solver::{Solver, Stopping, most_work};
use efface_privacy::event::Normalizer;

/// A row usually moves the weights by this part of the public bound (an observation), each in a
/// direction of its own.
const USUAL_STEP: f64 = 0.1;

/// Returns an upper bound on the gradient passes of one correction, in exact arithmetic: those with each of
/// its Hessians, and the full solve that takes over.
#[must_use]
pub fn most_corrections(constants: &Constants, stopping: Stopping) -> u64 {
    let solve = most_work(constants, Solver::Newton, stopping, constants.optimum_bound());
    TRIES * (1 + HESSIANS) + solve.passes.saturating_add(1)
}

/// Returns the number of multiplications that serving a change of `rows` rows usually takes: the changed
/// rows, two changes of a factor or matrix, and two sweeps of a solve and a product.
#[must_use]
pub fn serving_operations(parameters: usize, rows: u64) -> f64 {
    let square = (parameters as f64).powi(2);
    (3.0 * rows as f64 + 4.0) * square
}

/// Returns how many rows may change after a training or a refresh, in all, before a pass can be due: proven
/// from the public constants (section "Forecast" of the derivation), at most `records`. 0 if nothing is
/// known, as always under `mean`.
#[must_use]
pub fn sure_changes(constants: &Constants, stopping: Stopping, records: u64) -> u64 {
    let Normalizer::Fixed { capacity, .. } = constants.declared().normalizer else { return 0 };
    let tau = stopping.distance;
    let per_row = constants.optimum_shift(1, records);
    let m = constants.strong_convexity();
    let condition = constants.total_smoothness() / m;
    let records_held = usize::try_from(records).unwrap_or(usize::MAX);
    let slack = 3.0 * constants.public_slack(tau, records_held) / m;
    let fits = |rows: u64| {
        let moved = tau * (1.0 + SMALL) + rows as f64 * per_row;
        let operations = 2.0 * (capacity as f64 + constants.weighing())
            + 5.0 * constants.cols() as f64
            + 64.0
            + 4.0 * rows as f64;
        let rounding = slack + outward::gamma(operations) * condition * moved;
        reached(constants, 0.0, moved, SMALL * tau + rounding) <= tau
    };
    most_that(fits, records)
}

/// Returns how many rows usually change between two passes once the Hessian is as old as it usually gets: an
/// observation, no bound; at least 1.
#[must_use]
pub fn usual_changes(constants: &Constants, stopping: Stopping, records: u64) -> u64 {
    let per_row = USUAL_STEP * constants.optimum_shift(1, records);
    // A Hessian serves for P/10 passes, and halfway through for half of them.
    let passes = (PASSES_PER_PARAMETER * constants.parameters() as f64).max(1.0) / 2.0;
    let fits = |rows: u64| {
        let moved = (rows as f64).sqrt() * per_row;
        reached(constants, passes.sqrt() * moved, moved, 0.0) <= stopping.distance
    };
    most_that(fits, records).max(1)
}

/// Returns the memory's bound on the distance when the gradient was taken `apart` from the Hessian, the step
/// is at most `moved`, and `left` is what the step leaves over M.
fn reached(constants: &Constants, apart: f64, moved: f64, left: f64) -> f64 {
    let nu = constants.loss().link_bounds().self_concordance.unwrap_or(f64::INFINITY);
    let slope = nu * constants.declared().row_bound;
    if slope == 0.0 {
        return left;
    }
    let far = slope * (apart + moved);
    let epsilon = 0.5 * (libm::expm1(slope * apart) + libm::expm1(far));
    let shrink = slope * libm::exp(far) * (left + epsilon * moved);
    if shrink < 1.0 { -libm::log1p(-shrink) / slope } else { f64::INFINITY }
}

/// Returns the largest number up to `most` that fits, if all numbers below one that fits fit too.
pub(super) fn most_that(fits: impl Fn(u64) -> bool, most: u64) -> u64 {
    if fits(most) {
        return most;
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}
