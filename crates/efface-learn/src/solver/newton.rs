//! Newton's method with a Cholesky factor that is kept while it serves: steps since it was made correct
//! it, as those of limited-memory BFGS do.

use super::SolveError;
use super::factor::Factor;
use super::lbfgs::Pairs;
use super::line_search::search;
use super::run::{Point, Run};
use super::work::hessian_in_passes;

/// Most gradient passes. Public, as it decides when the last resort takes over.
pub(super) const PASSES: u64 = 200;

/// Records for each parameter from which a first Hessian is formed where there are many more: its
/// directions are then off by about twice the root of the inverse, one part in sixteen. Public.
const RECORDS_PER_PARAMETER: f64 = 1024.0;

/// Steps until the stopping rule holds or the cap is reached; returns the last point. `factor`
/// may hold an older factor to begin with, and holds the last one used afterwards.
pub(super) fn descend(
    run: &mut Run<'_, '_>,
    mut point: Point,
    factor: &mut Option<Factor>,
) -> Result<Point, SolveError> {
    let mut fresh = false;
    let mut every = run.objective.largest_sampling(RECORDS_PER_PARAMETER);
    let mut pairs = Pairs::default();
    while !run.accepts(&point) && run.passes < PASSES {
        let usable = match factor.take() {
            Some(kept) => Some(kept),
            None => {
                let sampled = every > 1;
                fresh = !sampled;
                pairs = Pairs::default();
                let built = build(run, &point, every)?;
                every = (every / 4).max(1);
                if built.is_none() && sampled {
                    continue;
                }
                built
            }
        };
        let Some(usable) = usable else { break };
        let by_factor = |d: &mut [f64]| usable.solve_in_place(d);
        let direction = pairs.direction(&point.at.gradient, by_factor);
        let before = run.passes;
        match search(run, &point, &direction)? {
            Some((next, _)) => {
                let left = steps_left(run, &point, &next) * (run.passes - before) as f64;
                let serves = left <= worth(run);
                pairs.learn(&point, &next);
                point = next;
                if serves || run.accepts(&point) {
                    *factor = Some(usable);
                }
                fresh = false;
            }
            // The factor of the very point and of all records leads nowhere: rounding rules here.
            None if fresh => break,
            None => {}
        }
    }
    Ok(point)
}

/// Steps until the gradient is short enough, if each shortens it as much as the last.
fn steps_left(run: &Run<'_, '_>, from: &Point, to: &Point) -> f64 {
    // What rounding may have done counts against the target, unless a pass in twice the precision tells.
    let target = run.target - if run.fine { 0.0 } else { to.at.slack };
    let shrunk = libm::log(from.at.gradient_norm / to.at.gradient_norm);
    let wanted = libm::log(to.at.gradient_norm / target).max(0.0);
    if target > 0.0 && shrunk > 0.0 { wanted / shrunk } else { f64::INFINITY }
}

/// Passes that a new Hessian is worth: less than its usual price, since it saves some of those that would
/// follow it, too; a few for the smallest, as each step makes those after it better; and never so many that
/// those that are allowed would not do.
fn worth(run: &Run<'_, '_>) -> f64 {
    let parameters = run.objective.constants().parameters();
    let worth = (0.75 * hessian_in_passes(parameters)).max(6.0);
    worth.min(PASSES.saturating_sub(run.passes) as f64 / 4.0)
}

fn build(run: &mut Run<'_, '_>, point: &Point, every: usize) -> Result<Option<Factor>, SolveError> {
    run.multiplied(1, point.at.gradient_norm)?;
    run.hessians += 1;
    Ok(Factor::new(run.objective.sampled_hessian(&point.weights, every)?))
}

#[cfg(test)]
mod tests {
    use efface_matrix::Row;

    use super::*;
    use crate::example::{constants, dataset, losses};
    use crate::objective::Objective;
    use crate::solver::{Solver, Start, Stopping, solve, unwatched};

    /// With thousands of records for each weight a part of them says where to go.
    #[test]
    fn a_sample_leads_as_far_as_all_records() {
        for loss in losses() {
            let (n, d, distance) = (30_000, 2, 1e-6);
            let data = dataset(loss, n, d, 4);
            let constants = constants(loss, n as u64, d, 1e-3);
            let objective = Objective::new(&constants, &data).unwrap();
            let zeros = vec![0.0; constants.parameters()];
            let start = Start { weights: &zeros, factor: None };
            let stopping = Stopping { distance };
            let found = solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap();
            assert!(found.distance <= distance, "{loss:?}");
            let spared = objective.largest_sampling(RECORDS_PER_PARAMETER) > 1;
            assert!(!spared || found.hessians <= 6 && found.passes <= 14, "{loss:?} {found:?}");
        }
    }

    /// Rows that no sample has, along a column of their own: one more dense follows, and at last all rows.
    #[test]
    fn a_sample_that_misleads_is_left() {
        let loss = crate::Loss::Logistic;
        let (n, d) = (40_000, 3);
        let (some, mut data) = (dataset(loss, 1000, d, 2), dataset(loss, 0, d, 1));
        for i in 0..n {
            let own = some.x().row(i % 1000);
            let mut x: Vec<f32> = own.iter().map(|(_, x)| 0.4 * x).collect();
            // The third column has values in the second chunk of 512 alone.
            x[2] = if i / 512 == 1 { 0.9 } else { 0.0 };
            data.push(Row::Dense(&x), some.y()[i % 1000]).unwrap();
        }
        let constants = constants(loss, n as u64, d, 1e-6);
        let objective = Objective::new(&constants, &data).unwrap();
        assert!(objective.largest_sampling(RECORDS_PER_PARAMETER) >= 8);
        let zeros = vec![0.0; d];
        let start = Start { weights: &zeros, factor: None };
        let stopping = Stopping { distance: 1e-3 };
        let found = solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap();
        assert!(found.distance <= 1e-3 && found.passes < PASSES);
        assert_eq!(found.solver, crate::solver::Reached::By(Solver::Newton));
    }
}
