//! `distributed-descent`: models of the parts of a sample are averaged and published with noise.

mod schedule;

use efface_learn::Constants;
use efface_learn::mechanism::distributed_descent::{
    self as mechanism, CheckedDistributed, KeptParts, Membership, Reach, Records,
};
use efface_learn::mechanism::{MechanismError, Released};
use efface_privacy::accountant::Accountant;
use efface_privacy::event::{Event, State, Variant};

use super::{
    Conduct, Defaults, Mechanism, NextRequest, Public, Request, Run, Scheduled, Start, agrees,
    bounded, foreign, passes, refused,
};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{Averages, List, MechanismName, Plan, Schedule, ValidatedSettings};
use crate::rows::Keyed;
use crate::settings::Settings;

pub(super) struct DistributedDescent;

const NAME: MechanismName = MechanismName::DistributedDescent;

pub(crate) fn checked(averages: &Averages, constants: &Constants) -> Result<CheckedDistributed> {
    averages.plan.clone().check(constants).map_err(refused(NAME))
}

impl Mechanism for DistributedDescent {
    fn defaults(&self, _: &Settings, _: Variant) -> Defaults {
        Defaults { state: State::Secret, mean: true, ..Defaults::default() }
    }

    fn check(&self, choices: &ValidatedSettings) -> Result<()> {
        check(choices)
    }

    fn needs_rows(&self, _: &ValidatedSettings) -> Option<&'static str> {
        Some("learns on a sample of individual rows")
    }

    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
        schedule::schedule(public, list)
    }
}

impl Scheduled for Averages {
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        agrees(plan, self.plan.group, Some(self.plan.joint_releases))?;
        match (&self.plan.reach, &self.published) {
            (Reach::Counted { iterations }, Some(published)) => {
                bounded("iterations", *iterations)?;
                bounded("steps", published.learning)?;
            }
            (Reach::Measured(_), None) => {}
            _ => return Err(foreign(plan)),
        }
        self.budget(plan, 0, 1)?;
        checked(self, constants).map(drop)
    }

    fn conduct(&self, _: &Plan) -> Conduct {
        Conduct { uses_changed_rows: true, ..Conduct::default() }
    }

    /// Learns, serves a request from what is kept, or (a refresh) learns again on a fresh sample.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let watch = &mut passes(None, tell);
        let Run { plan, constants, rows, start, releases, rng } = run;
        let checked = checked(self, constants)?;
        let present = numbers(rows.keys()?)?;
        let load = &mut |keys: &[u64]| {
            rows.pick(keys).map_err(|error| MechanismError::Rows(error.to_string()))
        };
        let averages = match start {
            Start::Request(Request { kept: Some(kept), added, removed, .. }) => {
                let kept = KeptParts::from_kept(kept, &checked)
                    .map_err(|error| Error::storage(Code::Damaged, error.to_string()))?;
                let (added, removed) = (keys(added)?, keys(removed)?);
                let count = (added.len() + removed.len()) as u64;
                let budget = self.budget(plan, kept.updates, count)?;
                let members = Membership { present: &present, added: &added, removed: &removed };
                mechanism::request(&checked, Records { members, load }, &kept, budget, rng, watch)
            }
            _ => {
                let zeros = vec![0.0; constants.parameters()];
                // The published number of steps assumes a start from zeros.
                let from = match start {
                    Start::Request(Request { weights, .. }) if self.published.is_none() => *weights,
                    _ => &zeros,
                };
                let budget = self.learning_budget();
                let members = Membership { present: &present, added: &[], removed: &[] };
                mechanism::learn(&checked, Records { members, load }, from, budget, rng, watch)
            }
        };
        Ok(averages.map_err(refused(NAME))?.released(&checked, releases))
    }

    fn first_event(&self, _: &Plan, constants: &Constants, records: usize) -> Result<Event> {
        let checked = checked(self, constants)?;
        Ok(Event::DistributedDescent(checked.event(records as u64, 1)))
    }

    fn advance(&self, event: &mut Event, next: &NextRequest<'_>, _: u64) -> Result<()> {
        let NextRequest { plan, records, .. } = *next;
        let Event::DistributedDescent(event) = event else { return Err(foreign(plan)) };
        event.releases += 1;
        event.records = records as u64;
        Ok(())
    }
}

/// Returns the record numbers of changed rows, ascending.
fn keys(rows: &Keyed) -> Result<Vec<u64>> {
    let mut keys = numbers(rows.keys.clone())?;
    keys.sort_unstable();
    Ok(keys)
}

fn numbers(keys: Vec<i64>) -> Result<Vec<u64>> {
    let number = |key| u64::try_from(key);
    let keys: std::result::Result<Vec<u64>, _> = keys.into_iter().map(number).collect();
    keys.map_err(|_| Error::storage(Code::Damaged, "the vault has a record with a negative number"))
}

/// Checks the settings of `distributed-descent` and refuses those it excludes.
fn check(choices: &ValidatedSettings) -> Result<()> {
    let s = &choices.settings;
    let refuse = |what: &str, hint: &str| Err(Error::refused(Code::Settings, what).hint(hint));
    let counted = choices.accountant == Accountant::Descent;
    if let Some(xi) = s.xi.filter(|xi| !(1.0..=4.0 / 3.0).contains(xi)) {
        return Err(Error::input(
            Code::Range,
            format!(
                "`xi` of `distributed-descent` (a sample of N^xi positions) must be in [1, 4/3], got {xi}"
            ),
        ));
    }
    if choices.state == State::Perfect {
        let what = "`distributed-descent` with `§state perfect` is not offered: it keeps its \
            sample and parts between requests";
        return refuse(what, "leave out `§state`");
    }
    if !choices.mean {
        let what = "`distributed-descent` with `§normalizer fixed` is not offered: each part \
                    averages over its own positions";
        return refuse(what, "leave out `§normalizer`");
    }
    if s.iterations.is_some() && !counted {
        let what = "`§iterations` of `distributed-descent` is the I of Theorem 4.5, used by the \
            published accountant `descent` only: otherwise every part is solved to a measured \
            distance";
        return refuse(what, "leave it out, or use `§accountant descent`");
    }
    if counted && (s.noise.is_some() || s.solver.is_some()) {
        let what = "`§noise` and `§solver` with `§accountant descent` are not offered: the \
                    theorem fixes the noise, and counts steps of gradient descent";
        return refuse(what, "give `§iterations` or `§excess-risk`, or leave out `§accountant`");
    }
    Ok(())
}
