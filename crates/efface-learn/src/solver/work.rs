//! What `solve` makes of passes before it is run: what it can at most, and what it usually does.

use super::last_resort::Caps;
use super::run::needs_twice;
use super::{
    Solver, Stopping, cheapest, lbfgs, line_search, newton, newton_cg, root_of_condition,
    sufficient_steps,
};
use crate::constants::Constants;
use crate::outward;

/// Passes over the data, by what they compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Gradient passes.
    pub passes: u64,
    /// Hessians formed and factored.
    pub hessians: u64,
    /// Hessian-vector products, and passes that prepare them.
    pub products: u64,
}

/// Returns what forming one Hessian costs, in gradient passes: about P/10, since it is bound by arithmetic
/// and a pass by memory.
#[must_use]
pub fn hessian_in_passes(parameters: usize) -> f64 {
    parameters as f64 / 10.0
}

/// Returns what Newton with conjugate gradients usually takes for a loss of several classes, in gradient
/// passes: the blocks of classes, d/17 passes for each time that they are formed, and products.
pub(super) fn blocks_in_passes(constants: &Constants) -> f64 {
    let cols = constants.parameters() / constants.loss().outputs().max(1);
    cols as f64 / 14.0 + 20.0
}

impl Work {
    /// Returns all of it in gradient passes: a product is worth one, a Hessian [`hessian_in_passes`].
    #[must_use]
    pub fn in_passes(&self, parameters: usize) -> f64 {
        let hessians = self.hessians as f64 * hessian_in_passes(parameters);
        (self.passes as f64 + self.products as f64) + hessians
    }
}

/// Returns an upper bound on what [`solve`](super::solve) makes from any start of norm at most `start_norm`:
/// the solver's public cap, the trials of its last line search, and the steps of the last resort that suffice
/// if it gives up.
#[must_use]
pub fn most_work(
    constants: &Constants,
    solver: Solver,
    stopping: Stopping,
    start_norm: f64,
) -> Work {
    // Records in parts have no blocks, and are left to the other.
    let either = solver == Solver::Automatic;
    let solver = chosen(constants, solver);
    let (cap, products) = match solver {
        Solver::Newton => (newton::PASSES, 0),
        Solver::NewtonCg if either => (lbfgs::PASSES, newton_cg::PRODUCTS as u64 + 1),
        Solver::NewtonCg => (newton_cg::PASSES, newton_cg::PRODUCTS as u64 + 1),
        Solver::Lbfgs => (lbfgs::PASSES, 0),
        _ => (1, 0),
    };
    let target = (constants.strong_convexity() * stopping.distance).next_down();
    // A pass may be made once more in twice the precision. Under `mean` the number of records, which
    // decides whether, is not known here.
    let looks = if needs_twice(constants, target, usize::MAX) { 2 } else { 1 };
    if solver == Solver::GradientDescent {
        let distance = outward::add(start_norm, constants.optimum_bound());
        let steps = sufficient_steps(constants, distance, target).saturating_add(1);
        return Work { passes: steps.saturating_mul(looks), hessians: 0, products: 0 };
    }
    // A direction is looked for while fewer passes than the cap are made; each direction but the
    // last is followed by at least one.
    let fast = cap - 1 + looks * line_search::TRIALS as u64;
    let (hessians, products) = match solver {
        // Each Hessian costs a product that prepares it; one may be formed again in f64 at the same point.
        Solver::Newton => (cap + 1, cap + 1),
        Solver::NewtonCg => (2 * newton_cg::PASSES, newton_cg::PASSES.saturating_mul(products)),
        _ => (0, cap.saturating_mul(products)),
    };
    let last = Caps::of(constants, start_norm, target);
    let visits = last.gradient.saturating_add(last.newton.saturating_mul(2));
    Work {
        passes: fast.saturating_add(visits.saturating_mul(looks)),
        hessians: hessians.saturating_add(last.newton),
        products: products.saturating_add(last.newton.saturating_mul(2)),
    }
}

