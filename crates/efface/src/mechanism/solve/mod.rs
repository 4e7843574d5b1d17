//! `solve` and `retrain`: an optimum found to a measured distance, published with fresh noise.

mod hessian;
mod run;
mod schedule;

pub(super) use hessian::check as check_prepares;
pub(crate) use hessian::{prepare, prepares_point};
pub(crate) use run::checked;

use efface_learn::Constants;
use efface_learn::mechanism::{OutputNoisePlan, Released};
use efface_learn::newton::check_newton;
use efface_learn::solver::Solver;
use efface_privacy::certificate::{Assumption, Evidence};
use efface_privacy::event::{Event, Procedure, State};

use super::{
    Conduct, Mechanism, NextRequest, Profile, Public, Run, Scheduled, agrees, clash, foreign,
    passes, positive,
};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, Plan, Schedule, ValidatedSettings};

/// `solve` or `retrain`, which differ in where they start.
pub(super) struct Optimum(Procedure);

/// Starts from the published model, or from what was kept.
pub(super) static SOLVE: Optimum = Optimum(Procedure::Solve);

/// Starts from zeros for every request.
pub(super) static RETRAIN: Optimum = Optimum(Procedure::Retrain);

/// Returns whether requests are served by Newton steps from a kept memory: in `secret` state, if the solver
/// is named. `automatic` keeps weights and a factor, and reads all rows.
fn by_memory(state: State, solver: Solver) -> bool {
    state == State::Secret && solver == Solver::Newton
}

/// Returns whether the plan serves requests by Newton steps from a kept memory.
pub(crate) fn remembers(output: &OutputNoisePlan) -> bool {
    by_memory(output.state, output.solver)
}

fn procedure(plan: &Plan) -> Procedure {
    if plan.mechanism == MechanismName::Retrain { Procedure::Retrain } else { Procedure::Solve }
}

impl Mechanism for Optimum {
    fn profile(&self) -> Profile {
        let optimizer = Assumption {
            name: "optimizer".to_owned(),
            value: "the stopping rule bounds the distance to the optimum, rounding included"
                .to_owned(),
            evidence: Evidence::Enforced,
        };
        Profile { takes_unclipped: true, assumptions: vec![optimizer], ..Profile::default() }
    }

    fn check(&self, choices: &ValidatedSettings) -> Result<()> {
        if self.0 == Procedure::Retrain && choices.state == State::Secret {
            return clash(
                "`retrain` with `§state secret`",
                "is not offered: it retrains from scratch and keeps no state",
                "leave out `§state`, or use `§mechanism solve`",
            );
        }
        Ok(())
    }

    fn check_start(&self, choices: &ValidatedSettings) -> Result<()> {
        let s = &choices.settings;
        if s.start_public || s.start_privacy.is_some() {
            return clash(
                "`§start-public` and `§start-privacy` with `solve`",
                "have no effect: it reaches the same optimum, with the same claims, from any start",
                "leave them out",
            );
        }
        Ok(())
    }

    fn needs_rows(&self, choices: &ValidatedSettings) -> Option<&'static str> {
        by_memory(choices.state, choices.solver()).then_some(
            "serves `secret` requests with `solver` newton from a memory that needs the deleted \
             rows",
        )
    }

    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
        if by_memory(public.choices.state, public.choices.solver()) {
            check_newton(public.constants).map_err(|error| {
                let message = format!("`§solver newton` in `secret` state: {error}");
                Error::refused(Code::Settings, message)
                    .hint("leave out `§solver`: requests then pass over all rows")
            })?;
        }
        schedule::schedule(self.0, public, list)
    }
}

impl Scheduled for OutputNoisePlan {
    /// How close a solver can get depends on the number of records, and is checked with them.
    fn examine(&self, plan: &Plan, _: &Constants) -> Result<()> {
        agrees(plan, self.group, Some(self.joint_releases))?;
        positive([self.distance, self.noise, self.grid])?;
        let anew = procedure(plan) == Procedure::Retrain && plan.state == State::Secret;
        if self.state != plan.state || anew {
            return Err(Error::storage(
                Code::Damaged,
                "its schedule keeps another state than the plan",
            ));
        }
        Ok(())
    }

    fn conduct(&self, _: &Plan) -> Conduct {
        Conduct { reads_windows: true, uses_changed_rows: remembers(self), ..Conduct::default() }
    }

    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        run::run(self, run, &mut passes(None, tell))
    }

    fn first_event(&self, plan: &Plan, constants: &Constants, records: usize) -> Result<Event> {
        let checked = run::checked(self, plan, constants, records)?;
        Ok(Event::OutputNoise(checked.event(constants, records, Procedure::Retrain, 1)))
    }

    fn advance(&self, event: &mut Event, next: &NextRequest<'_>, _: u64) -> Result<()> {
        let NextRequest { plan, records, .. } = *next;
        let Event::OutputNoise(event) = event else { return Err(foreign(plan)) };
        event.releases += 1;
        event.records = event.records.map(|_| records as u64);
        Ok(())
    }

    fn hides_group(&self, _: &Plan, _: &Event, _: u64) -> bool {
        true
    }
}
