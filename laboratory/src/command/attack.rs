//! `efface-laboratory attack`: attacks on published mechanisms and on efface's own.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use efface_laboratory::attack::{self, Outcome, Promise, Setup, attacks};
use efface_page::number::{bound, counted, floor};

use super::{Result, tell, words};
use crate::asked;

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
  efface-laboratory attack --list
  efface-laboratory attack sum median
  EFFACE_DATA=data efface-laboratory attack membership")]
pub(crate) struct Attack {
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

impl Attack {
    pub(crate) fn run(self) -> Result {
        let chosen = chosen(&self.names)?;
        if self.list {
            for attack in &chosen {
                let attack::Attack { name, target, adversary, reason, source, .. } = attack;
                tell(&format!(
                    "{name}\n    target: {target}\n    adversary: {adversary}\n    why it succeeds: \
                     {reason}\n    source: {source}"
                ));
            }
            return Ok(ExitCode::SUCCESS);
        }
        let data = self.data.or_else(|| std::env::var_os("EFFACE_DATA").map(PathBuf::from));
        let setup = Setup { quick: self.quick, seed: self.seed, data, stop: asked };
        let mut all = true;
        for attack in &chosen {
            let outcomes = (attack.run)(&setup)
                .map_err(|error| format!("{}: {}", attack.name, words(&error)))?;
            all &= outcomes.iter().all(Outcome::as_expected);
            tell(&format!("{} ({})", attack.name, attack.source));
            outcomes.iter().for_each(|outcome| tell(&line(outcome)));
        }
        Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// The attacks named, in the order of the table.
fn chosen(names: &[String]) -> std::result::Result<Vec<attack::Attack>, String> {
    let table = attacks();
    if let Some(unknown) = names.iter().find(|name| table.iter().all(|a| a.name != **name)) {
        let known: Vec<&str> = table.iter().map(|attack| attack.name).collect();
        return Err(format!("`NAME` must be one of {}, got `{unknown}`", known.join(", ")));
    }
    let named =
        |attack: &attack::Attack| names.is_empty() || names.iter().any(|n| n == attack.name);
    Ok(table.into_iter().filter(named).collect())
}

fn line(outcome: &Outcome) -> String {
    let Outcome { against, measure, trials, measured, lower, allowed, promise, expected } = outcome;
    let lower = lower.map_or_else(String::new, |lower| format!(", lower {}", floor(lower)));
    let allowed = match allowed {
        Some(allowed) => format!(", allowed {} ({promise})", bound(*allowed)),
        None => format!(" ({promise})"),
    };
    let wanted = match expected {
        Promise::Broken => ", must break",
        Promise::Kept => ", must resist",
        Promise::Unbroken => ", must not break",
        Promise::Measured => "",
    };
    let verdict = verdict(outcome);
    format!(
        "  {verdict:<12} {against}: {measure} {measured:.4}{lower}{allowed}; {}{wanted}",
        counted(*trials, "trial")
    )
}

/// How an attack came out, in a word; in capitals where it came out as it must not.
fn verdict(outcome: &Outcome) -> &'static str {
    match (outcome.broken(), outcome.expected) {
        (None, _) => "not promised",
        (Some(true), Promise::Broken) => "broken",
        (Some(true), _) => "BROKEN",
        (Some(false), Promise::Broken) => "NO SUCCESS",
        (Some(false), Promise::Unbroken) => "not broken",
        (Some(false), _) => "resists",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lower: Option<f64>, allowed: Option<f64>, expected: Promise) -> Outcome {
        Outcome {
            against: "a thing".into(),
            measure: "advantage".into(),
            trials: 1,
            measured: 0.5,
            lower,
            allowed,
            promise: "a paper".into(),
            expected,
        }
    }

    #[test]
    fn every_way_to_come_out_has_its_word() {
        let words = |lower, allowed, expected| line(&outcome(lower, allowed, expected));
        let nothing = words(None, None, Promise::Measured);
        assert_eq!(nothing, "  not promised a thing: advantage 0.5000 (a paper); 1 trial");
        for (lower, expected, word) in [
            (0.4, Promise::Broken, "broken "),
            (0.2, Promise::Broken, "NO SUCCESS"),
            (0.2, Promise::Kept, "resists"),
            (0.4, Promise::Kept, "BROKEN"),
            (0.2, Promise::Unbroken, "not broken"),
            (0.4, Promise::Unbroken, "BROKEN"),
        ] {
            let text = words(Some(lower), Some(0.3), expected);
            assert!(text.trim_start().starts_with(word), "{text}");
            assert_eq!(
                outcome(Some(lower), Some(0.3), expected).as_expected(),
                word.chars().any(char::is_lowercase),
                "{text}"
            );
        }
        // Without an interval the number itself is compared, and no `lower` is shown.
        let exact = words(None, Some(0.3), Promise::Kept);
        assert!(exact.contains("BROKEN") && !exact.contains("lower"), "{exact}");
    }
}
