//! Newton's method with a Cholesky factor that is kept while it serves: steps since it was made correct
//! it, as those of limited-memory BFGS do.

use efface_matrix::Products;

use super::SolveError;
use super::factor::Factor;
use super::lbfgs::Pairs;
use super::line_search::search;
use super::run::{Point, Run};
use super::work::hessian_in_passes;
use crate::objective::Bent;

/// Most gradient passes. Public, as it decides when the last resort takes over.
pub(super) const PASSES: u64 = 200;

/// Below so many parameters products in single precision save nothing. Public.
const NARROW: usize = 32;

/// Returns what the first Hessian is made of.
pub(super) fn first_products(parameters: usize) -> Products {
    if parameters < NARROW { Products::Double } else { Products::Single }
}

/// Steps until the stopping rule holds or the cap is reached; returns the last point. `factor` may hold an
/// older factor at first, and holds the last one used afterwards; `bent` may describe the Hessian at the
/// point, of [`first_products`].
pub(super) fn descend(
    run: &mut Run<'_, '_>,
    mut point: Point,
    factor: &mut Option<Factor>,
    mut bent: Option<Bent>,
) -> Result<Point, SolveError> {
    let mut products = first_products(run.objective.constants().parameters());
    // For the factor at hand: whether no step was made with it, and the products that it was made by.
    let (mut fresh, mut made) = (false, products);
    let mut pairs = Pairs::default();
    while !run.accepts(&point) && run.passes < PASSES {
        let usable = match factor.take() {
            Some(kept) => Some(kept),
            None => {
                (fresh, made) = (true, products);
                pairs = Pairs::default();
                build(run, &point, products, bent.take())?
            }
        };
        let before = run.passes;
        let step = match &usable {
            Some(usable) => {
                let by_factor = |d: &mut [f64]| usable.solve_in_place(d);
                let direction = pairs.direction(&point.at.gradient, by_factor);
                search(run, &point, &direction)?
            }
            None => None,
        };
        match step {
            Some((next, _)) => {
                if fresh && next.at.gradient_norm > 0.5 * point.at.gradient_norm {
                    products = Products::Double;
                }
                let left = steps_left(run, &point, &next) * (run.passes - before) as f64;
                let serves = left <= worth(run);
                pairs.learn(&point, &next);
                point = next;
                if serves || run.accepts(&point) {
                    *factor = usable;
                }
            }
            None if fresh && made == Products::Single => products = Products::Double,
            // The factor of the very point leads nowhere: rounding rules here.
            None if fresh => break,
            None => {}
        }
        fresh = false;
    }
    Ok(point)
}

/// Steps until the gradient is short enough, if each shortens it as much as the last.
fn steps_left(run: &Run<'_, '_>, from: &Point, to: &Point) -> f64 {
    // Possible rounding counts against the target, unless a pass in twice the precision decides.
    let target = run.target - if run.fine { 0.0 } else { to.at.slack };
    let shrunk = libm::log(from.at.gradient_norm / to.at.gradient_norm);
    let wanted = libm::log(to.at.gradient_norm / target).max(0.0);
    if target > 0.0 && shrunk > 0.0 { wanted / shrunk } else { f64::INFINITY }
}

/// Returns how many passes a new Hessian is worth: less than its usual price, since it also saves some later
/// passes; a few for the smallest, as each step improves the following ones; and never so many that the
/// allowed passes would not suffice.
fn worth(run: &Run<'_, '_>) -> f64 {
    let parameters = run.objective.constants().parameters();
    let worth = (0.75 * hessian_in_passes(parameters)).max(6.0);
    worth.min(PASSES.saturating_sub(run.passes) as f64 / 4.0)
}

fn build(
    run: &mut Run<'_, '_>,
    point: &Point,
    products: Products,
    bent: Option<Bent>,
) -> Result<Option<Factor>, SolveError> {
    let curvature = match bent {
        Some(Bent::Hessian(hessian)) => {
            run.hessians += 1;
            return Ok(Factor::new(hessian));
        }
        Some(Bent::Curvature(curvature)) => curvature,
        None => {
            let curvature = run.objective.curvature(&point.weights)?;
            run.multiplied(1, point.at.gradient_norm)?;
            curvature
        }
    };
    run.hessians += 1;
    Ok(Factor::new(run.objective.hessian_in(&curvature, products)?))
}

#[cfg(test)]
mod tests {
    use efface_matrix::{Matrix, Row};

    use super::*;
    use crate::example::{constants, dataset};
    use crate::objective::Objective;
    use crate::solver::{Reached, Solver, Start, Stopping, solve, unwatched};
    use crate::{Dataset, Loss};

    /// Columns that are sums of others, and a lambda far below the rounding of single precision: its Hessian is not positive
    /// definite, and the next one is formed in double precision.
    #[test]
    fn a_hessian_that_rounding_spoils_is_formed_again() {
        let (loss, n, half, lambda) = (Loss::Logistic, 1500, 20, 1e-10);
        let some = dataset(loss, n, half, 3);
        let mut data = Dataset::new(Matrix::dense(2 * half), Vec::new()).unwrap();
        for i in 0..n {
            let mut row: Vec<f32> = some.x().row(i).iter().map(|(_, x)| 0.4 * x).collect();
            row.extend_from_within(..);
            for j in 0..half {
                row[half + j] += row[(j + 1) % half];
            }
            data.push(Row::Dense(&row), some.y()[i]).unwrap();
        }
        let constants = constants(loss, n as u64, 2 * half, lambda);
        assert!(constants.parameters() >= NARROW);
        let objective = Objective::new(&constants, &data).unwrap();
        let zeros = vec![0.0; 2 * half];
        let mut watch = unwatched;
        let mut run = Run::new(&objective, 1e-12, &mut watch);
        let point = run.visit(zeros.clone()).unwrap();
        assert!(build(&mut run, &point, Products::Single, None).unwrap().is_none());
        assert!(build(&mut run, &point, Products::Double, None).unwrap().is_some());
        let start = Start { weights: &zeros, factor: None };
        let stopping = Stopping { distance: 1e-2 };
        let found = solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap();
        assert_eq!(found.solver, Reached::By(Solver::Newton));
        assert!(found.hessians >= 2 && found.distance <= 1e-2);
    }
}
