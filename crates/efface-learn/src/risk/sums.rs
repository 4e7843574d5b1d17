//! The squared loss solved from sums of rounded rows.

use crate::constants::Constants;
use crate::outward;

/// Returns a bound on the excess risk of weights solved from sums of rows rounded to multiples of
/// 2^-`row_places` and targets rounded to multiples of 2^-`target_places`.
#[must_use]
pub fn rounded_sums(constants: &Constants, row_places: i32, target_places: i32) -> f64 {
    let half = |places: i32| libm::ldexp(1.0, -places - 1);
    let declared = constants.declared();
    let load = constants.load() * constants.max_weight();
    let (m, p) = (constants.strong_convexity(), constants.cols() as f64);
    let outputs = constants.loss().outputs() as f64;
    // How far a rounded row and target are from the stored ones.
    let (row_off, target_off) = (p.sqrt() * half(row_places), half(target_places));
    let row = declared.row_bound + row_off;
    let target = if outputs > 1.0 { 1.0 } else { declared.target_bound } + target_off;
    // Backward error of the solve: of the matrix, and of the moment as it is converted.
    let matrix = outward::gamma(3.0 * p + 12.0) * (load * row * row + p * m);
    let moment = f64::EPSILON * load * row * target;
    if matrix >= m {
        return f64::INFINITY;
    }
    let size = ((load / m).sqrt() * target + moment / m) / (1.0 - matrix / m);
    let rounded = row_off * (row * size + target);
    let stored = declared.row_bound * (row_off * size + target_off);
    let gradient = load * (rounded + stored) + matrix * size + moment;
    // Each output is a problem of its own.
    outputs * gradient * gradient / (2.0 * m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{constants, dataset};
    use crate::mechanism::{RidgePlan, ridge};
    use crate::objective::Objective;
    use crate::{Loss, outward};
    use std::ops::ControlFlow;

    /// F - F* <= |grad F|^2/(2 m) of weights that ridge finds, against the bound.
    #[test]
    fn solved_sums_keep_to_the_bound() {
        for lambda in [1e-4, 1e-2, 1.0] {
            let constants = constants(Loss::UNCLIPPED, 300, 12, lambda);
            let data = dataset(Loss::UNCLIPPED, 300, 12, 6);
            let plan = RidgePlan::new(constants.clone()).unwrap();
            let found = ridge::learn(&plan, &data, &mut |_| ControlFlow::Continue(())).unwrap();
            let objective = Objective::new(&constants, &data).unwrap();
            let at = objective.evaluate(&found.weights).unwrap();
            let gradient = outward::add(at.gradient_norm, at.slack);
            let q = plan.quantiser();
            let bound = rounded_sums(&constants, q.row_places(), q.target_places());
            let risk = gradient * gradient / (2.0 * lambda);
            assert!(risk <= bound, "{lambda}: {risk} above {bound}");
            assert!(bound < 2e-7 / lambda && rounded_sums(&constants, 10, 10) > bound);
        }
    }
}
