#![doc = include_str!("newton.md")]

use efface_privacy::event::{Event, Procedure, State};
use rand_core::CryptoRng;

use super::{CheckedOutputNoise, Evidence, Kept, MechanismError, Released};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::newton::{Effort, Memory, check_newton};
use crate::objective::Objective;
use crate::solver::{Solver, Start, Stopping, Watch, solve};

/// A change that is made in the memory and not yet published.
#[derive(Debug, Clone)]
pub struct Pending {
    memory: Memory,
    effort: Effort,
    spent: u64,
    procedure: Procedure,
}

/// Solves from `published` (`None`: from zeros) on all records and makes the memory: the first
/// training, and a refresh. Starts a new count of jointly covered releases.
///
/// # Errors
/// See [`MechanismError`]: `perfect` state and losses without a Newton bound are refused.
pub fn begin(
    objective: &Objective<'_>,
    plan: &CheckedOutputNoise,
    published: Option<&[f64]>,
    watch: &mut Watch<'_>,
) -> Result<Pending, MechanismError> {
    let constants = objective.constants();
    needs_secret(plan)?;
    check_newton(constants)?;
    let zeros = vec![0.0; constants.parameters()];
    let start = Start { weights: published.unwrap_or(&zeros), factor: None };
    let found = solve(objective, Solver::Newton, stopping(plan), start, watch)?;
    let mut memory = Memory::new(objective, &found.weights)?;
    memory.improve(constants, stopping(plan));
    // Making the memory took a gradient pass, a pass for the curvature and a Hessian.
    let effort = Effort {
        passes: found.passes + 1,
        hessians: found.hessians + 1,
        products: found.hessian_products + 1,
    };
    let procedure = if published.is_some() { Procedure::Solve } else { Procedure::Retrain };
    let mut pending = Pending { memory, effort, spent: 0, procedure };
    if pending.needs_pass(plan) {
        pending.correct(objective, plan, watch)?;
    }
    Ok(pending)
}

/// Takes the changed rows alone, O(P^2) for each. `removed` must be rows the memory holds: that is
/// the caller's to know.
///
/// # Errors
/// See [`MechanismError`]: a kept state that is no memory of this model, releases that are
/// spent, rows that break a public constant.
pub fn change(
    constants: &Constants,
    plan: &CheckedOutputNoise,
    kept: &Kept,
    removed: &Dataset,
    added: &Dataset,
) -> Result<Pending, MechanismError> {
    needs_secret(plan)?;
    check_newton(constants)?;
    let spent = plan.spent(Some(kept), 1)?;
    let mut memory = remembered(constants, kept)?;
    memory.change(constants, removed, added, stopping(plan))?;
    let effort = Effort::default();
    Ok(Pending { memory, effort, spent, procedure: Procedure::Solve })
}

/// The memory in a kept state.
///
/// # Errors
/// Bytes that are no memory, or one of another model.
pub fn remembered(constants: &Constants, kept: &Kept) -> Result<Memory, MechanismError> {
    let memory = Memory::from_bytes(&kept.state)?;
    memory.check(constants)?;
    Ok(memory)
}

impl Pending {
    /// Number of records after the change.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.memory.records()
    }

    /// Whether the bound has run out: [`correct`](Self::correct) is due before anything is
    /// published.
    #[must_use]
    pub fn needs_pass(&self, plan: &CheckedOutputNoise) -> bool {
        self.memory.bound().distance > plan.plan().distance
    }

    /// Passes over all records, those after the change, until the bound holds again.
    ///
    /// # Errors
    /// See [`MechanismError`]; what is pending must then be thrown away.
    pub fn correct(
        &mut self,
        objective: &Objective<'_>,
        plan: &CheckedOutputNoise,
        watch: &mut Watch<'_>,
    ) -> Result<(), MechanismError> {
        let effort = self.memory.correct(objective, stopping(plan), watch)?;
        self.effort.passes += effort.passes;
        self.effort.hessians += effort.hessians;
        self.effort.products += effort.products;
        Ok(())
    }

    /// Publishes with fresh noise. `releases` counts the model's distinct releases, this one
    /// included.
    ///
    /// # Errors
    /// See [`MechanismError`]; weights beyond the plan's distance are refused.
    pub fn publish(
        self,
        constants: &Constants,
        plan: &CheckedOutputNoise,
        releases: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Released, MechanismError> {
        plan.spent(None, releases)?;
        let distance = self.memory.bound().distance;
        if self.needs_pass(plan) {
            let limit = plan.plan().distance;
            return Err(MechanismError::Distance { distance, limit });
        }
        let weights = plan.grid().publish(&self.memory.weights(), rng)?;
        let records = usize::try_from(self.memory.records()).unwrap_or(usize::MAX);
        let event = plan.event(constants, records, self.procedure, releases);
        let Effort { passes, hessians, products: hessian_products } = self.effort;
        let evidence = Evidence::Remembered { distance, passes, hessians, hessian_products };
        let kept = Kept { releases: self.spent + 1, state: self.memory.to_bytes() };
        Ok(Released { weights, event: Event::OutputNoise(event), evidence, kept: Some(kept) })
    }
}

/// Why there is none in `perfect` state.
const NO_MEMORY: &str =
    "Newton steps from a memory need `secret` state, but the plan has `perfect`";

fn needs_secret(plan: &CheckedOutputNoise) -> Result<(), MechanismError> {
    match plan.plan().state {
        State::Secret => Ok(()),
        State::Perfect => Err(MechanismError::Start(NO_MEMORY)),
    }
}

fn stopping(plan: &CheckedOutputNoise) -> Stopping {
    Stopping { distance: plan.plan().distance }
}
