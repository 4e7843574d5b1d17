//! Steps by a Cholesky factor that was made before, of almost the same Hessian.

use super::factor::Factor;
use super::lbfgs::Pairs;
use super::line_search::search;
use super::run::{Point, Run};
use super::work::hessian_in_passes;
use super::{SolveError, Solver};

/// Gradient passes after which no step by the factor is begun, and the solver continues without it. The last
/// step's line search may make up to 60 more (30 trials, each perhaps in twice the precision), 79 together:
/// below the caps of all solvers, so that these bound all passes together.
const PASSES: u64 = 20;

/// Limit on them if few weights make a new Hessian cheap.
const FEWEST: u64 = 6;

/// Steps by the factor, corrected by those already made as limited-memory BFGS corrects a multiple of the
/// identity, until the stopping rule holds, the cap is reached or a direction leads nowhere; returns the
/// last point.
pub(super) fn descend(
    run: &mut Run<'_, '_>,
    mut point: Point,
    factor: &Factor,
    solver: Solver,
) -> Result<Point, SolveError> {
    let parameters = run.objective.constants().parameters();
    let most = match solver {
        Solver::Newton => (hessian_in_passes(parameters) as u64).clamp(FEWEST, PASSES),
        _ => PASSES,
    };
    let mut pairs = Pairs::default();
    while !run.accepts(&point) && run.passes < most {
        let direction = pairs.direction(&point.at.gradient, |d| factor.solve_in_place(d));
        let Some((next, _)) = search(run, &point, &direction)? else { break };
        pairs.learn(&point, &next);
        point = next;
    }
    Ok(point)
}
