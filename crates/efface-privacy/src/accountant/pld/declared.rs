//! What a declared training is to this accountant, and what was given whatever it is.

use super::Segment;
use super::event::{MOST_STEPS, MOST_UNITS, with_deleted_since, with_group_of};
use crate::accountant::gdp::AccountantError;
use crate::accountant::gdp::check::{positive, require};
use crate::event::{DeclaredTraining, Given};

/// The most [`work`]: some seconds for one epsilon.
const MOST_WORK: f64 = 4096.0;

/// Refuses trainings that no run can have had, and trainings that this accountant does not cover.
///
/// # Errors
/// Fails at the first field that breaks its rule.
pub fn check(training: &DeclaredTraining) -> Result<(), AccountantError> {
    let number = training.phases.len();
    let few = (1..=DeclaredTraining::MOST_PHASES).contains(&number);
    require("phases", "1 to 64 in number", number, few)?;
    for phase in &training.phases {
        let (noise, rate) = (phase.noise.0, phase.rate.0);
        require("rate", "in [1e-12, 1]", phase.rate, (1e-12..=1.0).contains(&rate))?;
        require("noise", "in [0.1, 1e6]", phase.noise, (0.1..=1e6).contains(&noise))?;
        require("steps", "above 0", phase.steps, phase.steps > 0)?;
    }
    if let Some(clip) = training.clip {
        positive("clip", clip)?;
    }
    let deleted = training.deleted;
    require("deleted", "at most 1024", deleted, deleted <= MOST_UNITS)?;
    let steps = training.steps();
    require("steps", "at most 1e9 in all", steps, steps <= MOST_STEPS)
}

/// Returns all steps with a group that may have been present in every one.
fn with_group(training: &DeclaredTraining, group: u64) -> Result<Vec<Segment>, AccountantError> {
    check(training)?;
    require("deleted", "at most 1024 records together", group, group <= MOST_UNITS)?;
    let work = work(training, group);
    let light = "in phases whose work, the records deleted together times (1 + 1/`noise`), adds up to at \
        most 4096 where `rate` is below 1: fewer phases, or fewer deletions";
    require("training", light, work, work <= MOST_WORK)?;
    let phases = training.phases.iter().filter(|_| group > 0);
    let segment = phases.map(|phase| Segment {
        steps: phase.steps,
        noise: phase.noise.0,
        rate: phase.rate.0,
        group,
    });
    Ok(segment.collect())
}

/// Estimates how long it takes to account for the phases that draw records at random, in units of the time
/// for one record with much noise: densities have a term for each record, over a range that grows with
/// records over noise.
fn work(training: &DeclaredTraining, group: u64) -> f64 {
    let drawn = training.phases.iter().filter(|phase| phase.rate.0 < 1.0);
    drawn.map(|phase| group as f64 * (1.0 + 1.0 / phase.noise.0)).sum()
}

/// Returns the steps in which records deleted by now may have been drawn, and how many such records there are
/// in all: each may have been in every step. `since` counts those deleted after the given training was first
/// used. Returns `None` if what was given is private by figures.
///
/// # Errors
/// Fails if the training is malformed, or more records are deleted than are accounted for.
pub fn deleted_since(
    given: &Given,
    since: u64,
) -> Result<Option<(Vec<Segment>, u64)>, AccountantError> {
    match (&given.training, &given.declared) {
        (Some(training), _) => with_deleted_since(training, since).map(Some),
        (None, Some(training)) => {
            let deleted = training.deleted.saturating_add(since);
            Ok(Some((with_group(training, deleted)?, deleted)))
        }
        (None, None) => Ok(None),
    }
}

/// Returns all steps of the given training with a group that may have been present throughout, for
/// differential privacy of everything released; `None` if what was given is private by figures.
///
/// # Errors
/// Fails if the training is malformed.
pub fn group_of(given: &Given, group: u64) -> Result<Option<Vec<Segment>>, AccountantError> {
    match (&given.training, &given.declared) {
        (Some(training), _) => with_group_of(training, group).map(Some),
        (None, Some(training)) => with_group(training, group).map(Some),
        (None, None) => Ok(None),
    }
}
