#![doc = include_str!("newton.md")]

use efface_privacy::event::{Event, Procedure, State};
use rand_core::CryptoRng;

use super::error::start;
use super::kept::KeptError;
use super::{CheckedOutputNoise, Evidence, Kept, MechanismError, Prepared, Released, Steering};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::newton::{Effort, Memory, NewtonError, Point, check_newton};
use crate::objective::Objective;
use crate::outward;
use crate::solver::{Solver, Start, Stopping, Watch, solve};

/// A point is worth keeping if it leaves this part of the distance to the rows that change.
const WORTH: f64 = 0.5;

/// A change that is made in the memory and not yet published.
#[derive(Debug, Clone)]
pub struct Pending {
    memory: Memory,
    effort: Effort,
    spent: u64,
    procedure: Procedure,
    /// Whether it started from what was [prepared](prepare).
    prepared: bool,
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
    // Making the memory took a gradient pass and a Hessian.
    let effort = Effort {
        passes: found.passes + 1,
        hessians: found.hessians + 1,
        products: found.hessian_products,
    };
    let procedure = if published.is_some() { Procedure::Solve } else { Procedure::Retrain };
    let mut pending = Pending { memory, effort, spent: 0, procedure, prepared: false };
    if pending.needs_pass(plan) {
        pending.correct(objective, plan, watch)?;
    }
    Ok(pending)
}

/// Takes the changed rows alone, O(P^2) for each. `removed` must be rows that the memory holds: the caller
/// guarantees this.
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
    Ok(Pending { memory, effort, spent, procedure: Procedure::Solve, prepared: false })
}

/// Computes gradient and Hessian near the optimum of the records at hand, to be kept in `perfect` state for
/// the request that follows `version`: a function of the published weights (the start of the search), of the
/// records and of public constants. `None` if no bound could spare a pass: a loss without a Newton bound, a
/// distance near what float64 certifies.
///
/// # Errors
/// See [`MechanismError`]: more than [`LARGEST_HESSIAN`](crate::objective::LARGEST_HESSIAN) weights, another
/// number of them than the constants have, a Hessian that leaves the range of float32, a cancellation.
pub fn prepare(
    objective: &Objective<'_>,
    plan: &CheckedOutputNoise,
    published: &[f64],
    version: u64,
    watch: &mut Watch<'_>,
) -> Result<Option<Prepared>, MechanismError> {
    let constants = objective.constants();
    MechanismError::check_hessian("a kept Hessian", constants.parameters())?;
    if check_newton(constants).is_err() {
        return Ok(None);
    }
    let start = Start { weights: published, factor: None };
    let found = solve(objective, Solver::Newton, stopping(plan), start, watch)?;
    let point = Point::new(objective, &found.weights)?;
    let prepared = Prepared { version, kept: Steering::Point(point) }.rounded()?;
    let Steering::Point(point) = &prepared.kept else { return Ok(None) };
    let worth = match point.step(constants, stopping(plan)) {
        Ok(memory) => memory.bound().distance <= WORTH * plan.plan().distance,
        Err(NewtonError::NoFactor) => false,
        Err(error) => return Err(error.into()),
    };
    Ok(worth.then_some(prepared))
}

/// Changes rows by one Newton step from what was [prepared](prepare). `removed` must be rows of the records
/// that it was prepared over: the caller guarantees this.
///
/// If the bound does not hold ([`Pending::needs_pass`]), [`Pending::solve`] goes on from there.
///
/// # Errors
/// See [`MechanismError`]: a point of another model, rows that break a public constant.
pub fn from_prepared(
    constants: &Constants,
    plan: &CheckedOutputNoise,
    point: &Point,
    removed: &Dataset,
    added: &Dataset,
) -> Result<Pending, MechanismError> {
    let memory = point.change(constants, removed, added, stopping(plan))?;
    let effort = Effort::default();
    Ok(Pending { memory, effort, spent: 0, procedure: Procedure::Solve, prepared: true })
}

/// Returns the memory in a kept state.
///
/// # Errors
/// Fails if the bytes are no memory, or a memory of another model.
pub fn remembered(constants: &Constants, kept: &Kept) -> Result<Memory, MechanismError> {
    let memory = Memory::from_bytes(&kept.state).map_err(KeptError::from)?;
    memory.check(constants)?;
    Ok(memory)
}

impl Pending {
    /// Returns the number of records after the change.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.memory.records()
    }

    /// Returns whether the bound has run out: [`correct`](Self::correct) is due before anything is published.
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

    /// Solves from here, by steps that the factor here preconditions, and publishes with fresh noise: for
    /// `perfect` state, in which the next request may find nothing but published weights.
    ///
    /// # Errors
    /// See [`MechanismError`].
    pub fn solve(
        &self,
        objective: &Objective<'_>,
        plan: &CheckedOutputNoise,
        releases: u64,
        rng: &mut impl CryptoRng,
        watch: &mut Watch<'_>,
    ) -> Result<Released, MechanismError> {
        // Projecting onto the ball that holds the optimum never leads farther from it.
        let mut at = self.memory.weights();
        let (norm, most) = (outward::norm(&at), objective.constants().optimum_bound());
        if norm > most {
            at.iter_mut().for_each(|w| *w *= most / norm);
        }
        let factor = self.memory.factor();
        let mut released =
            super::solve::from_prepared(objective, plan, &at, factor, releases, rng, watch)?;
        // This holds even if the start is near enough and the factor has nothing left to do.
        if let Evidence::Optimum { by_kept_hessian, .. } = &mut released.evidence {
            *by_kept_hessian = true;
        }
        Ok(released)
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
            refuse!(
                "the weights are within {distance:e} of the optimum, `distance` (tau) is \
                 {limit:e}"
            );
        }
        let weights = plan.grid().publish(&self.memory.weights(), rng)?;
        let records = usize::try_from(self.memory.records()).unwrap_or(usize::MAX);
        let event = plan.event(constants, records, self.procedure, releases);
        let Effort { passes, hessians, products: hessian_products } = self.effort;
        let by_kept_hessian = self.prepared;
        let evidence =
            Evidence::Remembered { distance, passes, hessians, hessian_products, by_kept_hessian };
        let kept = match plan.plan().state {
            State::Perfect => None,
            State::Secret => Some(Kept { releases: self.spent + 1, state: self.memory.to_bytes() }),
        };
        Ok(Released { weights, event: Event::OutputNoise(event), evidence, kept })
    }
}

/// Why there is none in `perfect` state.
const NO_MEMORY: &str =
    "Newton steps from a memory need `secret` state, but the plan has `perfect`";

fn needs_secret(plan: &CheckedOutputNoise) -> Result<(), MechanismError> {
    match plan.plan().state {
        State::Secret => Ok(()),
        State::Perfect => Err(start(NO_MEMORY)),
    }
}

fn stopping(plan: &CheckedOutputNoise) -> Stopping {
    Stopping { distance: plan.plan().distance }
}
