//! One part: its objective, and ways to bring its weights within a proven distance of the optimum.

use super::plan::{CheckedDistributed, Reach, Step};
use crate::dataset::Dataset;
use crate::mechanism::MechanismError;
use crate::objective::Objective;
use crate::outward;
use crate::solver::{Solver, Start, Stopping, not_converged, solve, sufficient_steps, unwatched};

/// Weights of a part and how far from its optimum they are proven to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The weights, unperturbed: never to be published.
    pub weights: Vec<f64>,
    /// Upper bound on their distance to the part's optimum.
    pub distance: f64,
}

/// A part to be optimised.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) part: usize,
    /// One row for each of its positions, copies included.
    pub(super) data: Dataset,
    pub(super) start: Part,
    /// Steps to take when steps are counted.
    pub(super) steps: u64,
    /// The distance to reach, whatever the steps; `None` if only the steps matter.
    pub(super) distance: Option<f64>,
}

/// The result of optimising a part.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) part: usize,
    pub(super) end: Part,
    /// Gradients of single records that were computed.
    pub(super) gradients: u64,
}

impl Job {
    pub(super) fn run(&self, plan: &CheckedDistributed) -> Result<Done, MechanismError> {
        let objective = Objective::new(plan.part_constants(self.data.rows()), &self.data)?;
        let (end, passes) = match plan.plan().reach {
            Reach::Measured(solver) => self.measured(&objective, solver, plan.part_distance())?,
            Reach::Counted { .. } => self.counted(&objective)?,
        };
        let gradients = passes.saturating_mul(self.data.rows() as u64);
        Ok(Done { part: self.part, end, gradients })
    }

    fn measured(
        &self,
        objective: &Objective<'_>,
        solver: Solver,
        distance: f64,
    ) -> Result<(Part, u64), MechanismError> {
        let start = Start { weights: &self.start.weights, factor: None };
        let stopping = Stopping { distance };
        let found = solve(objective, solver, stopping, start, &mut unwatched)?;
        let passes = found.passes + found.hessian_products;
        Ok((Part { weights: found.weights, distance: found.distance }, passes))
    }

    /// Makes the requested steps, and further ones while the proven distance is above the one to reach.
    fn counted(&self, objective: &Objective<'_>) -> Result<(Part, u64), MechanismError> {
        let constants = objective.constants();
        let step = Step::new(constants);
        let Part { mut weights, mut distance } = self.start.clone();
        let further = self.distance.map_or(0, |goal| {
            let gradient = constants.strong_convexity() * goal;
            sufficient_steps(constants, distance, gradient)
        });
        let most = self.steps.max(further);
        let mut taken = 0;
        while taken < self.steps || self.distance.is_some_and(|goal| distance > goal) {
            if taken >= most {
                let last = objective.evaluate(&weights)?.gradient_norm;
                let target = constants.strong_convexity() * self.distance.unwrap_or(0.0);
                return Err(not_converged(taken, last, target).into());
            }
            let at = objective.evaluate(&weights)?;
            for (w, g) in weights.iter_mut().zip(&at.gradient) {
                *w -= step.length * g;
            }
            let rounding = step.rounding(at.gradient_norm, at.slack, outward::norm(&weights));
            distance = outward::add(outward::mul(step.contraction, distance), rounding);
            taken += 1;
        }
        Ok((Part { weights, distance }, taken))
    }
}
