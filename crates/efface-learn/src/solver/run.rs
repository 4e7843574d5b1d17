//! One solver run: its counts, its stopping rule and its watcher.

use std::ops::ControlFlow;

use super::SolveError;
use crate::objective::{Evaluation, Objective};
use crate::outward;

/// Where a run stands, told once per gradient pass.
///
/// The gradient norm depends on the data: show it to nobody but the operator.
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

/// A watcher that never cancels.
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
    watch: &'a mut Watch<'w>,
}

impl<'a, 'w> Run<'a, 'w> {
    pub(super) fn new(objective: &'a Objective<'a>, target: f64, watch: &'a mut Watch<'w>) -> Self {
        Self { objective, target, passes: 0, hessians: 0, products: 0, watch }
    }

    /// One gradient pass at `weights`.
    pub(super) fn visit(&mut self, weights: Vec<f64>) -> Result<Point, SolveError> {
        let at = self.objective.evaluate(&weights)?;
        self.passes += 1;
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

    /// The stopping rule: |gradient| + slack <= m tau, every piece rounded outward.
    pub(super) fn accepts(&self, point: &Point) -> bool {
        outward::add(point.at.gradient_norm, point.at.slack) <= self.target
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
