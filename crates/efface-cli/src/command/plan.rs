//! `efface plan`: which mechanism, with which settings, before anything is trained.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use efface::Source;
use efface::planner::{Machine, PlanRequest, plan};

use crate::arguments::{
    ColumnArguments, ForceArgument, RoleArguments, SettingArguments, WorkloadArguments,
};
use crate::failure::{Outcome, Result};
use crate::interrupt;
use crate::output::Output;
use crate::words::FLAGS;

/// Plan a model: rank the mechanisms for given sizes and workload
///
/// Each row is what training with these settings would choose, by the same search for noise,
/// distance and steps; claims are those of its release. Only sizes are used: those of DATA, or
/// `--n` and `--d`. Of a table whose preprocessing training would fit, what it becomes is shown, too,
/// with what to know before training; that is read off the records and no part of the written plan.
/// For mechanisms with declared preprocessing give `--preprocess declared`; sizes alone are of
/// such rows, unless `--preprocess fitted` is given, with `--d` numeric columns. Predicted excess
/// risk is an upper bound on its expectation. Work is in passes over the data: exact for steps; for
/// solvers and parts a typical value and an upper bound.
///
/// Networks (`dp-sgd`, `shards`, training anew) and linear models on random features stand in a table of
/// their own, with times and without accuracy, which nobody can predict; they are of declared numbers.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface plan people.csv --label y    # what `efface train people.csv --label y` would do
  efface plan people.csv --label y --preprocess declared --deletions-per-month 50
  efface plan --n 1000000 --d 200 --group 1,20 --epsilon 0.5 --delta 1e-7
  efface plan --n 60000 --d 784 --classes 10 --loss softmax --pass-ms 120
  efface plan images.idx --labels labels.idx    # networks beside linear models
  efface plan people.csv --label y -o plan.json
  efface train people.csv --label y --plan plan.json -o model.efface")]
pub(crate) struct Plan {
    /// The table; or give `--n` and `--d`
    #[arg(value_name = "DATA", required_unless_present = "n")]
    data: Option<PathBuf>,

    /// Write the plan to this file, as JSON, for `efface train --plan`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,

    #[command(flatten)]
    workload: WorkloadArguments,

    #[command(flatten)]
    roles: RoleArguments,

    #[command(flatten)]
    columns: ColumnArguments,

    #[command(flatten)]
    settings: SettingArguments,
}

impl Plan {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let data = self.data.as_deref().unwrap_or(Path::new("-"));
        let destination = self.force.file(self.output.as_deref(), &[data])?;
        let settings = self.settings.read()?;
        let source = match &self.data {
            None => None,
            Some(data) => {
                let mut source = Source { infers_task: true, ..self.roles.source(data) };
                self.columns.add_to(&mut source)?;
                Some(source)
            }
        };
        let about = match &source {
            Some(source) => PlanRequest::Table(source),
            None => {
                let regression = settings.is_regression();
                PlanRequest::Sizes(self.workload.sizes(self.columns.classes(), regression)?)
            }
        };
        interrupt::listen()?;
        let start = Instant::now();
        let mut machine = Machine {
            seconds: &mut || start.elapsed().as_secs_f64(),
            watch: &mut |_| {
                if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        };
        let advice = plan(&about, self.workload.workload(), settings, &mut machine)?;
        let advice = advice.in_words(&FLAGS);
        if let Some(destination) = destination {
            destination.write(advice.to_json()?.as_bytes())?;
        }
        output.plan(&advice, self.output.as_deref())?;
        Ok(Outcome::Done)
    }
}
