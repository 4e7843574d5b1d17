//! One solver run: its counts, its stopping rule and its watcher.

use std::ops::ControlFlow;

use efface_matrix::Products;

use super::SolveError;
use crate::constants::Constants;
use crate::objective::{Bent, Evaluation, Objective};
use crate::outward;

/// The state of a run, reported once per gradient pass.
///
/// The gradient norm depends on the data: show it only to the operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Gradient passes made so far.
    pub passes: u64,
    /// Norm of the gradient just computed, plus its slack.
    pub gradient_norm: f64,
    /// The norm at which the run ends (0 when a number of steps was fixed in advance).
    pub target: f64,
}

/// Called once per gradient pass; `Break` cancels.
pub type Watch<'w> = dyn FnMut(&Progress) -> ControlFlow<()> + 'w;

/// Watches without ever cancelling.
pub fn unwatched(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Weights and what F is there.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) weights: Vec<f64>,
    pub(super) at: Evaluation,
}

pub(super) struct Run<'a, 'w> {
    pub(super) objective: &'a Objective<'a>,
    pub(super) target: f64,
    pub(super) passes: u64,
    pub(super) hessians: u64,
    pub(super) products: u64,
    /// Whether a prepared factor steered the first steps.
    pub(super) by_prepared: bool,
    /// Whether passes may be made once more in twice the precision.
    pub(super) fine: bool,
    /// A gradient shorter than this part of its slack is taken to be drowned in rounding.
    pub(super) drowned: f64,
    watch: &'a mut Watch<'w>,
}

/// Rounding errors that add up at random stay far below the slack, which adds up their largest
/// values.
const USUALLY_DROWNED: f64 = 1.0 / 64.0;

/// Returns whether float64 alone cannot certify every point with a gradient norm of at most half of `target`
/// and within `target`/m of the optimum.
pub(super) fn needs_twice(constants: &Constants, target: f64, records: usize) -> bool {
    let distance = outward::div(target, constants.strong_convexity());
    target < 2.0 * constants.public_slack(distance, records)
}

impl<'a, 'w> Run<'a, 'w> {
    pub(super) fn new(objective: &'a Objective<'a>, target: f64, watch: &'a mut Watch<'w>) -> Self {
        let drowned = USUALLY_DROWNED;
        let fine = needs_twice(objective.constants(), target, objective.records());
        let (passes, hessians, products) = (0, 0, 0);
        let by_prepared = false;
        Self { objective, target, passes, hessians, products, by_prepared, fine, drowned, watch }
    }

    /// Makes one gradient pass at `weights`. If the target is too close for float64 by public constants,
    /// makes another one in twice the precision when the first cannot tell how far the optimum is: its
    /// gradient is short enough and its slack too large, or it drowns in rounding.
    pub(super) fn visit(&mut self, weights: Vec<f64>) -> Result<Point, SolveError> {
        let at = self.objective.evaluate(&weights)?;
        self.visited(weights, at)
    }

    /// Does the same, and returns what the pass reveals about the Hessian there.
    pub(super) fn visit_bent(
        &mut self,
        weights: Vec<f64>,
        products: Products,
    ) -> Result<(Point, Bent), SolveError> {
        let (at, bent) = self.objective.evaluate_bent(&weights, products)?;
        Ok((self.visited(weights, at)?, bent))
    }

    fn visited(&mut self, weights: Vec<f64>, mut at: Evaluation) -> Result<Point, SolveError> {
        self.passes += 1;
        let enough = outward::add(at.gradient_norm, at.slack) <= self.target;
        let unsure =
            self.fine && !enough && at.gradient_norm <= self.target.max(self.drowned * at.slack);
        let finer = if unsure { self.objective.evaluate_twice(&weights)? } else { None };
        if let Some(finer) = finer {
            self.passes += 1;
            if finer.slack < at.slack {
                at = finer;
            }
        }
        let gradient_norm = at.gradient_norm + at.slack;
        self.tell(gradient_norm)?;
        Ok(Point { weights, at })
    }

    /// Counts `count` Hessian-vector products and lets the watcher cancel.
    pub(super) fn multiplied(&mut self, count: u64, gradient_norm: f64) -> Result<(), SolveError> {
        self.products += count;
        self.tell(gradient_norm)
    }

    fn tell(&mut self, gradient_norm: f64) -> Result<(), SolveError> {
        let progress = Progress { passes: self.passes, gradient_norm, target: self.target };
        match (self.watch)(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(SolveError::Cancelled { passes: self.passes }),
        }
    }

    /// Returns the stopping rule: |gradient| + slack <= m tau, every piece rounded outward.
    pub(super) fn accepts(&self, point: &Point) -> bool {
        outward::add(point.at.gradient_norm, point.at.slack) <= self.target
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