/// Returns what [`solve`](super::solve) usually makes from a start about `start_distance` from the optimum:
/// an observation (section "Usual work" of the module), no bound.
#[must_use]
pub fn usual_work(
    constants: &Constants,
    solver: Solver,
    stopping: Stopping,
    start_distance: f64,
) -> Work {
    // Decimal digits by which the distance must shrink.
    let digits = (start_distance / stopping.distance).log10().max(0.0);
    let root = root_of_condition(constants);
    match chosen(constants, solver) {
        Solver::Newton => {
            let hessians = (1.0 + (digits / 2.0).floor()).min(4.0);
            let passes = 1.0 + hessians + (digits / 4.0).floor();
            let (passes, hessians) = (passes as u64, hessians as u64);
            Work { passes, hessians, products: hessians }
        }
        Solver::NewtonCg => {
            let directions = 2.0 + (digits / 2.0).floor();
            let each = match constants.loss().outputs() {
                1 => 1.0 + 0.4 * root.sqrt(),
                // Blocks of classes are some of these.
                _ => blocks_in_passes(constants) / 2.0,
            };
            let products = (directions * each).ceil() as u64;
            Work { passes: 1 + directions as u64, hessians: 0, products }
        }
        Solver::Lbfgs => {
            let passes = 2.0 + (0.4 * digits * root.powf(0.75)).ceil();
            Work { passes: passes as u64, hessians: 0, products: 0 }
        }
        _ => {
            let target = constants.strong_convexity() * stopping.distance;
            let passes = 1 + sufficient_steps(constants, start_distance, 2.0 * target);
            Work { passes, hessians: 0, products: 0 }
        }
    }
}

fn chosen(constants: &Constants, solver: Solver) -> Solver {
    match solver {
        Solver::Automatic => cheapest(constants),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{constants, dataset, generator, losses, normal};
    use crate::objective::Objective;
    use crate::solver::{Start, solve, unwatched};

    /// Real runs, from zeros and from a disturbed optimum, against bound and rule.
    #[test]
    fn runs_keep_to_the_bound_and_near_what_is_usual() {
        for loss in losses() {
            for lambda in [0.05, 1e-3] {
                let data = dataset(loss, 200, 6, 9);
                let constants = constants(loss, 200, 6, lambda);
                let objective = Objective::new(&constants, &data).unwrap();
                let zeros = vec![0.0; constants.parameters()];
                for solver in [Solver::Newton, Solver::NewtonCg, Solver::Lbfgs] {
                    let stopping = Stopping { distance: 1e-4 };
                    let from = |weights: &[f64]| {
                        let start = Start { weights, factor: None };
                        solve(&objective, solver, stopping, start, &mut unwatched).unwrap()
                    };
                    let cold = from(&zeros);
                    let mut rng = generator(2);
                    let moved: Vec<f64> =
                        cold.weights.iter().map(|w| w + 1e-3 * normal(&mut rng)).collect();
                    let warm = from(&moved);
                    let far = outward::norm(&cold.weights);
                    for (run, start, away) in [(cold, 0.0, far), (warm, far + 1.0, 4e-3)] {
                        let most = most_work(&constants, solver, stopping, start);
                        let usual = usual_work(&constants, solver, stopping, away);
                        let what = format!("{loss:?} {lambda} {solver:?}");
                        assert!(run.passes <= most.passes, "{what}");
                        assert!(run.hessians <= most.hessians, "{what}");
                        assert!(run.hessian_products <= most.products, "{what}");
                        let (made, told) = (run.passes as f64, usual.passes as f64);
                        assert!(
                            made <= 4.0 * told + 4.0 && told <= 4.0 * made + 4.0,
                            "{what}: {made} {told}"
                        );
                    }
                }
            }
        }
    }

    /// A run that gives up after its cap stays within the bound, which counts the last resort.
    #[test]
    fn gradient_descent_alone_keeps_to_the_bound() {
        let loss = losses()[0];
        let data = dataset(loss, 100, 4, 3);
        let constants = constants(loss, 100, 4, 0.05);
        let objective = Objective::new(&constants, &data).unwrap();
        let (zeros, stopping) = (vec![0.0; 4], Stopping { distance: 1e-9 });
        let start = Start { weights: &zeros, factor: None };
        let run =
            solve(&objective, Solver::GradientDescent, stopping, start, &mut unwatched).unwrap();
        let most = most_work(&constants, Solver::GradientDescent, stopping, 0.0);
        assert!(run.passes <= most.passes, "{} above {}", run.passes, most.passes);
        assert_eq!((most.hessians, most.products), (0, 0));
    }
}
