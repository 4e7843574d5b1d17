//! Passes over all rows: making the memory, and renewing it when its bound has run out.

use std::ops::ControlFlow;
use std::sync::Arc;

use efface_matrix::{Products, Refusal};

use super::bound::{Ridge, UNKNOWN, bound, known};
use super::gradient::Gradient;
use super::hessian::Hessian;
use super::typical::Typical;
use super::{Memory, NewtonError, other_records};
use crate::constants::Constants;
use crate::objective::{Bent, LARGEST_HESSIAN, Objective, in_parts};
use crate::outward;
use crate::solver::{
    Factor, Progress, SolveError, Solver, Start, Stopping, Watch, not_converged, solve,
};

/// Gradient passes after which a new Hessian has cost no more than they did: forming one costs
/// about P/10 of them.
pub(super) const PASSES_PER_PARAMETER: f64 = 0.1;
/// Passes with one Hessian in one correction.
pub(super) const TRIES: u64 = 2;
/// Hessians in one correction before a full solve takes over.
pub(super) const HESSIANS: u64 = 3;

/// Passes and Hessians that a correction took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effort {
    /// Gradient passes over all rows.
    pub passes: u64,
    /// Hessians formed.
    pub hessians: u64,
    /// Other passes over all rows: those that prepare Hessians, and products with them.
    pub products: u64,
}

/// Returns the refusal of a loss without a bound on how its second derivative changes.
fn other_loss(constants: &Constants) -> Refusal {
    refusal!(
        "Newton removal needs a loss whose second derivative is Lipschitz: `logistic`, or \
         `squared` without a clip; got {}; choose another solver",
        constants.loss().name()
    )
}

/// Refuses constants that have no Newton bound.
///
/// # Errors
/// Fails if the loss has no Newton bound or there are too many parameters.
pub fn check_newton(constants: &Constants) -> Result<(), NewtonError> {
    if constants.loss().link_bounds().self_concordance.is_none() {
        return Err(other_loss(constants).into());
    }
    match constants.parameters() {
        p if p > LARGEST_HESSIAN => Err(refusal!(
            "Newton removal takes at most {LARGEST_HESSIAN} parameters, got {p}; choose \
             another solver"
        )
        .into()),
        _ => Ok(()),
    }
}

impl Memory {
    /// Builds it without a step, so that nothing is known yet.
    pub(super) fn of(
        records: u64,
        gradient: Gradient,
        hessian: Hessian,
        factor: Arc<Factor>,
        typical: Typical,
    ) -> Self {
        let step = vec![0.0; gradient.at.len()];
        let (bound, changes, passes) = (UNKNOWN, 0, 0);
        Self { records, hessian, factor, gradient, step, bound, changes, passes, typical }
    }

    /// Forms the memory at `weights`, which should be near the optimum: one gradient pass, which prepares the
    /// Hessian, too.
    ///
    /// # Errors
    /// Fails if the constants have no Newton bound, the weights do not fit, or the Hessian cannot be formed
    /// or factored.
    pub fn new(objective: &Objective<'_>, weights: &[f64]) -> Result<Self, NewtonError> {
        let constants = objective.constants();
        check_newton(constants)?;
        let records = objective.records() as u64;
        let (gradient, hessian) = form(objective, weights)?;
        let ridge = Ridge::of(constants, records).computed;
        let factor = hessian.factor(ridge).ok_or(NewtonError::NoFactor)?;
        let typical = Typical::of(objective, &gradient, &factor)?;
        let mut memory = Self::of(records, gradient, hessian, Arc::new(factor), typical);
        memory.rest(constants);
        Ok(memory)
    }

