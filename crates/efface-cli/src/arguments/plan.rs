//! What is to be planned for, and which plan a training follows.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use efface::planner::{Chosen, Sizes, Workload, chosen};
use efface::{Code, Error, Settings};

use super::at_least_one;
use crate::failure::{Result, unreadable};

/// Sizes without a table, and the workload.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct WorkloadArguments {
    /// Records, without DATA
    #[arg(long, value_name = "COUNT", requires = "d", conflicts_with = "data", value_parser = at_least_one, allow_negative_numbers = true)]
    n: Option<u64>,

    /// Features after encoding, the intercept not counted, without DATA
    #[arg(long, value_name = "COUNT", requires = "n", conflicts_with = "data", value_parser = at_least_one, allow_negative_numbers = true)]
    d: Option<u64>,

    /// Numbers stored for each row on average, where rows are sparse, without DATA
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "n",
        conflicts_with = "data",
        allow_negative_numbers = true
    )]
    entries: Option<f64>,

    /// Deletion requests in a month
    #[arg(long, value_name = "NUMBER", default_value_t = 10.0, allow_negative_numbers = true)]
    deletions_per_month: f64,

    /// Records per request; several sizes take turns
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', default_value = "1", value_parser = at_least_one, allow_negative_numbers = true)]
    group: Vec<u64>,

    /// Milliseconds of one gradient pass over all records [default: measured on synthetic rows of
    /// the same shape]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pass_ms: Option<f64>,
}

impl WorkloadArguments {
    pub(crate) fn workload(&self) -> Workload {
        Workload {
            deletions_per_month: self.deletions_per_month,
            groups: self.group.clone(),
            pass_ms: self.pass_ms,
        }
    }

    /// The sizes that were given; `classes` by number or by name, two if not at all.
    pub(crate) fn sizes(&self, classes: Option<&[String]>, regression: bool) -> Result<Sizes> {
        let (Some(records), Some(features)) = (self.n, self.d) else {
            return Err(Error::input(Code::Usage, "a table, or `--n` and `--d`, is needed")
                .hint("as in `efface plan --n 10000 --d 50`")
                .into());
        };
        let classes = match classes {
            None if regression => 0,
            None => 2,
            Some([one]) => one.parse().map_err(|_| {
                Error::input(
                    Code::Classes,
                    format!(
                        "without a table `--classes` must be their number or a list, got \
                        `{one}`"
                    ),
                )
            })?,
            Some(names) => names.len() as u64,
        };
        Ok(Sizes { records, features, classes, entries: self.entries, from_data: false })
    }
}

/// A plan to follow.
#[derive(Debug, Args)]
#[command(next_help_heading = "Plan")]
pub(crate) struct ChoiceArguments {
    /// Train with the settings of this plan, written by `efface plan -o`; it fixes all settings of
    /// model and promise
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Which choice of the plan, by its name or rank [default: the first]
    #[arg(long, value_name = "NAME", requires = "plan")]
    choice: Option<String>,
}

impl ChoiceArguments {
    /// The choice, read from its file; `given` are the settings on the command line.
    pub(crate) fn chosen(&self, given: &Settings) -> Result<Option<Chosen>> {
        let Some(path) = &self.plan else { return Ok(None) };
        let bare = Settings { seed: given.seed, ..Settings::default() };
        if *given != bare {
            return Err(Error::input(
                Code::Plan,
                "`--plan` fixes the settings of model and promise",
            )
            .hint("leave out other settings, or make a plan with them")
            .into());
        }
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        Ok(Some(chosen(&text, self.choice.as_deref())?))
    }
}
