//! `efface audit`: tests that try to break a certificate's claim.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use efface::{Code, Error};
use efface_audit::{Budget, Options, Verdict, audit};

use crate::arguments::{ForceArgument, at_least_one};
use crate::context::random;
use crate::destination::Destination;
use crate::failure::{Outcome, Result};
use crate::interrupt;
use crate::output::Output;

/// Audit a deletion: try to distinguish the model from one trained without the record
///
/// Trains and deletes many times in memory, on the vault's records and under its plan, with fresh
/// noise each time, and as often runs the reference that the certificate names. Tests along several
/// directions then bound from below how well the two can be distinguished, at confidence 1 - 1e-6;
/// the certificate bounds it from above. The record is the one whose deletion moves the optimum
/// most, unless records are named.
///
/// Models of exact removal (`ridge`, `shards`) serve up to three requests in memory, for records
/// that the published weights know best, and are compared bit by bit with trainings from nothing
/// on what is left, in another order and with another number of threads. Networks with noise
/// (`dp-sgd`) are audited by planted canaries, under the plan's clip, noise, rate and number of steps.
///
/// The vault is not changed, and no row is written anywhere; but the numbers are computed from the
/// records, and no certificate covers them.
///
/// Exit code 0: no test contradicts what a certificate of that deletion would say; 1: one does, or
/// the vault cannot be audited (the message says which); 2: too few runs to say.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface audit model.efface
  efface audit model.efface --rows 2000 --time-limit 600 -o audit.json
  efface audit model.efface --record 17 --runs 500")]
pub(crate) struct Audit {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// Number of runs of each world [default: 20000 for `dp-sgd`, else 2000]
    #[arg(long, value_name = "N", value_parser = runs, allow_negative_numbers = true)]
    runs: Option<u64>,

    /// Audit a fresh model of this many records, evenly spread, with the same constants
    #[arg(long, value_name = "M", value_parser = at_least_one, allow_negative_numbers = true)]
    rows: Option<u64>,

    /// Delete this record (several: together) instead of searching for one
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    record: Vec<String>,

    /// Add a worst-case record in memory and delete it: audits the mechanism under this plan
    #[arg(long, conflicts_with = "record")]
    canary: bool,

    /// End the runs after this many seconds; unfinished ones do not count
    #[arg(long, value_name = "SECONDS", value_parser = at_least_one, allow_negative_numbers = true)]
    time_limit: Option<u64>,

    /// Write the result as JSON to this file, too
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,
}

/// Numbers of runs that can be counted exactly.
fn runs(text: &str) -> std::result::Result<u64, String> {
    const MOST: u64 = efface_audit::statistics::MOST_TRIALS;
    match at_least_one(text)? {
        runs if runs <= MOST => Ok(runs),
        _ => Err(format!("must be at most {MOST}")),
    }
}

impl Audit {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let vault = self.vault;
        let destination = self.force.file(self.output.as_deref(), &[&vault])?;
        let destination = destination.map(Destination::private).transpose()?;
        let options = Options { rows: self.rows, records: self.record, canary: self.canary };
        let limit = self.time_limit.map(|seconds| seconds as f64);
        let seed = seed()?;
        let runs = match self.runs {
            Some(runs) => runs,
            // Few runs of a sampled training find nothing but gross faults.
            None if efface::status(&vault)?.mechanism == "dp-sgd" => 20_000,
            None => 2000,
        };
        let result = within(runs, limit, |budget| audit(&vault, &options, seed, budget))?;
        let written = destination.as_ref().map(|destination| destination.path().to_owned());
        if let Some(destination) = destination {
            let text = serde_json::to_string_pretty(&result)
                .map_err(|error| Error::storage(Code::Json, error.to_string()))?;
            destination.write(format!("{text}\n").as_bytes())?;
        }
        output.audit(&vault, &result, written.as_deref())?;
        Ok(match result.verdict {
            Verdict::Consistent => Outcome::Done,
            Verdict::Refuted => Outcome::DoesNotHold,
            Verdict::Undecided => Outcome::Undecided,
        })
    }
}

/// Runs an audit with so many runs at most, and Ctrl-C as a request to stop.
fn within<T>(
    runs: u64,
    limit: Option<f64>,
    work: impl FnOnce(&Budget<'_>) -> efface::Result<T>,
) -> Result<T> {
    interrupt::listen()?;
    let begun = Instant::now();
    let elapsed = || begun.elapsed().as_secs_f64();
    Ok(work(&Budget { runs, limit, elapsed: &elapsed, stop: &interrupt::asked })?)
}

/// Randomness of the operating system for all runs.
fn seed() -> Result<[u8; 32]> {
    let mut seed = [0; 32];
    random(&mut seed).map_err(|error| Error::storage(Code::Randomness, error))?;
    Ok(seed)
}