    /// Passes over all rows until the bound is at most `stopping.distance` again. Each pass computes a
    /// gradient and makes a step; the Hessian is formed again when the passes since the last time cost as
    /// much, or when it no longer helps.
    ///
    /// # Errors
    /// Fails if the memory does not account for the data set, the watch cancels, or nothing converges; the
    /// memory must then be thrown away.
    pub fn correct(
        &mut self,
        objective: &Objective<'_>,
        stopping: Stopping,
        watch: &mut Watch<'_>,
    ) -> Result<Effort, NewtonError> {
        let constants = objective.constants();
        check_newton(constants)?;
        self.check(constants)?;
        let (expected, got) = (self.records, objective.records() as u64);
        if expected != got {
            return Err(other_records(expected, got).into());
        }
        let mut effort = Effort::default();
        let mut tries = 0;
        let worth = (PASSES_PER_PARAMETER * self.step.len() as f64).max(1.0);
        let mut due = self.passes as f64 >= worth || self.bound.known.is_infinite();
        loop {
            let at = self.weights();
            if due {
                if effort.hessians == HESSIANS {
                    return self.start_over(objective, at, stopping, watch, effort);
                }
                (self.gradient, self.hessian) = form(objective, &at)?;
                let ridge = Ridge::of(constants, self.records).computed;
                self.factor = Arc::new(self.hessian.factor(ridge).ok_or(NewtonError::NoFactor)?);
                effort.hessians += 1;
                (self.passes, tries) = (0, 0);
            } else {
                let totals = objective.totals(&at)?;
                self.gradient = Gradient::of(objective, totals, at);
            }
            self.typical = Typical::of(objective, &self.gradient, &self.factor)?;
            (self.changes, self.passes) = (0, self.passes + 1);
            (tries, effort.passes) = (tries + 1, effort.passes + 1);
            self.rest(constants);
            tell(watch, effort.passes, self.bound.known, constants, self.records, stopping)?;
            self.improve(constants, stopping);
            if self.bound.distance <= stopping.distance {
                return Ok(effort);
            }
            self.update_and_solve(constants, &[], stopping);
            due = tries == TRIES || self.bound.known.is_infinite();
        }
    }

    /// Takes the step that gradient and Hessian give if it lowers the bound, without a pass: this leaves room
    /// for the changes to come.
    pub(crate) fn improve(&mut self, constants: &Constants, stopping: Stopping) {
        let mut further = self.clone();
        further.update_and_solve(constants, &[], stopping);
        if further.bound.distance < self.bound.distance {
            *self = further;
        }
    }

    /// Sets the bound for b itself.
    fn rest(&mut self, constants: &Constants) {
        self.step.fill(0.0);
        let ridge = Ridge::of(constants, self.records);
        let product = vec![0.0; self.step.len()];
        let known = known(&self.gradient, &self.step, &product, ridge);
        self.bound =
            bound(&self.hessian, &self.gradient, &self.step, &product, &known, ridge, constants);
    }

    /// Solves in full from the present weights, with its own proven end. The weights are first projected onto
    /// the ball that holds the optimum: this never leads farther from it, and gives the passes a public
    /// bound.
    fn start_over(
        &mut self,
        objective: &Objective<'_>,
        mut at: Vec<f64>,
        stopping: Stopping,
        watch: &mut Watch<'_>,
        mut effort: Effort,
    ) -> Result<Effort, NewtonError> {
        let (norm, most) = (outward::norm(&at), objective.constants().optimum_bound());
        if norm > most {
            at.iter_mut().for_each(|w| *w *= most / norm);
        }
        let start = Start { weights: &at, factor: None };
        let found = solve(objective, Solver::Newton, stopping, start, watch)?;
        *self = Self::new(objective, &found.weights)?;
        effort.passes += found.passes + 1;
        effort.hessians += found.hessians + 1;
        effort.products += found.hessian_products;
        self.improve(objective.constants(), stopping);
        if self.bound.distance <= stopping.distance {
            return Ok(effort);
        }
        let n = objective.constants().normalizer(objective.records());
        let target = objective.constants().strong_convexity() * stopping.distance;
        Err(SolveError::from(not_converged(effort.passes, self.bound.residual / n, target)).into())
    }
}

fn tell(
    watch: &mut Watch<'_>,
    passes: u64,
    residual: f64,
    constants: &Constants,
    records: u64,
    stopping: Stopping,
) -> Result<(), SolveError> {
    let n = constants.normalizer(usize::try_from(records).unwrap_or(usize::MAX));
    let target = constants.strong_convexity() * stopping.distance;
    match watch(&Progress { passes, gradient_norm: residual / n, target }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(SolveError::Cancelled { passes }),
    }
}

/// Forms gradient and Hessian at `weights`, summed over all rows.
pub(super) fn form(
    objective: &Objective<'_>,
    weights: &[f64],
) -> Result<(Gradient, Hessian), NewtonError> {
    let (constants, records) = (objective.constants(), objective.records());
    if objective.is_in_parts() {
        return Err(in_parts().into());
    }
    if constants.loss().outputs() != 1 {
        return Err(other_loss(constants).into());
    }
    let (totals, bent) = objective.totals_bent(weights, Products::Double)?;
    let gram = match bent {
        Bent::Hessian(sum) => sum,
        Bent::Curvature(curvature) => objective.hessian_sum(&curvature)?,
    };
    let hessian = Hessian::new(weights.to_vec(), &gram, records, constants);
    Ok((Gradient::of(objective, totals, weights.to_vec()), hessian))
}
