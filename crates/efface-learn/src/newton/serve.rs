//! Serving a change of rows from what is kept.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::bound::{Bound, Ridge, UNKNOWN, bound, known};
use super::gradient::curvature;
use super::symmetric::Outer;
use super::{Memory, NewtonError, other_records};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::objective::{check_count, check_records};
use crate::outward;
use crate::solver::Stopping;

/// Corrections of a step by its own residual.
const SWEEPS: usize = 4;
/// A step is good enough when what it leaves is this part of what is allowed.
pub(super) const SMALL: f64 = 1e-3;
/// A rank-k change of the factor costs about as much as a new factorisation when k is this part of P.
const WORTH: usize = 12;

impl Memory {
    /// Takes rows away and adds rows: one Newton step from b for all changes since the last pass.
    /// O((rows + 1) P^2), whatever the number of records.
    ///
    /// Returns the bound for the new [`weights`](Self::weights). They may be used when its
    /// distance is at most `stopping.distance`; otherwise [`correct`](Self::correct) is due.
    ///
    /// `removed` must be rows of the current data set: the caller guarantees this.
    ///
    /// # Errors
    /// Fails if rows break a public constant, there are more removals than records, or the normaliser forbids
    /// the number of records. The memory is then unchanged.
    pub fn change(
        &mut self,
        constants: &Constants,
        removed: &Dataset,
        added: &Dataset,
        stopping: Stopping,
    ) -> Result<Bound, NewtonError> {
        self.check(constants)?;
        let records = after(self.records, constants, removed, added)?;
        let changes = outer(&self.hessian.at, constants, removed, added);
        self.gradient.change(added, 1.0, constants);
        self.gradient.change(removed, -1.0, constants);
        self.records = records;
        self.changes = self.changes.saturating_add(changes.len() as u64);
        self.update_and_solve(constants, &changes, stopping);
        Ok(self.bound)
    }

    /// Changes the Hessian and solves for the step again.
    pub(super) fn update_and_solve(
        &mut self,
        constants: &Constants,
        changes: &[Outer],
        stopping: Stopping,
    ) {
        let few = changes.len() * WORTH <= self.step.len().max(WORTH);
        let rows = changes.iter().map(|change| (change.weight, &change.x[..]));
        let factored = changes.is_empty() || few && Arc::make_mut(&mut self.factor).change(rows);
        let mut pending = changes;
        if !factored {
            self.hessian.change_and_multiply(changes, &vec![0.0; self.step.len()], constants);
            pending = &[];
            if !self.refactor(Ridge::of(constants, self.records)) {
                return self.lost();
            }
        }
        self.solve_or_refactor(constants, pending, stopping);
    }

    /// Solves for the step after applying the `pending` changes to the Hessian; makes a new factor if the one
    /// at hand does not suffice.
    pub(super) fn solve_or_refactor(
        &mut self,
        constants: &Constants,
        pending: &[Outer],
        stopping: Stopping,
    ) {
        let ridge = Ridge::of(constants, self.records);
        let allowed = SMALL * ridge.computed * stopping.distance;
        if !self.solve(constants, pending, ridge, allowed) {
            // The factor no longer fits: under `mean` the ridge moves, and changes add up.
            if !self.refactor(ridge) {
                return self.lost();
            }
            self.solve(constants, &[], ridge, allowed);
        }
    }

    /// Solves for the step from b; true if the residual is as small as allowed or as rounding permits.
    fn solve(
        &mut self,
        constants: &Constants,
        pending: &[Outer],
        ridge: Ridge,
        allowed: f64,
    ) -> bool {
        let zeros = vec![0.0; self.step.len()];
        let mut rest = known(&self.gradient, &zeros, &zeros, ridge);
        let mut step = zeros;
        let mut product = Vec::new();
        let mut left = f64::INFINITY;
        let mut pending = Some(pending);
        for _ in 0..SWEEPS {
            self.factor.solve_in_place(&mut rest);
            let next: Vec<f64> = step.iter().zip(&rest).map(|(s, v)| s - v).collect();
            let next_product = match pending.take() {
                Some(changes) => self.hessian.change_and_multiply(changes, &next, constants),
                None => self.hessian.data.multiply(&next),
            };
            let next_rest = known(&self.gradient, &next, &next_product, ridge);
            let next_left = outward::norm(&next_rest);
            if next_left > 0.5 * left {
                break;
            }
            (step, product, rest, left) = (next, next_product, next_rest.clone(), next_left);
            self.bound =
                bound(&self.hessian, &self.gradient, &step, &product, &next_rest, ridge, constants);
            if left <= allowed {
                break;
            }
        }
        if product.is_empty() {
            self.lost();
            return false;
        }
        self.step = step;
        // What is left but for rounding is known exactly: the bound counts it.
        left <= allowed || left <= 0.5 * self.bound.known
    }

    /// Factors C plus the ridge afresh; false when there is no factor.
    fn refactor(&mut self, ridge: Ridge) -> bool {
        self.hessian.factor(ridge.computed).map(|factor| self.factor = Arc::new(factor)).is_some()
    }

    /// Forgets the bound: nothing is known until the next pass.
    fn lost(&mut self) {
        self.step.fill(0.0);
        self.bound = UNKNOWN;
    }
}

/// Returns the number of records after a change of `before` of them, each of which is checked.
pub(super) fn after(
    before: u64,
    constants: &Constants,
    removed: &Dataset,
    added: &Dataset,
) -> Result<u64, NewtonError> {
    let more = before.saturating_add(added.rows() as u64);
    let gone = removed.rows() as u64;
    let Some(records) = more.checked_sub(gone) else {
        return Err(other_records(more, gone).into());
    };
    for rows in [removed, added] {
        check_records(constants, rows)?;
    }
    check_count(constants, usize::try_from(records).unwrap_or(usize::MAX))?;
    Ok(records)
}

/// Returns what the change of rows does to the Hessian at `at`. Additions first: what is factored then stays
/// positive definite on the way.
pub(super) fn outer(
    at: &[f64],
    constants: &Constants,
    removed: &Dataset,
    added: &Dataset,
) -> Vec<Outer> {
    let mut changes = Vec::with_capacity(added.rows() + removed.rows());
    for (rows, sign) in [(added, 1.0), (removed, -1.0)] {
        for (i, &target) in rows.y().iter().enumerate() {
            let mut x = Zeroizing::new(vec![0.0; constants.cols()]);
            for (j, value) in rows.x().row(i).iter() {
                x[j] = f64::from(value);
            }
            let margin: f64 = x.iter().zip(at).map(|(x, h)| x * h).sum();
            let curvature = rows.sample_weights()[i] * curvature(constants.loss(), margin, target);
            changes.push(Outer { weight: sign * curvature, x });
        }
    }
    changes
}
