//! `efface audit lab`: attacks on published mechanisms and on efface's own.

use std::path::PathBuf;

use clap::Args;
use efface::{Code, Error, Kind};
use efface_lab::attack::{Attack, Setup, attacks};

use crate::failure::{Outcome, Result};
use crate::interrupt;
use crate::output::Output;

/// Run known attacks against their targets and against efface's mechanisms
///
/// Each attack must succeed against a published mechanism, and fail against the engine, for which
/// `allowed` is what its certificate promises. `lower` is below the true value except with
/// probability 1e-8 a line; counts, means and largest values have none, and the number itself is
/// compared. Randomness is seeded, so that runs repeat.
///
/// A line begins with `broken` (more than was promised), `resists` (the engine), `not broken` (a
/// published target that this attack is too weak for) or `not promised` (nothing to break: a number
/// for information). Unexpected results are in capitals: `BROKEN`, `NO SUCCESS`.
///
/// Exit code 0: each result is as expected; 1: one is not; 2: one could not be run, or Ctrl-C.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface audit lab --list
  efface audit lab sum median
  EFFACE_DATA=data efface audit lab membership")]
pub(super) struct Lab {
    /// Which attacks; all if none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Say what each attack is, and run none
    #[arg(long)]
    list: bool,

    /// A tenth of the trials
    #[arg(long)]
    quick: bool,

    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Folder of public data sets (a9a in libsvm/), else the one that EFFACE_DATA names; without
    /// either, synthetic records are attacked
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

impl Lab {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let chosen = chosen(&self.names)?;
        if self.list {
            output.attacks(&chosen)?;
            return Ok(Outcome::Done);
        }
        let data = self.data.or_else(|| std::env::var_os("EFFACE_DATA").map(PathBuf::from));
        interrupt::listen()?;
        let setup = Setup { quick: self.quick, seed: self.seed, data, stop: interrupt::asked };
        let mut all = true;
        for attack in &chosen {
            let outcomes = (attack.run)(&setup).map_err(|error| match error.kind() {
                Kind::Interrupted => error,
                _ => Error::input(Code::Attack, format!("{}: {error}", attack.name)),
            })?;
            all &= outcomes.iter().all(efface_lab::attack::Outcome::as_expected);
            output.attacked(attack, &outcomes)?;
        }
        Ok(if all { Outcome::Done } else { Outcome::DoesNotHold })
    }
}

/// The attacks named, in the order of the table.
fn chosen(names: &[String]) -> Result<Vec<Attack>> {
    let table = attacks();
    if let Some(unknown) = names.iter().find(|name| table.iter().all(|a| a.name != **name)) {
        let known: Vec<&str> = table.iter().map(|attack| attack.name).collect();
        let error = format!("`NAME` must be one of {}, got `{unknown}`", known.join(", "));
        return Err(Error::input(Code::Attack, error).into());
    }
    let named = |attack: &Attack| names.is_empty() || names.iter().any(|n| n == attack.name);
    Ok(table.into_iter().filter(named).collect())
}
