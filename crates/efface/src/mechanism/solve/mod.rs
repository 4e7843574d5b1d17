//! `solve` and `retrain`: an optimum found to a measured distance, published with fresh noise.

mod cost;
mod hessian;
mod memory;
mod run;
mod schedule;

pub(crate) use hessian::{prepare, prepares_point};

use efface_learn::mechanism::{Change, OutputNoisePlan, Released};
use efface_learn::newton::check_newton;
use efface_learn::solver::Solver;
use efface_learn::{Constants, risk};
use efface_privacy::certificate::{Assumption, Evidence};
use efface_privacy::event::{Event, Procedure, State};

use super::cost::{Cost, Inputs};
use super::{Mechanism, Public, Run, agrees, clash, foreign, passes, positive};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::plan::{List, Plan, Schedule, ValidatedSettings};

/// `solve` or `retrain`, which differ in where they start.
pub(super) struct Optimum(Procedure);

/// From the published model, or from what was kept.
pub(super) static SOLVE: Optimum = Optimum(Procedure::Solve);

/// From zeros for every request.
pub(super) static RETRAIN: Optimum = Optimum(Procedure::Retrain);

fn output(plan: &Plan) -> Result<&OutputNoisePlan> {
    match &plan.schedule {
        Schedule::Output(output) => Ok(output),
        _ => Err(foreign(plan)),
    }
}

/// Whether requests are served by Newton steps from a kept memory: `secret` state, and the solver
/// named. `automatic` keeps weights and a factor, and reads all rows.
fn by_memory(state: State, solver: Solver) -> bool {
    state == State::Secret && solver == Solver::Newton
}

/// Whether the plan serves requests so.
pub(crate) fn remembers(plan: &Plan) -> bool {
    output(plan).is_ok_and(|output| by_memory(plan.state, output.solver))
}

impl Mechanism for Optimum {
    fn takes_unclipped(&self) -> bool {
        true
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

    fn check_constants(&self, choices: &ValidatedSettings, constants: &Constants) -> Result<()> {
        if !by_memory(choices.state, choices.solver()) {
            return Ok(());
        }
        check_newton(constants).map_err(|error| {
            Error::refused(Code::Settings, format!("`§solver newton` in `secret` state: {error}"))
                .hint("leave out `§solver`: requests then pass over all rows")
        })
    }

    fn schedule(
        &self,
        choices: &ValidatedSettings,
        public: &Public<'_>,
        list: &mut List,
    ) -> Result<Schedule> {
        schedule::schedule(self.0, choices, public, list)
    }

    /// How far a solver can get depends on the number of records, and is checked with them.
    fn examine(&self, plan: &Plan, _: &Constants) -> Result<()> {
        let output = output(plan)?;
        agrees(plan, output.group, Some(output.joint_releases))?;
        positive([output.distance, output.noise, output.grid])?;
        let anew = self.0 == Procedure::Retrain && plan.state == State::Secret;
        if output.state != plan.state || anew {
            return Err(Error::storage(
                Code::Damaged,
                "its schedule keeps another state than the plan",
            ));
        }
        Ok(())
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption {
            name: "optimizer".to_owned(),
            value: "the stopping rule bounds the distance to the optimum, rounding included"
                .to_owned(),
            evidence: Evidence::Enforced,
        }]
    }

    fn reads_windows(&self, _: &Plan) -> bool {
        true
    }

    fn uses_changed_rows(&self, plan: &Plan) -> bool {
        remembers(plan)
    }

    fn check_prepares(&self, plan: &Plan) -> Result<()> {
        hessian::check(self.0, plan)
    }

    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        run::run(self.0, run, &mut passes(None, tell))
    }

    fn first_event(&self, plan: &Plan, constants: &Constants, records: usize) -> Result<Event> {
        let checked = run::checked(plan, constants, records)?;
        Ok(Event::OutputNoise(checked.event(constants, records, Procedure::Retrain, 1)))
    }

    fn advance(
        &self,
        plan: &Plan,
        event: &mut Event,
        _: &Change<'_>,
        _: u64,
        records: usize,
    ) -> Result<()> {
        let Event::OutputNoise(event) = event else { return Err(foreign(plan)) };
        event.releases += 1;
        event.records = event.records.map(|_| records as u64);
        Ok(())
    }

    fn hides_group(&self, _: &Plan, _: &Event, _: u64) -> bool {
        true
    }

    fn cost(&self, plan: &Plan, constants: &Constants, inputs: &Inputs<'_>) -> Result<Cost> {
        if remembers(plan) {
            return memory::cost(plan, constants, inputs);
        }
        cost::cost(self.0, plan, constants, inputs)
    }

    fn noise_risk(&self, schedule: &Schedule, constants: &Constants) -> Option<f64> {
        let Schedule::Output(plan) = schedule else { return None };
        Some(risk::output_noise(constants, plan.distance, plan.noise, plan.grid))
    }
}
