//! What a declared training is to this accountant, and what was given whatever it is.

use super::Segment;
use super::event::{MOST_STEPS, MOST_UNITS, with_deleted_since, with_group_of};
use crate::accountant::gdp::AccountantError;
use crate::event::{DeclaredTraining, Given};

/// The most [`work`]: some seconds for one epsilon.
const MOST_WORK: f64 = 4096.0;

/// Refuses trainings that no run can have had, and those outside what is accounted.
///
/// # Errors
/// The first field that breaks its rule.
pub fn check(training: &DeclaredTraining) -> Result<(), AccountantError> {
    let rule = |name, rule, got: String, ok: bool| {
        if ok { Ok(()) } else { Err(AccountantError::Malformed { name, rule, got }) }
    };
    let number = training.phases.len();
    let few = (1..=DeclaredTraining::MOST_PHASES).contains(&number);
    rule("phases", "1 to 64 in number", number.to_string(), few)?;
    for phase in &training.phases {
        let (noise, rate) = (phase.noise.0, phase.rate.0);
        rule("rate", "in [1e-12, 1]", phase.rate.to_string(), (1e-12..=1.0).contains(&rate))?;
        rule("noise", "in [0.1, 1e6]", phase.noise.to_string(), (0.1..=1e6).contains(&noise))?;
        rule("steps", "above 0", phase.steps.to_string(), phase.steps > 0)?;
    }
    if let Some(clip) = training.clip {
        rule("clip", "in [1e-100, 1e100]", clip.to_string(), (1e-100..=1e100).contains(&clip.0))?;
    }
    let deleted = training.deleted;
    rule("deleted", "at most 1024", deleted.to_string(), deleted <= MOST_UNITS)?;
    let steps = training.steps();
    rule("steps", "at most 1e9 in all", steps.to_string(), steps <= MOST_STEPS)
}

/// All steps with a group that may have been there in every one.
fn with_group(training: &DeclaredTraining, group: u64) -> Result<Vec<Segment>, AccountantError> {
    check(training)?;
    if group > MOST_UNITS {
        let (rule, got) = ("at most 1024 records together", group.to_string());
        return Err(AccountantError::Malformed { name: "deleted", rule, got });
    }
    let work = work(training, group);
    if work > MOST_WORK {
        let rule = "in phases whose work, the records deleted together times (1 + 1/`noise`), adds up to \
            at most 4096 where `rate` is below 1: fewer phases, or fewer deletions";
        return Err(AccountantError::Malformed { name: "training", rule, got: work.to_string() });
    }
    let phases = training.phases.iter().filter(|_| group > 0);
    let segment = phases.map(|phase| Segment {
        steps: phase.steps,
        noise: phase.noise.0,
        rate: phase.rate.0,
        group,
    });
    Ok(segment.collect())
}

/// About how long the phases that draw records at random take to account for, in wholes of one record
/// with much noise: densities have a term for each record, over a range that grows with records over
/// noise.
fn work(training: &DeclaredTraining, group: u64) -> f64 {
    let drawn = training.phases.iter().filter(|phase| phase.rate.0 < 1.0);
    drawn.map(|phase| group as f64 * (1.0 + 1.0 / phase.noise.0)).sum()
}

/// The steps in which records may have been drawn that are deleted now, so many of them since what was
/// given was first used, and how many there are in all: each may have been in every step. None
/// where what was given is private by figures.
///
/// # Errors
/// When the training is malformed, or more records are deleted than are accounted for.
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

/// All steps of what was given with a group that may have been there throughout, for differential
/// privacy of everything released; none where it is private by figures.
///
/// # Errors
/// When the training is malformed.
pub fn group_of(given: &Given, group: u64) -> Result<Option<Vec<Segment>>, AccountantError> {
    match (&given.training, &given.declared) {
        (Some(training), _) => with_group_of(training, group).map(Some),
        (None, Some(training)) => with_group(training, group).map(Some),
        (None, None) => Ok(None),
    }
}
