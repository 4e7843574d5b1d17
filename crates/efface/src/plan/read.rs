//! A plan as it is read from a vault: checked before anything is computed from it.

use efface_learn::mechanism::RidgePlan;
use efface_privacy::event::Normalizer;
use efface_privacy::quantity::{Decimal, Delta, RenyiOrder};

use super::{MechanismName, Plan, Schedule, Task, solver_named};
use crate::error::{Error, Result};
use crate::plan::check::not_covered;
use crate::settings::{MOST_COUNT, MOST_STEPS, ROW_MAPS};

/// What is wrong with a plan, in words.
type Fault = String;

impl Plan {
    /// Reads the plan of a vault.
    ///
    /// # Errors
    /// JSON that is no plan, or numbers that no training can have fixed.
    pub(crate) fn read(json: &str) -> Result<Self> {
        let damaged = |what: &dyn std::fmt::Display| {
            Error::storage("damaged", format!("the vault's plan is invalid: {what}"))
                .hint("`efface restore` puts a backup in the vault's place")
        };
        let plan: Self = serde_json::from_str(json).map_err(|error| damaged(&error))?;
        plan.examine().map_err(|fault| damaged(&fault))?;
        Ok(plan)
    }

    /// Refuses what [`resolve`](Self::resolve) cannot make. Bounds of every number come first, so
    /// that nothing after them overflows.
    pub(super) fn examine(&self) -> std::result::Result<(), Fault> {
        self.examine_task()?;
        self.examine_numbers()?;
        self.examine_schedule()?;
        let text = |error: Error| error.message().to_owned();
        let constants = self.constants().map_err(text)?;
        if constants.setting(self.setting.group) != self.setting {
            return Err("its `setting` does not follow from rows, loss and normaliser".into());
        }
        match &self.schedule {
            Schedule::Steps { removal, .. } => {
                self.noisy_gd(&constants, removal.unwrap_or(1)).map(drop).map_err(text)
            }
            Schedule::Descent { .. } => self.descent(&constants).map(drop).map_err(text),
            Schedule::Parts { .. } => super::checked(self, &constants).map(drop).map_err(text),
            Schedule::Sums => RidgePlan::new(constants).map(drop).map_err(|e| e.to_string()),
            // How far a solver can get depends on the number of records, and is checked with them.
            Schedule::Output { .. } | Schedule::Perturbed { .. } => Ok(()),
        }
    }

    fn examine_task(&self) -> std::result::Result<(), Fault> {
        self.examine_loss().map_err(|error| error.to_string())?;
        if let Task::Range(low, high) = &self.task
            && !(low.0 < high.0 && low.0.is_finite() && high.0.is_finite())
        {
            return Err(format!("`target-range` must be finite and ascending, got {low}, {high}"));
        }
        let solver = self.solver.as_deref();
        if solver.is_some_and(|name| solver_named(name).is_none()) {
            return Err("its solver is unknown".into());
        }
        if !ROW_MAPS.contains(&self.rows.map.as_str()) {
            return Err("its row map is unknown".into());
        }
        not_covered(&self.not_covered).map_err(|error| error.message().to_owned())
    }

    fn examine_numbers(&self) -> std::result::Result<(), Fault> {
        let (rows, target) = (&self.rows, &self.target);
        within("features", rows.features, 0, 1 << 32)?;
        finite("row-norm", rows.norm, false)?;
        finite("intercept", rows.intercept, true)?;
        within("max-group", self.setting.group, 1, MOST_COUNT)?;
        within("releases", self.releases, 1, MOST_COUNT)?;
        within("interactions", target.interactions.unwrap_or(0), 0, MOST_COUNT)?;
        if let Normalizer::Mean { minimum } = self.setting.normalizer {
            within("minimum", minimum, 0, MOST_COUNT)?;
        }
        finite("epsilon", target.epsilon, true)?;
        Delta::new(target.delta.0).map_err(|error| error.to_string())?;
        RenyiOrder::new(target.order.0).map_err(|error| error.to_string())?;
        let Some(given) = &self.given else { return Ok(()) };
        for figure in [given.epsilon, given.delta, given.mu].into_iter().flatten() {
            finite("given", figure, true)?;
        }
        within("given-group", given.group, 1, MOST_COUNT)
    }

    fn examine_schedule(&self) -> std::result::Result<(), Fault> {
        use MechanismName as M;
        match (&self.schedule, self.mechanism) {
            (Schedule::Output { distance, noise, grid }, M::Solve | M::Retrain) => {
                all_positive([("distance", *distance), ("noise", *noise), ("grid", *grid)])
            }
            (Schedule::Perturbed { noise, grid, budget, distance }, M::ObjectivePerturbation) => {
                all_positive([("distance", *distance), ("noise", *noise), ("grid", *grid)])?;
                finite("budget", *budget, true)
            }
            (Schedule::Steps { step, noise, grid, radius, learning, removal }, M::NoisyGd) => {
                all_positive([("eta", *step), ("noise", *noise), ("grid", *grid)])?;
                all_positive(radius.map(|radius| ("radius", radius)))?;
                within("steps", *learning, 1, MOST_STEPS)?;
                within("removal-steps", removal.unwrap_or(1), 1, MOST_STEPS)
            }
            (Schedule::Sums, M::Ridge) => Ok(()),
            (
                Schedule::Parts { sample, parts, copies, distance, noise, grid, published },
                M::DistributedDescent,
            ) => {
                all_positive([("distance", *distance), ("noise", *noise), ("grid", *grid)])?;
                for (name, count) in [("sample", *sample), ("parts", *parts), ("copies", *copies)] {
                    within(name, count, 1, MOST_COUNT)?;
                }
                let Some(published) = published else { return Ok(()) };
                finite("xi", published.exponent, false)?;
                within("iterations", published.iterations, 1, MOST_STEPS)?;
                within("records", published.records, 1, MOST_COUNT)?;
                within("steps", published.learning, 1, MOST_STEPS)
            }
            (
                Schedule::Descent {
                    variant: _,
                    xi,
                    tail,
                    iterations,
                    learning,
                    diameter,
                    step,
                    noise,
                    grid,
                },
                M::DescentToDelete,
            ) => {
                all_positive([("diameter", *diameter), ("eta", *step)])?;
                all_positive([("noise", *noise), ("grid", *grid)])?;
                all_positive(xi.map(|xi| ("xi", xi)))?;
                all_positive(tail.map(|tail| ("tail", tail)))?;
                within("iterations", *iterations, 1, MOST_STEPS)?;
                within("steps", *learning, 1, MOST_STEPS)
            }
            _ => Err(format!("its schedule is not one of `{}`", self.mechanism.name())),
        }
    }
}

fn within(name: &str, got: u64, least: u64, most: u64) -> std::result::Result<(), Fault> {
    if (least..=most).contains(&got) {
        return Ok(());
    }
    Err(format!("`{name}` must be between {least} and {most}, got {got}"))
}

/// A number that is finite and above 0, or 0 where that is allowed.
fn finite(name: &str, got: Decimal, zero: bool) -> std::result::Result<(), Fault> {
    if got.0.is_finite() && (got.0 > 0.0 || zero && got.0 == 0.0) {
        return Ok(());
    }
    let rule = if zero { "at least" } else { "above" };
    Err(format!("`{name}` must be finite and {rule} 0, got {got}"))
}

fn all_positive<'a>(
    numbers: impl IntoIterator<Item = (&'a str, Decimal)>,
) -> std::result::Result<(), Fault> {
    numbers.into_iter().try_for_each(|(name, got)| finite(name, got, false))
}
